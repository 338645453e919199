#pragma once
// A value that a move takes along.

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A flag or a size that a move takes along: the source is T{} afterwards, also after a move to itself, which
/// leaves a std::vector empty.
template <class T>
class movable_value {
public:
    constexpr movable_value() noexcept = default;
    constexpr movable_value(T value) noexcept : value_(value) {}
    constexpr movable_value(movable_value const&) noexcept = default;
    constexpr movable_value(movable_value&& other) noexcept : value_(other.value_) { other.value_ = T{}; }
    constexpr movable_value& operator=(movable_value const&) noexcept = default;
    constexpr movable_value& operator=(movable_value&& other) noexcept
    {
        value_ = other.value_;
        other.value_ = T{};
        return *this;
    }
    ~movable_value() = default;

    constexpr operator T() const noexcept { return value_; }

private:
    T value_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
