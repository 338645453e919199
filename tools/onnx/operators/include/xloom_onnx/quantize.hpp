#pragma once
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/reduce.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct dequantize_options {
    std::int64_t axis = 1;       ///< of scales that are a vector, and of blocks
    std::int64_t block_size = 0; ///< of items along the axis that have a scale; 0: no blocks
};

struct quantize_options {
    std::int64_t axis = 1;
    std::int64_t block_size = 0;
    bool saturate = true; ///< of float8; see xloom::cast_options
    /// The type of x / scale: float, float16 or bfloat16; undefined: that of the scale. Of integers it is
    /// double.
    xloom::element_type precision = xloom::element_type::undefined;
};

namespace detail {

/// The rows of a tensor along which each of scale and zero point is one item, or contiguous.
class quantized_rows {
public:
    /// Errors    shape_error, option_error.
    template <class Options>
    quantized_rows(std::string_view op, xloom::shape const& x, xloom::shape const& scale,
        xloom::shape const* zero_point, Options const& options)
    {
        using xloom::kernels::fail;
        if (options.block_size < 0)
            fail<xloom::option_error>(op, ": its block_size is ", options.block_size);
        auto const is_one = [](xloom::shape const& dims) {
            return dims.size() <= 1 && xloom::element_count(dims) == 1;
        };
        bool const is_of_tensor = scale.empty() || (options.block_size == 0 && is_one(scale));
        if (zero_point != nullptr && *zero_point != scale && !(is_of_tensor && is_one(*zero_point)))
            fail<xloom::shape_error>(
                op, ": the zero point has the shape ", *zero_point, ", but the scale has the shape ", scale);
        if (is_of_tensor) {
            view_ = {1, 1, xloom::element_count(x)};
            return;
        }
        std::size_t const axis = checked_axis(op, options.axis, x.size());
        view_ = around(x, axis);
        block_ = static_cast<std::size_t>(options.block_size);
        xloom::shape wanted{x[axis]};
        if (block_ != 0) {
            blocks_ = (x[axis] + block_ - 1) / block_;
            wanted = x;
            wanted[axis] = blocks_;
        }
        if (scale != wanted)
            fail<xloom::shape_error>(op, ": the scale must have the shape ", wanted, " for x of the shape ",
                x, ", but has ", scale);
    }

    /// Calls f(first item, number of items, index of the first scale, its stride) for each row.
    template <class F>
    void for_each(F const& f) const
    {
        auto const [outer, length, inner] = view_;
        bool const is_blocked = block_ != 0, is_row = inner == 1;
        std::size_t const most = !is_row ? 1 : is_blocked ? block_ : length;
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t l = 0, now; l < length; l += now) {
                now = (std::min)(most, length - l);
                f((o * length + l) * inner, now * inner, is_blocked ? (o * blocks_ + l / block_) * inner : l,
                    is_blocked == is_row ? 0U : 1U);
            }
    }

private:
    axis_view view_{};
    std::size_t block_ = 0, blocks_ = 0;
};

/// Returns the nearest integer, ties to even, of a number below 2^22: the low bits of its sum with a number
/// whose last bit counts 1. Compilers vectorize it.
inline std::int32_t nearest_integer(float x)
{
    constexpr float shift = 0x1.8p23F;
    return std::bit_cast<std::int32_t>(x + shift) - std::bit_cast<std::int32_t>(shift);
}
inline std::int32_t nearest_integer(double x)
{
    constexpr double shift = 0x1.8p52;
    return static_cast<std::int32_t>(
        std::bit_cast<std::int64_t>(x + shift) - std::bit_cast<std::int64_t>(shift));
}

/// Returns a quotient plus a zero point as a To. NaN becomes the zero point of integers.
template <class To, class P>
To quantized(P quotient, To zero_point, [[maybe_unused]] bool saturate)
{
    if constexpr (std::numeric_limits<To>::is_integer) {
        std::int32_t const zero = zero_point;
        P const least = static_cast<P>((std::numeric_limits<To>::min)() - zero),
                most = static_cast<P>((std::numeric_limits<To>::max)() - zero);
        P const number = quotient == quotient ? quotient : P(0);
        return static_cast<To>(zero + nearest_integer(number < least  ? least
                                                      : number > most ? most
                                                                      : number));
    } else {
        auto const zero = static_cast<P>(static_cast<float>(zero_point));
        return To(zero == 0 ? quotient : quotient + zero, {.saturate = saturate});
    }
}

