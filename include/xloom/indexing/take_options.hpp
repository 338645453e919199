#pragma once
// The options of take and of compress.

#include <cstdint>
#include <optional>

#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of take.
struct take_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
    xloom::bounds bounds = xloom::bounds::check;
};

/// Options of compress.
struct compress_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
};

} // namespace xloom::inline XLOOM_ABI
