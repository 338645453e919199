#pragma once
// NumPy's ufunc.at: an operation on the slices that indices name, duplicates applied in order.

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>

namespace xloom::inline XLOOM_ABI {

/// Applies an operation to the slices of x that indices name along the first axis, in place and in order:
/// np.add.at(x, indices, updates) is at(reduce_add, x, indices, updates).
///
///     for i in ndindex(indices.shape):                            # in row-major order
///         x[indices[i]] = op(x[indices[i]], updates[i])
///
/// Shapes    x [d0 .. d(r-1)], r >= 1, of any layout: the caller's variable, or a view of one; indices of any
///           rank, also a plain number; updates of a shape that broadcasts to indices.shape ++ x.shape[1:],
///           or a number. They are not written out.
/// Types     x and updates of one type, any; a number may be one of another type with a value that both types
///           have. indices of any integer type. A negative index counts from the end.
/// Operator  a reduction (reduction::add), reduce_add, reduce_mul, reduce_max, reduce_min, or any callable
///           op(old item, update item) -> new item.
/// Options   those of scatter_nd.
/// Policy    as scatter_nd.
/// Errors    before the first write, as scatter_nd_into.
/// Order     row-major: every duplicate counts.
/// Cost      as scatter_nd_into with broadcast(updates).
/// Aliasing  x must share no memory with indices or updates.
/// Differs   from NumPy: one array of indices; tuples of several are scatter_nd_into's.
/// Source    numpy.ufunc.at.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> x = {1, 2, 3};
/// xt::xtensor<int, 1> const indices = {0, 0, -1};
/// xloom::at(xloom::reduce_add, x, indices, 10);
/// x; // = [21, 2, 13]
/// xloom::at([](int old, int update) { return old - update; }, x, indices, xt::xtensor<int, 1>{1, 2, 3});
/// x; // = [18, 2, 10]
/// ```
template <class Op, class X, class Indices, class Updates, class Options = scatter_nd_options, class... Env>
void at(Op&& op, X&& x, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<scatter_nd_options, Options, Env...>,
                      detail::written_tensor<X>, detail::reduction_of<std::remove_reference_t<Op>, X>,
                      detail::integer_indices<Indices>,
                      detail::updates_of<X, detail::broadcast_operand<Updates>>>())
        detail::scatter<true>({"xloom::at", "x"}, detail::check_at, op, x, indices, xloom::broadcast(updates),
            detail::rules_with(op, detail::options_of<scatter_nd_options>(options)),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
