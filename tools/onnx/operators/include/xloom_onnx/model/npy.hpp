#pragma once
// NumPy's .npy files: reads those of versions 1 to 3, which may be malformed, and writes version 1.

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/types.hpp>
#include <xloom_onnx/model/utf8.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// The array of a .npy file: its shape, the bytes of an item, and whether its first index varies fastest.
struct npy_array {
    xloom::shape dims{};
    std::size_t item_bytes = 0;
    bool is_column_major = false;
};

namespace detail {

[[noreturn]] inline void fail_npy(std::string const& what) { throw std::runtime_error(what); }

/// Returns the item type's name in a file's header: "<f4"; of strings, all but their length.
template <class T>
std::string npy_type()
{
    std::string type = sizeof(T) == 1 ? "|" : std::endian::native == std::endian::little ? "<" : ">";
    if constexpr (std::is_same_v<T, std::string>) {
        type += 'U';
    } else {
        type += std::is_same_v<T, bool>                                            ? 'b'
                : is_complex<T>                                                    ? 'c'
                : std::is_floating_point_v<T> || std::is_same_v<T, xloom::float16> ? 'f'
                : std::is_signed_v<T>                                              ? 'i'
                                                                                   : 'u';
        type += std::to_string(sizeof(T));
    }
    return type;
}

/// The bytes of a character of a string, which is a code point; the most characters that a string may have,
/// whose bytes 32 bits can count.
inline constexpr std::size_t npy_character = sizeof(std::uint32_t), most_npy_characters = 0x3fff'ffff;

/// Returns the number of characters of a string.
inline std::size_t npy_length(std::string_view text)
{
    if (text.ends_with('\0'))
        fail_npy("a string ends with a null character, which .npy files cannot store");
    std::size_t length = 0;
    for (; !text.empty(); ++length) {
        std::size_t const bytes = first_character(text).bytes;
        if (bytes == 0)
            fail_npy("a string holds bytes that are no UTF-8");
        text.remove_prefix(bytes);
    }
    return length;
}

/// Returns the bytes of an item that a header names, such as "'<f4'"; 0 if it is no T.
template <class T>
std::size_t npy_item_bytes(std::string_view type)
{
    std::string wanted = "'";
    wanted += npy_type<T>();
    if constexpr (std::is_same_v<T, std::string>) {
        std::size_t length = 0;
        if (!type.starts_with(wanted) || !type.ends_with("'"))
            return 0;
        auto const end = type.data() + type.size() - 1;
        auto const read = std::from_chars(type.data() + wanted.size(), end, length);
        return read.ec == std::errc() && read.ptr == end && length <= most_npy_characters
                   ? length * npy_character
                   : 0;
    } else {
        return type == wanted + "'" ? sizeof(T) : 0;
    }
}

inline std::string read_npy_bytes(std::istream& file, std::size_t count)
{
    std::string bytes(count, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(count)))
        fail_npy("it ends within its header");
    return bytes;
}

/// Reads the header's text, a Python dictionary with three keys, without its spaces.
inline std::string read_npy_text(std::istream& file)
{
    constexpr std::size_t most = 1 << 16;
    std::string const start = read_npy_bytes(file, 8);
    if (!start.starts_with("\x93NUMPY") || start[6] < 1 || start[6] > 3)
        fail_npy("it does not begin as a .npy file");
    std::string const length_bytes = read_npy_bytes(file, start[6] == 1 ? 2 : 4);
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes.size(); ++i)
        length |= std::size_t{static_cast<unsigned char>(length_bytes[i])} << 8 * i;
    if (length > most)
        fail_npy("its header has " + std::to_string(length) + " bytes, more than " + std::to_string(most));
    std::string text = read_npy_bytes(file, length);
    std::erase(text, ' ');
    return text;
}

inline std::string_view after_npy_key(std::string_view text, std::string_view key)
{
    std::size_t const at = text.find(key);
    if (at == std::string_view::npos)
        fail_npy("its header has no " + std::string(key));
    return text.substr(at + key.size());
}

inline xloom::shape npy_dims(std::string_view rest)
{
    xloom::shape dims;
    while (!rest.starts_with(')')) {
        std::size_t dim = 0;
        auto const read = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
        rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
        if (read.ec != std::errc() || !(rest.starts_with(',') || rest.starts_with(')')))
            fail_npy("its shape is no list of sizes");
        rest.remove_prefix(rest.starts_with(',') ? 1 : 0);
        if (dims.size() == xloom::max_rank)
            fail_npy("its array has more than " + std::to_string(xloom::max_rank) + " axes");
        dims.push_back(dim);
    }
    return dims;
}

inline std::size_t bytes_left(std::istream& file)
{
    auto const here = file.tellg();
    auto const end = file.seekg(0, std::ios::end).tellg();
    file.seekg(here);
    return static_cast<std::size_t>(end - here);
}

} // namespace detail

