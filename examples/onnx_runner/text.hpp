#pragma once
// A model's own text in messages: it may hold anything, and any amount of it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <xloom/core/partial_type.hpp>

template <>
struct fmt::formatter<xloom::dim> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<xloom::partial_shape> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<xloom::partial_type> : fmt::ostream_formatter {};

namespace runner {

/// A text as one line that can be printed: control characters, and bytes that are no UTF-8, as \n or \x1b.
/// Cut where it has more than `most` bytes.
std::string printable(std::string_view text, std::size_t most);

/// A name in quotes, escaped and cut. Quotes and backslashes that are its own get a backslash.
std::string in_quotes(std::string_view name);

/// The first of many numbers, and how many there are.
std::string listed(std::vector<std::int64_t> const& numbers);

} // namespace runner
