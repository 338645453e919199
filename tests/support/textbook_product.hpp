#pragma once

#include <cstddef>

#include <xloom/detail/tensor/xtensor.hpp>

namespace textbook {

/// bias[j] + sum over k of a[k] B[k, j], in float64, for a row a of a matrix and column j of B [K, J].
template <class T>
double product(T const* a, xt::xtensor<T, 2> const& B, xt::xtensor<T, 1> const& bias, std::size_t j)
{
    std::size_t const K = B.shape(0), J = B.shape(1);
    double sum = static_cast<double>(bias(j));
    for (std::size_t k = 0; k < K; ++k)
        sum += static_cast<double>(a[k]) * static_cast<double>(B.data()[k * J + j]);
    return sum;
}

} // namespace textbook
