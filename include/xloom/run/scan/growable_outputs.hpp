#pragma once
// Stacked outputs of a loop whose number of iterations is unknown until its end.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <xloom/core/tuning.hpp>
#include <xloom/run/scan/stacked_outputs.hpp>

namespace xloom::detail {

/// Scan outputs stacked along axis 0, for at most `limit` iterations.
///
/// The full capacity is allocated at once if the iterations are guaranteed, or if it is at most 1 MiB of
/// uninitialised memory: a loop that reaches such a limit copies nothing. Otherwise the capacity starts small
/// and doubles, with at most 3 times the final size allocated at any time, because a limit is often far above
/// the actual number of iterations.
template <class Outputs>
class growable_outputs {
public:
    using type = typename stacked_outputs<Outputs, dynamic_length>::type;

    growable_outputs(std::string_view op, std::int64_t limit, std::int64_t certain)
        : op_(op),
          limit_(static_cast<std::size_t>(std::min<std::uint64_t>(
              static_cast<std::uint64_t>(limit), (std::numeric_limits<std::size_t>::max)()))),
          is_certain_(certain == limit)
    {}

    /// Appends the outputs of one iteration, a tuple of references.
    template <class Values>
    void push(Values const& values, std::int64_t iteration)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t == 0) {
            room_ = is_certain_ || is_cheap_to_reserve(values)
                        ? limit_
                        : std::min<std::size_t>(limit_, tuning::reserved_iterations);
            stack_.open(op_, values, room_, {});
        } else if (t == room_) {
            room_ = room_ <= limit_ / 2 ? 2 * room_ : limit_;
            stack_.resize(op_, room_, t);
        }
        stack_.push(op_, values, t);
    }

    type finish(std::int64_t trip_count) &&
    {
        auto const length = static_cast<std::size_t>(trip_count);
        if (length == 0)
            stack_.open_empty(op_, {});
        else if (length != room_)
            stack_.resize(op_, length, length);
        return std::move(stack_).finish();
    }

private:
    /// True if the full capacity is at most 1 MiB of uninitialised memory; xtensor does not initialise items
    /// of trivial types.
    template <class Values>
    bool is_cheap_to_reserve(Values const& values) const
    {
        std::size_t bytes = 1;
        bool is_unwritten = true;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using item = item_t<decltype(value)>;
            bytes += element_count(output_element_shape(op_, k, value)) * sizeof(item);
            is_unwritten = is_unwritten && std::is_trivially_default_constructible_v<item> &&
                           expression<stacked_t<bare<decltype(value)>, dynamic_length>>;
        });
        return is_unwritten && limit_ <= tuning::reserved_output_bytes / bytes;
    }

    std::string_view op_;
    std::size_t limit_;
    bool is_certain_;
    std::size_t room_ = 0;
    stacked_outputs<Outputs, dynamic_length> stack_;
};

} // namespace xloom::detail
