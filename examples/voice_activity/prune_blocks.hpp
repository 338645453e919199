#pragma once
// Block-sparse recurrent weights of a network that was not trained for them.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <xtensor/xtensor.hpp>

/// Makes zeros of the blocks of 8 rows and 4 columns of each matrix of R [D, rows, columns] whose sums of
/// squares are the smallest, and keeps a share `density` of the blocks: what weight_storage::block_sparse
/// leaves out. Requires 0 <= density <= 1.
inline void prune_blocks(xt::xtensor<float, 3>& R, double density)
{
    struct block {
        std::size_t row, column;
        float squares;
    };
    for (std::size_t d = 0; d < R.shape(0); ++d) {
        auto const for_each_item = [&](block const& of, auto const& f) {
            for (std::size_t i = of.row; i < std::min(of.row + 8, R.shape(1)); ++i)
                for (std::size_t j = of.column; j < std::min(of.column + 4, R.shape(2)); ++j)
                    f(R(d, i, j));
        };
        std::vector<block> blocks;
        for (std::size_t row = 0; row < R.shape(1); row += 8)
            for (std::size_t column = 0; column < R.shape(2); column += 4) {
                block next{row, column, 0};
                for_each_item(next, [&](float item) { next.squares += item * item; });
                blocks.push_back(next);
            }
        std::ranges::sort(blocks, {}, &block::squares);
        blocks.resize(static_cast<std::size_t>((1 - density) * static_cast<double>(blocks.size())));
        for (block const& small : blocks)
            for_each_item(small, [](float& item) { item = 0; });
    }
}
