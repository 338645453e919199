#pragma once
// Traits of borrowed operands: types whose items outlive the object, so that a temporary may be passed.

#include <ranges>
#include <type_traits>

#include <xloom/detail/tensor/tensor.hpp>

namespace xt {

// Declared here because xtensor declares them only in the headers that define them, which its other
// expressions do not include.
template <class CT, class S, layout_type L, class FST>
class xstrided_view;
template <class CT, class... S>
class xview;

} // namespace xt

namespace xloom::inline XLOOM_ABI::detail {

/// True if the items of an X outlive the X: a std::span, a view of a variable, an adaptor of memory that it
/// does not own. False for a container, and for a view or an adaptor that holds a container.
template <class X>
inline constexpr bool is_borrowed = std::ranges::enable_borrowed_range<X>;

/// True if the items of a view or an adaptor that stores a Closure outlive that view or adaptor.
template <class Closure>
inline constexpr bool is_borrowed_closure =
    std::is_lvalue_reference_v<Closure> || is_borrowed<std::remove_const_t<Closure>>;

template <class T, class Shape>
inline constexpr bool is_borrowed<basic_element_view<T, Shape>> = true;
/// xtensor passes a smart pointer that owns the memory as the allocator argument.
template <class Pointer, class Allocator>
inline constexpr bool is_borrowed<xt::xbuffer_adaptor<Pointer, xt::no_ownership, Allocator>> =
    !requires(Allocator owner) { owner.get(); };
template <class Closure, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_borrowed<xt::xarray_adaptor<Closure, Layout, Shape, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_borrowed<xt::xtensor_adaptor<Closure, Rank, Layout, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_borrowed<xt::xtensor_view<Closure, Rank, Layout, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, class Shape, xt::layout_type Layout, bool Sharable, class Tag>
inline constexpr bool is_borrowed<xt::xfixed_adaptor<Closure, Shape, Layout, Sharable, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, class... Slices>
inline constexpr bool is_borrowed<xt::xview<Closure, Slices...>> = is_borrowed_closure<Closure>;
template <class Closure, class Shape, xt::layout_type Layout, class Storage>
inline constexpr bool is_borrowed<xt::xstrided_view<Closure, Shape, Layout, Storage>> =
    is_borrowed_closure<Closure>;

/// True if the items of an operand that is passed as an X&& may be read after the call.
template <class X>
inline constexpr bool outlives_expression =
    std::is_lvalue_reference_v<X> || is_borrowed<std::remove_cvref_t<X>>;

} // namespace xloom::inline XLOOM_ABI::detail
