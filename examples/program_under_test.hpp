#pragma once
// Runs an example's program as a user would, for its test.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include <doctest/doctest.h>

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

/// A program, and a folder for the files of its test, removed at the end.
class program_under_test {
public:
    explicit program_under_test(std::string path)
        : path_(std::move(path)),
          name_(std::filesystem::path(path_).filename().string()),
          folder_(std::filesystem::current_path() / (name_ + "_test.tmp"))
    {
        std::filesystem::create_directories(folder_);
    }
    ~program_under_test() { std::filesystem::remove_all(folder_); }
    program_under_test(program_under_test const&) = delete;
    program_under_test& operator=(program_under_test const&) = delete;

    /// The path of a file in the folder.
    std::string operator/(std::string const& name) const { return (folder_ / name).string(); }

    /// Writes such a file, returns its path.
    std::string write(std::string const& name, std::string const& text) const
    {
        std::ofstream(*this / name, std::ios::binary) << text;
        return *this / name;
    }

    outcome run(std::initializer_list<std::string> arguments) const
    {
        std::string command = "'" + path_ + "'";
        for (std::string const& argument : arguments)
            command += " '" + argument + "'";
        int const status =
            std::system((command + " >'" + (*this / "out") + "' 2>'" + (*this / "err") + "'").c_str());
        return {status == 0, read_file(*this / "out"), read_file(*this / "err")};
    }

    /// What it says when it fails: one line on stderr, without the program's name.
    std::string complaint(std::initializer_list<std::string> arguments) const
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
    std::filesystem::path folder_;
};