/// Quantizes a row. A quotient is computed in P and rounded to Q.
template <class Q, class P, class X, class S, class To>
void quantize_row(X const* x, std::size_t count, S const* scale, To const* zero_point, std::size_t stride,
    bool saturate, To* __restrict y)
{
    auto const quantize = [saturate](X const& item, S const& factor, To zero) {
        auto const quotient = static_cast<Q>(static_cast<P>(item) / static_cast<P>(factor));
        return quantized<To>(static_cast<xloom::kernels::compute_t<Q>>(quotient), zero, saturate);
    };
    if (stride == 0) {
        S const factor = *scale;
        To const zero = zero_point == nullptr ? To(0) : *zero_point;
        for (std::size_t i = 0; i < count; ++i)
            y[i] = quantize(x[i], factor, zero);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            y[i] = quantize(x[i], scale[i], zero_point == nullptr ? To(0) : zero_point[i]);
    }
}

/// Returns the number that an item stands for. The difference of integers is exact.
template <class To, class X, class S>
To dequantized(X const& x, S const& scale, X const& zero_point)
{
    auto const difference = [&] {
        if constexpr (std::is_same_v<X, std::int32_t>)
            return static_cast<float>(std::int64_t{x} - zero_point);
        else if constexpr (std::numeric_limits<X>::is_integer)
            return static_cast<float>(int{x} - int{zero_point});
        else
            return static_cast<float>(x) - static_cast<float>(zero_point);
    }();
    return static_cast<To>(difference * static_cast<float>(scale));
}

/// The shape of an optional operand; null if it is omitted.
template <class T>
xloom::shape const* shape_of(std::optional<tensor_view<T const>> const& operand)
{
    return operand ? &operand->shape() : nullptr;
}

/// True for types with numbers that float has not.
template <class T>
inline constexpr bool is_wide = std::is_integral_v<T> || std::is_same_v<T, double>;

/// x -> y; the zero point may be omitted.
template <class X, class S, class To>
void quantize_linear(tensor_view<X const> const& x, tensor_view<S const> const& scale,
    std::optional<tensor_view<To const>> const& zero_point, tensor_view<To> const& y,
    quantized_rows const& rows, quantize_options const& options)
{
    using P = std::conditional_t<is_wide<X> || is_wide<S>, double, float>;
    constexpr xloom::element_type own = std::is_same_v<S, xloom::float16>    ? xloom::element_type::float16
                                        : std::is_same_v<S, xloom::bfloat16> ? xloom::element_type::bfloat16
                                                                             : xloom::element_type::float_;
    auto const run = [&]<class Q>(std::type_identity<Q>) {
        rows.for_each([&](std::size_t first, std::size_t count, std::size_t at, std::size_t stride) {
            quantize_row<Q, P>(x.data() + first, count, scale.data() + at,
                zero_point ? zero_point->data() + at : nullptr, stride, options.saturate, y.data() + first);
        });
    };
    if (is_wide<S> && options.precision == xloom::element_type::undefined)
        return run(std::type_identity<P>());
    switch (options.precision == xloom::element_type::undefined ? own : options.precision) {
    case xloom::element_type::float_:
        return run(std::type_identity<float>());
    case xloom::element_type::float16:
        return run(std::type_identity<xloom::float16>());
    case xloom::element_type::bfloat16:
        return run(std::type_identity<xloom::bfloat16>());
    default:
        xloom::kernels::fail<xloom::option_error>("xloom_onnx::quantize_linear_into: its precision must be "
                                                  "float, float16 or bfloat16, but is ",
            name_of(options.precision));
    }
}

} // namespace detail

