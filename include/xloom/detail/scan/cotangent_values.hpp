#pragma once
// The items of values and of their cotangents.

#include <algorithm>
#include <tuple>

#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Calls f(item) for each item of a tensor in row-major order, or for a scalar.
template <class X, class F>
void for_each_item(X& value, F const& f)
{
    if constexpr (tensor<X>) {
        strided_layout const layout = detail::layout_of(value);
        auto* const first = enable_tensor<bare<X>>::data(value);
        kernel::strided_copy(layout.dims, layout.strides, layout.strides)
            .for_each_pair(first, first, [&](auto& item, auto&) { f(item); });
    } else {
        f(value);
    }
}

/// Sets the items of a contiguous tensor, or a scalar, to 0.
template <class X>
void set_to_zero(X& value)
{
    if constexpr (tensor<X>)
        std::fill_n(enable_tensor<X>::data(value), element_count(detail::shape_of(value)), item_t<X>(0));
    else
        value = X(0);
}

/// Returns a value of 0 for a cotangent of `value`: a tensor of its shape, or a scalar.
template <class X>
owned_t<X> zeros_like(X const& value)
{
    if constexpr (tensor<X>) {
        auto zeros = enable_tensor<owned_t<X>>::make(detail::shape_of(value));
        detail::set_to_zero(zeros);
        return zeros;
    } else {
        return owned_t<X>(0);
    }
}

/// Returns zeros for the cotangents of the values of a pack, as a pack of owned values.
template <class Pack, class... Xs>
owned_t<Pack> zeros_like_pack(std::tuple<Xs...> const& values)
{
    return std::apply(
        [](auto const&... value) { return owned_t<Pack>(detail::zeros_like(value)...); }, values);
}

} // namespace xloom::inline XLOOM_ABI::detail
