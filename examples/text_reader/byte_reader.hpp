#pragma once
// The fields of a component of a traineddata file, one after the other.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "traineddata_error.hpp"

namespace reader {

/// A position in the bytes of a component. Numbers are little-endian. No member reads beyond the last byte,
/// and no member allocates more than the bytes that remain.
class byte_reader {
public:
    byte_reader(std::string component, std::span<char const> bytes)
        : component_(std::move(component)), bytes_(bytes)
    {}

    std::size_t left() const noexcept { return bytes_.size() - position_; }

    /// Reads an integer or a floating-point number.
    template <class Number>
        requires std::integral<Number> || std::floating_point<Number>
    Number read(std::string_view field)
    {
        using bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t,
            std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint8_t>>;
        static_assert(sizeof(Number) == sizeof(bits));
        bits number = 0;
        int shift = 0;
        for (char const byte : take(field, sizeof(Number))) {
            number = static_cast<bits>(number | static_cast<bits>(static_cast<unsigned char>(byte)) << shift);
            shift += 8;
        }
        return std::bit_cast<Number>(number);
    }

    /// Reads an integer that must be in [least, most].
    template <std::integral Number>
    std::size_t read_in(std::string_view field, std::size_t least, std::size_t most)
    {
        auto const number = read<Number>(field);
        if (std::cmp_less(number, least) || std::cmp_greater(number, most))
            fail(join(field, " must be from ", least, " to ", most, ", but is ", +number));
        return static_cast<std::size_t>(number);
    }

    /// Reads a text and its length.
    std::string read_text(std::string_view field)
    {
        auto const text = take(field, read<std::uint32_t>(join("the length of ", field)));
        return {text.begin(), text.end()};
    }

    /// Returns the next `count` bytes.
    std::span<char const> take(std::string_view field, std::size_t count)
    {
        if (count > left())
            fail(join(field, " must be ", count, " bytes, but ", left(), " remain"));
        auto const taken = bytes_.subspan(position_, count);
        position_ += count;
        return taken;
    }

    [[noreturn]] void fail(std::string const& text) const
    {
        throw traineddata_error(component_, position_, text);
    }

    /// Throws if bytes remain.
    void end() const
    {
        if (left() != 0)
            fail(join("the component must end here, but ", left(), " bytes remain"));
    }

private:
    std::string component_;
    std::span<char const> bytes_;
    std::size_t position_ = 0;
};

} // namespace reader
