#pragma once
// When a loop ends: the options, the status, and the one place that decides.

#include <stop_token>

#include <xloom/adapt/pack.hpp>
#include <xloom/check/loop.hpp>

namespace xloom {

/// When a loop ends. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< at most so many iterations; negative counts as 0
    std::optional<bool> cond = true;              ///< tested before each iteration; std::nullopt: true, and what the body says is ignored
    std::stop_token stop{};                       ///< asked before each iteration
};

/// How a loop ended. `cond` is the last condition, true if it was omitted; `stopped` tells that options.stop ended it.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

/// The one place that decides whether another iteration follows.
class loop_control {
public:
    loop_control(std::string_view op, loop_options const& options)
        : limit_(check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible())),
          has_cond_(options.cond.has_value()),
          is_certain_(options.max_trip_count && !options.cond && !options.stop.stop_possible()),
          stop_(options.stop),
          status_{options.cond.value_or(true), 0, false}
    {}

    bool goes_on()
    {
        if (status_.trip_count >= limit_ || !status_.cond)
            return false;
        status_.stopped = stop_.stop_requested();
        return !status_.stopped;
    }

    void finish_iteration(bool cond)
    {
        if (has_cond_)
            status_.cond = cond;
        ++status_.trip_count;
    }

    std::int64_t limit() const { return limit_; }
    /// The iterations that nothing can prevent.
    std::int64_t certain() const { return is_certain_ ? limit_ : 0; }
    loop_status const& status() const { return status_; }

private:
    std::int64_t limit_;
    bool has_cond_;
    bool is_certain_;
    std::stop_token const& stop_;
    loop_status status_;
};

template <class X>
using is_loop_state = std::bool_constant<!lazy<X>>;

} // namespace detail
} // namespace xloom
