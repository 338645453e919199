#pragma once
// The handling of several updates of one slice.

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// The handling of several updates of one slice with reduction none: the last or the first one is written, or
/// an error is thrown.
enum class duplicates : unsigned char { last, first, error };

} // namespace xloom
