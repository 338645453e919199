#pragma once
// Execution policies. Only the policy that is passed to an operator starts threads.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/tuning.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {
struct any_part {
    void operator()(std::size_t) const {}
};
} // namespace detail

/// An execution policy. concurrency() returns the useful number of parts, at least 1. for_each(parts, f)
/// calls f(0) to f(parts - 1), each once, in any order and on any threads, and returns when all are done; an
/// exception of f propagates out of it. A part may wait for another one that runs on another thread: a thread
/// does not begin a part while it is in one, not even where f starts tasks of its own and waits for these.
template <class P>
concept execution_policy = requires(P const& policy, std::size_t parts, detail::any_part const& f) {
    {
        policy.concurrency()
    } -> std::convertible_to<std::size_t>;
    policy.for_each(parts, f);
};

/// The policy that runs everything on the calling thread.
struct serial_policy {
    static constexpr std::size_t concurrency() noexcept { return 1; }

    template <class F>
    constexpr void for_each(std::size_t parts, F const& f) const
    {
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }
};
inline constexpr serial_policy serial{};

namespace detail {

/// A non-owning reference to a function of a part, for a for_each that is not a template. On any thread, the
/// function computes with subnormal numbers as the thread does that made the reference.
class part_ref {
public:
    template <class F>
        requires(!std::is_same_v<F, part_ref>)
    explicit part_ref(F const& f)
        : f_(&f),
          call_([](void const* self, std::size_t part) { (*static_cast<F const*>(self))(part); }),
          control_(detail::float_control())
    {}

    void operator()(std::size_t part) const
    {
        subnormal_mode<> const mode(control_);
        call_(f_, part);
    }

private:
    void const* f_;
    void (*call_)(void const* self, std::size_t part);
    float_control_t control_;
};

/// A non-owning reference to an execution policy of any type; by default to serial.
class policy_ref {
public:
    constexpr policy_ref() noexcept : policy_ref(serial) {}

    template <execution_policy Policy>
    constexpr explicit policy_ref(Policy const& policy)
        : policy_(&policy),
          concurrency_((std::max)(static_cast<std::size_t>(policy.concurrency()), std::size_t{1})),
          for_each_([](void const* self, std::size_t parts, part_ref f) {
              static_cast<Policy const*>(self)->for_each(parts, f);
          })
    {}

    constexpr std::size_t concurrency() const noexcept { return concurrency_; }

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        for_each_(policy_, parts, part_ref(f));
    }

private:
    void const* policy_;
    std::size_t concurrency_;
    void (*for_each_)(void const* self, std::size_t parts, part_ref f);
};

/// Returns the index of the first item of part `part` of `parts`, into which `count` items are divided. Parts
/// differ by at most one item, and the larger ones are first.
constexpr std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t count) noexcept
{
    return count / parts * part + (std::min)(part, count % parts);
}

/// The items [begin, end) of a part.
struct part_range {
    std::size_t begin, end;
};

/// Returns the items of one of `parts` parts of `count` items.
constexpr part_range range_of_part(std::size_t part, std::size_t parts, std::size_t count) noexcept
{
    return {begin_of_part(part, parts, count), begin_of_part(part + 1, parts, count)};
}

/// A policy whose concurrency is known to be 1 when a program is compiled, such as serial_policy.
template <class Policy>
concept one_thread = requires { typename std::enable_if_t<(Policy::concurrency() == 1)>; };

/// True if a policy may have threads. Of one that has none at run time, parts_for() returns 1.
template <execution_policy Policy>
inline constexpr bool has_threads = !one_thread<Policy>;

/// Returns the number of parts for `items` elements under a policy, each of `least` or more: at least 1, even
/// if the policy has no threads.
template <execution_policy Policy>
std::size_t parts_for(
    Policy const& policy, std::size_t items, std::size_t least = tuning::elements_per_thread)
{
    return std::clamp<std::size_t>(
        static_cast<std::size_t>(policy.concurrency()), 1, std::max<std::size_t>(items / least, 1));
}

/// Calls f(begin, end) for parts of `count` items, each of `size` elements, on the threads of a policy.
template <class Policy, class F>
void for_each_range(Policy const& policy, std::size_t count, std::size_t size, F const& f)
{
    std::size_t const parts = parts_for(policy, count * size);
    policy.for_each(parts, [&](std::size_t part) {
        auto const [begin, end] = range_of_part(part, parts, count);
        f(begin, end);
    });
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