/// y = x / scale + zero_point, rounded to the nearest integer, ties to even, and saturated; rounded as by
/// xloom::cast where y is a floating-point number. The zero point may be std::nullopt.
///
/// Shapes    x, y [..]; scale and zero_point of the same shape: one number, or [D] for D items along the
///           axis, or with a block_size that of x but for the axis, which has an item for each block. A
///           scale of the shape [] is that of all items in any case.
/// Types     x and scale float, double, 16-bit floating-point numbers, std::int32_t, scale float8_e8m0, too;
///           y and zero_point of one type: integers of up to 16 bits, float8, float4.
/// Errors    shape_error, option_error.
/// NaN       becomes the zero point of integers.
/// Cost      a division an item; x is read once. Allocates nothing if y has as many items already.
template <operand X, operand Scale, class Zero, class Y>
void quantize_linear_into(
    X const& x, Scale const& scale, Zero const& zero_point, Y&& y, quantize_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::quantize_linear_into";
    using To = item_t<detail::bare<Y>>;
    const_view_of<X> const from(x);
    const_view_of<Scale> const scales(scale);
    std::optional<tensor_view<To const>> zeros;
    if constexpr (!std::is_same_v<Zero, std::nullopt_t>)
        zeros.emplace(zero_point);
    detail::quantized_rows const rows(op, from.shape(), scales.shape(), detail::shape_of(zeros), options);
    auto const to = output_view(op, y, from.shape());
    detail::quantize_linear<item_t<X>, item_t<Scale>, To>(from, scales, zeros, to, rows, options);
}

/// y = (x - zero_point) * scale, computed in float. The zero point may be std::nullopt.
///
/// Shapes    as quantize_linear_into.
/// Types     x and zero_point of one type: integers of up to 16 bits, std::int32_t, float8, float4; scale and
///           y floating-point numbers.
/// Errors    shape_error, option_error.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
template <operand X, operand Scale, class Zero, class Y>
void dequantize_linear_into(
    X const& x, Scale const& scale, Zero const& zero_point, Y&& y, dequantize_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::dequantize_linear_into";
    using From = item_t<X>;
    using To = item_t<detail::bare<Y>>;
    const_view_of<X> const from(x);
    const_view_of<Scale> const scales(scale);
    std::optional<tensor_view<From const>> zeros;
    if constexpr (!std::is_same_v<Zero, std::nullopt_t>)
        zeros.emplace(zero_point);
    detail::quantized_rows const rows(op, from.shape(), scales.shape(), detail::shape_of(zeros), options);
    auto const output = output_view(op, y, from.shape());
    rows.for_each([&](std::size_t first, std::size_t count, std::size_t at, std::size_t stride) {
        From const* const items = from.data() + first;
        To* const to = output.data() + first;
        auto const* const factors = scales.data() + at;
        if (stride == 0) {
            auto const factor = *factors;
            From const zero = zeros ? (*zeros)[at] : From(0);
            for (std::size_t i = 0; i < count; ++i)
                to[i] = detail::dequantized<To>(items[i], factor, zero);
        } else {
            for (std::size_t i = 0; i < count; ++i)
                to[i] = detail::dequantized<To>(items[i], factors[i], zeros ? (*zeros)[at + i] : From(0));
        }
    });
}

/// Quantizes x to std::uint8_t with the scale and zero point of its own range, from its least to its largest
/// item and 0.
///
/// Shapes    x, y [..]; y_scale and y_zero_point [].
/// Types     x and y_scale float, y and y_zero_point std::uint8_t.
/// Scale     1 where all items are 0, or there are none; NaN where one is NaN: y is then the zero point, 0.
/// Cost      x is read three times. Allocates nothing if y has as many items already.
template <operand X, class Y, class Scale, class Zero>
void dynamic_quantize_linear_into(X const& x, Y&& y, Scale&& y_scale, Zero&& y_zero_point)
{
    static constexpr std::string_view op = "xloom_onnx::dynamic_quantize_linear_into";
    tensor_view<float const> const from(x);
    float least = 0, largest = 0;
    if (from.size() != 0) {
        reduce_into(reduce_min, from, least, {.keepdims = false});
        reduce_into(reduce_max, from, largest, {.keepdims = false});
    }
    least = (std::min)(least, 0.0F); // NaN stays
    largest = (std::max)(largest, 0.0F);
    float const range = (largest - least) / 255, scale = range == 0 ? 1.0F : range;
    auto const zero_point = detail::quantized<std::uint8_t>(-least / scale, std::uint8_t{0}, true);
    output_view(op, y_scale, {})[0] = scale;
    output_view(op, y_zero_point, {})[0] = zero_point;
    quantize_linear_into(from, scale, zero_point, y);
}

} // namespace xloom_onnx
