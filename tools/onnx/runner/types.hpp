#pragma once
// From an element type at run time to the C++ type of its items.

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "text.hpp"
#include "value.hpp"

namespace runner {

/// Calls f(std::type_identity<T>) for one of these types; throws impossible_type for any other.
template <class... Ts, class F>
auto with_type_of(element_type type, F&& f)
{
    using result = std::common_type_t<std::remove_cvref_t<decltype(f(std::type_identity<Ts>()))>...>;
    if constexpr (std::is_void_v<result>) {
        if (!((type == xloom::element_type_of<Ts> ? (f(std::type_identity<Ts>()), true) : false) || ...))
            throw impossible_type(fmt::format("the element type {} is not possible here", name_of(type)));
    } else {
        std::optional<result> found;
        if (!((type == xloom::element_type_of<Ts> ? (found.emplace(f(std::type_identity<Ts>())), true)
                                                  : false) ||
                ...))
            throw impossible_type(fmt::format("the element type {} is not possible here", name_of(type)));
        return result(std::move(*found));
    }
}

/// Whole numbers from int8 to uint64.
template <class F>
auto with_integer(element_type type, F&& f)
{
    return with_type_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
        std::uint32_t, std::uint64_t>(type, std::forward<F>(f));
}

/// float, double, float16, bfloat16.
template <class F>
auto with_float(element_type type, F&& f)
{
    return with_type_of<float, double, xloom::float16, xloom::bfloat16>(type, std::forward<F>(f));
}

template <class F>
auto with_number(element_type type, F&& f)
{
    return with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int16_t,
        std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
        type, std::forward<F>(f));
}

/// Every element type but string.
template <class F>
auto with_plain_type(element_type type, F&& f)
{
    return with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int16_t,
        std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool,
        std::complex<float>, std::complex<double>, xloom::float8_e4m3fn, xloom::float8_e4m3fnuz,
        xloom::float8_e5m2, xloom::float8_e5m2fnuz, xloom::float8_e8m0, xloom::float4_e2m1, xloom::int4,
        xloom::uint4, xloom::int2, xloom::uint2>(type, std::forward<F>(f));
}

/// Every element type.
template <class F>
auto with_type(element_type type, F&& f)
{
    if (type == element_type::string)
        return f(std::type_identity<std::string>());
    return with_plain_type(type, std::forward<F>(f));
}

} // namespace runner
