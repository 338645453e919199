#pragma once
// The derivatives of ONNX's activation functions over contiguous ranges.

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/recurrent/activations.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The function that computes an activation's derivative.
template <class T>
struct activate_vjp_functions {
    using item = T;

    void (*run)(activation_function const&, T const* x, T const* ct_y, T* ct_x, std::size_t count);

    static constexpr activate_vjp_functions compiled() noexcept { return {&multiply_by_slopes}; }

private:
    static void multiply_by_slopes(
        activation_function const& function, T const* x, T const* ct_y, T* ct_x, std::size_t count)
    {
        if (function.kind == activation::softmax) {
            std::vector<T> values(x, x + count);
            kernel::softmax(values.data(), values.data(), count);
            std::copy_n(ct_y, count, ct_x);
            kernel::softmax_vjp(values.data(), ct_x, count);
        } else
            kernel::with_activation<T>(
                function, [=](auto const& f) { kernel::map_vjp(x, ct_y, ct_x, count, f); });
    }
};

template <class T>
void activate_vjp_items(
    activation_function const& function, T const* x, T const* ct_y, T* ct_x, std::size_t count)
{
    vector_level().template functions<activate_vjp_functions<T>>().run(function, x, ct_y, ct_x, count);
}

template <class T>
    requires is_small_float<T>
void activate_vjp_items(
    activation_function const& function, T const* x, T const* ct_y, T* ct_x, std::size_t count)
{
    std::vector<float> const x_floats(x, x + count);
    std::vector<float> ct_floats(ct_y, ct_y + count);
    activate_vjp_items(function, x_floats.data(), ct_floats.data(), ct_floats.data(), count);
    std::transform(ct_floats.begin(), ct_floats.end(), ct_x, [](float value) { return T(value); });
}

} // namespace detail

/// Computes ct_x[i] = function'(x[i]) * ct_y[i], the cotangent of activate's x from that of its y; softmax:
/// ct_x = y * (ct_y - sum(y * ct_y)). ct_x is overwritten, not added to.
///
/// Shapes    x, ct_y and ct_x are contiguous ranges of equal length, as in activate.
/// Types     those of activate.
/// Special   At a kink, PyTorch's derivative: 0 in Relu (at 0), ThresholdedRelu (at alpha) and HardSigmoid
///           (at both ends of its slope), alpha in LeakyRelu and Elu (at 0). NaN in x gives NaN, except in
///           Affine. Derivatives do not cancel: that of Tanh at 10 has as many digits as at 1.
/// Errors    before anything is written: shape_error: the ranges differ in length; option_error: an invalid
///           kind, an unknown name.
/// Cost      as activate; softmax and storage floats: buffers of the range's length.
/// Aliasing  ct_x may be ct_y or x.
/// Source    ONNX LSTM-22, activations.
/// Example
/// ```cpp
/// std::vector<float> const x = {-1, 0.5, 2};
/// std::vector<float> ct = {1, 1, 3};
/// xloom::activate_vjp(xloom::activation::relu, x, ct, ct);
/// ct; // = [0, 1, 3]
/// ```
template <class X, class CtY, class CtX>
void activate_vjp(activation_function const& function, X const& x, CtY const& ct_y, CtX&& ct_x)
{
    if constexpr (detail::satisfied<detail::ranges_of_items<CtX, X, CtY>>()) {
        std::span const at(x);
        std::span const from(ct_y);
        std::span const to(std::forward<CtX>(ct_x));
        if (at.size() != to.size() || from.size() != to.size())
            detail::fail<shape_error>(
                "xloom::activate_vjp: x, ct_y and ct_x must be equally long, but x has ",
                detail::counted{at.size(), "item"}, ", ct_y has ", from.size(), " and ct_x has ", to.size(),
                ". Give them one length.");
        if (static_cast<std::size_t>(function.kind) >= activation_count)
            detail::fail_kind("xloom::activate_vjp", function.kind);
        detail::activate_vjp_items(function, at.data(), from.data(), to.data(), at.size());
    }
}

/// Computes the cotangent of an activation with ONNX's defaults of alpha and beta.
template <class X, class CtY, class CtX>
void activate_vjp(activation kind, X const& x, CtY const& ct_y, CtX&& ct_x)
{
    xloom::activate_vjp(detail::default_activation(kind), x, ct_y, std::forward<CtX>(ct_x));
}

/// Computes the cotangent of the activation of this name, with ONNX's defaults of alpha and beta; case is
/// ignored.
template <class X, class CtY, class CtX>
void activate_vjp(std::string_view name, X const& x, CtY const& ct_y, CtX&& ct_x)
{
    xloom::activate_vjp(
        parse_activations("xloom::activate_vjp", std::array{name})[0], x, ct_y, std::forward<CtX>(ct_x));
}

} // namespace xloom::inline XLOOM_ABI
