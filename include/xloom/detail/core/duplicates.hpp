#pragma once
// The handling of several updates of one slice.

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// The handling of several updates of one slice with reduction none: the last or the first one is written, or
/// an error is thrown.
enum class duplicates : unsigned char { last, first, error };

} // namespace xloom::inline XLOOM_ABI
