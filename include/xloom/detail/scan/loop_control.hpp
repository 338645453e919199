#pragma once
// The termination of a loop: the test for another iteration.

#include <xloom/detail/check/loop.hpp>
#include <xloom/detail/core/loop_options.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The state of a running loop, which decides whether another iteration follows.
class loop_control {
public:
    /// Requires a `limit` from check_loop. Why check_loop is not called here: a constructor that is not
    /// inlined keeps the members in memory during the whole loop.
    loop_control(std::int64_t limit, loop_options const& options)
        : limit_(limit),
          has_cond_(options.cond.has_value()),
          can_stop_(options.stop.stop_possible()),
          is_certain_(options.max_trip_count && !has_cond_ && !can_stop_),
          stop_(options.stop),
          cond_(options.cond.value_or(true))
    {}

    /// True if another iteration follows, among the first `end`. Polls the stop token.
    bool next(std::int64_t end)
    {
        if (!may_continue(end))
            return false;
        stopped_ = stop_.stop_requested();
        return !stopped_;
    }

    /// Like next(), without polling; false if the loop has a stop token.
    ///
    /// Why: an inner loop on this condition has no atomic operation, after which the compiler would reload
    /// all values in memory.
    bool next_without_stop_token(std::int64_t end) const { return !can_stop_ && may_continue(end); }

    void finish_iteration(bool cond)
    {
        cond_ = cond || !has_cond_;
        ++trip_count_;
    }

    std::int64_t limit() const { return limit_; }
    /// Returns the number of iterations that are guaranteed: 0 if a condition or a stop token can end the
    /// loop.
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

/// Checks the options and returns the maximum number of iterations.
inline std::int64_t limit_of(std::string_view op, loop_options const& options)
{
    return check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible());
}

} // namespace xloom::inline XLOOM_ABI::detail
