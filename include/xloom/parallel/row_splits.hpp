#pragma once
// Row splits, which say where the segments of ragged rows begin and end.

#include <array>
#include <cstdint>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI {

/// Returns the row splits of sorted segment ids, which segment_reduce and its like take.
///
///     row_splits[s] = number of ids less than s      # s = 0, ..., S
///
/// Shapes    segment_ids [N], num_segments = S; the result [S + 1].
/// Types     any integers; the result has std::int64_t.
/// Errors    shape_error: not of rank 1. index_error: an id that is outside [0, S) or less than the one
///           before it. Reductions by ids in any order are those of scatter_nd.
/// Cost      one pass over the ids, and over the result, which is allocated.
/// Source    tf.RaggedTensor.from_value_rowids; the offsets of torch.nn.EmbeddingBag, with the end.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const ids = {0, 0, 2, 2, 2};
/// xloom::row_splits_of(ids, 4); // = [0, 2, 2, 5, 5]
/// ```
template <class Ids>
auto row_splits_of(Ids const& segment_ids, std::size_t num_segments)
{
    if constexpr (detail::satisfied<detail::splits_of_rows<Ids>>()) {
        auto const [ids] = detail::evaluated_inputs(std::tie(segment_ids));
        return detail::splits_of_ids("xloom::row_splits_of", ids, num_segments);
    } else {
        return detail::owned_splits(); // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
