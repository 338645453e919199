#pragma once
// C++ names and texts made of those of a model, which may hold anything.

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace compiler {

/// Returns a readable C++ identifier for any name: letters and digits of ASCII, single underscores between
/// them. It is no keyword, no reserved identifier and unlikely to be a macro's name. Different names may give
/// the same.
std::string identifier_of(std::string_view name);

/// The identifiers of a scope, each different.
class name_scope {
public:
    /// Returns identifier_of(name), with a number behind it if it is used already.
    std::string unique(std::string_view name);
    /// Keeps an identifier from being returned.
    void reserve(std::string_view identifier) { used_.emplace(identifier); }

private:
    std::unordered_set<std::string> used_{};
    std::unordered_map<std::string, std::size_t> next_{};
};

/// Returns a name in quotes for a comment of one line: printable ASCII, all else escaped, truncated.
std::string comment_text(std::string_view name);

/// Returns a string literal, quotes included, of the same bytes; of ASCII, without trigraphs.
std::string string_literal(std::string_view text);

} // namespace compiler
