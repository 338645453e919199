#pragma once
// NumPy's take and compress: slices of an axis by their indices, or by a mask.

#include <cstdint>
#include <optional>
#include <vector>

#include <xloom/detail/indexed/gather_result.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/result_types.hpp>
#include <xloom/detail/indexed/take_call.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/indexing/take_options.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if the types of a call of take<Rank> are valid, otherwise a compile-time error of one sentence.
template <std::size_t Rank, class X, class Indices, class Policy>
consteval bool is_valid_take()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::take: the arguments are take(x, indices[, options][, policy])");
    else if constexpr (!tensor<X> && !lazy<X>)
        static_assert(never<X>, "xloom::take: x must be a tensor");
    else if constexpr (!are_valid_take_indices<Indices>())
        return false;
    else if constexpr (Rank == dynamic_rank && !has_every_rank<X>)
        static_assert(never<X>, "xloom::take: x is a container of your own with a static rank, so name the "
                                "output's: take<Rank>(...)");
    else
        return true;
    return false;
}

/// True if the types of a call of compress<Rank> are valid, otherwise a compile-time error of one sentence.
template <std::size_t Rank, class Mask, class X, class Policy>
consteval bool is_valid_compress()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(
            never<Policy>, "xloom::compress: the arguments are compress(mask, x[, options][, policy])");
    else if constexpr ((!tensor<Mask> && !lazy<Mask>) || !std::is_same_v<item_t<Mask>, bool>)
        static_assert(never<Mask>, "xloom::compress: mask must be a tensor of bool");
    else if constexpr (!tensor<X> && !lazy<X>)
        static_assert(never<X>, "xloom::compress: x must be a tensor");
    else if constexpr (Rank == dynamic_rank && !has_every_rank<X>)
        static_assert(never<X>, "xloom::compress: x is a container of your own with a static rank, so name "
                                "the output's: compress<Rank>(...)");
    else
        return true;
    return false;
}

/// Takes slices of x, a tensor in memory, at `indices`, a tensor or a number.
template <std::size_t Rank, class X, class Indices, class Policy>
auto take_of(std::string_view op, X const& x, Indices const& indices, std::optional<std::int64_t> axis,
    bounds rule, Policy const& policy)
{
    using T = item_t<X>;
    strided_layout layout = detail::layout_of(x);
    T const* items = enable_tensor<X>::data(x);
    std::optional<xt::xtensor<T, 1>> flat;
    if (!axis) {
        if (!is_row_major(layout)) {
            flat.emplace(pack_items(items, layout));
            items = flat->data();
        }
        layout = {shape{element_count(layout.dims)}, strides{1}};
    }
    std::size_t const indexed = axis ? check_axis_option(op, "x", layout.dims, *axis) : 0;
    take_call<T, Indices> const call(
        {op, "x"}, items, layout, indices, indexed, rule, index_check_of_copy<X>);
    return gathered<Rank, X>(op, call, policy);
}

template <std::size_t Rank, class X, class Indices, class Policy>
auto take(X const& x, Indices const& indices, take_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_take<Rank, X, Indices, Policy>()) {
        return owned_t<X>(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::take";
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(x, indices));
        check_rank(op, "x", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        return detail::take_of<Rank>(op, source, index_tensor, options.axis, options.bounds, policy);
    }
}

/// Returns the positions of true items of a mask.
///
/// Errors    shape_error: a mask that has not one axis.  index_error: one at or beyond `length`.
template <class Mask>
std::vector<std::int64_t> positions_of_true(std::string_view op, Mask const& mask, std::size_t length)
{
    strided_layout const layout = detail::layout_of(mask);
    if (layout.dims.size() != 1)
        fail<shape_error>(op, ": mask must have one axis, but its shape is ", layout.dims, ". Flatten it.");
    bool const* const items = enable_tensor<Mask>::data(mask);
    std::vector<std::int64_t> positions(layout.dims[0]);
    std::size_t count = 0;
    for (std::size_t i = 0; i < layout.dims[0]; ++i) {
        positions[count] = static_cast<std::int64_t>(i);
        count += items[static_cast<std::ptrdiff_t>(i) * layout.strides[0]] ? 1 : 0;
    }
    if (count != 0 && static_cast<std::size_t>(positions[count - 1]) >= length)
        fail<index_error>(op, ": mask must be false beyond the end of the axis, but mask[",
            positions[count - 1], "] is true and the axis has the length ", length, ". Shorten it.");
    positions.resize(count);
    return positions;
}

