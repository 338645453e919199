#pragma once
// The GatherElements operator: gathers items by their indices along one axis.

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// Returns the items of data that indices name along one axis; the other axes keep their positions.
///
///     for i in ndindex(indices.shape):
///         j = i
///         j[axis] = indices[i]
///         output[i] = data[j]
///
/// Shapes    data [d0 .. d(r-1)], r >= 1, and indices of the same rank, no longer than data along any axis
///           but the indexed one; the output has the shape of indices. It is a container of data's family and
///           rank. Any layout, lazy expressions too.
/// Types     data of any type, indices of any integer type. A negative index counts from the end of the axis.
/// Options   axis (0; negative: from the back). bounds (check); with drop, dropped items are T{}.
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error, option_error, index_error (up to four offending positions and values).
/// Cost      indices and the indexed items read, the output written once; a copy of indices that are not
///           row-major.
/// Source    ONNX GatherElements-11 to 13; infer_gather_elements has ONNX's own shape rule. PyTorch's gather.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const data = {{1, 2, 3}, {4, 5, 6}};
/// xloom::gather_elements(data, xt::xtensor<int, 2>{{1, 0, 1}}); // = [[4, 2, 6]]
/// xloom::gather_elements(data, xt::xtensor<int, 2>{{2, 0}, {-1, 1}}, {.axis = 1}); // = [[3, 1], [6, 5]]
/// ```
template <class Data, class Indices, class Options = gather_elements_options, class... Env>
auto gather_elements(Data const& data, Indices const& indices, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<gather_elements_options, Options, Env...>,
                      detail::readable<Data>, detail::integer_indices<Indices>>())
        return detail::gather<enable_tensor<detail::owned_t<Data>>::rank, detail::check_gather_elements>(
            "xloom::gather_elements", data, indices, detail::options_of<gather_elements_options>(options),
            detail::policy_of(options, env...));
    else
        return detail::to_owned(data); // a value, so that one mistake gives one error
}

/// Gathers items of data into the caller's output, of any layout; with bounds::drop, dropped items keep their
/// values.
///
/// Errors    as gather_elements, before the first write; shape_error: another shape of output. overlap_error:
///           output shares memory with data or indices, or its items share memory with each other.
/// Cost      as gather_elements, and another pass over the indices with bounds::check.
/// Real time on one thread, of row-major operands, after a call of the same sizes.
template <class Data, class Indices, class Output, class Options = gather_elements_options, class... Env>
void gather_elements_into(
    Data const& data, Indices const& indices, Output&& output, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<gather_elements_options, Options, Env...>,
                      detail::readable<Data>, detail::integer_indices<Indices>,
                      detail::written_tensor<Output>, detail::output_of_items<Data, Output>>())
        detail::gather_into<detail::check_gather_elements>("xloom::gather_elements_into", "of indices", data,
            indices, output, detail::options_of<gather_elements_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
