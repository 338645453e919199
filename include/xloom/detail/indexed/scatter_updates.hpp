#pragma once
// The updates of a scatter: contiguous in row-major order, or broadcast where they are.

#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the layout of an operand, a tensor or a scalar, that is broadcast: axes that are repeated have
/// stride 0. Requires that NumPy's rule allows it.
template <class X>
strided_layout broadcast_layout([[maybe_unused]] X const& operand, shape const& dims)
{
    strided_layout broadcast{dims, strides(dims.size(), 0)};
    if constexpr (tensor<X>) {
        strided_layout const own = detail::layout_of(operand);
        std::size_t const added = dims.size() - own.dims.size();
        for (std::size_t axis = 0; axis < own.dims.size(); ++axis)
            if (own.dims[axis] != 1)
                broadcast.strides[added + axis] = own.strides[axis];
    }
    return broadcast;
}

/// The items of an operand that is broadcast, where they are.
template <class X>
class broadcast_items {
public:
    /// The first `front` axes of the updates' shape number the updates.
    broadcast_items(X const& operand, shape const& updates, std::size_t front)
        : layout_(detail::broadcast_layout(operand, updates)),
          front_(front),
          updates_(first_item(operand), {part(updates, 0, front), part(layout_.strides, 0, front)}, slice())
    {}

    kernel::broadcast_updates<item_t<X>> const& updates() const { return updates_; }

    /// Returns the strides of the items of one update.
    strides slice_strides() const { return slice().strides; }

private:
    static item_t<X> const* first_item(X const& operand)
    {
        if constexpr (tensor<X>)
            return enable_tensor<X>::data(operand);
        else
            return std::addressof(operand);
    }

    template <class Axes>
    static Axes part(Axes const& axes, std::size_t from, std::size_t to)
    {
        return Axes(axes.begin() + from, axes.begin() + to);
    }

    strided_layout slice() const
    {
        std::size_t const rank = layout_.dims.size();
        return {part(layout_.dims, front_, rank), part(layout_.strides, front_, rank)};
    }

    strided_layout layout_;
    std::size_t front_;
    kernel::broadcast_updates<item_t<X>> updates_;
};

/// The updates of a call, as run_scatter_nd reads them. The shape that they must have is that of the updates
/// or, if they are broadcast, another one; its first `front` axes number the updates.
template <class Updates, bool IsBroadcast>
class scatter_updates : public row_major_updates {
public:
    using item = item_t<Updates>;
    static constexpr bool is_broadcast = false;

    scatter_updates(Updates const& updates, shape const&, std::size_t) : items_(updates) {}

    item const* updates() const { return items_.data(); }

private:
    row_major_items<Updates> items_;
};

template <class Updates>
class scatter_updates<Updates, true> {
public:
    using item = item_t<Updates>;
    static constexpr bool is_broadcast = true;

    scatter_updates(Updates const& updates, shape const& required, std::size_t front)
        : items_(updates, required, front)
    {}

    kernel::broadcast_updates<item> const& updates() const { return items_.updates(); }

    /// As row_major_updates.
    bool has_contiguous_updates() const
    {
        return updates().has_one_item() || updates().has_contiguous_items();
    }

    strides update_strides(shape const&) const { return items_.slice_strides(); }

private:
    broadcast_items<Updates> items_;
};

} // namespace xloom::inline XLOOM_ABI::detail
