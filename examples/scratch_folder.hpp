#pragma once
// A folder for the files of a test.

#include <filesystem>
#include <fstream>
#include <string>

/// A folder of the working directory, removed at the end.
class scratch_folder {
public:
    explicit scratch_folder(std::string const& name)
        : path_(std::filesystem::current_path() / (name + ".tmp"))
    {
        std::filesystem::create_directories(path_);
    }
    ~scratch_folder() { std::filesystem::remove_all(path_); }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;

    /// The path of a file in the folder.
    std::string operator/(std::string const& name) const { return (path_ / name).string(); }

    /// Writes such a file, returns its path.
    std::string write(std::string const& name, std::string const& bytes) const
    {
        std::ofstream(*this / name, std::ios::binary) << bytes;
        return *this / name;
    }

private:
    std::filesystem::path path_;
};
