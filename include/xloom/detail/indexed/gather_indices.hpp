#pragma once
// The base of the calls of all gathers: checked indices and the shape of the output.

#include <string_view>

#include <xloom/detail/indexed/checked_indices.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked indices of a gather, and the shape of its output.
template <class Indices>
class gather_indices {
public:
    shape const& output_shape() const { return output_shape_; }
    bool may_drop() const { return may_drop_; }

    /// Requires that every index is within its axis, if that was not checked.
    void require_in_range() const { indices_.require_checked(); }

protected:
    /// Requires that `axes`, of data, and the others are those of checked_indices.
    gather_indices(indexed_names const& op, shape const& output_shape, Indices const& indices,
        strided_layout const& axes, std::size_t first_axis, bounds rule, index_check when, index_form form)
        : output_shape_(output_shape),
          may_drop_(rule == bounds::drop),
          indices_(op, indices, axes, first_axis, rule, when, form)
    {}

    checked_indices<Indices> const& indices() const { return indices_; }

private:
    shape output_shape_;
    bool may_drop_;
    checked_indices<Indices> indices_;
};

/// Returns the axes first .. last - 1 of a layout.
inline strided_layout axes_of(strided_layout const& layout, std::size_t first, std::size_t last)
{
    auto const begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(last);
    return {shape(layout.dims.begin() + begin, layout.dims.begin() + end),
        strides(layout.strides.begin() + begin, layout.strides.begin() + end)};
}

} // namespace xloom::inline XLOOM_ABI::detail
