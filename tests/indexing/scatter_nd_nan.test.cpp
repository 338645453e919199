// NaN in ScatterND: where it stands depends on neither threads, nor the length of slices, nor the layout. Its
// sign and payload may.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <xloom/detail/tensor/xtensor.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/threads.hpp>

namespace scatter_nd_nan_test {

using namespace xloom;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

/// Slices of four kinds by turns: NaN in data, in a later update, from infinities that no sum or product
/// survives, nowhere.
constexpr std::size_t slices = 8, updates_per_slice = 5000;
constexpr float first[] = {nan, 1.0f, infinity, 2.0f};

float update_of(std::size_t slice, std::size_t number, reduction kind)
{
    if (slice % 4 == 1 && number == updates_per_slice / 2)
        return -nan;
    if (slice % 4 == 2)
        return kind == reduction::mul ? 0.0f : -infinity;
    return 1.0f;
}

bool is_nan_expected(std::size_t slice, reduction kind)
{
    bool const from_infinities = kind == reduction::add || kind == reduction::mean || kind == reduction::mul;
    return slice % 4 < 2 || (slice % 4 == 2 && from_infinities);
}

template <xt::layout_type Layout>
void check_nan(std::size_t length, reduction kind)
{
    std::size_t const count = slices * updates_per_slice / length;
    auto data = xt::xtensor<float, 2, Layout>::from_shape({slices, length});
    auto indices = xt::xtensor<std::int64_t, 2>::from_shape({count, 1});
    auto updates = xt::xtensor<float, 2>::from_shape({count, length});
    for (std::size_t slice = 0; slice < slices; ++slice)
        for (std::size_t i = 0; i < length; ++i)
            data(slice, i) = first[slice % 4];
    for (std::size_t number = 0; number < count; ++number) {
        indices(number, 0) = static_cast<std::int64_t>(number % slices);
        std::size_t const scaled = number / slices * length; // so that the one in the middle is among them
        bool const is_middle = scaled <= updates_per_slice / 2 && updates_per_slice / 2 < scaled + length;
        for (std::size_t i = 0; i < length; ++i)
            updates(number, i) = update_of(number % slices, is_middle ? updates_per_slice / 2 : 0, kind);
    }
    for (std::size_t const parts : {1u, 2u, 3u}) {
        CAPTURE(parts);
        auto const result = scatter_nd(kind, data, indices, updates, thread_policy{parts});
        std::size_t wrong = 0;
        for (std::size_t slice = 0; slice < slices; ++slice)
            for (std::size_t i = 0; i < length; ++i)
                wrong += std::isnan(result(slice, i)) != is_nan_expected(slice, kind);
        CHECK(wrong == 0);
    }
}

} // namespace

TEST_CASE("NaN stands where arithmetic puts it, whatever the threads, slices and layout")
{
    for (reduction const kind :
        {reduction::add, reduction::mul, reduction::max, reduction::min, reduction::mean})
        for (std::size_t const length : {1u, 3u, 256u}) {
            CAPTURE(name_of(kind));
            CAPTURE(length);
            check_nan<xt::layout_type::row_major>(length, kind);
            check_nan<xt::layout_type::column_major>(length, kind);
        }
}

} // namespace scatter_nd_nan_test
