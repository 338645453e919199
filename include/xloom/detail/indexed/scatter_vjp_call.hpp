#pragma once
// A call of ScatterND's derivative: checked indices, and the values that the gradients are made of.

#include <optional>

#include <xloom/detail/check/scatter_nd_vjp.hpp>
#include <xloom/detail/indexed/scatter_call.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the gradients of a reduction depend on the values of data and updates.
constexpr bool depends_on_values(reduction kind)
{
    return kind == reduction::mul || kind == reduction::max || kind == reduction::min;
}

/// The checked indices of a call, with the updates if the gradients depend on their values. run_scatter_nd
/// accepts it, too.
template <class Indices, class Updates>
class scatter_vjp_call : public scatter_indices<Indices>, public row_major_updates {
public:
    using item = item_t<Updates>;

    scatter_vjp_call(std::string_view op, shape const& data, Indices const& indices, Updates const& updates,
        reduction kind, scatter_nd_vjp_options const& options)
        : scatter_indices<Indices>(
              op, data, indices, detail::shape_of(updates), forward_options(kind, options))
    {
        if (depends_on_values(kind))
            updates_.emplace(updates);
    }

    std::size_t count() const { return this->tuples().count; }
    item const* updates() const { return updates_->data(); }

private:
    std::optional<row_major_items<Updates>> updates_{};
};

/// The contiguous items of a call's other operands and of its outputs.
template <class T>
struct scatter_gradients {
    T const* ct;
    T const* old;     ///< the values of data; nullptr if they take no part
    T* ct_data;       ///< nullptr if it is omitted; may be ct
    T* ct_updates;    ///< nullptr if it is omitted
    std::size_t size; ///< items of a slice
};

} // namespace xloom::inline XLOOM_ABI::detail
