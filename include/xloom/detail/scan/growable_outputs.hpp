#pragma once
// Stacked outputs of a loop whose number of iterations is unknown until its end.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/scan/stacked_outputs.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The capacity of outputs that grow, for at most `limit` iterations.
///
/// The full capacity is allocated at once if the iterations are guaranteed, or if it is at most 1 MiB of
/// uninitialised memory: a loop that reaches such a limit copies nothing. Otherwise the capacity starts small
/// and doubles, with at most 3 times the final size allocated at any time, because a limit is often far above
/// the actual number of iterations.
class output_capacity {
public:
    output_capacity(std::int64_t limit, std::int64_t certain)
        : limit_(saturating_cast<std::size_t>(limit)), is_certain_(certain == limit)
    {}

    std::size_t size() const { return size_; }

    /// Chooses the first capacity. `bytes` is the size of one element of each output together, `is_unwritten`
    /// whether their memory is not initialised.
    void start(std::size_t bytes, bool is_unwritten)
    {
        bool const is_cheap = is_unwritten && limit_ <= tuning::reserved_output_bytes / (bytes + 1);
        size_ = is_certain_ || is_cheap ? limit_ : std::min<std::size_t>(limit_, tuning::reserved_iterations);
    }

    void grow() { size_ = size_ <= limit_ / 2 ? 2 * size_ : limit_; }

private:
    std::size_t limit_;
    bool is_certain_;
    std::size_t size_ = 0;
};

/// True if memory for stacked values of type Y is not initialised; xtensor initialises no items of trivial
/// types.
template <class Y>
inline constexpr bool is_stacked_in_unwritten_memory =
    std::is_trivially_default_constructible_v<item_t<Y>> && expression<stacked_t<Y, dynamic_length>>;

/// Scan outputs stacked along axis 0, whose output_capacity grows.
template <class Outputs>
class growable_outputs {
public:
    using type = typename stacked_outputs<Outputs, dynamic_length>::type;

    growable_outputs(std::string_view op, std::int64_t limit, std::int64_t certain)
        : op_(op), capacity_(limit, certain)
    {}

    /// Makes room for the outputs of an iteration, before the body runs.
    void make_room(std::int64_t iteration)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t != 0 && t == capacity_.size()) {
            capacity_.grow();
            stack_.resize(op_, capacity_.size(), t);
        }
    }

    auto const& writers() const { return stack_.writers(); }

    /// Appends the outputs of one iteration, a tuple of references.
    template <class Values>
    void push(Values const& values, std::int64_t iteration)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t == 0) {
            start(values);
            stack_.open(op_, values, capacity_.size(), {});
        }
        stack_.push(op_, values, t);
    }

    type finish(std::int64_t trip_count) &&
    {
        auto const length = static_cast<std::size_t>(trip_count);
        if (length == 0)
            stack_.open_empty(op_, {});
        else if (length != capacity_.size())
            stack_.resize(op_, length, length);
        return std::move(stack_).finish();
    }

private:
    template <class Values>
    void start(Values const& values)
    {
        std::size_t bytes = 0;
        bool is_unwritten = true;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using output = bare<decltype(value)>;
            bytes += element_count(output_element_shape(op_, k, value)) * sizeof(item_t<output>);
            is_unwritten = is_unwritten && is_stacked_in_unwritten_memory<output>;
        });
        capacity_.start(bytes, is_unwritten);
    }

    std::string_view op_;
    output_capacity capacity_;
    stacked_outputs<Outputs, dynamic_length> stack_;
};

} // namespace xloom::inline XLOOM_ABI::detail
