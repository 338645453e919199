#pragma once
// Support by xtensor for the element types of ONNX that C++ lacks, float16 to uint2: its where, amax, amin,
// maximum, minimum and clip accept two values of one such type.
//
// Why all_scalar and not is_scalar, on which it depends up to xtl 0.7: in xtl 0.8 it depends on
// std::is_scalar, which must not be specialised.

#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace xtl {

template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_float<Element>, xloom::small_float<Element>> : std::true_type {};
template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_int<Element>, xloom::small_int<Element>> : std::true_type {};

} // namespace xtl
