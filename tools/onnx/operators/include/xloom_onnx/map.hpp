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

/// Stores a batch, or a mask as bools.
template <class T, class R, class V>
void store_items(V const& items, R* to)
{
    if constexpr (is_mask<V>) {
        static_assert(std::is_same_v<R, bool>, "xloom_onnx: the function gives truth values.");
        using batch = kernels::batch_t<T>;
        T ones[kernels::batch_size<T>];
        kernels::store_batch(ones, kernels::select(items, batch(1), batch(0)));
        for (std::size_t i = 0; i < kernels::batch_size<T>; ++i)
            to[i] = ones[i] != 0;
    } else {
        static_assert(std::is_same_v<R, T>, "xloom_onnx: the function gives items of another type.");
        kernels::store_batch(to, items);
    }
}

/// Rows of equal length: the strides of each operand from row to row, and along a row. Results are
/// contiguous.
template <std::size_t Operands>
struct row_set {
    std::size_t count, length;
    std::array<std::ptrdiff_t, Operands> row_strides, strides;
};

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

/// y[i] = f(x[i]..) for `length` items, which are whole batches. An operand whose bit is set in `repeated` is
/// one item, the others are contiguous.
template <class F, class R, std::size_t Operands, class T>
[[gnu::flatten]] void map_whole_batches(void const* function, R* y, std::size_t length,
    std::array<T const*, Operands> const& x, std::size_t repeated)
{
    F const& f = *static_cast<F const*>(function);
    constexpr std::size_t all = (std::size_t{1} << Operands) - 1;
    auto const run = [&](auto bits) {
        [&]<std::size_t... N>(std::index_sequence<N...>) {
            std::array<kernels::batch_t<T>, Operands> const items{kernels::batch_t<T>(*x[N])...};
            for (std::size_t i = 0; i < length; i += kernels::batch_size<T>)
                store_items<T>(f((bits >> N & 1) != 0 ? items[N] : kernels::load_batch(x[N] + i)...), y + i);
        }(std::make_index_sequence<Operands>());
    };
    if constexpr (Operands <= 3) // a loop for each set of repeated operands
        kernels::with_count<0, all - 1>(repeated, run);
    else if (repeated == 0)
        run(std::integral_constant<std::size_t, 0>());
    else
        run(repeated);
}

/// A function of batches. Its type is that of the items only, so that what walks over rows is compiled once.
template <class R, class T, std::size_t Operands>
class batch_function {
    using pointers = std::array<T const*, Operands>;
    static constexpr std::size_t size = kernels::batch_size<T>;

public:
    template <class F>
    explicit batch_function(F const& f) : f_(&f), map_(map_whole_batches<F, R, Operands, T>)
    {}

    /// Computes y[i] = f(x[i]..) for the items of rows.
    template <class... Ts>
    void operator()(R* y, row_set<Operands> const& rows, Ts const*... operands) const
    {
        pointers x{operands...};
        auto const& strides = rows.strides;
        std::size_t repeated = 0, steady = 0;
        for (std::size_t n = 0; n < Operands; ++n) {
            repeated |= (strides[n] == 0 ? std::size_t{1} : 0) << n;
            steady += strides[n] == 0 || strides[n] == 1 ? 1 : 0;
        }
        bool const has_batches = steady == Operands && repeated + 1 != std::size_t{1} << Operands;
        std::size_t const whole = has_batches ? rows.length / size * size : 0;
        for (std::size_t row = 0; row < rows.count; ++row, y += rows.length) {
            if (whole != 0)
                map_(f_, y, whole, x, repeated);
            if (whole != rows.length)
                map_rest(y, whole, rows, x);
            for (std::size_t n = 0; n < Operands; ++n)
                x[n] += rows.row_strides[n];
        }
    }

private:
    /// The items of a row from `begin` on, by copies: the last ones are a batch too, so that the bits of an
    /// item do not depend on its position. What fills that up is 1, by which no function divides in vain.
    void map_rest(R* y, std::size_t begin, row_set<Operands> const& rows, pointers const& x) const
    {
        T items[Operands][size];
        R results[size];
        pointers from;
        for (std::size_t i = begin; i < rows.length; i += size) {
            std::size_t const now = (std::min)(size, rows.length - i);
            for (std::size_t n = 0; n < Operands; ++n) {
                from[n] = items[n];
                std::fill_n(items[n], size, T(1));
                for (std::size_t k = 0; k < now; ++k)
                    items[n][k] = x[n][static_cast<std::ptrdiff_t>(i + k) * rows.strides[n]];
            }
            map_(f_, results, size, from, 0);
            std::copy_n(results, now, y + i);
        }
    }

