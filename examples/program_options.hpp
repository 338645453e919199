#pragma once
// The options of programs that are told files, numbers and how weights are stored.

#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#define CXXOPTS_NO_REGEX
#define CXXOPTS_VECTOR_DELIMITER '\0' // an argument with commas is one
#include <cxxopts.hpp>

#include <xloom/types.hpp>

/// What the option of a storage says of its values.
inline std::string const storage_names = [] {
    std::string names;
    for (auto const storage : xloom::weight_storages)
        names.append(names.empty()                              ? ""
                     : storage == xloom::weight_storages.back() ? " or "
                                                                : ", ")
            .append(name_of(storage));
    return names;
}();

/// The value of an option that is a text, with or without a default.
inline auto text_option() { return cxxopts::value<std::string>(); }
inline auto text_option(std::string const& otherwise) { return text_option()->default_value(otherwise); }

/// Adds the option help and the arguments without a name, and parses the arguments. With --help it prints
/// the help and returns nothing. Several arguments without a name are permitted if the help shows "...".
///
/// Errors    an exception of cxxopts: an unknown option, or one without its value;
///           std::runtime_error: an argument too many.
inline std::optional<cxxopts::ParseResult> parse_options(cxxopts::Options& options, int argc,
    char const* const* argv, std::string const& files, std::string const& files_in_help)
{
    options.add_options()("help", "print this")(files, "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional(files);
    options.positional_help(files_in_help);
    cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0) {
        std::printf("%s", options.help({""}).c_str());
        return std::nullopt;
    }
    if (given.count(files) > 1 && !files_in_help.ends_with("..."))
        throw std::runtime_error("there is an argument too many: " +
                                 given[files].as<std::vector<std::string>>()[1] + " (see --help)");
    return given;
}

/// Returns the text of an option that has no default; without it, an empty one.
inline std::string text_of(cxxopts::ParseResult const& given, std::string const& name)
{
    return given.count(name) != 0 ? given[name].as<std::string>() : std::string();
}

/// Returns the file that the option --model gives.
///
/// Errors    std::runtime_error: it is missing.
inline std::string model_of(cxxopts::ParseResult const& given)
{
    if (given.count("model") == 0)
        throw std::runtime_error("--model is missing (see --help)");
    return text_of(given, "model");
}

/// Returns the arguments without a name.
///
/// Errors    std::runtime_error: there are none, and `missing` is not empty, such as "no image is given".
inline std::vector<std::string> files_of(
    cxxopts::ParseResult const& given, std::string const& files, std::string const& missing)
{
    if (given.count(files) != 0)
        return given[files].as<std::vector<std::string>>();
    if (!missing.empty())
        throw std::runtime_error(missing + " (see --help)");
    return {};
}

/// Returns the number that an option gives.
///
/// Errors    std::runtime_error: no number from `least` to `most`; its text calls it `what`.
template <class T>
T read_number(cxxopts::ParseResult const& given, std::string const& name, T least, T most,
    std::string const& what = "a number")
{
    auto const text = given[name].as<std::string>();
    T number{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !(number >= least && number <= most)) {
        auto const shown = [](T bound) { return std::to_string(static_cast<long long>(bound)); };
        throw std::runtime_error("--" + name + " must be " + what + " from " + shown(least) + " to " +
                                 shown(most) + ", but is " + text);
    }
    return number;
}

/// Returns the storage that an option gives.
///
/// Errors    std::runtime_error: no name of a storage.
inline xloom::weight_storage read_storage(cxxopts::ParseResult const& given, std::string const& name)
{
    auto const text = given[name].as<std::string>();
    for (auto const storage : xloom::weight_storages)
        if (text == name_of(storage))
            return storage;
    throw std::runtime_error("--" + name + " must be " + storage_names + ", but is " + text);
}
