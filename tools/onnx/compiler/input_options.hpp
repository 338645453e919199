#pragma once
// The options --shape and --value of command lines, which fix inputs of a model.

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"

namespace compiler {

/// Reads "1,576"; an empty text is a scalar's shape.
inline std::vector<std::int64_t> read_dims(std::string const& text)
{
    std::vector<std::int64_t> dims;
    char const* next = text.data();
    char const* const end = text.data() + text.size();
    while (next != end) {
        auto const [after, error] = std::from_chars(next, end, dims.emplace_back());
        if (error != std::errc() || dims.back() < 0 || (after != end && (*after != ',' || after + 1 == end)))
            throw runner::runner_error(
                "a shape is given as INPUT=1,2,3, but here as " + runner::in_quotes(text));
        next = after == end ? end : after + 1;
    }
    return dims;
}

/// Returns all texts of an option that may be given several times.
inline std::vector<std::string> list_of(cxxopts::ParseResult const& given, char const* option)
{
    return given.count(option) == 0 ? std::vector<std::string>()
                                    : given[option].as<std::vector<std::string>>();
}

/// Returns read(text) of each INPUT=TEXT of an option, by the input.
template <class Read>
auto by_input(cxxopts::ParseResult const& given, char const* option, char const* usage, Read read)
{
    std::map<std::string, decltype(read(std::string()))> all;
    for (std::string const& each : list_of(given, option)) {
        auto const [input, text] = runner::assignment_of(each, usage);
        if (!all.emplace(input, read(text)).second)
            throw runner::runner_error(
                fmt::format("--{} is given twice for {}", option, runner::in_quotes(input)));
    }
    return all;
}

/// Returns the shapes of --shape by the input.
inline std::map<std::string, std::vector<std::int64_t>> shapes_of(cxxopts::ParseResult const& given)
{
    return by_input(given, "shape", "INPUT=1,2,3", read_dims);
}

/// Returns the items of --value by the input.
inline std::map<std::string, std::string> values_of(cxxopts::ParseResult const& given)
{
    return by_input(given, "value", "INPUT=ITEMS", [](std::string const& items) { return items; });
}

} // namespace compiler
