#pragma once
// Products by definition.

#include <complex>

namespace textbook {

/// A product that no compiler contracts with a sum.
template <class T>
T rounded(T a, T b)
{
    T volatile product = a * b;
    return product;
}
template <class T>
std::complex<T> rounded(std::complex<T> const& a, std::complex<T> const& b)
{
    return {rounded(a.real(), b.real()) - rounded(a.imag(), b.imag()),
        rounded(a.real(), b.imag()) + rounded(a.imag(), b.real())};
}

} // namespace textbook