/// Reads the header of a .npy file with items of type T, all of which follow. Memory that is allocated for
/// them is not larger than the file, but for the containers of strings.
///
/// Why not xtensor's reader: it trusts the sizes in the header.
///
/// Errors    std::runtime_error: the file is no .npy file, has other items or a rank above max_rank, or ends
///           before its last item.
template <class T>
npy_array read_npy_header(std::istream& file)
{
    std::string const text = detail::read_npy_text(file);
    std::string_view const rest = detail::after_npy_key(text, "'descr':");
    std::string_view const type = rest.substr(0, rest.find(','));
    npy_array const array{detail::npy_dims(detail::after_npy_key(text, "'shape':(")),
        detail::npy_item_bytes<T>(type), detail::after_npy_key(text, "'fortran_order':").starts_with("True")};
    if (array.item_bytes == 0)
        detail::fail_npy("its items are " + std::string(type.substr(0, 40)) + ", not '" +
                         detail::npy_type<T>() + (std::is_same_v<T, std::string> ? "' and a length" : "'"));
    if (!xloom::is_countable(array.dims, array.item_bytes) ||
        xloom::element_count(array.dims) * array.item_bytes > detail::bytes_left(file))
        detail::fail_npy("it ends before its last item");
    return array;
}

/// Reads all items in the order of the file, after read_npy_header.
///
/// Errors    std::runtime_error: the file cannot be read, a bool is a byte other than 0 and 1, or a string
///           holds what is no character.
template <class T>
void read_npy_items(std::istream& file, npy_array const& array, T* items)
{
    std::size_t const count = xloom::element_count(array.dims);
    auto const read = [&](char* bytes, std::size_t byte_count) {
        if (!file.read(bytes, static_cast<std::streamsize>(byte_count)))
            detail::fail_npy("it cannot be read");
    };
    if constexpr (std::is_same_v<T, std::string>) {
        std::vector<std::uint32_t> codes(count == 0 ? 0 : array.item_bytes / detail::npy_character);
        for (std::size_t i = 0; i < count; ++i) {
            read(reinterpret_cast<char*>(codes.data()), array.item_bytes);
            auto const end =
                std::find_if(codes.rbegin(), codes.rend(), [](std::uint32_t c) { return c != 0; });
            if (!std::all_of(end, codes.rend(), is_code_point))
                detail::fail_npy("a string holds a number that is no character");
            items[i].clear();
            std::for_each(
                codes.begin(), end.base(), [&](std::uint32_t code) { append_character(items[i], code); });
        }
    } else {
        char* const bytes = reinterpret_cast<char*>(items);
        read(bytes, count * sizeof(T));
        if constexpr (std::is_same_v<T, bool>)
            if (std::any_of(bytes, bytes + count, [](char each) { return (each & ~1) != 0; }))
                detail::fail_npy("it holds a byte that is no bool");
    }
}

/// Returns the bytes of an item of a .npy file with these items. NumPy's strings are all as long as the
/// longest.
///
/// Errors    std::runtime_error: a string is no UTF-8, or ends with a null character.
template <class T>
std::size_t npy_bytes_of(T const* items, std::size_t count)
{
    if constexpr (std::is_same_v<T, std::string>) {
        std::size_t longest = 1;
        for (std::size_t i = 0; i < count; ++i)
            longest = (std::max)(longest, detail::npy_length(items[i]));
        return longest * detail::npy_character;
    } else {
        return sizeof(T);
    }
}

/// Writes row-major items as a .npy file; `item_bytes` is npy_bytes_of them.
template <class T>
void write_npy(std::ostream& file, xloom::shape const& dims, T const* items, std::size_t item_bytes)
{
    std::string shape;
    for (std::size_t const dim : dims)
        shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
    shape += dims.size() == 1 ? "," : "";
    std::string type = detail::npy_type<T>();
    if constexpr (std::is_same_v<T, std::string>)
        type += std::to_string(item_bytes / detail::npy_character);
    std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    constexpr std::size_t before = 10, alignment = 64;
    head.resize((before + head.size() + alignment) / alignment * alignment - before - 1, ' ');
    head += '\n';
    file << "\x93NUMPY\x01" << '\0' << static_cast<char>(head.size() & 0xff)
         << static_cast<char>(head.size() >> 8) << head;
    std::size_t const count = xloom::element_count(dims);
    if constexpr (std::is_same_v<T, std::string>) {
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<std::uint32_t> codes;
            for (std::string_view text = items[i]; !text.empty();) {
                utf8_character const next = first_character(text);
                codes.push_back(next.code);
                text.remove_prefix(next.bytes);
            }
            codes.resize(item_bytes / detail::npy_character);
            file.write(reinterpret_cast<char const*>(codes.data()), static_cast<std::streamsize>(item_bytes));
        }
    } else {
        file.write(reinterpret_cast<char const*>(items), static_cast<std::streamsize>(count * sizeof(T)));
    }
}

} // namespace xloom_onnx
