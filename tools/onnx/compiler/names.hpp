#pragma once
// C++ names and texts made of those of a model, which may hold anything.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace compiler {

/// The identifiers that generated code has of its own, beside the class and the values of the model.
inline constexpr std::array<std::string_view, 8> own_identifiers{
    "xloom", "xloom_onnx", "xt", "std", "outputs", "results", "run_into", "weights"};

/// Returns a readable C++ identifier for any name: letters and digits of ASCII, single underscores between
/// them, truncated to `most`. It is no keyword, no reserved identifier and unlikely to be a macro's name.
/// Different names may give the same.
std::string identifier_of(std::string_view name, std::size_t most = 48);

/// Returns why a text is no C++ identifier, such as "is a keyword of C++"; empty if it is one.
std::string why_no_identifier(std::string_view text);

/// Returns the same for identifiers with :: between them.
std::string why_no_qualified_name(std::string_view text);

/// Returns why a text cannot be the namespace of a generated class: its parts hide those that the code uses,
/// or the global namespace has its name already.
std::string why_no_namespace(std::string_view text);

/// Returns the name of the class for a file, whole. Files whose names differ in letters or digits get
/// different ones.
std::string class_name_of(std::string_view file);

/// Returns why a text cannot be the name of a generated class; empty if it can.
std::string why_no_class_name(std::string_view text);

/// The identifiers of a scope, each different.
class name_scope {
public:
    /// Returns identifier_of(name), followed by a number if it is used already.
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

/// Returns the expression of a text: a literal, or a std::string if null characters would end that.
std::string text_expression(std::string_view text);

} // namespace compiler
