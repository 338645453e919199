#pragma once
// ConstantOfShape and Range.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Fills y, which gets the given shape, with a value.
template <class Value, class Y>
void constant_of_shape_into(integers const& shape, Value const& value, Y&& y)
{
    auto const to = output_view(
        "xloom_onnx::constant_of_shape_into", y, checked_shape("xloom_onnx::constant_of_shape", shape));
    std::fill(to.begin(), to.end(), value);
}

/// Returns the number of items of start, start + delta .. before limit: ceil((limit - start) / delta),
/// computed in the type of the operands (in float for 16 bits), as NumPy's arange does.
///
/// Differs   from ONNX Runtime, which divides in double: 0, 0.3, 0.1 in float are 3 items here, 4 there.
///
/// Errors    option_error: delta is 0, or the length is no number or too large.
template <class T>
std::size_t range_length(T const& given_start, T const& given_limit, T const& given_delta)
{
    auto const start = +given_start, limit = +given_limit, delta = +given_delta;
    if (delta == 0)
        xloom::kernels::fail<xloom::option_error>("xloom_onnx::range: delta is 0");
    auto const fail = [] {
        xloom::kernels::fail<xloom::option_error>("xloom_onnx::range: its length is no number, or too large");
    };
    if constexpr (std::is_integral_v<T>) {
        if (delta > 0 ? start >= limit : start <= limit)
            return 0;
        auto const to = static_cast<std::uint64_t>(limit), from = static_cast<std::uint64_t>(start),
                   step = static_cast<std::uint64_t>(delta);
        std::uint64_t const length =
            delta > 0 ? (to - from - 1) / step + 1 : (from - to - 1) / (0 - step) + 1;
        if (!std::in_range<std::size_t>(length))
            fail();
        return static_cast<std::size_t>(length);
    } else {
        auto const length = std::ceil((limit - start) / delta);
        if (!(length < static_cast<decltype(length)>((std::numeric_limits<std::size_t>::max)() / 4 + 1)))
            fail();
        return length > 0 ? static_cast<std::size_t>(length) : 0;
    }
}

/// y = start, start + delta .. before limit; 16-bit floating-point numbers are computed in float. Operands of
/// one item each.
template <operand X, class Y>
void range_into(X const& start, X const& limit, X const& delta, Y&& y)
{
    using T = item_t<X>;
    auto const scalar = [](X const& x, char const* name) {
        const_view_of<X> const view(x);
        if (view.size() != 1)
            xloom::kernels::fail<xloom::shape_error>(
                "xloom_onnx::range_into: ", name, " has ", view.size(), " items instead of 1");
        return view[0];
    };
    T const first = scalar(start, "start"), step = scalar(delta, "delta");
    std::size_t const length = range_length(first, scalar(limit, "limit"), step);
    auto const to = output_view("xloom_onnx::range_into", y, xloom::shape{length});
    auto const from = detail::modular(+first), by = detail::modular(+step);
    for (std::size_t i = 0; i < length; ++i)
        to[i] = static_cast<T>(from + static_cast<std::remove_const_t<decltype(from)>>(i) * by);
}

} // namespace xloom_onnx
