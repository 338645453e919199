#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/detail/indexed/scatter_indices.hpp>
#include <xloom/detail/indexed/scatter_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates, bool IsBroadcast = false>
class scatter_call : public scatter_indices<Indices>, public scatter_updates<Updates, IsBroadcast> {
public:
    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_rules const& options, index_check when)
        : scatter_call(op, data, indices, updates,
              required_shape(
                  op, detail::shape_of(data), detail::shape_of(indices), detail::shape_of(updates)),
              options, when)
    {}

private:
    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        shape const& required, scatter_rules const& options, index_check when)
        : scatter_indices<Indices>(op, detail::shape_of(data), indices, required, options, when),
          scatter_updates<Updates, IsBroadcast>(updates, required, detail::rank_of(indices) - 1)
    {}

    static shape required_shape(
        std::string_view op, shape const& data, shape const& indices, shape const& updates)
    {
        if constexpr (IsBroadcast)
            return broadcast_shape(op, data, indices, updates);
        else
            return updates;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
