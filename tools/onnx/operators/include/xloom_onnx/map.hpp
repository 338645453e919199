#pragma once
// Functions of items, applied to tensors with NumPy's broadcasting.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom_onnx/batch.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

namespace detail {

/// Loads `count` items at a stride into a batch; the rest are 1, which no function divides by in vain.
template <class T>
kernels::batch_t<T> load_strided(T const* from, std::ptrdiff_t stride, std::size_t count)
{
    if (stride == 0)
        return kernels::batch_t<T>(*from);
    if (stride == 1)
        return count == kernels::batch_size<T> ? kernels::load_batch(from)
                                               : kernels::load_first(from, count, T(1));
    T items[kernels::batch_size<T>];
    std::fill(std::begin(items), std::end(items), T(1));
    for (std::size_t i = 0; i < count; ++i)
        items[i] = from[static_cast<std::ptrdiff_t>(i) * stride];
    return kernels::load_batch(items);
}

/// Loads a whole batch at item i of a row that is contiguous, or one item repeated.
template <class T>
kernels::batch_t<T> load_broadcast(T const* from, std::ptrdiff_t stride, std::size_t i)
{
    return stride == 0 ? kernels::batch_t<T>(*from) : kernels::load_batch(from + i);
}

/// Stores the first `count` items of a batch, or of a mask as bools.
template <class T, class R, class V>
void store_items(V const& items, R* to, std::size_t count)
{
    if constexpr (is_mask<V>) {
        static_assert(std::is_same_v<R, bool>, "xloom_onnx: the function gives truth values.");
        using batch = kernels::batch_t<T>;
        T ones[kernels::batch_size<T>];
        kernels::store_batch(ones, kernels::select(items, batch(1), batch(0)));
        for (std::size_t i = 0; i < count; ++i)
            to[i] = ones[i] != 0;
    } else {
        static_assert(std::is_same_v<R, T>, "xloom_onnx: the function gives items of another type.");
        if (count == kernels::batch_size<T>)
            kernels::store_batch(to, items);
        else
            kernels::store_first(items, to, count);
    }
}

/// y[i] = f(x[i]..) by batches. The last ones are a batch too, so that the bits of an item do not depend on
/// its position.
template <class F, class R, class T, class... Ts>
[[gnu::flatten]] void map_batches(F const& f, R* y, std::size_t count,
    std::array<std::ptrdiff_t, 1 + sizeof...(Ts)> const& strides, T const* first, Ts const*... others)
{
    constexpr std::size_t size = kernels::batch_size<T>;
    constexpr std::make_index_sequence<sizeof...(Ts)> rest{};
    bool is_contiguous = true, is_broadcast = true;
    for (std::ptrdiff_t const stride : strides) {
        is_contiguous = is_contiguous && stride == 1;
        is_broadcast = is_broadcast && (stride == 1 || stride == 0);
    }
    std::size_t i = 0;
    if (is_contiguous)
        for (; i + size <= count; i += size)
            store_items<T>(
                f(kernels::load_batch(first + i), kernels::load_batch(others + i)...), y + i, size);
    else if (is_broadcast)
        for (; i + size <= count; i += size)
            [&]<std::size_t... N>(std::index_sequence<N...>) {
                store_items<T>(
                    f(load_broadcast(first, strides[0], i), load_broadcast(others, strides[N + 1], i)...),
                    y + i, size);
            }(rest);
    for (; i < count; i += size) {
        std::size_t const now = (std::min)(size, count - i);
        auto const at = static_cast<std::ptrdiff_t>(i);
        [&]<std::size_t... N>(std::index_sequence<N...>) {
            store_items<T>(f(load_strided(first + at * strides[0], strides[0], now),
                               load_strided(others + at * strides[N + 1], strides[N + 1], now)...),
                y + i, now);
        }(rest);
    }
}

template <class F, class R, class... Ts>
void map_numbers(F const& f, R* y, std::size_t count,
    std::array<std::ptrdiff_t, sizeof...(Ts)> const& strides, Ts const*... x)
{
    static_assert(std::is_same_v<bare<decltype(f(*x...))>, R>,
        "xloom_onnx: the function gives items of another type than the output's.");
    bool is_contiguous = true;
    for (std::ptrdiff_t const stride : strides)
        is_contiguous = is_contiguous && stride == 1;
    if (is_contiguous) {
        for (std::size_t i = 0; i < count; ++i)
            y[i] = f(x[i]...);
    } else {
        [&]<std::size_t... N>(std::index_sequence<N...>) {
            for (std::size_t i = 0; i < count; ++i)
                y[i] = f(x[static_cast<std::ptrdiff_t>(i) * strides[N]]...);
        }(std::make_index_sequence<sizeof...(Ts)>());
    }
}

/// The type of all Ts if it is float or double with vector units, and F takes batches of it; else void.
template <class F, class T, class... Ts>
struct batch_items {
    static auto find()
    {
        if constexpr ((std::is_same_v<T, Ts> && ...) &&
                      (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
            if constexpr (kernels::has_simd<T>) {
                if constexpr (std::is_invocable_v<F const&, kernels::batch_t<T>,
                                  std::conditional_t<true, kernels::batch_t<T>, Ts>...>)
                    return std::type_identity<T>();
                else
                    return std::type_identity<void>();
            } else {
                return std::type_identity<void>();
            }
        } else {
            return std::type_identity<void>();
        }
    }
    using type = typename decltype(find())::type;
};

/// y[i] = f(x[i]..) for `count` items in a row.
template <class F, class R, class... Ts>
void map_row(F const& f, R* y, std::size_t count, std::array<std::ptrdiff_t, sizeof...(Ts)> const& strides,
    Ts const*... x)
{
    if constexpr (std::is_void_v<typename batch_items<F, Ts...>::type>)
        map_numbers(f, y, count, strides, x...);
    else
        map_batches(f, y, count, strides, x...);
}

/// True if an operand needs no shape: it is a scalar, or of the output's shape.
template <class X, class Dims>
bool is_plain(X const& x, Dims const& dims)
{
    return scalar<X> || has_dims(x, dims);
}

template <class F, class Y, class... Views>
void map_broadcast(F const& f, Y& y, Views const&... x)
{
    xloom::shape dims;
    (broadcast_with(dims, x.shape()), ...);
    give_shape("xloom_onnx::map_into", y, dims);
    row_walk<sizeof...(Views)> walk(dims, {broadcast_strides(x.shape(), dims)...});
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        for (auto* row = data_of(y); !walk.done(); walk.next(), row += walk.length())
            map_row(f, row, walk.length(), walk.strides(), (x.data() + walk.offset(N))...);
    }(std::make_index_sequence<sizeof...(Views)>());
}

template <class F, class Y, class... Xs>
void map_onto(F const& f, Y& y, Xs const&... xs)
{
    bool is_simple = (is_plain(xs, dims_of(y)) && ...) && ((!scalar<Xs>) || ... || scalar<Y>);
    if constexpr (((!scalar<Xs> && !xloom::kernels::is_always_row_major<Xs>) || ...) ||
                  (!scalar<Y> && !xloom::kernels::is_always_row_major<Y>))
        is_simple = false;
    if (!is_simple)
        return map_broadcast(f, y, const_view_of<Xs>(xs)...);
    std::size_t count = 1;
    for (auto const dim : dims_of(y))
        count *= static_cast<std::size_t>(dim);
    map_row(f, data_of(y), count, {(scalar<Xs> ? std::ptrdiff_t{0} : std::ptrdiff_t{1})...}, data_of(xs)...);
}

} // namespace detail

/// Computes y = f(x..) item by item: map_into(f, x.., y) for one operand or more.
///
///     map_into([](auto a, auto b) { return tanh(add(a, b)); }, x, bias, y);
///
/// Shapes    operands of shapes that NumPy broadcasts to one, which y gets.
/// Types     f takes an item of each operand and gives y's type. If all operands are float, or all double, f
///           is called with SIMD batches where it can be: a lambda with parameters `auto` of this folder's
///           function objects is, one with `float` is not.
/// Errors    shape_error; what f throws.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
/// Aliasing  y may be an operand that has y's shape.
template <class F, class... Args>
void map_into(F const& f, Args&&... args)
{
    static_assert(sizeof...(Args) >= 2, "xloom_onnx::map_into: an operand or more and the output.");
    static_assert((operand<Args> && ...), "xloom_onnx::map_into: an operand is no tensor and no number.");
    auto const all = std::tie(args...);
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        detail::map_onto(f, std::get<sizeof...(Args) - 1>(all), std::as_const(std::get<N>(all))...);
    }(std::make_index_sequence<sizeof...(Args) - 1>());
}

} // namespace xloom_onnx
