#pragma once
// Execution policies. Only the policy that is passed to an operator starts threads.

#include <concepts>
#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {
struct any_part {
    void operator()(std::size_t) const {}
};
} // namespace detail

/// An execution policy. concurrency() returns the useful number of parts, at least 1. for_each(parts, f)
/// calls f(0) to f(parts - 1), each once, in any order and on any threads, and returns when all are done; an
/// exception of f propagates out of it.
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

/// A non-owning reference to an execution policy of any type; by default to serial.
class policy_ref {
public:
    constexpr policy_ref() noexcept : policy_ref(serial) {}

    template <execution_policy Policy>
    constexpr explicit policy_ref(Policy const& policy)
        : policy_(&policy),
          concurrency_(policy.concurrency()),
          for_each_([](void const* self, std::size_t parts, part_of* call, void const* f) {
              static_cast<Policy const*>(self)->for_each(parts, [=](std::size_t part) { call(f, part); });
          })
    {}

    constexpr std::size_t concurrency() const noexcept { return concurrency_; }

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        for_each_(
            policy_, parts, [](void const* call, std::size_t part) { (*static_cast<F const*>(call))(part); },
            &f);
    }

private:
    using part_of = void(void const* f, std::size_t part);

    void const* policy_;
    std::size_t concurrency_;
    void (*for_each_)(void const* self, std::size_t parts, part_of* call, void const* f);
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
