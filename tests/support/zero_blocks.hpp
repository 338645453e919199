#pragma once
// Matrices of which blocks of 8 outputs and 4 inputs are zeros.

#include <cstddef>
#include <random>

/// Makes zeros of blocks of a matrix, but of about `density` of them: at(row, column) is an item, and each
/// block has height x width items.
template <class At>
void zero_blocks(std::mt19937& random, double density, std::size_t rows, std::size_t columns,
    std::size_t height, std::size_t width, At const& at)
{
    std::uniform_real_distribution<double> draw(0, 1);
    for (std::size_t row = 0; row < rows; row += height)
        for (std::size_t column = 0; column < columns; column += width)
            if (draw(random) >= density)
                for (std::size_t i = row; i < row + height && i < rows; ++i)
                    for (std::size_t j = column; j < column + width && j < columns; ++j)
                        at(i, j) = 0;
}

/// Makes zeros of blocks of weights [D, rows, columns], whose outputs are their rows.
template <class Array>
void zero_blocks(std::mt19937& random, double density, Array& weights)
{
    std::size_t const columns = weights.shape[2];
    zero_blocks(random, density, weights.shape[0] * weights.shape[1], columns, 8, 4,
        [&](std::size_t i, std::size_t j) -> float& { return weights.items[i * columns + j]; });
}
