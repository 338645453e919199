#pragma once
// The ScatterND operator: writes updates to, or reduces them into, the slices that indices name.

#include <utility>

#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>

namespace xloom::inline XLOOM_ABI {

/// Copies data and writes updates to, or reduces them into, the slices that indices name. Data that is moved
/// in is not copied: x = scatter_nd(std::move(x), indices, updates).
///
///     output = data
///     for i in ndindex(indices.shape[:-1]):                       # in row-major order
///         output[indices[i]] = reduce(output[indices[i]], updates[i])
///
/// Shapes    data [d0 .. d(r-1)], indices [i0 .. i(q-2), k], updates exactly [i0 .. i(q-2), dk .. d(r-1)], or
///           broadcast(updates) of a shape that broadcasts to it, such as broadcast(1); q, r >= 1, 0 <= k <=
///           r; the result as data. With k = r an update is one item; a single one (q = 1) may be a plain
///           number. Any layout.
/// Types     data and updates of one type, any (a scalar in broadcast() may be another number); indices of
///           any integer type. A negative index counts from the end of its axis.
/// Options   bounds (check). duplicates (last). include_self (true). accumulate_in_float (false): if false,
///           16-bit and smaller floats are rounded after each update. unique, sorted (false): promises,
///           verified in debug builds, with which threads need not sort the updates by owner.
/// Reduce    before data; without it updates replace: a reduction chosen at run time (reduction::add), an
///           option_error if it is not defined for the type; any callable reduce(old item, update item) ->
///           new item; or reduce_add, reduce_mul, reduce_max, reduce_min, with which a type that lacks the
///           operation is a compile error. mean divides the sum of the old value and the updates by their
///           number; sums of integers are exact.
/// Policy    serial, or one with threads (thread_policy, tbb_policy). The updates of a slice are applied in
///           order, so results are bitwise equal to those of serial. Threads are used where that is faster:
///           for long slices from two on, for single items from eight on unless most updates go to a few
///           slices, or with a promise. Several threads may call a callable at once, never for the same item:
///           a long slice is split among them.
/// Errors    before the first write, with data unchanged even if moved in: shape_error, type_error (of a
///           number in broadcast()), option_error, index_error (up to four offending positions and values),
///           overlap_error, std::bad_alloc. Exceptions of a callable propagate; data that was moved in is
///           then left as by scatter_nd_into.
/// Order     row-major; with reduction::none the last of several updates of a slice takes effect (unspecified
///           in ONNX).
/// Cost      indices and updates read, the indexed slices read and written; a copy of data unless it is moved
///           in, and of operands that are not row-major, except those in broadcast(), which are read where
///           they are; another pass over the indices, except in a copy with one thread and a reduction of
///           xloom. duplicates::first, include_self = false, mean: also one count per slice;
///           duplicates::error, and unique in debug builds: one integer per slice, or two per update where
///           updates are few. For slices >= 1 KiB and data >= 1 MiB, copy and updates, unless these are
///           broadcast, may be fused: one more pass over indices and one allocation of an integer per slice
///           and update. accumulate_in_float: also a float per item; the mean of integers
///           two of 4 bytes, of 64-bit ones two of 8. Threads: at most 128 KiB each.
/// Aliasing  data that is moved in must share no memory with indices or updates.
/// Source    ONNX ScatterND-11 to 18; infer_scatter_nd has ONNX's own shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> x = {1, 2, 3};
/// xt::xtensor<int, 2> const indices = {{2}, {0}, {2}};
/// xt::xtensor<int, 1> const updates = {10, 20, 30};
/// xloom::scatter_nd(x, indices, updates); // = [20, 2, 30]
/// xloom::scatter_nd(xloom::reduction::add, x, indices, updates); // = [21, 2, 43]
/// x = xloom::scatter_nd(xloom::reduce_max, std::move(x), indices, updates); // in place
/// x; // = [20, 2, 30]
/// ```
template <class Data, class Indices, class Updates, class Options = scatter_nd_options, class... Env>
    requires detail::begins_with_data<Data, Options, scatter_nd_options>
auto scatter_nd(
    Data&& data, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    return detail::call_scatter<false, scatter_nd_options>("xloom::scatter_nd", detail::check_scatter_nd,
        reduce_none, std::forward<Data>(data), indices, updates, options, env...);
}

/// Runs scatter_nd with a reduction.
template <class Reduce, class Data, class Indices, class Updates, class Options = scatter_nd_options,
    class... Env>
    requires(!detail::begins_with_data<Reduce, Updates, scatter_nd_options>)
auto scatter_nd(Reduce&& reduce, Data&& data, Indices const& indices, Updates const& updates,
    Options&& options = {}, Env&&... env)
{
    return detail::call_scatter<false, scatter_nd_options>("xloom::scatter_nd", detail::check_scatter_nd,
        reduce, std::forward<Data>(data), indices, updates, options, env...);
}

/// Runs ScatterND in place: data is the caller's variable, or a view of one, of any layout.
///
/// Errors    as scatter_nd, before the first write; overlap_error also if items of data share memory, as in a
///           broadcast view. After an exception of a callable, data holds the values written so far (none, if
///           updates are counted in a copy of data that is not row-major; an item that the callable took by
///           value may be moved-from).
/// Cost      as scatter_nd without the copy of data; nothing else is allocated.
/// Real time on one thread, of row-major operands, unless an option or the mean counts updates, after a call
///           of the same sizes.
/// Aliasing  data must share no memory with indices or updates.
template <class Data, class Indices, class Updates, class Options = scatter_nd_options, class... Env>
    requires detail::begins_with_data<Data, Options, scatter_nd_options>
void scatter_nd_into(
    Data&& data, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    detail::call_scatter<true, scatter_nd_options>("xloom::scatter_nd_into", detail::check_scatter_nd,
        reduce_none, std::forward<Data>(data), indices, updates, options, env...);
}

/// Runs scatter_nd_into with a reduction.
template <class Reduce, class Data, class Indices, class Updates, class Options = scatter_nd_options,
    class... Env>
    requires(!detail::begins_with_data<Reduce, Updates, scatter_nd_options>)
void scatter_nd_into(Reduce&& reduce, Data&& data, Indices const& indices, Updates const& updates,
    Options&& options = {}, Env&&... env)
{
    detail::call_scatter<true, scatter_nd_options>("xloom::scatter_nd_into", detail::check_scatter_nd, reduce,
        std::forward<Data>(data), indices, updates, options, env...);
}

} // namespace xloom::inline XLOOM_ABI
