#pragma once
// NumPy's take and compress: slices of an axis by their indices, or by a mask.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of take.
struct take_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
    xloom::bounds bounds = xloom::bounds::check;
};

/// Options of compress.
struct compress_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
};

namespace detail {

/// Requires a tensor of bool.
template <class Mask>
struct mask_operand {
    static consteval bool holds()
    {
        constexpr bool is_valid = (tensor<Mask> || lazy<Mask>)&&std::is_same_v<item_t<Mask>, bool>;
        static_assert(is_valid, "a mask must be a tensor of bool");
        return is_valid;
    }
};

/// Copies the slices at some offsets from each position of the axes `outer` of data; each thread copies a
/// range of them all.
template <class T, class Copy, class Policy>
void copy_repeatedly(strided_layout const& outer, std::vector<std::ptrdiff_t> const& offsets, bool may_drop,
    T const* first, T* output, Copy const& copy, Policy const& policy)
{
    kernel::offset_map const offset_of(outer);
    std::size_t const count = offsets.size(), all = element_count(outer.dims) * count;
    detail::for_each_range(policy, all, copy.size, [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end;) {
            std::size_t const position = at / count, from = at % count,
                              size = (std::min)(count - from, end - at);
            T const* const data = first + offset_of(position);
            auto const run = [&]<bool MayDrop>(std::bool_constant<MayDrop>) {
                copy(kernel::offset_block<T const, MayDrop>{offsets.data() + from, at, size, data, copy.size},
                    data, output);
            };
            may_drop ? run(std::true_type()) : run(std::false_type());
            at += size;
        }
    });
}

/// Writes the slices of data at an index, for each position of the axes `outer` before the indexed one.
///
/// Errors    index_error, with index_check::by_block.
template <class Index, class T, class Policy>
void take_slices(slice_index<Index> const& index, strided_layout const& outer,
    strided_items<T const> const& data, T* output, Policy const& policy)
{
    if (index.is_empty() || element_count(outer.dims) == 1)
        return detail::gather_slices(index, data, output, policy);
    slices_in_memory const slices = index.in(data.layout);
    std::vector<std::ptrdiff_t> offsets(index.count());
    if (!slices.read(0, index.count(), offsets.data()))
        return index.require_checked();
    detail::with_slice_copy(slices.slice, [&](auto const& copy) {
        detail::copy_repeatedly(outer, offsets, index.may_drop(), data.first, output, copy, policy);
    });
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
    check_operand_size(op, "x", layout.dims, sizeof(T));
    if (!axis) {
        if (!is_row_major(layout)) {
            flat.emplace(pack_items(items, layout));
            items = flat->data();
        }
        layout = {shape{element_count(layout.dims)}, strides{1}};
    }
    indexed_shape const indexed = check_take(op, layout.dims, detail::shape_of(indices),
        axis ? check_axis_option(op, "x", layout.dims, *axis) : 0, sizeof(T));
    slice_index const index({op, "x"}, layout.dims, indices, indexed, rule, index_check_of_copy<X>);
    return detail::gathered<Rank, X>(op, index, indexed.values, [&](T* output) {
        detail::take_slices(
            index, axes_of(layout, 0, indexed.first), strided_items<T const>{items, layout}, output, policy);
    });
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
    check_operand_size(op, "mask", layout.dims, sizeof(std::int64_t));
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

} // namespace detail

/// Returns the slices of x at the indices of one axis, or the items of the flattened x.
///
///     output = x.shape[:axis] ++ indices.shape ++ x.shape[axis + 1:]
///     output[o, i, n] = x[o, indices[i], n]
///
/// Shapes    x of any rank, with an axis of rank >= 1; indices of any rank, also a plain number. The output
///           is an xt::xarray, with take<Rank> an xt::xtensor of that rank, or of x's family: from a
///           std::vector and indices of one axis a std::vector.
/// Types     x of any type, indices of any integer type. A negative index counts from the end of the axis.
/// Options   axis (none: x is flattened in row-major order). bounds (check); with drop, dropped
///           slices are T{}.
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error, option_error, index_error (up to four offending positions and values).
/// Cost      indices and the indexed slices read, the output written once. Without an axis a copy of x that
///           is not row-major; with axes of x before the indexed one an integer for each index.
/// Differs   from NumPy: clip counts a negative index from the end first, where NumPy has 0;
///           mode='wrap' is take(x, (indices % n + n) % n), for n items.
/// Source    numpy.take, ONNX Gather.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xloom::take(x, xt::xtensor<int, 1>{5, 0, -2}); // = [6, 1, 5]
/// xloom::take(x, xt::xtensor<int, 1>{2, 0}, {.axis = 1}); // = [[3, 1], [6, 4]]
/// xloom::take<1>(x, -1, {.axis = 0}); // = [4, 5, 6]
/// ```
template <std::size_t Rank = dynamic_rank, class X, class Indices, class Options = take_options, class... Env>
auto take(X const& x, Indices const& indices, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    constexpr std::size_t rank = result_rank<Rank, X, static_rank<Indices>>;
    if constexpr (!satisfied<options_and_policy<take_options, Options, Env...>, readable<X>,
                      integer_indices<Indices>, rank_of_result<rank, X>>()) {
        return detail::to_owned(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::take";
        auto const& given = detail::options_of<take_options>(options);
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(x, indices));
        check_rank(op, "x", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        return detail::take_of<rank>(
            op, source, index_tensor, given.axis, given.bounds, detail::policy_of(options, env...));
    }
}

/// Returns the slices of x at which a mask is true, along one axis or of the flattened x.
///
/// Shapes    mask [m]: shorter than the axis, it selects nothing beyond its end; longer, it must be false
///           there. The output as take's.
/// Options   axis (none: x is flattened in row-major order).
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
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
template <std::size_t Rank = dynamic_rank, class Mask, class X, class Options = compress_options,
    class... Env>
auto compress(Mask const& mask, X const& x, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    constexpr std::size_t rank = result_rank<Rank, X, 1>;
    if constexpr (!satisfied<options_and_policy<compress_options, Options, Env...>, mask_operand<Mask>,
                      readable<X>, rank_of_result<rank, X>>()) {
        return detail::to_owned(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::compress";
        auto const axis = detail::options_of<compress_options>(options).axis;
        auto const [bits, source] = detail::evaluated_inputs(std::tie(mask, x));
        check_rank(op, "mask", detail::rank_of(bits));
        check_rank(op, "x", detail::rank_of(source));
        shape const dims = detail::shape_of(source);
        check_operand_size(op, "x", dims, 1);
        std::size_t const length = axis ? dims[check_axis_option(op, "x", dims, *axis)] : element_count(dims);
        std::vector<std::int64_t> const positions = detail::positions_of_true(op, bits, length);
        strided_items<std::int64_t const> const indices{
            positions.data(), {shape{positions.size()}, strides{1}}};
        return detail::take_of<rank>(
            op, source, indices, axis, bounds::assume, detail::policy_of(options, env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
