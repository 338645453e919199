#pragma once
// std::stop_token and std::stop_source, or substitutes where the standard library lacks them.

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
