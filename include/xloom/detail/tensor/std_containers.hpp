#pragma once
// The standard library's containers and views as tensors: std::vector, std::span and std::mdspan, which is
// known by its members, so that <mdspan> need not exist.

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/tensor/borrowed.hpp>
#include <xloom/detail/tensor/tensor_traits.hpp>

#ifndef XLOOM_NO_XTENSOR
#include <xloom/detail/tensor/element_view.hpp>
#endif

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if a std::vector<T> is a tensor of rank 1. One of tensors is a sequence, and std::vector<bool> has no
/// bools in memory.
template <class T>
inline constexpr bool is_vector_item = !tensor<T> && !expression<T>;
template <>
inline constexpr bool is_vector_item<bool> = false;
template <class T>
inline constexpr bool is_vector_item<std::optional<T>> = false;
template <class T, class Allocator>
inline constexpr bool is_vector_item<std::vector<T, Allocator>> = false;
template <class... Ts>
inline constexpr bool is_vector_item<std::tuple<Ts...>> = false;

/// True for a mapping of indices to offsets that has strides, whatever its extents.
template <class Mapping>
concept always_strided = requires { requires Mapping::is_always_strided(); };

/// A std::mdspan, or an implementation of it such as Kokkos', whose items are in memory at fixed strides, and
/// whose accessor computes no others from them.
template <class T>
concept strided_mdspan = requires(T const& view, typename T::index_type axis) {
    typename T::accessor_type;
    typename T::element_type;
    requires std::same_as<typename T::reference, typename T::element_type&>;
    requires always_strided<typename T::mapping_type>;
    requires std::same_as<decltype(view.data_handle()), typename T::element_type* const&> ||
                 std::same_as<decltype(view.data_handle()), typename T::element_type*>;
    {
        T::rank()
    } -> std::convertible_to<std::size_t>;
    view.extent(0);
};

template <strided_mdspan T>
inline constexpr bool is_borrowed<T> = true;

/// A range of contiguous items as a tensor of rank 1.
template <class Range>
struct contiguous_range {
    using value_type = typename Range::value_type;
    static constexpr std::size_t rank = 1;
    static constexpr bool is_row_major = true;

    static auto* data(Range& items) { return items.data(); }
    static value_type const* data(Range const& items) { return items.data(); }
    static std::array<std::size_t, 1> shape(Range const& items) { return {items.size()}; }
    static std::array<std::ptrdiff_t, 1> strides(Range const&) { return {1}; }
};

} // namespace detail

/// A std::vector of items is a tensor of rank 1.
template <class T, class Allocator>
    requires detail::is_vector_item<T>
struct enable_tensor<std::vector<T, Allocator>> : detail::contiguous_range<std::vector<T, Allocator>> {
    static std::vector<T, Allocator> make(xloom::shape const& dims)
    {
        return std::vector<T, Allocator>(dims[0]);
    }

#ifndef XLOOM_NO_XTENSOR
    template <std::size_t Rank>
    using rebind = std::conditional_t<Rank == 1, std::vector<T, Allocator>,
        typename detail::temporary_of<T, typename element_view<T, Rank>::shape_type>::type>;
#endif
};

/// A std::span is a tensor of rank 1. As with xtensor's views, a const one is read, not written.
template <class T, std::size_t Extent>
struct enable_tensor<std::span<T, Extent>> : detail::contiguous_range<std::span<T, Extent>> {};

/// A std::mdspan is a tensor of its rank, for every layout with strides and a pointer to its items; a const
/// one is read.
template <detail::strided_mdspan T>
struct enable_tensor<T> {
    using value_type = std::remove_cv_t<typename T::element_type>;
    static constexpr std::size_t rank = T::rank();

    static typename T::element_type* data(T& view) { return view.data_handle(); }
    static typename T::element_type const* data(T const& view) { return view.data_handle(); }
    static std::array<std::size_t, rank> shape(T const& view)
    {
        return of_axes<std::size_t>([&](auto axis) { return view.extent(axis); });
    }
    static std::array<std::ptrdiff_t, rank> strides(T const& view)
    {
        return of_axes<std::ptrdiff_t>([&](auto axis) { return view.stride(axis); });
    }

private:
    template <class Number, class F>
    static std::array<Number, rank> of_axes(F const& f)
    {
        return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
            return std::array<Number, rank>{
                static_cast<Number>(f(std::integral_constant<std::size_t, Axis>()))...};
        }(std::make_index_sequence<rank>());
    }
};

namespace detail {

/// A copy of a std::span is a std::vector.
template <class T, std::size_t Extent>
struct owned<std::span<T, Extent>> {
    using type = std::vector<std::remove_cv_t<T>>;
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
