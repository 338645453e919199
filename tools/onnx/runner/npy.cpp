#include "npy.hpp"

#include <algorithm>
#include <charconv>
#include <complex>
#include <fstream>
#include <numeric>
#include <vector>

#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>
#endif

#include "convert.hpp"
#include "moves.hpp"
#include "text.hpp"
#include "types.hpp"

namespace runner {

namespace {

/// The item type in the file.
template <class T>
struct stored {
    using type = T;
};
template <element_type Element>
struct stored<xloom::small_float<Element>> {
    using type = float;
};
template <element_type Element>
struct stored<xloom::small_int<Element>> {
    using type = std::conditional_t<xloom::small_int<Element>::is_signed, std::int8_t, std::uint8_t>;
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Returns the item type's name in a file's header: "<f4".
template <class T>
std::string type_name()
{
    char const kind = std::is_same_v<T, bool>       ? 'b'
                      : is_complex<T>               ? 'c'
                      : std::is_floating_point_v<T> ? 'f'
                      : std::is_signed_v<T>         ? 'i'
                                                    : 'u';
    return fmt::format("{}{}{}", sizeof(T) == 1 ? "|" : "<", std::string(1, kind), sizeof(T));
}

std::string read_bytes(std::istream& file, std::size_t count)
{
    std::string bytes(count, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(count)))
        throw runner_error("it ends within its head");
    return bytes;
}

/// The header of a file: a Python dictionary with three keys.
class npy_head {
public:
    explicit npy_head(std::istream& file)
    {
        constexpr std::size_t most = 1 << 16;
        std::string const start = read_bytes(file, 8);
        if (!start.starts_with("\x93NUMPY") || start[6] < 1 || start[6] > 3)
            throw runner_error("it does not begin as a .npy file");
        std::string const length_bytes = read_bytes(file, start[6] == 1 ? 2 : 4);
        std::size_t length = 0;
        for (std::size_t i = 0; i < length_bytes.size(); ++i)
            length |= std::size_t{static_cast<unsigned char>(length_bytes[i])} << 8 * i;
        if (length > most)
            throw runner_error(fmt::format("its head has {} bytes, more than {}", length, most));
        text_ = read_bytes(file, length);
        std::erase(text_, ' ');
    }

    std::string type() const
    {
        std::string_view const text = behind("'descr':");
        return std::string(text.substr(0, text.find(',')));
    }
    bool is_column_major() const { return behind("'fortran_order':").starts_with("True"); }
    xloom::shape dims() const
    {
        xloom::shape dims;
        std::string_view rest = behind("'shape':(");
        while (!rest.starts_with(')')) {
            std::size_t dim = 0;
            auto const read = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
            rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
            if (read.ec != std::errc() || !(rest.starts_with(',') || rest.starts_with(')')))
                throw runner_error("its shape is no list of sizes");
            rest.remove_prefix(rest.starts_with(',') ? 1 : 0);
            dims.push_back(dim);
        }
        return dims;
    }

private:
    std::string_view behind(std::string_view key) const
    {
        std::size_t const at = text_.find(key);
        if (at == std::string::npos)
            throw runner_error(fmt::format("its head has no {}", key));
        return std::string_view(text_).substr(at + key.size());
    }

    std::string text_;
};

std::size_t bytes_left(std::istream& file)
{
    auto const here = file.tellg();
    auto const end = file.seekg(0, std::ios::end).tellg();
    file.seekg(here);
    return static_cast<std::size_t>(end - here);
}

/// Reads items. Why not xtensor's reader: it trusts the sizes in the header.
template <class T>
tensor read(std::istream& file)
{
    npy_head const head(file);
    if (std::string const wanted = "'" + type_name<T>() + "'"; head.type() != wanted)
        throw runner_error("its items are " + head.type().substr(0, 40) + ", not " + wanted);
    xloom::shape dims = head.dims();
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (head.is_column_major()) {
        std::reverse(dims.begin(), dims.end());
        std::reverse(order.begin(), order.end());
    }
    if (!xloom::is_countable(dims, sizeof(T)) || xloom::element_count(dims) * sizeof(T) > bytes_left(file))
        throw runner_error("it ends before its last item");
    tensor result(xloom::element_type_of<T>, dims);
    file.read(
        reinterpret_cast<char*>(result.bytes()), static_cast<std::streamsize>(result.size() * sizeof(T)));
    if constexpr (std::is_same_v<T, bool>)
        if (std::any_of(result.bytes(), result.bytes() + result.size(),
                [](std::byte each) { return each > std::byte{1}; }))
            throw runner_error("it holds a byte that is no bool");
    return head.is_column_major() ? transposed(result, order) : result;
}

} // namespace

tensor read_npy(std::istream& file, std::string const& path, element_type type)
{
    try {
        return with_plain_type(type, [&]<class T>(std::type_identity<T>) {
            return convert(read<typename stored<T>::type>(file), type);
        });
    } catch (std::exception const& error) {
        throw runner_error(
            fmt::format("the file {} cannot be read as {}: {}", path, name_of(type), error.what()));
    }
}

tensor read_npy(std::string const& path, element_type type)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw runner_error("the file " + path + " cannot be opened");
    return read_npy(file, path, type);
}

void write_npy(std::string const& path, tensor const& t)
{
    std::vector<std::size_t> const dims(t.shape().begin(), t.shape().end());
    std::ofstream file(path, std::ios::binary);
    with_plain_type(t.type(), [&]<class T>(std::type_identity<T>) {
        auto const items = t.items<T>();
        using item = typename stored<T>::type;
        xt::xarray<item, xt::layout_type::row_major> copy(dims);
        std::transform(
            items.begin(), items.end(), copy.data(), [](T const& each) { return static_cast<item>(each); });
        file << xt::dump_npy(copy);
    });
    if (!file.flush())
        throw runner_error("the file " + path + " cannot be written");
}

} // namespace runner
