#pragma once
// std::stop_token, or a substitute if the standard library has none (libc++ before 20).

#include <version>

#include <xloom/core/exceptions.hpp>

#ifdef __cpp_lib_jthread

#include <stop_token>

namespace xloom {

using std::stop_token;

} // namespace xloom

#else

namespace xloom {

/// A stop token for which stop is never requested.
struct stop_token {
    static constexpr bool stop_possible() noexcept { return false; }
    static constexpr bool stop_requested() noexcept { return false; }
};

} // namespace xloom

#endif
