#pragma once
// Text from a model in messages: untrusted and of any length.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <xloom/types.hpp>

template <>
struct fmt::formatter<xloom::dim> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<xloom::partial_shape> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<xloom::partial_type> : fmt::ostream_formatter {};

namespace runner {

/// Returns a text as one printable line: control characters, and invalid UTF-8, as \n or \x1b. Truncated to
/// `most` bytes.
std::string printable(std::string_view text, std::size_t most);

/// The bytes of an error or a warning, as the first that are shown.
inline constexpr std::size_t longest_message = 2000;

/// Returns a name in quotes, escaped and truncated. Its own quotes and backslashes get a backslash.
std::string in_quotes(std::string_view name);

/// Returns the first of many numbers, and their count, as text.
std::string listed(std::vector<std::int64_t> const& numbers);

} // namespace runner
