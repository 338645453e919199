#pragma once
// ONNX's type and shape inference of CumSum, its versions by opset, and the element types T of its input.

#include <array>
#include <cstdint>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The operators that combine the elements of an axis up to each of them.
enum class accumulation { cumsum };

namespace detail {

inline constexpr std::array<std::int64_t, 2> cumsum_versions{11, 14};

template <>
inline constexpr std::array<operator_history, 1> histories<accumulation>{{{"CumSum", cumsum_versions}}};

} // namespace detail

/// True if `op` accepts an input of this element type at this opset: numbers of 32 and 64 bits, from version
/// 14 on float16 and bfloat16. The axis is int32 or int64 in every version.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.12.
/// Example   tests/infer/cumsum.test.cpp
constexpr bool is_allowed(accumulation op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    switch (element) {
    case element_type::uint32:
    case element_type::uint64:
    case element_type::int32:
    case element_type::int64:
    case element_type::float_:
    case element_type::double_:
        return true;
    case element_type::float16:
    case element_type::bfloat16:
        return version >= 14;
    default:
        return false;
    }
}

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
    static_cast<void>(operator_version(accumulation::cumsum, attributes.opset));
    if (!x.is_tensor() || x.element() == element_type::undefined)
        detail::fail<type_error>("xloom::infer_cumsum: x must be a tensor of a known element type, but x is ",
            x, ". Give a tensor's type.");
    return detail::merge_type({"infer_cumsum", "output"}, x, declared);
}

} // namespace xloom::inline XLOOM_ABI
