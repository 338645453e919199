#pragma once
// When a loop ends: the options, the status, and the one place that decides.

#include <xloom/check/loop.hpp>
#include <xloom/core/stop_token.hpp>
#include <xloom/tensor/operand_tuple.hpp>

namespace xloom {

/// When a loop ends. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< at most so many iterations; negative counts as 0
    std::optional<bool> cond =
        true; ///< tested before each iteration; std::nullopt: true, and what the body says is ignored
    stop_token stop{}; ///< asked before each iteration
};

/// How a loop ended. `cond` is the last condition, true if it was omitted; `stopped` tells that options.stop
/// ended it.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

/// The one place that decides whether another iteration follows.
class loop_control {
public:
    /// `limit` comes from check_loop. Why it is not called here: a constructor that the compiler does not
    /// inline keeps the members in memory during the whole loop.
    loop_control(std::int64_t limit, loop_options const& options)
        : limit_(limit),
          has_cond_(options.cond.has_value()),
          can_stop_(options.stop.stop_possible()),
          is_certain_(options.max_trip_count && !has_cond_ && !can_stop_),
          stop_(options.stop),
          cond_(options.cond.value_or(true))
    {}

    /// Does another iteration follow, among the first `end`? Asks the stop token.
    bool next(std::int64_t end)
    {
        if (!may_continue(end))
            return false;
        stopped_ = stop_.stop_requested();
        return !stopped_;
    }

    /// The same of a loop that has no stop token; of others false.
    ///
    /// Why a loop inside the loop asks this: it holds no atomic operation, after which the compiler reloads
    /// all that lies in memory.
    bool next_without_stop_token(std::int64_t end) const { return !can_stop_ && may_continue(end); }

    void finish_iteration(bool cond)
    {
        cond_ = cond || !has_cond_;
        ++trip_count_;
    }

    std::int64_t limit() const { return limit_; }
    /// The iterations that nothing can prevent.
    std::int64_t guaranteed_trips() const { return is_certain_ ? limit_ : 0; }
    loop_status status() const { return {cond_, trip_count_, stopped_}; }

private:
    bool may_continue(std::int64_t end) const { return trip_count_ < end && cond_; }

    std::int64_t limit_;
    bool has_cond_;
    bool can_stop_;
    bool is_certain_;
    stop_token const& stop_;
    bool cond_;
    std::int64_t trip_count_ = 0;
    bool stopped_ = false;
};

/// Checks the options.
inline std::int64_t limit_of(std::string_view op, loop_options const& options)
{
    return check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible());
}

template <class X>
using is_loop_state = std::bool_constant<!lazy<X>>;

} // namespace detail
} // namespace xloom
