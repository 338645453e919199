#include "spelling.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "names.hpp"
#include "types.hpp"

namespace compiler {

namespace {

using xloom::type_kind;

template <class T>
std::string bit_literal(T x)
{
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &x, sizeof(T));
        return fmt::format("std::bit_cast<float>({:#010x}U)", bits);
    } else {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof(T));
        return fmt::format("std::bit_cast<double>({:#018x}U)", bits);
    }
}

/// The shortest decimal number that is read back as x.
template <class T>
std::string real_literal(T x)
{
    if (std::isnan(x))
        return bit_literal(x);
    if (std::isinf(x))
        return fmt::format("{}std::numeric_limits<{}>::infinity()", x < 0 ? "-" : "",
            std::is_same_v<T, float> ? "float" : "double");
    std::string text = fmt::format("{}", x);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text + (std::is_same_v<T, float> ? "F" : "");
}

template <class T>
std::string whole_literal(T x)
{
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::int32_t>)
        if (x == std::numeric_limits<T>::min())
            return fmt::format("std::numeric_limits<{}>::min()", item_type(xloom::element_type_of<T>));
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::uint32_t))
        return fmt::format("{}U", x);
    else
        return fmt::format("{}", +x);
}

template <class T>
std::string literal(T const& x)
{
    if constexpr (std::is_same_v<T, bool>)
        return x ? "true" : "false";
    else if constexpr (std::is_same_v<T, std::string>)
        return fmt::format("std::string({}, {})", string_literal(x), x.size());
    else if constexpr (std::is_floating_point_v<T>)
        return real_literal(x);
    else if constexpr (std::is_integral_v<T>)
        return whole_literal(x);
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        return fmt::format(
            "{}({}, {})", item_type(xloom::element_type_of<T>), literal(x.real()), literal(x.imag()));
    else
        return fmt::format("{}::from_bits({:#x})", item_type(xloom::element_type_of<T>), x.bits());
}

} // namespace

std::string item_type(element_type element)
{
    switch (element) {
    case element_type::float_:
        return "float";
    case element_type::double_:
        return "double";
    case element_type::bool_:
        return "bool";
    case element_type::string:
        return "std::string";
    case element_type::complex64:
        return "std::complex<float>";
    case element_type::complex128:
        return "std::complex<double>";
    case element_type::uint8:
    case element_type::int8:
    case element_type::uint16:
    case element_type::int16:
    case element_type::int32:
    case element_type::int64:
    case element_type::uint32:
    case element_type::uint64:
        return fmt::format("std::{}_t", name_of(element));
    case element_type::float8_e4m3fn:
        return "xloom::float8_e4m3fn";
    case element_type::float8_e4m3fnuz:
        return "xloom::float8_e4m3fnuz";
    case element_type::float8_e5m2:
        return "xloom::float8_e5m2";
    case element_type::float8_e5m2fnuz:
        return "xloom::float8_e5m2fnuz";
    case element_type::float8_e8m0:
        return "xloom::float8_e8m0";
    case element_type::float4_e2m1:
        return "xloom::float4_e2m1";
    default:
        return fmt::format("xloom::{}", name_of(element)); // float16, bfloat16, int4, uint4, int2, uint2
    }
}

std::string stored_type(element_type element)
{
    return element == element_type::string ? "std::string_view" : item_type(element);
}

std::string cpp_type(partial_type const& type)
{
    switch (type.kind()) {
    case type_kind::sequence:
        return fmt::format("std::vector<{}>", cpp_type(type.inner()));
    case type_kind::optional:
        return fmt::format("std::optional<{}>", cpp_type(type.inner()));
    default:
        return type.shape().rank() == 0
                   ? item_type(type.element())
                   : fmt::format("xt::xtensor<{}, {}>", item_type(type.element()), type.shape().rank());
    }
}

bool has_cpp_type(partial_type const& type)
{
    if (type.is_wrapped())
        return has_cpp_type(type.inner());
    return type.is_tensor() && type.element() != element_type::undefined && type.shape().has_rank();
}

std::string item_literal(runner::tensor const& t, std::size_t i)
{
    return runner::with_type(
        t.type(), [&]<class T>(std::type_identity<T>) { return literal<T>(t.items<T>()[i]); });
}

std::string item_expression(runner::tensor const& t, std::size_t i)
{
    return runner::with_type(t.type(), [&]<class T>(std::type_identity<T>) {
        std::string const item = literal<T>(t.items<T>()[i]);
        bool const is_untyped = std::is_integral_v<T> && !std::is_same_v<T, bool>;
        return is_untyped ? fmt::format("{}{{{}}}", item_type(t.type()), item) : item;
    });
}

std::string item_list(runner::tensor const& t)
{
    std::string text, line;
    for (std::size_t i = 0; i < t.size(); ++i) {
        std::string const item = item_literal(t, i) + (i + 1 == t.size() ? "" : ",");
        if (!line.empty() && line.size() + item.size() + 1 > line_length) {
            text += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + item;
    }
    return text + line;
}

} // namespace compiler
