#pragma once
// Updates of a scatter that are broadcast: items that several updates, or several items of one, share.

#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A map from the number of an element, in row-major order, to its offset. Axes of length 1 are dropped, and
/// adjacent axes that have a common stride are merged: without an axis after the first, it is one product.
class offset_map {
public:
    constexpr explicit offset_map(xloom::detail::strided_layout const& layout) : axes_(merge_axes(layout)) {}

    constexpr std::ptrdiff_t operator()(std::size_t number) const
    {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = axes_.dims.size(); axis-- > 1; number /= axes_.dims[axis])
            offset += static_cast<std::ptrdiff_t>(number % axes_.dims[axis]) * axes_.strides[axis];
        return axes_.dims.empty() ? offset : offset + static_cast<std::ptrdiff_t>(number) * axes_.strides[0];
    }

    /// True if each offset is `stride` more than the one before.
    constexpr bool has_stride(std::ptrdiff_t stride) const
    {
        return axes_.dims.empty() || (axes_.dims.size() == 1 && axes_.strides[0] == stride);
    }

private:
    xloom::detail::strided_layout axes_;
};

/// One update, whose items have any strides.
template <class T>
struct broadcast_update {
    T const* first;
    offset_map const& offset_of;

    T const& operator[](std::size_t i) const { return first[offset_of(i)]; }
};

/// Updates that are broadcast.
template <class T>
class broadcast_updates {
public:
    /// The layouts are those of the updates' first items and of the items of one update.
    constexpr broadcast_updates(T const* items, xloom::detail::strided_layout const& updates,
        xloom::detail::strided_layout const& items_of_one)
        : items_(items), update_(updates), item_(items_of_one)
    {}

    /// Returns the first item of an update.
    T const* first(std::size_t number) const { return items_ + update_(number); }

    broadcast_update<T> operator[](std::size_t number) const { return {first(number), item_}; }

    /// True if all items of an update are the same one.
    bool has_one_item() const { return item_.has_stride(0); }
    bool has_contiguous_items() const { return item_.has_stride(1); }
    /// True if all updates are the same one.
    bool has_one_update() const { return update_.has_stride(0); }

    /// Returns the updates without their first `count` items. Requires one item or contiguous items.
    broadcast_updates from_item(std::size_t count) const
    {
        broadcast_updates rest = *this;
        rest.items_ += item_(count);
        return rest;
    }

private:
    T const* items_;
    offset_map update_;
    offset_map item_;
};

/// Returns the items of an update; contiguous updates have `size` items each.
template <class T>
T const* items_of(T const* updates, std::size_t number, std::size_t size)
{
    return updates + number * size;
}
template <class T>
broadcast_update<T> items_of(broadcast_updates<T> const& updates, std::size_t number, std::size_t)
{
    return updates[number];
}

/// Returns the updates without the first `count` items of each.
template <class T>
T const* from_item(T const* updates, std::size_t count)
{
    return updates + count;
}
template <class T>
broadcast_updates<T> from_item(broadcast_updates<T> const& updates, std::size_t count)
{
    return updates.from_item(count);
}

} // namespace xloom::inline XLOOM_ABI::kernel
