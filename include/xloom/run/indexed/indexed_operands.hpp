#pragma once
// The operands of ScatterND and GatherND: contiguous items and checked indices.

#include <optional>

#include <xloom/core/bounds.hpp>
#include <xloom/kernel/index_tuples.hpp>
#include <xloom/tensor/operands.hpp>

namespace xloom::detail {

template <class X>
inline constexpr bool holds_indices = std::integral<item_t<X>> && !std::is_same_v<item_t<X>, bool>;

/// True if X can be passed as indices, whatever its item type: a tensor, or a number for one index; not a
/// std::vector.
template <class X>
inline constexpr bool can_hold_indices = tensor<X> || lazy<X> || std::is_arithmetic_v<X>;

/// Returns a contiguous row-major copy of a strided array's items.
template <class T>
xt::xtensor<T, 1> pack_items(T const* items, strided_layout const& layout)
{
    auto packed = xt::xtensor<T, 1>::from_shape({element_count(layout.dims)});
    kernel::strided_copy(layout.dims, layout.strides, row_major_strides(layout.dims))(items, packed.data());
    return packed;
}

/// Copies contiguous row-major items to a strided array.
template <class T>
void unpack_items(xt::xtensor<T, 1> const& packed, T* items, strided_layout const& layout)
{
    kernel::strided_copy(layout.dims, row_major_strides(layout.dims), layout.strides)(packed.data(), items);
}

/// An operand's items in row-major order: the operand's own memory, or a copy if its layout is not row-major.
template <class X>
class row_major_items {
    using item = item_t<X>;

public:
    explicit row_major_items(X const& operand)
    {
        if constexpr (tensor<X>) {
            strided_layout const layout = detail::layout_of(operand);
            data_ = enable_tensor<X>::data(operand);
            if (!is_row_major(layout)) {
                copy_.emplace(pack_items(data_, layout));
                data_ = copy_->data();
            }
        } else {
            data_ = std::addressof(operand);
        }
    }
    row_major_items(row_major_items const&) = delete;
    row_major_items& operator=(row_major_items const&) = delete;

    item const* data() const { return data_; }

private:
    item const* data_;
    std::optional<xt::xtensor<item, 1>> copy_{};
};

/// Returns the positions and values of all indices outside their axes.
template <std::integral Index>
fact_list describe_outside(kernel::index_tuples<Index> const& tuples, shape const& indices)
{
    fact_list outside;
    for (std::size_t flat = 0; flat < tuples.count * tuples.width(); ++flat) {
        std::size_t const axis = flat % tuples.width();
        std::size_t const length = tuples.axes.dims[axis];
        if (!kernel::is_index(tuples.first[flat], length))
            outside.add("indices", unravel(flat, indices), " is ", tuples.first[flat], " (axis ",
                tuples.first_axis + axis, " of length ", length, ")");
    }
    return outside;
}

/// Requires that every index is valid under the rule for indices outside their axes, and records whether any
/// is negative. bounds::assume is checked in debug builds only.
template <std::integral Index>
void check_indices(
    std::string_view op, kernel::index_tuples<Index>& tuples, shape const& indices, bounds rule)
{
#ifdef NDEBUG
    bool const is_checked = rule == bounds::check;
#else
    bool const is_checked = rule == bounds::check || rule == bounds::assume;
#endif
    if (is_checked) {
        kernel::index_stats const found = kernel::find_index_stats(tuples);
        if (!found.in_range)
            fail<index_error>(op, ": an index into an axis of length d must lie in [-d, d - 1], but ",
                describe_outside(tuples, indices), ". Correct it, or choose bounds::drop or bounds::clip.");
        tuples.has_negative = found.has_negative;
    }
    if (rule == bounds::clip && tuples.count != 0)
        for (std::size_t axis = 0; axis < tuples.width(); ++axis)
            if (tuples.axes.dims[axis] == 0)
                fail<index_error>(op, ": an index can be clipped to an axis that has items only, but axis ",
                    tuples.first_axis + axis, " of data has length 0. Choose bounds::drop.");
}

} // namespace xloom::detail
