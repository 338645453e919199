#pragma once
// The options of loop and loop_into, and what a loop returns beside its values.

#include <cstdint>
#include <optional>
#include <version>

#include <xloom/detail/core/abi.hpp>

#if defined(__cpp_lib_jthread) && !defined(XLOOM_NO_STD_STOP_TOKEN)

#include <stop_token>

namespace xloom::inline XLOOM_ABI {

using std::stop_source;
using std::stop_token;

} // namespace xloom::inline XLOOM_ABI

#else // libc++ before 20

#include <atomic>
#include <memory>
#include <utility>

namespace xloom::inline XLOOM_ABI {

/// std::stop_token where the standard library lacks it: without callbacks.
class stop_token {
public:
    stop_token() noexcept = default;

    bool stop_possible() const noexcept { return is_requested_ != nullptr; }
    bool stop_requested() const noexcept
    {
        return is_requested_ && is_requested_->load(std::memory_order_acquire);
    }

private:
    friend class stop_source;
    explicit stop_token(std::shared_ptr<std::atomic<bool> const> is_requested) noexcept
        : is_requested_(std::move(is_requested))
    {}

    std::shared_ptr<std::atomic<bool> const> is_requested_{};
};

/// std::stop_source where the standard library lacks it; one that was moved from can stop nothing.
class stop_source {
public:
    stop_token get_token() const noexcept { return stop_token(is_requested_); }
    bool stop_possible() const noexcept { return is_requested_ != nullptr; }
    bool stop_requested() const noexcept
    {
        return is_requested_ && is_requested_->load(std::memory_order_acquire);
    }

    /// Returns true if this call is the first to request the stop.
    bool request_stop() const noexcept
    {
        return is_requested_ && !is_requested_->exchange(true, std::memory_order_acq_rel);
    }

private:
    std::shared_ptr<std::atomic<bool>> is_requested_ = std::make_shared<std::atomic<bool>>(false);
};

} // namespace xloom::inline XLOOM_ABI

#endif

namespace xloom::inline XLOOM_ABI {

/// The conditions that end a loop. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< maximum number of iterations; negative counts as 0
    std::optional<bool> cond =
        true; ///< tested before each iteration; std::nullopt: true, and the body's condition is ignored
    stop_token stop{}; ///< polled before each iteration
};

/// The status of a loop at its end. `cond` is the last condition, true if it was omitted; `stopped` is true
/// if options.stop ended the loop.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

} // namespace xloom::inline XLOOM_ABI
