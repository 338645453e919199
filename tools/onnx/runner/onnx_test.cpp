// Runs ONNX's test folders, each in a separate process.
//
//   PASS name
//   FAIL name: why
//   SKIP name: operator X is not implemented
//   ...
//   N passed, N failed, N skipped

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "isolation.hpp"
#include "text.hpp"
#include "value.hpp"

namespace {

using namespace runner;

struct command_line {
    std::string help{};
    std::vector<std::string> folders{};
    std::string text_wins{};
    std::string operators{};
};

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("onnx_test", "Runs ONNX's test folders, those below the given ones included.");
    auto const text = [] { return cxxopts::value<std::string>()->default_value(""); };
    auto add = options.add_options();
    add("text-wins",
        "tests whose recorded end contradicts ONNX's text: a name, a tab and the reason on each line", text(),
        "FILE");
    add("operators",
        "only tests that need none but these operators, which must not be missing: one on each line", text(),
        "FILE");
    add("help", "print this");
    add("folders", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional("folders");
    options.positional_help("FOLDER...");
    auto const given = options.parse(argc, argv);
    if (given.count("help") != 0)
        return {options.help()};
    if (given.count("folders") == 0)
        throw runner_error("no folder is given (see --help)");
    return {"", given["folders"].as<std::vector<std::string>>(), given["text-wins"].as<std::string>(),
        given["operators"].as<std::string>()};
}

/// The lines of a file, without comments and empty ones.
std::vector<std::string> lines_of(std::string const& path)
{
    std::ifstream file(path);
    if (!file)
        throw runner_error("the file " + path + " cannot be opened");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#')
            lines.push_back(line);
    return lines;
}

/// Reasons by name.
using reasons = std::map<std::string, std::string>;

reasons read_text_wins(std::string const& path)
{
    constexpr std::size_t most = 3;
    reasons table;
    for (std::string const& line : lines_of(path)) {
        std::size_t const tab = line.find('\t');
        if (tab == 0 || tab == std::string::npos || tab + 1 == line.size())
            throw runner_error(path + ": a line is no name, tab and reason: " + line);
        table.emplace(line.substr(0, tab), line.substr(tab + 1));
    }
    if (table.size() > most)
        throw runner_error(fmt::format("{}: {} tests, more than {}", path, table.size(), most));
    return table;
}

std::string in_one_line(std::string text)
{
    for (char& each : text)
        if (std::iscntrl(static_cast<unsigned char>(each)) != 0)
            each = ' ';
    return text;
}

/// True if all of the model's operators are in the set. A model that cannot be read may need any.
bool needs_only(std::set<std::string> const& operators, test_folder const& folder)
try {
    auto const needed = operators_of(folder);
    return std::includes(operators.begin(), operators.end(), needed.begin(), needed.end());
} catch (runner_error const&) {
    return true;
}

int run(command_line const& parsed)
{
    auto const text_wins = parsed.text_wins.empty() ? reasons{} : read_text_wins(parsed.text_wins);
    bool const restricted = !parsed.operators.empty();
    auto const listed = restricted ? lines_of(parsed.operators) : std::vector<std::string>{};
    std::set<std::string> const operators(listed.begin(), listed.end());

    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
    for (test_folder const& folder : find_test_folders(parsed.folders)) {
        if (restricted && !needs_only(operators, folder))
            continue;
        test_result const found = run_isolated([&] { return run_test(folder, load); });
        auto const reason = text_wins.find(folder.path.filename().string());
        if (found.result == outcome::passed) {
            ++passed;
            std::printf("PASS %s\n", folder.name.c_str());
        } else if (found.result == outcome::contradicted && reason != text_wins.end()) {
            ++passed;
            std::printf("PASS %s (text wins: %s)\n", folder.name.c_str(), reason->second.c_str());
        } else if (found.result == outcome::skipped && !restricted) {
            ++skipped;
            std::printf("SKIP %s: %s\n", folder.name.c_str(), in_one_line(found.why).c_str());
        } else {
            ++failed;
            std::printf("FAIL %s: %s\n", folder.name.c_str(), in_one_line(found.why).c_str());
        }
        std::fflush(stdout); // the next child must not print it again
    }
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed == 0 && passed > 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
{
    return runner::run_program(
        "onnx_test", [&] { return read_command_line(argc, argv); }, run);
}
