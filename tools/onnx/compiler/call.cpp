#include "call.hpp"

#include "text.hpp"

namespace compiler {

std::string list_of(std::vector<std::int64_t> const& numbers)
{
    std::vector<std::string> texts;
    for (std::int64_t const each : numbers)
        texts.push_back(number_literal(each));
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string integers_in(emission& out, node& each, std::size_t i)
{
    if (auto const numbers = each.input(i).integers())
        return list_of(*numbers);
    return out.operand(each.input(i));
}

emitter named(void (*emit)(emission&, node&, char const*), char const* function)
{
    return [=](emission& out, node& each) { emit(out, each, function); };
}

call::call(emission& out, node& each, std::string const& header, std::string function)
    : out_(out), each_(each), function_(std::move(function))
{
    out.include("xloom_onnx/" + header + ".hpp");
}

call& call::operand(std::size_t i) { return text(out_.operand(each_.input(i))); }

call& call::optional_operand(std::size_t i) { return each_.has(i) ? operand(i) : text("std::nullopt"); }

call& call::operands()
{
    std::vector<std::string> all;
    for (variable* const input : each_.inputs) // none is omitted
        all.push_back(out_.operand(*input));
    return text(fmt::format("std::tie({})", fmt::join(all, ", ")));
}

call& call::integers(std::size_t i) { return text(integers_in(out_, each_, i)); }

call& call::text(std::string argument)
{
    arguments_.push_back(std::move(argument));
    return *this;
}

call& call::output(std::size_t k) { return text(out_.target(each_.output(k))); }

call& call::output(std::size_t k, partial_type const& unused)
{
    return each_.wants(k) ? output(k) : text(out_.own_memory("unused", unused));
}

call& call::option(std::string_view name, std::string const& value)
{
    options_.push_back(fmt::format(".{} = {}", name, value));
    return *this;
}

call& call::option(std::string_view name, std::int64_t value, std::int64_t otherwise)
{
    return value == otherwise ? *this : option(name, number_literal(value));
}

call& call::flag(std::string_view name, std::int64_t value, bool otherwise)
{
    return (value != 0) == otherwise ? *this : option(name, value != 0 ? "true" : "false");
}

std::string call::expression()
{
    if (!options_.empty())
        arguments_.push_back(fmt::format("{{{}}}", fmt::join(options_, ", ")));
    return fmt::format("xloom_onnx::{}({})", function_, fmt::join(arguments_, ", "));
}

void call::emit() { out_.line("{};", expression()); }

} // namespace compiler
