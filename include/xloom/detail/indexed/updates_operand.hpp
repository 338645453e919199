#pragma once
// The updates of ScatterND as a tensor or a scalar of data's element type, whether or not they are broadcast.

#include <cstdio>
#include <string>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/indexed/reduction_argument.hpp>
#include <xloom/detail/tensor/broadcast.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if updates are a number that is broadcast, and data has items of another type T.
template <class Updates, class T>
inline constexpr bool is_converted = is_broadcast<Updates> && builtin_number<unmarked_t<Updates>> &&
                                     number<T> && !std::is_same_v<unmarked_t<Updates>, T>;

template <std::floating_point Float>
std::string describe_number(Float value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", static_cast<double>(value));
    return text;
}
template <std::integral Int>
std::string describe_number(Int value)
{
    return concat(value);
}

/// Returns updates without the mark of broadcast(), a number that is broadcast as a T.
///
/// Errors    type_error: no T has the value of that number.
template <class T, class Updates>
decltype(auto) operand_of([[maybe_unused]] indexed_names const& op, Updates const& updates)
{
    if constexpr (!is_converted<Updates, T>) {
        return detail::unmarked(updates);
    } else {
        std::optional<T> const converted = exact_cast<T>(updates.operand);
        if (!converted)
            fail<type_error>(op, ": a number that is broadcast must be one of ", op.data,
                "'s element type, but it is ", detail::describe_number(+updates.operand), " and ", op.data,
                " holds ", element_name<T>(), ". Convert it first.");
        return T(*converted);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
