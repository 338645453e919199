#pragma once
// Parallel scans with an associative operator, whose results have the same bits for every number of threads.

#include <cstdint>
#include <utility>

#include <xloom/detail/core/monoid.hpp>
#include <xloom/detail/prefix/scan_run.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of associative_scan; those of ONNX CumSum.
struct associative_scan_options {
    std::int64_t axis = 0;  ///< the scanned axis; negative: from the back
    bool reverse = false;   ///< from the end of the axis: the scan of the reversed sequence, reversed
    bool exclusive = false; ///< result i combines the elements before i; the first one is the identity
};

/// Combines the elements of an axis up to each of them with an associative operator, on any number of
/// threads.
///
///     y[i] = op(...op(op(x[0], x[1]), x[2])..., x[i])          # in the order of the axis, any grouping
///     exclusive: y[0] = identity, y[i] = op(identity, x[0], ..., x[i-1])
///
/// `scan` is the serial one: it calls any body in order. Here the grouping differs, so sums of floating-point
/// numbers have other bits than those of `scan`, and smaller errors.
///
/// Operator  reduction::add, mul, max or min, or their function objects (reduce_add, ...), in SIMD for
///           numbers of 4 and 8 bytes; or any callable op(element, element) -> element; or
///           monoid{op, identity}, whose identity, or any other value, an exclusive scan begins with. It must
///           be associative, need not be commutative, and may be called by several threads at once.
/// Shapes    xs is a tensor of rank >= 1 or a std::tuple of tensors of one shape; the results have it. Any
///           layout, lazy expressions too.
/// Types     any. For a tuple of operands an element is the std::tuple of their items. Integers wrap around;
///           storage floats are rounded after each operation; the result has the element type of x.
/// Options   axis (0; negative: from the back), reverse (false), exclusive (false).
/// Policy    serial, or one with threads (thread_policy, tbb_policy). Results are bitwise equal to those of
///           serial.
/// Errors    before the first write: shape_error; option_error (a reduction without identity or that is not
///           associative; exclusive without an identity); overlap_error, std::bad_alloc. Exceptions of the
///           operator propagate; results are then unspecified.
/// Order     the grouping depends on the position in the sequence alone: not on threads, vector unit, layout
///           or what the operator is. A reverse scan is the scan of the reversed sequence, reversed.
///
///               group      16 consecutive elements (i / 16), the last one of a sequence may have fewer
///               block      256 consecutive elements (i / 256), which are 16 groups
///               tree(s)    one element: itself; else op(tree(s[:h]), tree(s[h:])), with h the largest power
///                          of two that is less than the length of s
///               P[i]       tree of the elements of i's group up to i, and i itself
///               G[g]       trees of the earlier groups of g's block, combined from the left
///               total      trees of all groups of a block, combined from the left
///               B[b]       the identity, if exclusive, and the totals of the earlier blocks, combined from
///                          the left
///               y[i]     = op(op(B, G), P[i]); exclusive: op(op(B, G), P[i-1]), and op(B, G) for the first
///                          element of a group
///
///           reduction::mul of floating-point and complex numbers: while all running products op(op(B, G), P)
///           of a block and B are in [2^-e, 2^e], e = 60 for float and 508 for double, no product of elements
///           overflows or loses digits. From the first one on that is not, the rest of the block is computed
///           in order, y[i] = op(y[i-1], x[i]), but op(op(B, G), x[i]) for that first one if it begins a
///           group; B of the next block is then the last of these. Complex products are the textbook's
///           formula, whose products are rounded. A callable that multiplies has neither rule.
///
///           An operation without a left operand does not take place. Only the sign and payload of NaN
///           are unspecified, and under flush_subnormals whether a subnormal first result becomes zero.
/// Cost      about 3 operations per element, whose latencies overlap; `scan` calls its body once. One pass
///           over x and y. Several threads on few sequences call op up to 4 times per number, and read x
///           once more from their caches; elements that are no numbers wait in y between the two passes.
/// Aliasing  see associative_scan_into.
/// Source    jax.lax.associative_scan; std::inclusive_scan, std::exclusive_scan; Sklansky 1960.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {3, 1, 4, 1, 5};
/// xloom::associative_scan(xloom::reduction::max, x); // = [3, 3, 4, 4, 5]
/// xloom::associative_scan(xloom::reduce_add, x, {.reverse = true}); // = [14, 11, 10, 6, 5]
/// auto const multiply = [](int a, int b) { return a * b; };
/// xloom::associative_scan(xloom::monoid{multiply, 1}, x, {.exclusive = true}); // = [1, 3, 3, 12, 12]
/// ```
template <class Op, class Xs, class Options = associative_scan_options, class... Env>
auto associative_scan(Op&& op, Xs const& xs, Options&& options = {}, Env&&... env)
{
    return detail::associative_scan<associative_scan_options>(
        "xloom::associative_scan", op, xs, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Runs associative_scan into the caller's results: a tensor, or std::tie of several, of the shape and the
/// element types of xs, of any layout.
///
/// Aliasing  a result may be the same tensor as an operand. Any other overlap is an overlap_error.
/// Cost      as associative_scan. Allocates nothing, except for lazy operands.
/// Real time if op is, on one thread, after a call of the same sizes. Not with lazy operands.
/// Example
/// ```cpp
/// xt::xtensor<double, 2> x = {{1, 2, 3}, {4, 5, 6}};
/// xloom::associative_scan_into(xloom::reduction::add, x, x, {.axis = -1}); // in place
/// x; // = [[1, 3, 6], [4, 9, 15]]
/// ```
template <class Op, class Xs, class Ys, class Options = associative_scan_options, class... Env>
void associative_scan_into(Op&& op, Xs const& xs, Ys&& ys, Options&& options = {}, Env&&... env)
{
    detail::associative_scan_into<associative_scan_options>("xloom::associative_scan_into", op, xs,
        std::forward<Ys>(ys), std::forward<Options>(options), std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
