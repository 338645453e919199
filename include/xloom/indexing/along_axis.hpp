#pragma once
// NumPy's take_along_axis and put_along_axis: items by their indices along one axis, broadcast along the
// others.

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Returns a view of items in which axes of length 1 are repeated. The axis that is indexed keeps its length.
template <class T>
strided_items<T> repeated_along(T* items, strided_layout layout, indexed_shape const& to)
{
    for (std::size_t k = 0; k < layout.dims.size(); ++k)
        if (k != to.first && layout.dims[k] != to.values[k]) {
            layout.dims[k] = to.values[k];
            layout.strides[k] = 0;
        }
    return {items, layout};
}

} // namespace detail

/// Returns the items of x that indices name along one axis; the other axes keep their positions.
///
///     output[o, i, n] = x[o, indices[o, i, n], n]
///
/// Shapes    x and indices of one rank >= 1; along every axis but the indexed one they are equally long, or
///           one of them is 1 and repeated. The output has the lengths of both together, and the family and
///           rank of x. Any layout, lazy expressions too.
/// Types     x of any type, indices of any integer type. A negative index counts from the end of the axis.
/// Options   axis (-1, the last). bounds (check); with drop, dropped items are T{}.
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error, option_error, index_error (up to four offending positions, after
///           broadcasting, and values).
/// Cost      as gather_elements; a copy of indices that are repeated.
/// Differs   from NumPy: there is no axis=None; flatten x.
/// Source    numpy.take_along_axis.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{10, 30, 20}, {60, 40, 50}};
/// xt::xtensor<int, 2> const order = {{0, 2, 1}, {1, 2, 0}};
/// xloom::take_along_axis(x, order); // = [[10, 20, 30], [40, 50, 60]]
/// xloom::take_along_axis(x, xt::xtensor<int, 2>{{-1}}); // = [[20], [50]]
/// ```
template <class X, class Indices, class Options = along_axis_options, class... Env>
auto take_along_axis(X const& x, Indices const& indices, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (!satisfied<options_and_policy<along_axis_options, Options, Env...>, readable<X>,
                      integer_indices<Indices>>()) {
        return detail::to_owned(x); // a value, so that one mistake gives one error
    } else {
        using T = item_t<X>;
        static constexpr std::string_view op = "xloom::take_along_axis";
        auto const& given = detail::options_of<along_axis_options>(options);
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(x, indices));
        check_rank(op, "x", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        strided_layout const layout = detail::layout_of(source),
                             index_layout = detail::layout_of_operand(index_tensor);
        indexed_shape const indexed = check_along_axis(op, layout.dims, index_layout.dims, given, sizeof(T));
        auto const items = detail::repeated_along<T const>(detail::first_of_items(source), layout, indexed);
        auto const index_items = detail::repeated_along<item_t<Indices> const>(
            detail::first_of_items(index_tensor), index_layout, indexed);
        slice_index const index(
            {op, "x"}, items.layout.dims, index_items, indexed, given.bounds, index_check_of_copy<X>);
        return detail::gathered<enable_tensor<owned_t<X>>::rank, X>(
            op, index, indexed.values, [&](T* output) {
                detail::gather_slices(index, items, output, detail::policy_of(options, env...));
            });
    }
}

/// Writes values to the items of x that indices name along one axis, in place.
///
///     x[o, indices[o, i, n], n] = values[o, i, n]
///
/// Shapes    x and indices as in take_along_axis; x is the caller's variable, or a view of one, of any
///           layout. values of a shape that broadcasts to that of take_along_axis' output, or a number.
/// Types     x and values of one type, any; a number may be one of another type with a value that both types
///           have.
/// Options   axis (-1, the last). bounds (check).
/// Policy    as scatter_elements.
/// Errors    before the first write, as take_along_axis; type_error (of a number); overlap_error: x shares
///           memory with indices or values, or its items with each other.
/// Order     row-major: of several values of an item the last one is written.
/// Cost      as scatter_elements_into with broadcast(values); a copy of indices that are repeated.
/// Source    numpy.put_along_axis.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> x = {{10, 30, 20}, {60, 40, 50}};
/// xloom::put_along_axis(x, xt::xtensor<int, 2>{{1}, {0}}, 99);
/// x; // = [[10, 99, 20], [99, 40, 50]]
/// ```
template <class X, class Indices, class Values, class Options = along_axis_options, class... Env>
void put_along_axis(X&& x, Indices const& indices, Values const& values, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (satisfied<options_and_policy<along_axis_options, Options, Env...>, written_tensor<X>,
                      integer_indices<Indices>, updates_of<X, broadcast_operand<Values>>>()) {
        using T = item_t<X>;
        static constexpr indexed_names op = {"xloom::put_along_axis", "x", "values"};
        auto const& given = detail::options_of<along_axis_options>(options);
        auto const marked = xloom::broadcast(values);
        auto const& operand = detail::operand_of<T>(op, marked);
        auto const inputs = detail::evaluated_inputs(std::tie(indices, operand));
        auto const& index_tensor = std::get<0>(inputs);
        auto const& value_tensor = std::get<1>(inputs); // clang 14 captures no structured binding
        check_rank(op, "x", detail::rank_of(x));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, "values", detail::rank_of(value_tensor));
        strided_layout const layout = detail::layout_of(x),
                             index_layout = detail::layout_of_operand(index_tensor);
        indexed_shape const indexed = check_along_axis(op, layout.dims, index_layout.dims, given, sizeof(T));
        check_values(op, detail::shape_of(value_tensor), indexed.values);
        auto const items = detail::repeated_along<T>(detail::first_of_items(x), layout, indexed);
        auto const index_items = detail::repeated_along<item_t<Indices> const>(
            detail::first_of_items(index_tensor), index_layout, indexed);
        check_scatter_overlap(
            op, detail::memory_of(x), detail::memory_of(index_tensor), detail::memory_of(value_tensor));
        check_scattered_sizes(op, items.layout.dims, indexed.values);
        slice_index const index(op, items.layout.dims, index_items, indexed, given.bounds);
        detail::with_updates<true>(
            value_tensor, indexed.values, indexed.values.size(), [&](auto const& updates) {
                detail::run_scatter(index, updates, {{.bounds = given.bounds}}, items, reduce_none,
                    detail::policy_of(options, env...));
            });
    }
}

} // namespace xloom::inline XLOOM_ABI
