#include "npy.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <vector>

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
    requires(Element != element_type::float16)
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
    xloom_onnx::npy_array const array = xloom_onnx::read_npy_header<T>(file);
    xloom::shape dims = array.dims;
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (array.is_column_major) {
        std::reverse(dims.begin(), dims.end());
        std::reverse(order.begin(), order.end());
    }
    tensor result(xloom::element_type_of<T>, dims);
    xloom_onnx::read_npy_items(file, array, result.items<T>().data());
    result.reserve_characters();
    return array.is_column_major ? transposed(result, order) : result;
}

} // namespace

tensor read_npy(std::istream& file, std::string const& path, element_type type)
{
    try {
        return with_type(type, [&]<class T>(std::type_identity<T>) {
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
try {
    with_type(t.type(), [&]<class T>(std::type_identity<T>) {
        using item = typename stored<T>::type;
        tensor const items = convert(t, xloom::element_type_of<item>);
        item const* const first = items.items<item>().data();
        std::size_t const item_bytes = xloom_onnx::npy_bytes_of(first, items.size());
        if (items.size() > current_budget().bytes / item_bytes)
            throw runner_error(fmt::format("it would have {} items of {} bytes", items.size(), item_bytes));
        std::ofstream file(path, std::ios::binary);
        xloom_onnx::write_npy(file, items.shape(), first, item_bytes);
        if (!file.flush())
            throw runner_error("writing fails");
    });
} catch (std::exception const& error) {
    throw runner_error(fmt::format("the file {} cannot be written: {}", path, error.what()));
}

} // namespace runner
