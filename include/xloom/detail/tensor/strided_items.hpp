#pragma once
// A tensor that refers to the items of another one in a layout of its own.

#include <utility>

#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// A non-owning tensor of any strides, 0 included. T is const for inputs.
template <class T>
struct strided_items {
    T* first;
    strided_layout layout;
};

} // namespace detail

/// Items of any layout are a tensor.
template <class T>
struct enable_tensor<detail::strided_items<T>> {
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t rank = dynamic_rank;

    static T* data(detail::strided_items<T> const& items) { return items.first; }
    static auto const& shape(detail::strided_items<T> const& items) { return items.layout.dims; }
    static auto const& strides(detail::strided_items<T> const& items) { return items.layout.strides; }
};

namespace detail {

/// Returns a tensor's items with their layout; Item is const for a tensor that is read.
template <class Item, class X>
strided_items<Item> items_in(X& operand)
{
    return {enable_tensor<bare<X>>::data(operand), detail::layout_of(operand)};
}

/// Returns a pointer to the first item of a tensor or of a scalar.
template <class X>
auto* first_of_items(X& operand)
{
    if constexpr (tensor<X>)
        return enable_tensor<bare<X>>::data(operand);
    else
        return std::addressof(operand);
}

/// Returns the layout of a tensor; that of a scalar has no axes.
template <class X>
strided_layout layout_of_operand([[maybe_unused]] X const& operand)
{
    if constexpr (tensor<X>)
        return detail::layout_of(operand);
    else
        return {};
}

/// True if an operand is a tensor of exactly these dimensions in row-major order, so that it need not be
/// broadcast.
template <class X>
bool is_row_major_of([[maybe_unused]] X const& operand, [[maybe_unused]] shape const& dims)
{
    if constexpr (tensor<X>)
        return detail::rank_of(operand) == dims.size() && detail::shape_of(operand) == dims &&
               is_row_major(detail::layout_of(operand));
    else
        return false;
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
