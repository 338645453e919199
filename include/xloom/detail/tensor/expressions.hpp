#pragma once
// xtensor's expressions as tensors: those whose items are in memory, and those that compute their items.

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <xloom/detail/tensor/borrowed.hpp>
#include <xloom/detail/tensor/element_view.hpp>
#include <xloom/detail/tensor/tensor_traits.hpp>

namespace xt {

// Declared here because xtensor declares them only in the headers that define them, which its other
// expressions do not include.
template <class CT, class S, layout_type L, class FST>
class xstrided_view;
template <class CT, class... S>
class xview;

} // namespace xt

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class T>
    requires xt::is_xexpression<T>::value
inline constexpr bool is_expression<T> = true;

/// False for a flattened view (xt::ravel) whose items only an iterator can reach: xtensor declares a data()
/// for it that does not compile.
template <class T>
inline constexpr bool has_items_in_storage = true;
template <class T>
    requires requires(T& t) { t.storage(); }
inline constexpr bool has_items_in_storage<T> = requires(T& t) {
    requires std::is_convertible_v<decltype(t.storage().data()), decltype(std::as_const(t).data())>;
};

template <class T>
concept strided_expression = expression<T> && requires(bare<T>& t) {
    t.data();
    t.data_offset();
    t.strides();
} && has_items_in_storage<bare<T>>;

template <class Storage, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_xcontainer<xt::xarray_container<Storage, Layout, Shape, Tag>> = true;
template <class Storage, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_xcontainer<xt::xtensor_container<Storage, Rank, Layout, Tag>> = true;
template <class T, class Shape, xt::layout_type Layout, bool Sharable, class Tag>
inline constexpr bool is_xcontainer<xt::xfixed_container<T, Shape, Layout, Sharable, Tag>> = true;

} // namespace detail

/// The specialisation for xtensor expressions whose items are in memory.
template <detail::strided_expression T>
struct enable_tensor<T> {
    using value_type = std::remove_const_t<typename T::value_type>;
    static constexpr std::size_t rank = detail::rank_of_shape<typename T::shape_type>;
    static constexpr bool is_row_major = T::static_layout == xt::layout_type::row_major;

    template <class U>
    static auto data(U& tensor)
    {
        auto* const first = tensor.data();
        auto const offset = static_cast<std::ptrdiff_t>(tensor.data_offset()); // wraps if it is negative
        return first == nullptr ? first : first + offset;
    }
    static auto const& shape(T const& tensor) { return tensor.shape(); }
    static auto const& strides(T const& tensor) { return tensor.strides(); }

    static T make(xloom::shape const& dims)
    {
        T tensor;
        if constexpr (rank != 0 && !detail::is_fixed_shape<typename T::shape_type>) {
            typename T::shape_type extents{};
            xt::resize_container(extents, dims.size());
            std::copy_n(dims.begin(), extents.size(), extents.begin());
            tensor.resize(extents);
        }
        return tensor;
    }

    template <std::size_t Rank>
    using rebind =
        typename detail::temporary_of<value_type, typename element_view<value_type, Rank>::shape_type>::type;
};

namespace detail {

template <class T>
struct shape_type_of {
    using type = std::conditional_t<enable_tensor<T>::rank == dynamic_rank, xt::dynamic_shape<std::size_t>,
        std::array<std::size_t, enable_tensor<T>::rank == dynamic_rank ? 0 : enable_tensor<T>::rank>>;
};
template <strided_expression T>
    requires is_fixed_shape<typename T::shape_type>
struct shape_type_of<T> {
    using type = typename T::shape_type;
};

/// The shape type of a tensor: std::array, fixed_shape, or xtensor's dynamic shape.
template <tensor T>
using shape_type_t = typename shape_type_of<bare<T>>::type;

template <tensor_view T>
struct owned<T> {
    using type = typename temporary_of<item_t<T>, shape_type_t<T>>::type;
};
template <lazy T>
struct owned<T> {
    using type = bare<decltype(xt::eval(std::declval<T const&>()))>;
};
/// For types derived from xt::xcontainer, which xt::eval returns unevaluated.
template <lazy T>
    requires std::is_base_of_v<xt::xcontainer<T>, T>
struct owned<T> {
    using type = typename temporary_of<item_t<T>, typename T::shape_type>::type;
};
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

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
