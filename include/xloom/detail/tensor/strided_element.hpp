#pragma once
// The view of one element of a tensor whose items need not be contiguous, for bodies with loops of their own.

#include <array>
#include <concepts>
#include <cstddef>

#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI {

/// A view of one element where it is in its tensor: x_t(i, j), x_t.data() and strides in items. It is no
/// xtensor expression: those take several times as long over strided items as a loop over each row.
template <class T, std::size_t Rank>
class strided_element {
public:
    /// Makes a view of the items at `data`. Requires a layout of this rank.
    strided_element(T* data, detail::strided_layout const& layout) : data_(data)
    {
        for (std::size_t axis = 0; axis < Rank; ++axis) {
            shape_[axis] = layout.dims[axis];
            strides_[axis] = layout.strides[axis];
        }
    }

    /// Makes a view for reading of one for writing.
    template <class Item>
        requires std::same_as<Item const, T> && (!std::same_as<Item, T>)
    strided_element(strided_element<Item, Rank> const& other)
        : data_(other.data()), shape_(other.shape()), strides_(other.strides())
    {}

    static constexpr std::size_t dimension() noexcept { return Rank; }
    std::array<std::size_t, Rank> const& shape() const noexcept { return shape_; }
    std::size_t shape(std::size_t axis) const noexcept { return shape_[axis]; }
    /// Returns the distances in items between neighbours along each axis, of any sign.
    std::array<std::ptrdiff_t, Rank> const& strides() const noexcept { return strides_; }
    T* data() const noexcept { return data_; }

    template <class... Indices>
        requires(sizeof...(Indices) == Rank)
    T& operator()(Indices... indices) const noexcept
    {
        std::size_t axis = 0;
        std::ptrdiff_t offset = 0;
        ((offset += static_cast<std::ptrdiff_t>(indices) * strides_[axis++]), ...);
        return data_[offset];
    }

    /// Makes the view refer to other memory; for the operators that pass views to bodies.
    void rebind(T* data) noexcept { data_ = data; }

private:
    T* data_;
    std::array<std::size_t, Rank> shape_{};
    std::array<std::ptrdiff_t, Rank> strides_{};
};

} // namespace xloom::inline XLOOM_ABI
