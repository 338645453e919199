#pragma once
// ONNX's type and shape inference of TensorScatter.

#include <cstdint>

#include <xloom/infer/indexing.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of TensorScatter that the inference reads.
struct tensor_scatter_attributes {
    std::int64_t axis = -2;
};

/// Infers the type of TensorScatter's output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     present_cache = merge_type(past_cache, declared)
///
/// Shapes    as past_cache. update has the shape of past_cache, with any length along the axis. write_indices
///           are not read.
/// Options   axis (-2).
/// Errors    type_error: past_cache is not a tensor, or its element type is undefined; kind or element type
///           of the declared output. shape_error: rank or dimension of the declared output; an axis that is
///           the batch axis, or that past_cache, of a known rank, does not have; rank or dimension of update.
/// Differs   from ONNX: the axis is checked where update has no known rank, too.
/// Source    ONNX TensorScatter-24.
/// Example
/// ```cpp
/// auto const cache = xloom::tensor_type(xloom::element_type::float16, {"B", 8, 4096, 64});
/// auto const update = xloom::tensor_type(xloom::element_type::float16, {"B", 8, 1, 64});
/// xloom::infer_tensor_scatter(cache, update); // = float16[B, 8, 4096, 64]
/// ```
constexpr partial_type infer_tensor_scatter(partial_type const& past_cache, partial_type const& update,
    partial_type const& declared = untyped, tensor_scatter_attributes const& attributes = {})
{
    detail::check_element({"infer_tensor_scatter", "past_cache"}, past_cache);
    if (past_cache.shape().has_rank() && (!is_axis(attributes.axis, past_cache.shape().rank()) ||
                                             wrap_axis(attributes.axis, past_cache.shape().rank()) == 0))
        detail::fail<shape_error>("xloom::infer_tensor_scatter: the axis must be one of past_cache after "
                                  "the batch axis, but axis is ",
            attributes.axis, " and past_cache is ", past_cache, ". Name such an axis.");
    if (past_cache.shape().has_rank() && update.is_tensor() && update.shape().has_rank()) {
        partial_shape expected = past_cache.shape();
        std::size_t const axis = wrap_axis(attributes.axis, expected.rank());
        if (update.shape().rank() == expected.rank())
            expected[axis] = update.shape()[axis];
        if (detail::find_conflict(expected, update.shape()) != detail::conflict::none)
            detail::fail<shape_error>("xloom::infer_tensor_scatter: update must have the shape of past_cache "
                                      "but for axis ",
                attributes.axis, ", but update is ", update, " and past_cache is ", past_cache,
                ". Correct one of them.");
    }
    return detail::merge_type({"infer_tensor_scatter", "present_cache"}, past_cache, declared);
}

} // namespace xloom::inline XLOOM_ABI
