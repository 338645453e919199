#pragma once
// The options of loop and loop_into, and what a loop returns beside its values.

#include <cstdint>
#include <optional>
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
