#pragma once
// The run of take: slices of one axis, or of a flattened tensor, and the positions that a mask selects.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/tensor/strided_items.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
    std::optional<item_buffer<T>> flat;
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

} // namespace xloom::inline XLOOM_ABI::detail
