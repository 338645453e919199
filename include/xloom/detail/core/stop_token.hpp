#pragma once
// std::stop_token, or a substitute if the standard library has none (libc++ before 20).

#include <version>

#include <xloom/detail/core/abi.hpp>

#ifdef __cpp_lib_jthread

#include <stop_token>

namespace xloom::inline XLOOM_ABI {

using std::stop_token;

} // namespace xloom::inline XLOOM_ABI

#else

namespace xloom::inline XLOOM_ABI {

/// A stop token for which stop is never requested.
struct stop_token {
    static constexpr bool stop_possible() noexcept { return false; }
    static constexpr bool stop_requested() noexcept { return false; }
};

} // namespace xloom::inline XLOOM_ABI

#endif
