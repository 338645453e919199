#pragma once
// What the textbook's recurrent operators have in common: activations in float64, the order of the steps,
// operands cut into rows.
//
// Dimensions: T steps, N batch rows, D directions, I input, H hidden. An operand that is absent is an array
// without a shape.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <xloom/detail/core/activation.hpp>

#include "textbook_nd.hpp"

namespace textbook {

inline constexpr double no_clip = std::numeric_limits<double>::infinity();

inline std::vector<double> softmax(std::vector<double> values)
{
    double largest = -std::numeric_limits<double>::infinity();
    for (double const value : values)
        largest = std::max(largest, value);
    double sum = 0;
    for (double& value : values) {
        value = std::exp(value - largest);
        sum += value;
    }
    for (double& value : values)
        value /= sum;
    return values;
}

/// Those of ONNX's activations that look at one number. NaN stays NaN: no comparison with it is true.
inline double activated(xloom::activation_function const& function, double x)
{
    double const alpha = function.alpha;
    double const beta = function.beta;
    switch (function.kind) {
    case xloom::activation::relu:
        return x < 0 ? 0 : x;
    case xloom::activation::tanh:
        return std::tanh(x);
    case xloom::activation::sigmoid:
        return 1 / (1 + std::exp(-x));
    case xloom::activation::affine:
        return alpha * x + beta;
    case xloom::activation::leaky_relu:
        return x < 0 ? alpha * x : x;
    case xloom::activation::thresholded_relu:
        return x < alpha ? 0 : x;
    case xloom::activation::scaled_tanh:
        return alpha * std::tanh(beta * x);
    case xloom::activation::hard_sigmoid: {
        double const line = alpha * x + beta;
        return line < 0 ? 0 : line > 1 ? 1 : line;
    }
    case xloom::activation::elu:
        return x < 0 ? alpha * std::expm1(x) : x;
    case xloom::activation::softsign:
        return x / (1 + std::fabs(x));
    case xloom::activation::softplus: // log(1 + e^x), whose e^x may be too large
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case xloom::activation::softmax:
        break;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

/// An activation of the H units of a row.
inline std::vector<double> activated(xloom::activation_function const& function, std::vector<double> row)
{
    if (function.kind == xloom::activation::softmax)
        return softmax(row);
    for (double& x : row)
        x = activated(function, x);
    return row;
}

inline std::vector<double> clipped(std::vector<double> row, double clip)
{
    for (double& x : row)
        x = x < -clip ? -clip : x > clip ? clip : x;
    return row;
}

/// sum_k matrix[row, k] x[k], row-major.
inline double dot(std::vector<double> const& matrix, std::size_t row, std::vector<double> const& x)
{
    return std::inner_product(x.data(), x.data() + x.size(), matrix.data() + row * x.size(), 0.0);
}

template <class T>
bool is_absent(array<T> const& operand)
{
    return operand.shape.empty();
}

/// Row number `number` of an operand whose rows have `size` items; zeros if it is absent.
template <class T>
std::vector<double> row_of(array<T> const& operand, std::size_t number, std::size_t size)
{
    std::vector<double> row(size);
    if (!is_absent(operand))
        for (std::size_t k = 0; k < size; ++k)
            row[k] = static_cast<double>(operand.items.at(number * size + k));
    return row;
}

inline void put_row(array<double>& result, std::size_t number, std::vector<double> const& row)
{
    for (std::size_t k = 0; k < row.size(); ++k)
        result.items.at(number * row.size() + k) = row[k];
}

inline array<double> zeros(dims const& shape) { return {shape, std::vector<double>(size_of(shape))}; }

/// The number of positions before an axis, on it and after it.
inline std::array<std::size_t, 3> around(std::size_t axis, dims const& shape)
{
    auto const at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    return {size_of(dims(shape.begin(), at)), *at, size_of(dims(at + 1, shape.end()))};
}

/// Appends `count` items of an array from one on.
template <class T>
void append_items(array<T>& to, array<T> const& from, std::size_t first, std::size_t count)
{
    auto const begin = from.items.begin() + static_cast<std::ptrdiff_t>(first);
    to.items.insert(to.items.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}

/// The array with this axis as its first. From layout 1 to layout 0 and back: X [N, T, I] and [T, N, I], Y_h
/// [N, D, H] and [D, N, H] by axis 1, Y [T, D, N, H] to [N, T, D, H] by axis 2.
template <class T>
array<T> axis_to_front(array<T> const& from, std::size_t axis)
{
    if (is_absent(from))
        return from;
    dims shape = from.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.begin(), from.shape[axis]);
    array<T> to{shape, {}};
    auto const [outer, length, inner] = around(axis, from.shape);
    for (std::size_t k = 0; k < length; ++k)
        for (std::size_t o = 0; o < outer; ++o)
            append_items(to, from, (o * length + k) * inner, inner);
    return to;
}

/// Items [begin, end) of an axis.
template <class T>
array<T> part_of(array<T> const& from, std::size_t axis, std::size_t begin, std::size_t end)
{
    if (is_absent(from))
        return from;
    array<T> to{from.shape, {}};
    to.shape[axis] = end - begin;
    auto const [outer, length, inner] = around(axis, from.shape);
    for (std::size_t o = 0; o < outer; ++o)
        append_items(to, from, (o * length + begin) * inner, (end - begin) * inner);
    return to;
}

/// The length of batch row n: all T steps without sequence_lens.
inline std::size_t length_of(std::vector<std::int32_t> const& lens, std::size_t n, std::size_t T)
{
    return lens.empty() ? T : static_cast<std::size_t>(lens[n]);
}

/// The steps of a row in the order in which direction d reads them: reverse reverses the row's own first
/// `length` steps.
inline std::vector<std::size_t> steps_of(std::string const& direction, std::size_t d, std::size_t length)
{
    bool const reverse = direction == "reverse" || (direction == "bidirectional" && d == 1);
    std::vector<std::size_t> steps;
    for (std::size_t s = 0; s < length; ++s)
        steps.push_back(reverse ? length - 1 - s : s);
    return steps;
}

/// Activation number `which` of the `count` that each direction has.
inline xloom::activation_function activation_of(std::vector<xloom::activation_function> const& activations,
    std::size_t d, std::size_t which, std::size_t count, xloom::activation otherwise)
{
    return activations.empty() ? xloom::activation_function{otherwise} : activations.at(d * count + which);
}

} // namespace textbook
