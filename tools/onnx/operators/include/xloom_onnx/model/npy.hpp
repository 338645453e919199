#pragma once
// Reads NumPy's .npy files of versions 1 to 3, which may be malformed.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// The array of a .npy file: its shape, and whether its first index varies fastest.
struct npy_array {
    xloom::shape dims{};
    bool is_column_major = false;
};

namespace detail {

[[noreturn]] inline void fail_npy(std::string const& what) { throw std::runtime_error(what); }

/// Returns the item type's name in a file's header: "<f4".
template <class T>
std::string npy_type()
{
    char const kind = std::is_same_v<T, bool>       ? 'b'
                      : is_complex<T>               ? 'c'
                      : std::is_floating_point_v<T> ? 'f'
                      : std::is_signed_v<T>         ? 'i'
                                                    : 'u';
    return (sizeof(T) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(sizeof(T));
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

inline std::string_view behind_npy_key(std::string_view text, std::string_view key)
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
/// them is not larger than the file.
///
/// Why not xtensor's reader: it trusts the sizes in the header.
///
/// Errors    std::runtime_error: the file is no .npy file, has other items or a rank above max_rank, or ends
///           before its last item.
template <class T>
npy_array read_npy_header(std::istream& file)
{
    std::string const text = detail::read_npy_text(file), wanted = "'" + detail::npy_type<T>() + "'";
    std::string_view const rest = detail::behind_npy_key(text, "'descr':");
    std::string_view const type = rest.substr(0, rest.find(','));
    if (type != wanted)
        detail::fail_npy("its items are " + std::string(type.substr(0, 40)) + ", not " + wanted);
    npy_array const array{detail::npy_dims(detail::behind_npy_key(text, "'shape':(")),
        detail::behind_npy_key(text, "'fortran_order':").starts_with("True")};
    if (!xloom::is_countable(array.dims, sizeof(T)) ||
        xloom::element_count(array.dims) * sizeof(T) > detail::bytes_left(file))
        detail::fail_npy("it ends before its last item");
    return array;
}

/// Reads items in the order of the file, after read_npy_header.
///
/// Errors    std::runtime_error: the file cannot be read, or a bool is a byte other than 0 and 1.
template <class T>
void read_npy_items(std::istream& file, T* items, std::size_t count)
{
    char* const bytes = reinterpret_cast<char*>(items);
    if (!file.read(bytes, static_cast<std::streamsize>(count * sizeof(T))))
        detail::fail_npy("it cannot be read");
    if constexpr (std::is_same_v<T, bool>)
        if (std::any_of(bytes, bytes + count, [](char each) { return (each & ~1) != 0; }))
            detail::fail_npy("it holds a byte that is no bool");
}

} // namespace xloom_onnx
