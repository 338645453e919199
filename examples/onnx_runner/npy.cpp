#include "npy.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>
#endif

#include "types.hpp"

namespace runner {

namespace {

using xloom::detail::concat;

/// The type in the file.
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
tensor read(std::istream& file, element_type type)
{
    constexpr auto row_major = xt::layout_type::row_major;
    auto const loaded = xt::load_npy<typename stored<T>::type>(file);
    if (!file)
        throw runner_error("it ends before its last item");
    xloom::shape const dims(loaded.shape().begin(), loaded.shape().end());
    if (!xloom::is_countable(dims, sizeof(typename stored<T>::type)))
        throw runner_error(concat("the shape ", dims, " has more items than can be counted"));
    tensor result(type, dims);
    std::transform(loaded.template begin<row_major>(), loaded.template end<row_major>(), result.items<T>().begin(),
        [](auto const& item) { return static_cast<T>(item); });
    return result;
}

} // namespace

tensor read_npy(std::string const& path, element_type type)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw runner_error("the file " + path + " cannot be opened");
    try {
        return with_plain_type(type, [&]<class T>(std::type_identity<T>) { return read<T>(file, type); });
    } catch (std::exception const& error) {
        throw runner_error(concat("the file ", path, " cannot be read as ", name_of(type), ": ", error.what()));
    }
}

void write_npy(std::string const& path, tensor const& t)
{
    std::vector<std::size_t> const dims(t.shape().begin(), t.shape().end());
    std::ofstream file(path, std::ios::binary);
    with_plain_type(t.type(), [&]<class T>(std::type_identity<T>) {
        auto const items = t.items<T>();
        using item = typename stored<T>::type;
        xt::xarray<item, xt::layout_type::row_major> copy(dims);
        std::transform(items.begin(), items.end(), copy.data(), [](T const& each) { return static_cast<item>(each); });
        file << xt::dump_npy(copy);
    });
    if (!file.flush())
        throw runner_error("the file " + path + " cannot be written");
}

} // namespace runner
