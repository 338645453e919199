#pragma once
// A traineddata file of a few hundred bytes, for tests and as the fuzzer's seed.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reader {

/// Appends numbers, little-endian, and texts with their lengths.
class byte_writer {
public:
    template <class Number>
    byte_writer& number(Number value)
    {
        using bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t,
            std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint8_t>>;
        auto const all = std::bit_cast<bits>(value);
        for (std::size_t byte = 0; byte < sizeof(Number); ++byte)
            bytes_ += static_cast<char>(static_cast<unsigned char>(all >> (8 * byte)));
        return *this;
    }
    byte_writer& text(std::string_view value)
    {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_ += value;
        return *this;
    }
    std::string const& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

/// A matrix of the small language: weights from -127 to 127 in no apparent order, a scale for each row.
struct small_matrix {
    std::size_t rows, columns;
    int seed;

    signed char integer(std::size_t row, std::size_t column) const
    {
        return static_cast<signed char>(
            static_cast<int>(
                (static_cast<std::size_t>(seed) * 31 + row * 57 + column * 91 + row * column * 13) % 255) -
            127);
    }
    double scale(std::size_t row) const { return 0.004 + 0.002 * static_cast<double>(row % 5); }
    double weight(std::size_t row, std::size_t column) const { return scale(row) * integer(row, column); }
};

/// The layers of the small language: [1,6,0,1 Ct3,3,2 Mp3,3 Lfys2 Lfx3 Lrx2 O1c4].
struct small_network {
    static constexpr std::size_t height = 6, codes = 4, blank = 3;
    static constexpr std::int32_t samples = 5;

    small_matrix convolution{2, 10, 1};
    std::array<small_matrix, 4> columns{{{2, 5, 2}, {2, 5, 3}, {2, 5, 4}, {2, 5, 5}}};
    std::array<small_matrix, 4> forward{{{3, 6, 6}, {3, 6, 7}, {3, 6, 8}, {3, 6, 9}}};
    std::array<small_matrix, 4> reverse{{{2, 6, 10}, {2, 6, 11}, {2, 6, 12}, {2, 6, 13}}};
    small_matrix output{4, 3, 14};
};

inline void write_header(byte_writer& to, std::string_view type, std::size_t inputs, std::size_t outputs)
{
    to.number(std::int8_t{0}).text(type).number(std::int8_t{0}).number(std::int8_t{0});
    to.number(std::int32_t{192})
        .number(static_cast<std::int32_t>(inputs))
        .number(static_cast<std::int32_t>(outputs));
    to.number(std::int32_t{0}).text(type);
}

inline void write(byte_writer& to, small_matrix const& matrix)
{
    to.number(std::uint8_t{133}).number(static_cast<std::int32_t>(matrix.rows));
    to.number(static_cast<std::int32_t>(matrix.columns)).number(std::int8_t{0});
    for (std::size_t row = 0; row < matrix.rows; ++row)
        for (std::size_t column = 0; column < matrix.columns; ++column)
            to.number(static_cast<std::int8_t>(matrix.integer(row, column)));
    to.number(static_cast<std::uint32_t>(matrix.rows));
    for (std::size_t row = 0; row < matrix.rows; ++row)
        to.number(matrix.scale(row));
}

inline void write_rates(byte_writer& to, std::uint32_t count)
{
    to.number(count);
    for (std::uint32_t i = 0; i < count; ++i)
        to.number(0.001f);
}

inline void write_lstm(byte_writer& to, std::string_view type, std::array<small_matrix, 4> const& gates)
{
    std::size_t const H = gates[0].rows, all = gates[0].columns - 1;
    write_header(to, type, all - H, H);
    to.number(static_cast<std::int32_t>(all));
    for (small_matrix const& gate : gates)
        write(to, gate);
}

/// A layer that holds another one.
inline void write_outer(
    byte_writer& to, std::string_view type, std::size_t inputs, std::size_t outputs, std::uint32_t count)
{
    write_header(to, type, inputs, outputs);
    to.number(count);
}

/// Returns the component lstm.
inline std::string small_lstm(small_network const& network = {})
{
    byte_writer to;
    write_outer(to, "Series", network.height, network.codes, 7);
    write_header(to, "Input", network.height, 1);
    for (std::int32_t const dimension : {1, static_cast<int>(network.height), 0, 1, 0})
        to.number(dimension);
    write_outer(to, "Series", 1, 2, 2);
    write_header(to, "Convolve", 1, 9);
    to.number(std::int32_t{1}).number(std::int32_t{1});
    write_header(to, "Tanh", 9, 2);
    write(to, network.convolution);
    write_rates(to, 2);
    write_header(to, "Maxpool", 2, 2);
    to.number(std::int32_t{3}).number(std::int32_t{3});
    write_outer(to, "XYTranspose", 2, 2, 1);
    write_lstm(to, "SummLSTM", network.columns);
    write_rates(to, 1);
    write_lstm(to, "LSTM", network.forward);
    write_outer(to, "RTLReversed", 3, 2, 1);
    write_lstm(to, "LSTM", network.reverse);
    write_rates(to, 1);
    write_header(to, "Softmax", 2, network.codes);
    write(to, network.output);
    write_rates(to, 7);
    to.text("[1,6,0,1Ct3,3,2Mp3,3Lfys2Lfx3Lrx2O1c4]").number(std::int32_t{65}).number(std::int32_t{7});
    to.number(network.samples).number(static_cast<std::int32_t>(network.blank));
    return to.number(0.9f).number(0.1f).number(0.5f).bytes();
}

/// Returns the component lstm-unicharset: a space, "a" and "é"; the blank is a character, too.
inline std::string small_unicharset()
{
    return "4\nNULL 0 Common 0\na 3 0,255,0,255,0,0,0,0,0,0 Latin 1 0 1 a\n\xc3\xa9 3 Latin\n|Broken|0|1 f "
           "Common\n";
}

/// Returns the component lstm-recoder: each character is the code of its number.
inline std::string small_recoder()
{
    byte_writer to;
    to.number(std::uint32_t{4});
    for (std::int32_t code = 0; code < 4; ++code)
        to.number(std::int8_t{1}).number(std::uint32_t{1}).number(code);
    return to.bytes();
}

/// Returns the file of these components; "" omits one.
inline std::vector<char> traineddata_bytes(std::string const& lstm = small_lstm(),
    std::string const& unicharset = small_unicharset(), std::string const& recoder = small_recoder())
{
    constexpr std::size_t count = 24;
    std::array<std::string const*, count> components{};
    components[17] = &lstm;
    components[21] = &unicharset;
    components[22] = &recoder;
    byte_writer to;
    to.number(static_cast<std::uint32_t>(count));
    std::size_t offset = sizeof(std::uint32_t) + count * sizeof(std::int64_t);
    std::string rest;
    for (std::string const* component : components) {
        bool const is_there = component != nullptr && !component->empty();
        to.number(is_there ? static_cast<std::int64_t>(offset + rest.size()) : std::int64_t{-1});
        rest += is_there ? *component : "";
    }
    std::string const all = to.bytes() + rest;
    return {all.begin(), all.end()};
}

} // namespace reader
