#pragma once
// Nodes that are one call of xloom_onnx: the operands, the output, the options.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emitters.hpp"

namespace compiler {

/// Returns numbers as C++, between braces.
std::string list_of(std::vector<std::int64_t> const& numbers);

/// Returns integers that the node has as an input: a list, or the value.
std::string integers_in(emission& out, node& each, std::size_t i);

/// Returns an emitter that is given the name of a function.
emitter named(void (*emit)(emission&, node&, char const*), char const* function);

/// One call of xloom_onnx.
class call {
public:
    call(emission& out, node& each, std::string const& header, std::string function);

    call& operand(std::size_t i);
    /// Appends an operand, or std::nullopt if it is omitted.
    call& optional_operand(std::size_t i);
    /// Appends all operands as a tuple.
    call& operands();
    call& integers(std::size_t i);
    call& text(std::string argument);
    call& output(std::size_t k = 0);
    /// Appends output k, or memory of this type if nothing uses it.
    call& output(std::size_t k, partial_type const& unused);
    call& option(std::string_view name, std::string const& value);
    call& option(std::string_view name, std::int64_t value, std::int64_t otherwise);
    call& flag(std::string_view name, std::int64_t value, bool otherwise = false);
    /// Returns the call as an expression.
    std::string expression();
    /// Writes the call as a line.
    void emit();

private:
    emission& out_;
    node& each_;
    std::string function_;
    std::vector<std::string> arguments_{}, options_{};
};

} // namespace compiler
