#pragma once
// ONNX's type and shape inference of CumSum.

#include <cstdint>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of CumSum that the inference reads.
struct cumsum_attributes {
    std::int64_t opset = latest_opset;
};

/// Infers the type of CumSum's output. `declared` is the type that the model declares, untyped if it declares
/// none.
///
///     output = merge_type(x, declared)
///
/// Shapes    as x. The axis, an operand, is not read.
/// Options   opset (latest_opset).
/// Errors    type_error: x is not a tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output.  option_error: the
///           opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of x is checked.
/// Source    ONNX CumSum-11, 14. Element types are not checked; is_allowed checks that of x.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const x = xloom::tensor_type(element::float_, {"N", 4});
/// xloom::infer_cumsum(x, xloom::tensor_type(element::int32, {})); // = float[N, 4]
/// ```
constexpr partial_type infer_cumsum(partial_type const& x, [[maybe_unused]] partial_type const& axis,
    partial_type const& declared = untyped, cumsum_attributes const& attributes = {})
{
    static_cast<void>(operator_version(onnx_operator::cumsum, attributes.opset));
    detail::check_element({"infer_cumsum", "x"}, x);
    return detail::merge_type({"infer_cumsum", "output"}, x, declared);
}

} // namespace xloom::inline XLOOM_ABI
