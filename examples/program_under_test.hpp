#pragma once
// Runs an example's program as a user would, for its test.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "scratch_folder.hpp"

inline std::string read_file(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the number after `words` in a text.
inline double number_after(std::string const& words, std::string const& text)
{
    auto const at = text.find(words);
    REQUIRE_MESSAGE(at != std::string::npos, text);
    return std::stod(text.substr(at + words.size()));
}

struct outcome {
    bool succeeded;
    std::string out;
    std::string err;
};

/// A program, and a folder for the files of its test.
class program_under_test : public scratch_folder {
public:
    explicit program_under_test(std::string path)
        : scratch_folder(std::filesystem::path(path).filename().string() + "_test"),
          path_(std::move(path)),
          name_(std::filesystem::path(path_).filename().string())
    {}

    outcome run(std::vector<std::string> const& arguments) const
    {
        std::string command = "'" + path_ + "'";
        for (std::string const& argument : arguments)
            command += " '" + argument + "'";
        int const status =
            std::system((command + " >'" + (*this / "out") + "' 2>'" + (*this / "err") + "'").c_str());
        return {status == 0, read_file(*this / "out"), read_file(*this / "err")};
    }

    /// What it says when it fails: one line on stderr, without the program's name.
    std::string complaint(std::vector<std::string> const& arguments) const
    {
        outcome const failed = run(arguments);
        std::string const prefix = name_ + ": ";
        CHECK_FALSE(failed.succeeded);
        CHECK(failed.err.starts_with(prefix));
        CHECK(failed.err.find('\n') == failed.err.size() - 1);
        return failed.err.size() > prefix.size()
                   ? failed.err.substr(prefix.size(), failed.err.size() - prefix.size() - 1)
                   : "";
    }

private:
    std::string path_;
    std::string name_;
};
