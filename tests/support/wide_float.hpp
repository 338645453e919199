#pragma once
// A floating-point type in which a test computes what it compares a float or a double with.

#include <cfloat>

#if LDBL_MANT_DIG == DBL_MANT_DIG
#include <type_traits>

#include <boost/multiprecision/cpp_bin_float.hpp>

/// long double is no wider than double here.
template <class T>
using wide_float = std::conditional_t<std::is_same_v<T, float>, double,
    boost::multiprecision::cpp_bin_float_double_extended>;
#else
template <class T>
using wide_float = long double;
#endif
