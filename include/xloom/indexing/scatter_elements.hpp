#pragma once
// The ScatterElements operator: writes updates to, or reduces them into, items that indices name along one
// axis.

#include <utility>

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of scatter_elements.
struct scatter_elements_options {
    std::int64_t axis = 0; ///< the axis of data that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last; ///< `error` is valid with every reduction
    bool include_self = true;         ///< false: the first update of an item replaces its old value
    bool accumulate_in_float = false; ///< storage floats are rounded once, at the end, not after each update
    bool unique = false;              ///< the caller guarantees that no item is indexed twice
    bool sorted = false;              ///< the caller guarantees that the items are in row-major order
};

/// Copies data and writes updates to, or reduces them into, the items that indices name along one axis; the
/// other axes keep their positions. Data that is moved in is not copied.
///
///     output = data
///     for i in ndindex(indices.shape):                            # in row-major order
///         j = i
///         j[axis] = indices[i]
///         output[j] = reduce(output[j], updates[i])
///
/// Shapes    data [d0 .. d(r-1)], r >= 1, and indices of the same rank, no longer than data along any axis
///           but the indexed one; updates of the shape of indices, or broadcast(updates) of a shape that
///           broadcasts to it; the result as data. Any layout.
/// Types     as scatter_nd.
/// Options   axis (0; negative: from the back); the others as in scatter_nd, for single items.
/// Reduce    before data, as scatter_nd: a reduction, or any callable.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), as scatter_nd for single items.
/// Errors    before the first write, as scatter_nd; shape_error also of an axis out of range.
/// Order     row-major; with reduction::none the last of several updates of an item takes effect (unspecified
///           in ONNX).
/// Cost      as scatter_nd for single items.
/// Aliasing  data that is moved in must share no memory with indices or updates.
/// Source    ONNX ScatterElements-11 to 18, Scatter-9; infer_scatter_elements has ONNX's own shape rule.
///           PyTorch's scatter and scatter_reduce.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<int, 2> const indices = {{0, 0}, {-1, 1}};
/// xt::xtensor<int, 2> const updates = {{10, 20}, {30, 40}};
/// xloom::scatter_elements(x, indices, updates, {.axis = 1}); // = [[20, 2, 3], [4, 40, 30]]
/// auto const add = xloom::reduce_add;
/// xloom::scatter_elements(add, x, indices, updates, {.axis = 1}); // = [[31, 2, 3], [4, 45, 36]]
/// xloom::scatter_elements(x, indices, xloom::broadcast(0), {.axis = 1}); // = [[0, 2, 3], [4, 0, 0]]
/// ```
template <class Data, class Indices, class Updates, class Options = scatter_elements_options, class... Env>
    requires detail::begins_with_data<Data, Options, scatter_elements_options>
auto scatter_elements(
    Data&& data, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    return detail::call_scatter<false, scatter_elements_options>("xloom::scatter_elements",
        detail::check_scatter_elements, reduce_none, std::forward<Data>(data), indices, updates, options,
        env...);
}

/// Runs scatter_elements with a reduction.
template <class Reduce, class Data, class Indices, class Updates, class Options = scatter_elements_options,
    class... Env>
    requires(!detail::begins_with_data<Reduce, Updates, scatter_elements_options>)
auto scatter_elements(Reduce&& reduce, Data&& data, Indices const& indices, Updates const& updates,
    Options&& options = {}, Env&&... env)
{
    return detail::call_scatter<false, scatter_elements_options>("xloom::scatter_elements",
        detail::check_scatter_elements, reduce, std::forward<Data>(data), indices, updates, options, env...);
}

/// Runs ScatterElements in place: data is the caller's variable, or a view of one, of any layout.
///
/// Errors    as scatter_elements, before the first write; overlap_error also if items of data share memory,
///           as in a broadcast view. After an exception of a callable, data is left as by scatter_nd_into.
/// Cost      as scatter_elements without the copy of data; nothing else is allocated.
/// Real time on one thread, of row-major operands, unless an option or the mean counts updates, after a call
///           of the same sizes.
/// Aliasing  data must share no memory with indices or updates.
template <class Data, class Indices, class Updates, class Options = scatter_elements_options, class... Env>
    requires detail::begins_with_data<Data, Options, scatter_elements_options>
void scatter_elements_into(
    Data&& data, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    detail::call_scatter<true, scatter_elements_options>("xloom::scatter_elements_into",
        detail::check_scatter_elements, reduce_none, std::forward<Data>(data), indices, updates, options,
        env...);
}

/// Runs scatter_elements_into with a reduction.
template <class Reduce, class Data, class Indices, class Updates, class Options = scatter_elements_options,
    class... Env>
    requires(!detail::begins_with_data<Reduce, Updates, scatter_elements_options>)
void scatter_elements_into(Reduce&& reduce, Data&& data, Indices const& indices, Updates const& updates,
    Options&& options = {}, Env&&... env)
{
    detail::call_scatter<true, scatter_elements_options>("xloom::scatter_elements_into",
        detail::check_scatter_elements, reduce, std::forward<Data>(data), indices, updates, options, env...);
}

} // namespace xloom::inline XLOOM_ABI
