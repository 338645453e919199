#pragma once
// A number as a compile-time constant.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Calls f with `count` as a compile-time constant. Requires Least <= count <= Most.
template <std::size_t Least, std::size_t Most, class F>
XLOOM_ALWAYS_INLINE inline void with_count(std::size_t count, F const& f)
{
    if constexpr (Least < Most)
        if (count < Most)
            return kernel::with_count<Least, Most - 1>(count, f);
    f(std::integral_constant<std::size_t, Most>());
}

/// Calls f with `count` as a compile-time constant if Least <= count <= Most. Returns true if it is called.
template <std::size_t Least, std::size_t Most, class F>
XLOOM_ALWAYS_INLINE inline bool with_few(std::size_t count, F const& f)
{
    if (count < Least || count > Most)
        return false;
    kernel::with_count<Least, Most>(count, f);
    return true;
}

} // namespace xloom::inline XLOOM_ABI::kernel
