#pragma once
// The tensor concepts, and the traits of tensors: items, shape, layout, owning type. Without xtensor.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/borrowed.hpp>

namespace xloom::inline XLOOM_ABI {

/// Customisation point: specialise it to use your own container as a tensor. A specialisation declares
///
///     using value_type = ...;                                  // the items' type
///     static constexpr std::size_t rank = ...;                 // or dynamic_rank
///     static auto data(T& or T const&);                        // pointer to the first item
///     static auto shape(T const&), strides(T const&); // ranges of integers; strides in items, any sign
///     static T make(xloom::shape const&);             // a container of that shape, its items unspecified
///     template <std::size_t Rank> using rebind = ...; // the same family with another rank (dynamic_rank: T)
///     static constexpr bool is_row_major = true; // optional: T has size() items, contiguous and row-major
///
/// Specialised here for every xtensor expression whose items are in memory (xarray, xtensor, xtensor_fixed,
/// their adaptors, strided views), std::vector, std::span and std::mdspan.
template <class T>
struct enable_tensor;

namespace detail {

template <class T>
using bare = std::remove_cvref_t<T>;

/// True for the expressions of xtensor.
template <class T>
inline constexpr bool is_expression = false;
template <class T>
concept expression = is_expression<bare<T>>;

/// True for xtensor's containers, false for its adaptors and views.
template <class T>
inline constexpr bool is_xcontainer = false;

} // namespace detail

/// A type for which enable_tensor is specialised.
template <class T>
concept tensor = requires { enable_tensor<detail::bare<T>>::rank; };

namespace detail {

/// An xtensor expression that computes its items on access, so that it may refer to variables that no longer
/// exist.
template <class T>
concept lazy = expression<T> && !tensor<T>;

/// A tensor that does not own its items: an xtensor adaptor or view, a std::span, a std::mdspan.
template <class T>
concept tensor_view = tensor<T> && (expression<T> ? !is_xcontainer<bare<T>> : is_borrowed<bare<T>>);

/// The type of one item of a tensor; for a scalar T itself.
template <class T>
struct item_of {
    using type = T;
};
template <tensor T>
struct item_of<T> {
    using type = typename enable_tensor<T>::value_type;
};
template <lazy T>
struct item_of<T> {
    using type = typename T::value_type;
};
template <class T>
using item_t = typename item_of<bare<T>>::type;

/// The type that owns a value: T itself for containers and scalars, a container for views, adaptors and lazy
/// expressions.
template <class T>
struct owned {
    using type = T;
};
template <class T>
using owned_t = typename owned<bare<T>>::type;

/// True if the items of every T are contiguous in row-major order.
template <class T>
inline constexpr bool is_always_row_major = requires { requires enable_tensor<T>::is_row_major; };

/// Returns the number of axes, which may exceed max_rank; 0 for a scalar.
template <class T>
std::size_t rank_of([[maybe_unused]] T const& value)
{
    if constexpr (lazy<T>) {
        return value.dimension();
    } else if constexpr (!tensor<T>) {
        return 0;
    } else if constexpr (enable_tensor<bare<T>>::rank == dynamic_rank) {
        auto const& dims = enable_tensor<bare<T>>::shape(value);
        return static_cast<std::size_t>(std::distance(dims.begin(), dims.end()));
    } else {
        return enable_tensor<bare<T>>::rank;
    }
}

/// Returns the length of the first axis. Requires a rank of at least 1.
template <tensor T>
std::size_t length_of_axis_0(T const& value)
{
    return static_cast<std::size_t>(*enable_tensor<bare<T>>::shape(value).begin());
}

/// Returns the shape of a value of any rank as text.
template <class T>
std::string describe_shape([[maybe_unused]] T const& value)
{
    if constexpr (tensor<T>)
        return concat(enable_tensor<bare<T>>::shape(value));
    else
        return concat(shape{});
}

/// Returns the shape of a tensor. Requires a rank of at most max_rank.
template <tensor T>
shape shape_of(T const& value)
{
    auto const& dims = enable_tensor<bare<T>>::shape(value);
    return {dims.begin(), dims.end()};
}

template <tensor T>
strided_layout layout_of(T const& value)
{
    auto const& of_axes = enable_tensor<bare<T>>::strides(value);
    return {detail::shape_of(value), {of_axes.begin(), of_axes.end()}};
}

/// The type of a tensor's shape that is cheap to compare: a std::array where the rank is static.
template <tensor T>
using extents_t = std::conditional_t<enable_tensor<T>::rank == dynamic_rank, shape,
    std::array<std::size_t, enable_tensor<T>::rank == dynamic_rank ? 0 : enable_tensor<T>::rank>>;

template <tensor T>
extents_t<T> extents_of(T const& value)
{
    auto const& dims = enable_tensor<T>::shape(value);
    if constexpr (enable_tensor<T>::rank == dynamic_rank) {
        return {dims.begin(), dims.end()};
    } else {
        extents_t<T> extents{};
        for (std::size_t axis = 0; axis < extents.size(); ++axis)
            extents[axis] = static_cast<std::size_t>(dims[axis]);
        return extents;
    }
}

/// True if a value's shape equals a range of dimensions; a scalar has none.
template <class T, class Dims>
bool is_shaped_like(T const& value, Dims const& dims)
{
    if constexpr (tensor<T>) {
        auto const& own = enable_tensor<T>::shape(value);
        return std::equal(own.begin(), own.end(), dims.begin(), dims.end(),
            [](auto a, auto b) { return static_cast<std::size_t>(a) == static_cast<std::size_t>(b); });
    } else {
        return dims.size() == 0;
    }
}

/// Returns the shape of a scalar, which is empty. A scalar is any value that is not a tensor.
template <class T>
    requires(!expression<T> && !tensor<T>)
shape shape_of(T const&)
{
    return {};
}

template <class A, class B>
bool have_same_shape(A const& a, B const& b)
{
    if constexpr (tensor<A>)
        return detail::is_shaped_like(b, enable_tensor<A>::shape(a));
    else if constexpr (tensor<B>)
        return detail::is_shaped_like(b, shape{});
    else
        return true;
}

/// Returns a new container of this shape, which an error text calls `name`; its items are unspecified.
///
/// Errors    shape_error: its size overflows.
template <tensor T>
T make_tensor(std::string_view op, std::string_view name, shape const& dims,
    std::string_view remedy = "Reduce a dimension.")
{
    check_result_size(op, name, dims, sizeof(item_t<T>), remedy);
    return enable_tensor<T>::make(dims);
}

/// Assigns the items of one tensor to those of another tensor of the same shape.
template <tensor From, tensor To>
void copy_items(From const& from, To& to)
{
    auto const* source = enable_tensor<From>::data(from);
    auto* target = enable_tensor<To>::data(to);
    if constexpr (is_always_row_major<From> && is_always_row_major<To>)
        std::copy_n(source, from.size(), target);
    else
        kernel::strided_copy(detail::shape_of(from), detail::layout_of(from).strides,
            detail::layout_of(to).strides)(source, target);
}

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

/// Assigns a value to every item of a tensor.
template <tensor X>
void fill_items(X& items, item_t<X> const& value)
{
    if constexpr (is_always_row_major<X>) {
        std::fill_n(enable_tensor<X>::data(items), items.size(), value);
    } else {
        strided_layout layout = detail::layout_of(items);
        std::reverse(layout.dims.begin(), layout.dims.end());
        std::reverse(layout.strides.begin(), layout.strides.end());
        if (is_row_major(layout)) // items is column-major
            std::fill_n(enable_tensor<X>::data(items), element_count(layout.dims), value);
        else
            detail::for_each_item(items, [&](auto& item) { item = value; });
    }
}

/// Returns a new To with the items of a tensor. Requires that its size does not overflow.
template <tensor To, tensor From>
To copy_as(From const& from)
{
    To copy = enable_tensor<To>::make(detail::shape_of(from));
    detail::copy_items(from, copy);
    return copy;
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
