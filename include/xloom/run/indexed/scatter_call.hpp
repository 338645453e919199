#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/run/indexed/scatter_indices.hpp>

namespace xloom::detail {

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates>
class scatter_call : public scatter_indices<Indices> {
public:
    using item = item_t<Updates>;

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

} // namespace xloom::detail
