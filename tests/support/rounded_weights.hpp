#pragma once
// The weights that a storage keeps, by its definition.

#include <cstddef>

#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/weight_storage.hpp>

#include "textbook_nd.hpp"
#include "textbook_quantized.hpp"

namespace textbook {

/// True for storages that keep integers of 8 bits and scales.
inline bool is_8_bits(xloom::weight_storage storage)
{
    using enum xloom::weight_storage;
    return storage == int8 || storage == dynamic_int8 || storage == block_sparse_int8;
}

inline float round_to(xloom::weight_storage storage, float x)
{
    using enum xloom::weight_storage;
    switch (storage) {
    case float16:
        return static_cast<float>(xloom::float16(x));
    case bfloat16:
    case dynamic_bfloat16:
        return static_cast<float>(xloom::bfloat16(x));
    default:
        return x;
    }
}

/// Rounds a matrix [D, rows, columns] whose columns from `split` on are a matrix of their own.
inline void round_rows(xloom::weight_storage storage, array<float>& matrix, std::size_t split)
{
    if (!is_8_bits(storage)) {
        for (float& x : matrix.items)
            x = round_to(storage, x);
        return;
    }
    std::size_t const columns = matrix.shape[2];
    for (std::size_t first = 0; first < matrix.items.size(); first += columns) {
        round_to_8_bits(&matrix.items[first], split, 1);
        if (split < columns)
            round_to_8_bits(&matrix.items[first + split], columns - split, 1);
    }
}

} // namespace textbook
