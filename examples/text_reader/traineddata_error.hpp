#pragma once
// The error of a traineddata file that cannot be used.

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>

namespace reader {

/// An error in a traineddata file. The text names the component, the byte in it, and the field, what must
/// hold of the field, and its value.
class traineddata_error : public std::runtime_error {
public:
    traineddata_error(std::string component, std::size_t byte, std::string const& text)
        : std::runtime_error(component + ", byte " + std::to_string(byte) + ": " + text),
          component_(std::move(component)),
          byte_(byte)
    {}

    /// The name of the component, such as "lstm"; "traineddata" for the table of components.
    std::string const& component() const noexcept { return component_; }
    /// The position, in the component, after the field.
    std::size_t byte() const noexcept { return byte_; }

private:
    std::string component_;
    std::size_t byte_;
};

/// Joins values to a text.
template <class... Values>
std::string join(Values const&... values)
{
    std::ostringstream text;
    (text << ... << values);
    return text.str();
}

} // namespace reader
