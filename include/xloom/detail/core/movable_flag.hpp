#pragma once
// A flag for what a move takes along.

#include <utility>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a result that is there. A move takes it along: the source is false afterwards.
class movable_flag {
public:
    constexpr movable_flag() noexcept = default;
    constexpr movable_flag(movable_flag const&) noexcept = default;
    constexpr movable_flag(movable_flag&& other) noexcept : value_(std::exchange(other.value_, false)) {}
    constexpr movable_flag& operator=(movable_flag const&) noexcept = default;
    constexpr movable_flag& operator=(movable_flag&& other) noexcept
    {
        value_ = std::exchange(other.value_, false);
        return *this;
    }
    ~movable_flag() = default;

    constexpr movable_flag& operator=(bool value) noexcept
    {
        value_ = value;
        return *this;
    }
    constexpr operator bool() const noexcept { return value_; }

private:
    bool value_ = false;
};

} // namespace xloom::inline XLOOM_ABI::detail
