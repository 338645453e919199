#include "compare.hpp"

#include <cmath>
#include <cstdio>

#include "text.hpp"
#include "types.hpp"

namespace runner {

namespace {

template <class T>
inline constexpr bool is_small_float = false;
template <element_type Element>
inline constexpr bool is_small_float<xloom::small_float<Element>> = true;

/// |a - b| <= absolute + relative |b|.
struct tolerance {
    double absolute;
    double relative;
};

template <class T>
constexpr tolerance tolerance_of()
{
    if constexpr (std::is_same_v<T, float>)
        return {1e-5, 1e-4};
    else if constexpr (std::is_same_v<T, double>)
        return {1e-9, 1e-7};
    else if constexpr (std::is_same_v<T, xloom::float16>)
        return {2e-3, 2e-3};
    else
        return {0, 2e-2};
}

template <class T>
bool is_close(T got, T expected)
{
    auto const a = static_cast<double>(got);
    auto const b = static_cast<double>(expected);
    if (std::isnan(b) || std::isnan(a))
        return std::isnan(b) && std::isnan(a);
    if (std::isinf(b) || std::isinf(a))
        return a == b;
    tolerance const allowed = tolerance_of<T>();
    return std::abs(a - b) <= allowed.absolute + allowed.relative * std::abs(b);
}

template <class T>
bool is_equal(T const& got, T const& expected)
{
    if constexpr (is_small_float<T>)
        return got.bits() == expected.bits() || (isnan(got) && isnan(expected));
    else
        return got == expected;
}

template <class T>
bool is_equal(std::complex<T> const& got, std::complex<T> const& expected)
{
    auto const same = [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    return same(got.real(), expected.real()) && same(got.imag(), expected.imag());
}

template <class T>
bool fits(T const& got, T const& expected, small_floats compared)
{
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        return is_close(got, expected);
    else if constexpr (std::is_same_v<T, xloom::float16> || std::is_same_v<T, xloom::bfloat16>)
        return compared == small_floats::closely ? is_close(got, expected) : is_equal(got, expected);
    else
        return is_equal(got, expected);
}

std::string text(double item)
{
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", item);
    return buffer;
}

template <class T>
std::string text(T const& item)
{
    if constexpr (std::is_same_v<T, std::string>)
        return fmt::format("\"{}\"", printable(item, 40));
    else if constexpr (std::is_integral_v<T>)
        return fmt::format("{}", item);
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        return fmt::format(
            "({}, {})", text(static_cast<double>(item.real())), text(static_cast<double>(item.imag())));
    else
        return text(static_cast<double>(item));
}

std::string difference_of_tensors(tensor const& got, tensor const& expected, small_floats compared)
{
    if (got.type() != expected.type() || got.shape() != expected.shape())
        return "is " + describe(got) + ", but must be " + describe(expected);
    std::size_t differing = 0;
    std::size_t first = 0;
    with_type(expected.type(), [&]<class T>(std::type_identity<T>) {
        auto const a = got.items<T>();
        auto const b = expected.items<T>();
        for (std::size_t i = a.size(); i-- > 0;)
            if (!fits(a[i], b[i], compared)) {
                ++differing;
                first = i;
            }
    });
    if (differing == 0)
        return "";
    return fmt::format("item {} is {}, but must be {}{}", xloom::unravel(first, expected.shape()),
        item_text(got, first), item_text(expected, first),
        differing == 1 ? "" : fmt::format("; so {} of {}", differing, expected.size()));
}

} // namespace

std::string item_text(tensor const& t, std::size_t i)
{
    return with_type(t.type(), [&]<class T>(std::type_identity<T>) { return text(t.items<T>()[i]); });
}

std::string difference(value const& got, value const& expected, small_floats compared)
{
    if (got.held.index() != expected.held.index())
        return "is " + describe(got) + ", but must be " + describe(expected);
    if (got.is_tensor())
        return difference_of_tensors(got.as_tensor(), expected.as_tensor(), compared);
    if (got.is_sequence()) {
        sequence const& a = got.as_sequence();
        sequence const& b = expected.as_sequence();
        if (a.size() != b.size())
            return "is a " + describe(got) + ", but must be a " + describe(expected);
        for (std::size_t i = 0; i < a.size(); ++i)
            if (std::string const found = difference(a[i], b[i], compared); !found.empty())
                return fmt::format("element {} {}", i, found);
        return "";
    }
    auto const& a = got.as_optional().held;
    auto const& b = expected.as_optional().held;
    if (!a != !b)
        return "is " + describe(got) + ", but must be " + describe(expected);
    return a ? difference(*a, *b, compared) : "";
}

} // namespace runner
