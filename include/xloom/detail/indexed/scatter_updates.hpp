#pragma once
// The updates of a scatter: contiguous in row-major order, or broadcast where they are.

#include <xloom/detail/indexed/broadcast_items.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