template <std::size_t Rank, class Mask, class X, class Policy>
auto compress(Mask const& mask, X const& x, compress_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_compress<Rank, Mask, X, Policy>()) {
        return owned_t<X>(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::compress";
        auto const [bits, source] = detail::evaluated_inputs(std::tie(mask, x));
        check_rank(op, "mask", detail::rank_of(bits));
        check_rank(op, "x", detail::rank_of(source));
        shape const dims = detail::shape_of(source);
        std::size_t const length =
            options.axis ? dims[check_axis_option(op, "x", dims, *options.axis)] : element_count(dims);
        std::vector<std::int64_t> const positions = detail::positions_of_true(op, bits, length);
        strided_items<std::int64_t const> const indices{
            positions.data(), {shape{positions.size()}, strides{1}}};
        return detail::take_of<Rank>(op, source, indices, options.axis, bounds::assume, policy);
    }
}

} // namespace detail

/// Returns the slices of x at the indices of one axis, or the items of the flattened x.
///
///     output = x.shape[:axis] ++ indices.shape ++ x.shape[axis + 1:]
///     output[o, i, n] = x[o, indices[i], n]
///
/// Shapes    x of any rank, with an axis of rank >= 1; indices of any rank, also a plain number. The output
///           is an xt::xarray, with take<Rank> an xt::xtensor of that rank, or of your container's family.
/// Types     x of any type, indices of any integer type. A negative index counts from the end of the axis.
/// Options   axis (none: x is flattened in row-major order). bounds (check; clip is NumPy's mode='clip');
///           with drop, dropped slices are T{}.
/// Policy    serial, or one with threads (tbb_policy).
/// Errors    shape_error, index_error (all offending positions and values).
/// Cost      indices and the indexed slices read, the output written once. Without an axis a copy of x that
///           is not row-major; with axes of x before the indexed one an integer for each index.
/// Differs   from NumPy: mode='wrap' is take(x, (indices % n + n) % n), for n items.
/// Source    numpy.take, ONNX Gather.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xloom::take(x, xt::xtensor<int, 1>{5, 0, -2}); // = [6, 1, 5]
/// xloom::take(x, xt::xtensor<int, 1>{2, 0}, {.axis = 1}); // = [[3, 1], [6, 4]]
/// xloom::take<1>(x, -1, {.axis = 0}); // = [4, 5, 6]
/// ```
template <std::size_t Rank = dynamic_rank, class X, class Indices, class Policy = serial_policy>
auto take(X const& x, Indices const& indices, take_options const& options = {}, Policy const& policy = {})
{
    return detail::take<Rank>(x, indices, options, policy);
}

/// Rejects another argument in the place of the options.
template <std::size_t Rank = dynamic_rank, class X, class Indices, detail::other_than<take_options> Other,
    class... More>
auto take(X const& x, Indices const&, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_take<Rank, X, Indices, take_options>());
    return detail::owned_t<X>(x);
}

/// Returns the slices of x at which a mask is true, along one axis or of the flattened x.
///
/// Shapes    mask [m]: shorter than the axis, it selects nothing beyond its end; longer, it must be false
///           there. The output as take's.
/// Options   axis (none: x is flattened in row-major order).
/// Policy    serial, or one with threads (tbb_policy).
/// Errors    shape_error: mask has not one axis; an axis that x has not. index_error: mask is true beyond the
///           end.
/// Cost      as take; an integer for each item of mask.
/// Source    numpy.compress.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
/// xt::xtensor<bool, 1> const mask = {false, true, true};
/// xloom::compress(mask, x, {.axis = 0}); // = [[3, 4], [5, 6]]
/// xloom::compress(mask, x); // = [2, 3]
/// ```
template <std::size_t Rank = dynamic_rank, class Mask, class X, class Policy = serial_policy>
auto compress(Mask const& mask, X const& x, compress_options const& options = {}, Policy const& policy = {})
{
    return detail::compress<Rank>(mask, x, options, policy);
}

/// Rejects another argument in the place of the options.
template <std::size_t Rank = dynamic_rank, class Mask, class X, detail::other_than<compress_options> Other,
    class... More>
auto compress(Mask const&, X const& x, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_compress<Rank, Mask, X, compress_options>());
    return detail::owned_t<X>(x);
}

} // namespace xloom::inline XLOOM_ABI
