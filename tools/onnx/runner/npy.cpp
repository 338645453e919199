#include "npy.hpp"

#include <algorithm>
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

#include <xloom_onnx/model/npy.hpp>

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
tensor read(std::istream& file)
{
    auto [dims, is_column_major] = xloom_onnx::read_npy_header<T>(file);
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (is_column_major) {
        std::reverse(dims.begin(), dims.end());
        std::reverse(order.begin(), order.end());
    }
    tensor result(xloom::element_type_of<T>, dims);
    xloom_onnx::read_npy_items(file, reinterpret_cast<T*>(result.bytes()), result.size());
    return is_column_major ? transposed(result, order) : result;
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
