#pragma once
// The items of a tensor in any layout, and their comparison.

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "placed_tensor.hpp"

/// Returns the items of a tensor in row-major order.
template <class T>
std::vector<T> items_of(placed_tensor<T> const& tensor)
{
    textbook::dims const shape(tensor.layout.dims.begin(), tensor.layout.dims.end());
    std::vector<T> items;
    for (std::size_t flat = 0; flat < textbook::size_of(shape); ++flat)
        items.push_back(tensor.memory[tensor.place_of(flat)]);
    return items;
}

/// Returns the largest magnitude, at least 1.
inline double largest(std::vector<double> const& items)
{
    double size = 1;
    for (double const item : items)
        size = std::max(size, std::abs(item));
    return size;
}

/// The tolerance is relative to the largest number: where A is positive, states grow.
template <class T>
void check_close(std::vector<T> const& found, std::vector<double> const& expected, double tolerance)
{
    REQUIRE(found.size() == expected.size());
    double const bound = tolerance * largest(expected);
    bool is_close = true;
    for (std::size_t i = 0; i < found.size(); ++i)
        is_close = is_close && std::abs(static_cast<double>(found[i]) - expected[i]) <= bound;
    CHECK(is_close);
}

/// Returns the numbers, each plus another: what a gradient holds that had it before.
inline std::vector<double> each_plus(double before, std::vector<double> numbers)
{
    for (double& each : numbers)
        each += before;
    return numbers;
}
