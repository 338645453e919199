#pragma once
// ONNX's activation functions over contiguous ranges, with SIMD for float and double.

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/core/activation.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/activations.hpp>

namespace xloom::inline XLOOM_ABI {

/// The accuracy of an activation: its error is at most `max_ulp` units in the last place of the true value,
/// for float and double arguments from the lowest ones on. Below these, where true values are subnormal or
/// nearly so, the result is at least 0 and exceeds the true value by at most `max_ulp` times the smallest
/// subnormal number.
struct activation_accuracy {
    activation kind;
    double max_ulp;
    float lowest_float = -std::numeric_limits<float>::infinity();
    double lowest_double = -std::numeric_limits<double>::infinity();
};

/// The accuracies of activations. Relu, LeakyRelu and ThresholdedRelu are not listed: they round once at
/// most. Nor are Affine and HardSigmoid, which round alpha * x, then the sum, or both at once. ScaledTanh
/// rounds beta * x, its tanh, and the product with alpha; the bound holds where beta * x and the result are
/// not subnormal.
inline constexpr std::array<activation_accuracy, 6> activation_accuracies{{
    {activation::tanh, kernel::has_simd<float> ? 1.5 : 2.5}, // 2.5: <cmath> of glibc 2.36
    {activation::sigmoid, 3.0, -87.0f, -708.0},
    {activation::scaled_tanh, kernel::has_simd<float> ? 4.5 : 6.5},
    {activation::elu, 2.5}, // with alpha = 1
    {activation::softsign, 2.0},
    {activation::softplus, 3.0, -87.0f, -708.0},
}};

namespace detail {

/// The function that computes an activation.
template <class T>
struct activate_functions {
    using item = T;

    void (*activate)(activation_function const&, T const* x, T* y, std::size_t count) noexcept;

    static constexpr activate_functions compiled() noexcept { return {&kernel::activate<T>}; }
};

template <class T>
void activate_items(activation_function const& function, T const* x, T* y, std::size_t count)
{
    vector_level().template functions<activate_functions<T>>().activate(function, x, y, count);
}

/// Computes storage floats as floats, in one piece because softmax needs all of them.
template <class T>
    requires is_small_float<T>
void activate_items(activation_function const& function, T const* x, T* y, std::size_t count)
{
    std::vector<float> floats(x, x + count);
    activate_items(function, floats.data(), floats.data(), count);
    std::transform(floats.begin(), floats.end(), y, [](float value) { return T(value); });
}

/// Returns an activation with ONNX's defaults of alpha and beta. An invalid kind is kept for the error text.
constexpr activation_function default_activation(activation kind)
{
    auto const number = static_cast<std::size_t>(kind);
    if (number >= activation_count)
        return {kind};
    auto const& [alpha, beta] = activation_entries[number].onnx;
    return {kind, alpha, beta};
}

[[noreturn]] inline void fail_kind(std::string_view op, activation kind)
{
    fail<option_error>(op, ": an activation must be one that ONNX names, but function.kind is ",
        static_cast<int>(kind), ". Choose one of ", activation_names(), ".");
}

/// The items of a contiguous range: std::vector, std::array, std::span, an array.
template <class Range>
using range_item_t = typename decltype(std::span(std::declval<Range>()))::element_type;

/// True if y is a contiguous range that can be written, and x one of the same element type.
template <class X, class Y>
concept activates = requires {
    typename range_item_t<X const&>;
    typename range_item_t<Y>;
    requires std::same_as<std::remove_const_t<range_item_t<X const&>>, range_item_t<Y>>;
};

/// Requires contiguous ranges of one element type: Xs, and Y, which is written.
template <class Y, class... Xs>
struct ranges_of_items {
    static consteval bool holds()
    {
        constexpr bool is_valid = (activates<Xs, Y> && ...);
        static_assert(is_valid,
            "x, y and cotangents must be contiguous ranges of one element type, such as std::vector or "
            "std::span, and what is written must be a variable that is not const");
        return is_valid;
    }
};

} // namespace detail

/// Computes y[i] = function(x[i]); softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) over the whole range.
///
/// Shapes    x and y are contiguous ranges of equal length: std::vector, std::array, std::span, arrays.
/// Types     float and double with SIMD, storage floats through float, any other scalar that has the
///           functions of <cmath>; x and y of one type.
/// Max error activation_accuracies, in ULP.
/// Special   NaN gives NaN, in every function. Infinity gives the limit, but NaN where alpha (Affine,
///           HardSigmoid; LeakyRelu below 0) or beta (ScaledTanh) is 0: their product is NaN. Sigmoid and
///           Softplus do not overflow. -0 stays -0 in Relu, LeakyRelu, Tanh, Elu and Softsign.
///           ThresholdedRelu keeps x >= alpha, as ONNX specifies. Softmax is NaN everywhere if one of x is
///           NaN or +infinity, or all are -infinity.
/// Errors    before anything is written: shape_error: x and y differ in length; option_error: an invalid
///           kind, an unknown name.
/// Cost      float, AVX2: 0.3 to 0.9 ns per item, whatever its value. An item's result does not depend on its
///           position. Storage floats: a buffer of a float for each item.
/// Real time after the first call, but for storage floats.
/// Aliasing  y may be x.
/// Source    ONNX LSTM-22, activations.
/// Example
/// ```cpp
/// std::vector<float> x = {-1, 0, 2};
/// xloom::activate(xloom::activation::relu, x, x);
/// x; // = [0, 0, 2]
/// xloom::activate({xloom::activation::elu, 0.5}, x, x); // alpha = 0.5
/// ```
template <class X, class Y>
void activate(activation_function const& function, X const& x, Y&& y)
{
    if constexpr (detail::satisfied<detail::ranges_of_items<Y, X>>()) {
        std::span const from(x);
        std::span const to(std::forward<Y>(y));
        if (from.size() != to.size())
            detail::fail<shape_error>("xloom::activate: x and y must be equally long, but x has ",
                detail::counted{from.size(), "item"}, " and y has ", to.size(), ". Give them one length.");
        if (static_cast<std::size_t>(function.kind) >= activation_count)
            detail::fail_kind("xloom::activate", function.kind);
        detail::activate_items(function, from.data(), to.data(), from.size());
    }
}

/// Computes an activation with ONNX's defaults of alpha and beta.
template <class X, class Y>
void activate(activation kind, X const& x, Y&& y)
{
    xloom::activate(detail::default_activation(kind), x, std::forward<Y>(y));
}

/// Computes the activation of this name, such as "LeakyRelu", with ONNX's defaults of alpha and beta; case is
/// ignored.
template <class X, class Y>
void activate(std::string_view name, X const& x, Y&& y)
{
    xloom::activate(parse_activations("xloom::activate", std::array{name})[0], x, std::forward<Y>(y));
}

} // namespace xloom::inline XLOOM_ABI
