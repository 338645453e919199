#pragma once
// The GatherND operator: gathers the slices that indices name.

#include <xloom/detail/check/gather_nd.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// Returns the slices of data that indices name.
///
///     for i in ndindex(indices.shape[:-1]):
///         output[i] = data[i[:b] + indices[i]]                    # b = batch_dims
///
/// Shapes    data [d0 .. d(r-1)], indices [i0 .. i(q-2), k], the first b axes of equal lengths; q, r >= 1, b
///           < min(q, r), b + k <= r. The output is indices.shape[:-1] ++ data.shape[b + k:]: an xt::xarray,
///           with gather_nd<Rank> an xt::xtensor of that rank; for your own container one of its family, with
///           gather_nd<Rank> if its rank is static. Any layout, lazy expressions too.
/// Types     data of any type, indices of any integer type. A negative index counts from the end of its axis.
/// Options   batch_dims (0). bounds (check); with drop, dropped slices are T{}.
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error, option_error, index_error (up to four offending positions and values).
/// Cost      indices and the indexed slices read, the output written once; a copy of indices that are not
///           row-major.
/// Differs   from ONNX: k = 0 is valid, and gives a whole batch entry for each empty tuple.
/// Source    ONNX GatherND-11 to 13; infer_gather_nd has ONNX's own shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const data = {{1, 2}, {3, 4}};
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xloom::gather_nd(data, rows); // = [[3, 4], [1, 2], [3, 4]]
/// xloom::gather_nd<1>(data, xt::xtensor<int, 2>{{0, 1}, {1, 0}}); // = [2, 3]
/// ```
template <std::size_t Rank = dynamic_rank, class Data, class Indices, class Options = gather_nd_options,
    class... Env>
auto gather_nd(Data const& data, Indices const& indices, Options&& options = {}, Env&&... env)
{
    constexpr std::size_t index_rank = detail::static_rank<Indices>;
    constexpr std::size_t front_rank =
        index_rank == 0 || index_rank == dynamic_rank ? dynamic_rank : index_rank - 1;
    constexpr std::size_t rank = detail::result_rank<Rank, Data, front_rank>;
    if constexpr (detail::satisfied<detail::options_and_policy<gather_nd_options, Options, Env...>,
                      detail::readable<Data>, detail::integer_indices<Indices>,
                      detail::rank_of_result<rank, Data>>())
        return detail::gather<rank, detail::check_gather_nd>("xloom::gather_nd", data, indices,
            detail::options_of<gather_nd_options>(options), detail::policy_of(options, env...));
    else
        return detail::to_owned(data); // a value, so that one mistake gives one error
}

/// Returns the shape of gather_nd's output for data and indices of these shapes: the shape that
/// gather_nd_into's output must have.
///
/// Errors    shape_error and option_error, as gather_nd.
/// Source    ONNX GatherND-13.
/// Example
/// ```cpp
/// xloom::gather_nd_shape({2, 3}, {5, 1}); // = [5, 3]
/// ```
constexpr shape gather_nd_shape(
    shape const& data, shape const& indices, gather_nd_options const& options = {})
{
    return detail::check_gather_nd("xloom::gather_nd", data, indices, options).values;
}

/// Gathers slices of data into the caller's output, of any layout; with bounds::drop, dropped slices keep
/// their values.
///
/// Errors    as gather_nd, before the first write; shape_error: another shape of output. overlap_error:
///           output shares memory with data or indices, or its items share memory with each other.
/// Cost      as gather_nd, and another pass over the indices with bounds::check.
/// Real time on one thread, of row-major operands, after a call of the same sizes.
template <class Data, class Indices, class Output, class Options = gather_nd_options, class... Env>
void gather_nd_into(
    Data const& data, Indices const& indices, Output&& output, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<gather_nd_options, Options, Env...>,
                      detail::readable<Data>, detail::integer_indices<Indices>,
                      detail::written_tensor<Output>, detail::output_of_items<Data, Output>>())
        detail::gather_into<detail::check_gather_nd>("xloom::gather_nd_into", detail::gather_nd_shape_rule,
            data, indices, output, detail::options_of<gather_nd_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
