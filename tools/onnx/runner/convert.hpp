#pragma once
// Tensors of another element type.

#include <xloom/types.hpp>

#include "value.hpp"

namespace runner {

/// Converts every item. Types: all but the complex ones; strings are read and written as decimal numbers.
tensor convert(tensor const& from, element_type to, xloom::cast_options options = {});

} // namespace runner
