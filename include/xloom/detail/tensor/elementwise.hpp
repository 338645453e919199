#pragma once
// xtensor's elementwise expressions over contiguous tensors of one shape, which one plain loop evaluates.

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// An expression whose item i is a function of the items i of tensors and of scalars. The tensors have items
/// of type T, a number, in row-major order. Where the shapes differ, the expression is not elementwise.
///
/// Why objects with pointers, instead of the expression: as far as a compiler knows, a store through a vector
/// type may change any pointer in memory, so that it would reload those of the tensors in each iteration.
template <class T, class E>
struct elementwise {
    static constexpr bool is_valid = false;
    static constexpr bool has_dims = false;
};

template <class T, class C>
struct elementwise<T, xt::xscalar<C>> {
    using scalar = std::decay_t<C>;
    static constexpr bool is_valid = std::is_arithmetic_v<scalar> && !std::is_same_v<scalar, bool> &&
                                     std::is_same_v<std::common_type_t<T, scalar>, T>;
    static constexpr bool has_dims = false;

    explicit elementwise(xt::xscalar<C> const& e) : value(e()) {}

    bool is_shaped_like(auto const&) const { return true; }
    scalar item(std::size_t) const { return value; }
    auto batch(std::size_t) const { return xt_simd::broadcast_as<T>(static_cast<T>(value)); }

    scalar value;
};

template <class T, strided_expression E>
struct elementwise<T, E> {
    static constexpr bool is_valid = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                     std::is_same_v<item_t<E>, T> && is_always_row_major<E>;
    static constexpr bool has_dims = true;

    explicit elementwise(E const& e) : leaf(e), items(enable_tensor<E>::data(e)) {}

    auto const& dims() const { return enable_tensor<E>::shape(leaf); }
    bool is_shaped_like(auto const& other) const { return detail::is_shaped_like(leaf, other); }
    T item(std::size_t i) const { return items[i]; }
    auto batch(std::size_t i) const { return xt_simd::load_as<T>(items + i, xt_simd::unaligned_mode()); }

    E const& leaf;
    T const* items;
};

template <class T, class F, class... Es>
struct elementwise<T, xt::xfunction<F, Es...>> {
    using arguments = std::tuple<elementwise<T, bare<Es>>...>;
    static constexpr bool is_valid = (elementwise<T, bare<Es>>::is_valid && ...);
    static constexpr bool has_dims = (elementwise<T, bare<Es>>::has_dims || ...);

    explicit elementwise(xt::xfunction<F, Es...> const& e)
        : function(e.functor()),
          each(std::apply([](auto const&... a) { return arguments(a...); }, e.arguments()))
    {}

    /// Returns the shape of the first tensor.
    auto const& dims() const
    {
        constexpr std::array<bool, sizeof...(Es)> have_dims = {elementwise<T, bare<Es>>::has_dims...};
        constexpr auto first = std::find(have_dims.begin(), have_dims.end(), true) - have_dims.begin();
        return std::get<first>(each).dims();
    }
    bool is_shaped_like(auto const& other) const
    {
        return std::apply([&](auto const&... a) { return (a.is_shaped_like(other) && ...); }, each);
    }
    auto item(std::size_t i) const
    {
        return std::apply([&](auto const&... a) { return function(a.item(i)...); }, each);
    }
    auto batch(std::size_t i) const
    {
        return std::apply([&](auto const&... a) { return function.simd_apply(a.batch(i)...); }, each);
    }

    std::decay_t<F> function;
    arguments each;
};

/// True if an expression is elementwise where its tensors have one shape.
template <class T, class E>
inline constexpr bool is_elementwise = elementwise<T, E>::is_valid && elementwise<T, E>::has_dims;

/// Stores items [begin, end) of an expression in `to`, one by one.
///
/// Why not inline: where whole vectors are stored, few items remain or none.
template <class T, class E>
XLOOM_NOINLINE void store_items_singly(elementwise<T, E> from, std::size_t begin, std::size_t end, T* to)
{
    for (std::size_t i = begin; i < end; ++i)
        to[i] = static_cast<T>(from.item(i));
}

/// Stores the first `count` items of an expression in `to`, which no tensor of the expression overlaps.
template <class T, class E>
void store_items(elementwise<T, E> from, std::size_t count, T* to)
{
    std::size_t i = 0;
    if constexpr (xt::xassign_traits<xt::xtensor<T, 1>, E>::simd_linear_assign())
        for (constexpr std::size_t width = xt_simd::simd_type<T>::size; i + width <= count; i += width)
            xt_simd::store_as(to + i, from.batch(i), xt_simd::unaligned_mode());
    if (i < count)
        detail::store_items_singly(from, i, count, to);
}

} // namespace xloom::inline XLOOM_ABI::detail
