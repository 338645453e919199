#pragma once
// The ScatterElements operator: writes updates to, or reduces them into, items that indices name along one
// axis.

#include <utility>

#include <xloom/detail/indexed/axis_scatter_call.hpp>
#include <xloom/detail/indexed/elements_types.hpp>
#include <xloom/detail/indexed/scatter.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <bool InPlace, class Data, class Indices, class Updates, class Reduce, class Policy>
auto scatter_elements(std::string_view op, Data&& data, Indices const& indices, Updates const& updates,
    Reduce& reduce, scatter_elements_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_scatter_elements<InPlace, Data, Indices, Updates, Reduce, Policy>())
        return owned_t<Data>(data); // a value, so that one mistake gives one error
    else
        return scatter<InPlace, scatter_elements_call>(op, std::forward<Data>(data), indices, updates, reduce,
            common_options(options), policy, options.axis);
}

/// An argument before the options: a reduction, or a mistake.
template <class F>
concept not_elements_options = !std::is_same_v<bare<F>, scatter_elements_options>;

inline constexpr std::string_view scatter_elements_name = "xloom::scatter_elements",
                                  scatter_elements_into_name = "xloom::scatter_elements_into";

} // namespace detail

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
/// Reduce    as scatter_nd: instead of options.reduction a reduction, or any callable.
/// Policy    serial, or one with threads (tbb_policy), as scatter_nd for single items.
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
/// xloom::scatter_elements(x, indices, updates, add, {.axis = 1}); // = [[31, 2, 3], [4, 45, 36]]
/// xloom::scatter_elements(x, indices, xloom::broadcast(0), {.axis = 1}); // = [[0, 2, 3], [4, 0, 0]]
/// ```
template <class Data, class Indices, class Updates, class Policy = serial_policy>
auto scatter_elements(Data&& data, Indices const& indices, Updates const& updates,
    scatter_elements_options const& options = {}, Policy const& policy = {})
{
    return detail::scatter_elements<false>(detail::scatter_elements_name, std::forward<Data>(data), indices,
        updates, options.reduction, options, policy);
}

/// Runs scatter_elements with a callable as the reduction.
template <class Data, class Indices, class Updates, detail::not_elements_options Reduce,
    class Policy = serial_policy>
auto scatter_elements(Data&& data, Indices const& indices, Updates const& updates, Reduce&& reduce,
    scatter_elements_options const& options = {}, Policy const& policy = {})
{
    return detail::scatter_elements<false>(
        detail::scatter_elements_name, std::forward<Data>(data), indices, updates, reduce, options, policy);
}

/// Rejects a policy in the place of the options, with the error of one in the place of the reduction.
template <class Data, class Indices, class Updates, detail::not_elements_options Reduce,
    execution_policy Policy>
auto scatter_elements(Data&&, Indices const&, Updates const&, Reduce const&, Policy const&,
    scatter_elements_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_elements<false, Data, Indices, Updates, Policy, Policy>());
    return detail::owned_t<Data>();
}

/// Runs ScatterElements in place: data is the caller's variable, or a view of one, of any layout.
///
/// Errors    as scatter_elements, before the first write; overlap_error also if items of data share memory,
///           as in a broadcast view. After an exception of a callable, data is left as by scatter_nd_into.
/// Cost      as scatter_elements without the copy of data; nothing else is allocated.
/// Aliasing  data must share no memory with indices or updates.
template <class Data, class Indices, class Updates, class Policy = serial_policy>
void scatter_elements_into(Data&& data, Indices const& indices, Updates const& updates,
    scatter_elements_options const& options = {}, Policy const& policy = {})
{
    detail::scatter_elements<true>(detail::scatter_elements_into_name, std::forward<Data>(data), indices,
        updates, options.reduction, options, policy);
}

/// Runs scatter_elements_into with a callable as the reduction.
template <class Data, class Indices, class Updates, detail::not_elements_options Reduce,
    class Policy = serial_policy>
void scatter_elements_into(Data&& data, Indices const& indices, Updates const& updates, Reduce&& reduce,
    scatter_elements_options const& options = {}, Policy const& policy = {})
{
    detail::scatter_elements<true>(detail::scatter_elements_into_name, std::forward<Data>(data), indices,
        updates, reduce, options, policy);
}

/// Rejects a policy in the place of the options, with the error of one in the place of the reduction.
template <class Data, class Indices, class Updates, detail::not_elements_options Reduce,
    execution_policy Policy>
void scatter_elements_into(Data&&, Indices const&, Updates const&, Reduce const&, Policy const&,
    scatter_elements_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_elements<true, Data, Indices, Updates, Policy, Policy>());
}

} // namespace xloom::inline XLOOM_ABI
