#pragma once
// The element types of ONNX that C++ lacks, float16 to uint2, ready for xtensor: its where, amax, amin,
// maximum, minimum and clip may choose between two of one type.
//
// Why all_scalar and not is_scalar, which it asks up to xtl 0.7: xtl 0.8 asks std::is_scalar, whatever one
// says.

#include <type_traits>

#include <xloom/core/cast.hpp>
#include <xloom/core/element_type_of.hpp>
#include <xloom/tensor/xtensor.hpp>

namespace xtl {

template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_float<Element>, xloom::small_float<Element>> : std::true_type {};
template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_int<Element>, xloom::small_int<Element>> : std::true_type {};

} // namespace xtl
