#pragma once
// The gradients of a textbook's function, by scalars that carry derivatives and by central differences.

#include <cstddef>
#include <vector>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include "textbook_nd.hpp"

using dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// The derivative by each item of each operand, one operand after the other.
using operand_gradients = std::vector<std::vector<double>>;

inline textbook::array<dual> carried(textbook::array<double> const& from)
{
    return {from.shape, std::vector<dual>(from.items.begin(), from.items.end())};
}

/// Adds the derivatives of results, each times its cotangent.
inline double weighted_sum(textbook::array<double> const& cotangents, textbook::array<dual> const& results)
{
    double sum = 0;
    for (std::size_t i = 0; i < results.items.size(); ++i)
        sum += cotangents.items[i] * results.items[i].derivative(1);
    return sum;
}

/// Returns the gradients of loss(operands), whose value is the derivative by the item that carries one.
template <class Operands, class Loss>
operand_gradients dual_gradients(Operands operands, Loss const& loss)
{
    operand_gradients all;
    Operands::for_each(operands, [&](textbook::array<dual>& operand) {
        all.emplace_back();
        for (dual& item : operand.items) {
            double const value = item.derivative(0);
            item = boost::math::differentiation::make_fvar<double, 1>(value);
            all.back().push_back(loss(operands));
            item = dual(value);
        }
    });
    return all;
}

/// Returns a dot product.
inline double weighted_sum(textbook::array<double> const& cotangents, textbook::array<double> const& results)
{
    double sum = 0;
    for (std::size_t i = 0; i < results.items.size(); ++i)
        sum += cotangents.items[i] * results.items[i];
    return sum;
}

/// Returns the gradients of loss(operands) by central differences, whose error is about 1e-9 here.
template <class Operands, class Loss>
operand_gradients central_differences(Operands operands, Loss const& loss)
{
    double const step = 1e-5;
    operand_gradients all;
    Operands::for_each(operands, [&](textbook::array<double>& operand) {
        all.emplace_back();
        for (double& item : operand.items) {
            double const value = item;
            item = value + step;
            double const after = loss(operands);
            item = value - step;
            all.back().push_back((after - loss(operands)) / (2 * step));
            item = value;
        }
    });
    return all;
}
