#pragma once
// Derivatives beside central differences.

#include <cmath>
#include <cstddef>

/// The largest difference of a tensor's derivatives from central differences, and the largest derivative.
struct derivative_check {
    double error = 0, largest = 0;
};

/// Compares the derivatives of loss() by each item of a tensor, which loss() reads.
template <class Tensor, class Derivatives, class Loss>
derivative_check check_derivatives(
    Tensor& tensor, Derivatives const& derivatives, double step, Loss const& loss)
{
    derivative_check found;
    for (std::size_t i = 0; i < tensor.size(); ++i) {
        double& item = tensor.data()[i];
        double const middle = item, derivative = derivatives.data()[i];
        item = middle + step;
        double const above = loss();
        item = middle - step;
        double const below = loss();
        item = middle;
        double const error = std::abs((above - below) / (2 * step) - derivative);
        if (!(error <= found.error) && !std::isnan(found.error))
            found.error = error; // also NaN, which stays
        found.largest = std::fmax(found.largest, std::abs(derivative));
    }
    return found;
}
