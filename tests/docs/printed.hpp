#pragma once
// Values as the documentation shows them: 2.5, true, [[1, 2], [3, 4]]; numbers with six digits, an empty
// optional as "none".

#include <concepts>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace docs {

template <class T>
std::string printed(T const& value);

template <class Next>
std::string printed_list(std::size_t count, Next const& next)
{
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i)
        text += (i == 0 ? "" : ", ") + next(i);
    return text + "]";
}

/// Items in row-major order, from the axis on.
template <class T>
std::string printed_items(xt::xarray<T> const& items, std::size_t axis, std::size_t first)
{
    if (axis == items.dimension())
        return printed(items.data()[first]);
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < items.dimension(); ++i)
        inner *= items.shape(i);
    return printed_list(
        items.shape(axis), [&](std::size_t i) { return printed_items(items, axis + 1, first + i * inner); });
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
std::string printed(T const& value)
{
    if constexpr (std::same_as<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::convertible_to<T, std::string_view>) {
        return std::string(std::string_view(value));
    } else if constexpr (is_optional<T>) {
        return value ? printed(*value) : "none";
    } else if constexpr (is_vector<T>) {
        return printed_list(value.size(), [&](std::size_t i) { return printed(value[i]); });
    } else if constexpr (xt::is_xexpression<T>::value) {
        return printed_items(xt::xarray<typename T::value_type>(value), 0, 0);
    } else if constexpr (xloom::tensor<T>) {
        return printed_items(xloom::detail::copy_as<xt::xarray<xloom::detail::item_t<T>>>(value), 0, 0);
    } else if constexpr (std::is_arithmetic_v<T> || !requires { xloom::detail::concat(value); }) {
        std::ostringstream text;
        text << value;
        return text.str();
    } else {
        return xloom::detail::concat(value); // shapes and types, as errors print them
    }
}

} // namespace docs

// The expression may hold commas.
#define DOCS_SHOWS(text, ...) CHECK(docs::printed(__VA_ARGS__) == text)
