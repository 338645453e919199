#pragma once
// Shared rules of type inference for operators. If the inputs' types contradict an operator, the rules infer
// less, and the run reports the error.

#include <cstdint>
#include <optional>
#include <vector>

#include "inference.hpp"

namespace runner {

using xloom::partial_shape;
using xloom::partial_type;

/// True if input 0 is a tensor of a known element type.
bool has_known_element(typing const& node);
/// Returns the type of input 0 for output 0.
types same_type(typing const& node);
/// Returns input 0's element type in the shape that all inputs have after broadcasting; up to opset 6 that is
/// input 0's shape.
types broadcast_type(typing const& node);
/// Returns bool in the shape of broadcast_type.
types truth_type(typing const& node);
/// Returns input 0's element type in the shape `dims`.
types type_like_first(typing const& node, partial_shape const& dims);
/// One number of type int64, one of type bool.
types count_type(typing const& node);
types flag_type(typing const& node);

partial_shape broadcast(partial_shape const& a, partial_shape const& b);
/// Returns the shape that all inputs from index `first` on have after broadcasting.
partial_shape broadcast_inputs(typing const& node, std::size_t first);
/// The sum of two dimensions, the product of all; unknown if one is.
xloom::dim dim_sum(xloom::dim const& a, xloom::dim const& b);
xloom::dim dim_product(partial_shape const& dims);

partial_shape unknown_dims(std::size_t rank);
/// Returns the dimensions; std::nullopt if one is not known.
std::optional<xloom::shape> known_dims(partial_shape const& dims);
/// Returns the number of items of a channel [N, C, d..]; std::nullopt if it is not known.
std::optional<std::size_t> spatial_items(partial_shape const& dims);
/// Returns the shape that input i holds as integers: all of it, its rank, or nothing.
partial_shape shape_in(typing const& node, std::size_t i);
/// A shape with unknown dimensions at some of its axes.
partial_shape without_dims(partial_shape dims, std::vector<bool> const& marks);

/// The axes of a node, as returned by named_axes (axis.hpp).
struct known_axes {
    bool are_given = false;
    std::optional<std::vector<std::int64_t>> list{}; ///< none: not known before a run
};
known_axes axes_of(typing const& node, std::int64_t input_since);

} // namespace runner
