#pragma once
// Functions of items, applied to tensors with NumPy's broadcasting.

#include <algorithm>
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

/// Rows of equal length: the strides of each operand from row to row, and along a row. Results are
/// contiguous.
template <std::size_t Operands>
struct row_set {
    std::size_t count, length;
    std::array<std::ptrdiff_t, Operands> row_strides, strides;
};

/// y[i] = f(x[i]..) for the whole batches of a row. An operand whose bit is set in `repeated` is one item,
/// the others are contiguous. Returns the number of items that were computed.
template <class F, class R, std::size_t Operands, class T, class Bits>
[[gnu::always_inline]] inline std::size_t map_whole_batches(
    F const& f, R* y, std::size_t length, std::array<T const*, Operands> const& x, Bits repeated)
{
    using batch = kernels::batch_t<T>;
    constexpr std::size_t size = kernels::batch_size<T>;
    std::size_t i = 0;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        std::array<batch, Operands> const items{batch(*x[N])...};
        for (; i + size <= length; i += size)
            store_items<T>(
                f((repeated >> N & 1) != 0 ? items[N] : kernels::load_batch(x[N] + i)...), y + i, size);
    }(std::make_index_sequence<Operands>());
    return i;
}

/// y[i] = f(x[i]..) for the items of a row from `begin` on. The last ones are a batch too, so that the bits
/// of an item do not depend on its position. One function for all sets of repeated operands.
template <class F, class R, std::size_t Operands, class T>
[[gnu::noinline, gnu::flatten]] void map_rest_of_row(F const& f, R* y, std::size_t begin, std::size_t length,
    std::array<std::ptrdiff_t, Operands> const& strides, std::array<T const*, Operands> const& x)
{
    constexpr std::size_t size = kernels::batch_size<T>;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        for (std::size_t i = begin; i < length; i += size) {
            std::size_t const now = (std::min)(size, length - i);
            auto const at = static_cast<std::ptrdiff_t>(i);
            store_items<T>(f(load_strided(x[N] + at * strides[N], strides[N], now)...), y + i, now);
        }
    }(std::make_index_sequence<Operands>());
}

/// y[i] = f(x[i]..) by batches.
template <class F, class R, std::size_t Operands, class T>
[[gnu::flatten]] void map_batches(
    F const& f, R* y, row_set<Operands> const& rows, std::array<T const*, Operands> x)
{
    auto const& strides = rows.strides;
    bool const has_batches = rows.length >= kernels::batch_size<T> &&
                             std::all_of(strides.begin(), strides.end(),
                                 [](auto stride) { return stride == 1 || (stride == 0 && Operands > 1); });
    std::size_t repeated = 0;
    for (std::size_t n = 0; n < Operands; ++n)
        repeated |= (strides[n] == 0 ? std::size_t{1} : 0) << n;
    auto const run = [&](auto bits) {
        for (std::size_t row = 0; row < rows.count; ++row, y += rows.length) {
            std::size_t const done = has_batches ? map_whole_batches(f, y, rows.length, x, bits) : 0;
            if (done < rows.length)
                map_rest_of_row(f, y, done, rows.length, strides, x);
            for (std::size_t n = 0; n < Operands; ++n)
                x[n] += rows.row_strides[n];
        }
    };
    if constexpr (Operands == 1) // which is not repeated: its shape is the result's
        run(std::integral_constant<std::size_t, 0>());
    else if constexpr (Operands <= 3) // a loop for each set of repeated operands
        kernels::with_count<0, (std::size_t{1} << Operands) - 1>(repeated, run);
    else if (repeated == 0)
        run(std::integral_constant<std::size_t, 0>());
    else
        run(repeated);
}

template <class F, class R, class... Ts>
void map_numbers(F const& f, R* y, row_set<sizeof...(Ts)> const& rows, Ts const*... x)
{
    static_assert(std::is_same_v<bare<decltype(f(*x...))>, R>,
        "xloom_onnx: the function gives items of another type than the output's.");
    bool is_contiguous = true;
    for (std::ptrdiff_t const stride : rows.strides)
        is_contiguous = is_contiguous && stride == 1;
    for (std::size_t row = 0; row < rows.count; ++row, y += rows.length) {
        if (is_contiguous) {
            for (std::size_t i = 0; i < rows.length; ++i)
                y[i] = f(x[i]...);
        } else {
            [&]<std::size_t... N>(std::index_sequence<N...>) {
                for (std::size_t i = 0; i < rows.length; ++i)
                    y[i] = f(x[static_cast<std::ptrdiff_t>(i) * rows.strides[N]]...);
            }(std::make_index_sequence<sizeof...(Ts)>());
        }
        auto next = rows.row_strides.begin();
        ((x += *next++), ...);
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

/// y[i] = f(x[i]..) for the items of rows.
template <class F, class R, class... Ts>
void map_rows(F const& f, R* y, row_set<sizeof...(Ts)> const& rows, Ts const*... x)
{
    using T = typename batch_items<F, Ts...>::type;
    if constexpr (std::is_void_v<T>)
        map_numbers(f, y, rows, x...);
    else
        map_batches(f, y, rows, std::array<T const*, sizeof...(Ts)>{x...});
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
    if (!has_dims(y, dims) && ((x.size() != 0 && static_cast<void const*>(x.data()) == data_of(y)) || ...))
        kernels::fail<xloom::shape_error>(
            "xloom_onnx::map_into: an operand that is the output must have its shape ", dims, ", but has ",
            dims_of(y));
    give_shape("xloom_onnx::map_into", y, dims);
    row_walk<sizeof...(Views)> walk(dims, {broadcast_strides(x.shape(), dims)...});
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        for (auto* to = data_of(y); !walk.done(); walk.next_rows()) {
            row_set<sizeof...(Views)> const rows{
                walk.rows(), walk.length(), walk.row_strides(), walk.strides()};
            map_rows(f, to, rows, (x.data() + walk.offset(N))...);
            to += rows.count * rows.length;
        }
    }(std::make_index_sequence<sizeof...(Views)>());
}

/// One operand is not broadcast, so that it needs no walk.
template <class F, class Y, class X>
void map_onto(F const& f, Y& y, X const& x)
{
    const_view_of<X> const from(x);
    give_shape("xloom_onnx::map_into", y, from.shape());
    map_rows(f, data_of(y), row_set<1>{1, from.size(), {}, {1}}, from.data());
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
    row_set<sizeof...(Xs)> const row{1, count, {}, {(scalar<Xs> ? std::ptrdiff_t{0} : std::ptrdiff_t{1})...}};
    map_rows(f, data_of(y), row, data_of(xs)...);
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
/// Errors    shape_error, also for an operand that is y and has another shape; what f throws.
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
