#pragma once
// The comparison of a value with the one that a test expects.

#include <string>

#include "value.hpp"

namespace runner {

/// The comparison of float16 and bfloat16 items. Operators that only copy them must be bitwise exact.
enum class small_floats { closely, exactly };

/// Returns the first difference in one line; empty if there is none. Types, shapes, and items that are not
/// computed with must be equal; float and double, and with small_floats::closely float16 and bfloat16, may
/// differ slightly, but not where one of them is infinite. NaN equals NaN.
std::string difference(
    value const& got, value const& expected, small_floats compared = small_floats::closely);

/// Returns an item of a tensor as text: 0.5, (1, 2), "a", true.
std::string item_text(tensor const& t, std::size_t i);

} // namespace runner