    void const* f_;
    void (*map_)(void const*, R*, std::size_t, pointers const&, std::size_t);
};

/// A function of items.
template <class R, class F>
struct number_function {
    F const& f;

    template <class... Ts>
    void operator()(R* y, row_set<sizeof...(Ts)> const& rows, Ts const*... x) const
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
};

/// Returns f as a function of rows.
template <class R, class... Ts, class F>
auto row_function_of(F const& f)
{
    using T = typename batch_items<F, Ts...>::type;
    if constexpr (std::is_void_v<T>)
        return number_function<R, F>{f};
    else
        return batch_function<R, T, sizeof...(Ts)>(f);
}

/// True if an operand needs no shape: it is a scalar, or of the output's shape.
template <class X, class Dims>
bool is_plain(X const& x, Dims const& dims)
{
    return scalar<X> || has_dims(x, dims);
}

/// Gives y the shape of the results of f(x..).
template <class Y, class... Views>
void shape_results(Y& y, xloom::shape const& dims, Views const&... x)
{
    if (!has_dims(y, dims) && ((x.size() != 0 && static_cast<void const*>(x.data()) == data_of(y)) || ...))
        kernels::fail<xloom::shape_error>(
            "xloom_onnx::map_into: an operand that is the output must have its shape ", dims, ", but has ",
            dims_of(y));
    give_shape("xloom_onnx::map_into", y, dims);
}

template <class Map, class Y, class... Views>
void map_broadcast(Map const& map, Y& y, Views const&... x)
{
    xloom::shape dims;
    (broadcast_with(dims, x.shape()), ...);
    shape_results(y, dims, x...);
    row_walk<sizeof...(Views)> walk(dims, {broadcast_strides(x.shape(), dims)...});
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        for (auto* to = data_of(y); !walk.done(); walk.next_rows()) {
            row_set<sizeof...(Views)> const rows{
                walk.rows(), walk.length(), walk.row_strides(), walk.strides()};
            map(to, rows, (x.data() + walk.offset(N))...);
            to += rows.count * rows.length;
        }
    }(std::make_index_sequence<sizeof...(Views)>());
}

/// One operand is not broadcast, so that it needs no walk.
template <class Map, class Y, class X>
void map_onto(Map const& map, Y& y, X const& x)
{
    const_view_of<X> const from(x);
    shape_results(y, from.shape(), from);
    map(data_of(y), row_set<1>{1, from.size(), {}, {1}}, from.data());
}

template <class Map, class Y, class... Xs>
void map_onto(Map const& map, Y& y, Xs const&... xs)
{
    bool is_simple = (is_plain(xs, dims_of(y)) && ...) && ((!scalar<Xs>) || ... || scalar<Y>);
    if constexpr (((!scalar<Xs> && !xloom::kernels::is_always_row_major<Xs>) || ...) ||
                  (!scalar<Y> && !xloom::kernels::is_always_row_major<Y>))
        is_simple = false;
    if (!is_simple)
        return map_broadcast(map, y, const_view_of<Xs>(xs)...);
    std::size_t count = 1;
    for (auto const dim : dims_of(y))
        count *= static_cast<std::size_t>(dim);
    row_set<sizeof...(Xs)> const row{1, count, {}, {(scalar<Xs> ? std::ptrdiff_t{0} : std::ptrdiff_t{1})...}};
    map(data_of(y), row, data_of(xs)...);
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
        auto& y = std::get<sizeof...(Args) - 1>(all);
        detail::map_onto(
            detail::row_function_of<item_t<decltype(y)>, item_t<decltype(std::get<N>(all))>...>(f), y,
            std::as_const(std::get<N>(all))...);
    }(std::make_index_sequence<sizeof...(Args) - 1>());
}

} // namespace xloom_onnx
