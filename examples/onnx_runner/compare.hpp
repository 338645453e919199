#pragma once
// Is a value as a test expects it?

#include <string>

#include "value.hpp"

namespace runner {

/// How float16 and bfloat16 are compared. Operators that only move them must give every bit.
enum class small_floats { closely, exactly };

/// The first difference in one line; empty if there is none. Types and shapes, and items that are not
/// computed with, must be equal; float and double, and float16 and bfloat16 if so asked, may differ by a
/// little, but not where one of them is infinite. NaN equals NaN.
std::string difference(
    value const& got, value const& expected, small_floats compared = small_floats::closely);

/// An item of a tensor as a text: 0.5, (1, 2), "a", true.
std::string item_text(tensor const& t, std::size_t i);

} // namespace runner
