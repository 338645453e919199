#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/run/indexed/broadcast_items.hpp>
#include <xloom/run/indexed/scatter_indices.hpp>

namespace xloom::detail {

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates, bool IsBroadcast = false>
class scatter_call : public scatter_indices<Indices>, public row_major_updates {
public:
    using item = item_t<Updates>;
    static constexpr bool is_broadcast = false;

    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_nd_options const& options, index_check when)
        : scatter_indices<Indices>(
              op, detail::shape_of(data), indices, detail::shape_of(updates), options, when),
          updates_(updates)
    {}

    item const* updates() const { return updates_.data(); }

private:
    row_major_items<Updates> updates_;
};

/// A call whose updates are broadcast.
template <class Indices, class Updates>
class scatter_call<Indices, Updates, true> : public scatter_indices<Indices> {
public:
    using item = item_t<Updates>;
    static constexpr bool is_broadcast = true;

    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_nd_options const& options, index_check when)
        : scatter_call(op, data, indices, updates,
              broadcast_shape(
                  op, detail::shape_of(data), detail::shape_of(indices), detail::shape_of(updates)),
              options, when)
    {}

    kernel::broadcast_updates<item> const& updates() const { return updates_.updates(); }

    /// As row_major_updates.
    bool has_contiguous_updates() const
    {
        return updates().has_one_item() || updates().has_contiguous_items();
    }

    strides update_strides(shape const&) const { return updates_.slice_strides(); }

private:
    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        shape const& required, scatter_nd_options const& options, index_check when)
        : scatter_indices<Indices>(op, detail::shape_of(data), indices, required, options, when),
          updates_(updates, required, detail::rank_of(indices) - 1)
    {}

    broadcast_items<Updates> updates_;
};

} // namespace xloom::detail
