// ScatterND: the text's samples, every rank of data and indices, and the ways to hand over operands.

#include <doctest/doctest.h>

#include <xloom/indexing/scatter_nd.hpp>

#include "support/nd_operands.hpp"
#include "support/xtensor_extras.hpp"

namespace scatter_nd_test {

using namespace xloom;

namespace {

using indices_2d = xt::xtensor<std::int64_t, 2>;

constexpr auto assign = [](auto const&, auto const& update) { return update; };
constexpr auto plus = [](auto const& old, auto const& update) { return old + update; };

/// One random case against the textbook.
template <class Data>
void check_random_case(textbook::dims const& data_shape, textbook::dims const& front, std::size_t k)
{
    std::mt19937 random(static_cast<unsigned>(100 * data_shape.size() + 10 * front.size() + k));
    auto const data = random_items<double>(random, data_shape);
    auto const indices = random_indices(random, front, data_shape, k);
    auto const updates = random_items<double>(random, updates_shape(data_shape, indices.shape));
    auto const none = textbook::scatter_nd(data, indices, updates, assign);
    auto const add = textbook::scatter_nd(data, indices, updates, plus);

    auto const tensor = to_tensor<Data>(data);
    auto const index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
    auto const update_tensor = to_tensor<xt::xarray<double>>(updates);
    CAPTURE(data_shape.size());
    CAPTURE(front.size());
    CAPTURE(k);
    for (reduction const kind : {reduction::none, reduction::add}) {
        auto const result = to_array(scatter_nd(kind, tensor, index_tensor, update_tensor));
        CHECK(result.items == (kind == reduction::none ? none : add).items);
        CHECK(result.shape == data_shape);
    }
}

} // namespace

TEST_CASE("ONNX's example 1: single items")
{
    xt::xtensor<float, 1> const data = {1, 2, 3, 4, 5, 6, 7, 8};
    indices_2d const indices = {{4}, {3}, {1}, {7}};
    xt::xtensor<float, 1> const updates = {9, 10, 11, 12};
    CHECK(scatter_nd(data, indices, updates) == xt::xtensor<float, 1>{1, 11, 3, 10, 9, 6, 7, 12});
}

TEST_CASE("ONNX's example 2: slices")
{
    xt::xtensor<float, 3> const data = {{{1, 2, 3, 4}, {5, 6, 7, 8}, {8, 7, 6, 5}, {4, 3, 2, 1}},
        {{1, 2, 3, 4}, {5, 6, 7, 8}, {8, 7, 6, 5}, {4, 3, 2, 1}},
        {{8, 7, 6, 5}, {4, 3, 2, 1}, {1, 2, 3, 4}, {5, 6, 7, 8}},
        {{8, 7, 6, 5}, {4, 3, 2, 1}, {1, 2, 3, 4}, {5, 6, 7, 8}}};
    indices_2d const indices = {{0}, {2}};
    xt::xtensor<float, 3> const updates = {{{5, 5, 5, 5}, {6, 6, 6, 6}, {7, 7, 7, 7}, {8, 8, 8, 8}},
        {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}}};
    xt::xtensor<float, 3> const expected = {{{5, 5, 5, 5}, {6, 6, 6, 6}, {7, 7, 7, 7}, {8, 8, 8, 8}},
        {{1, 2, 3, 4}, {5, 6, 7, 8}, {8, 7, 6, 5}, {4, 3, 2, 1}},
        {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}},
        {{8, 7, 6, 5}, {4, 3, 2, 1}, {1, 2, 3, 4}, {5, 6, 7, 8}}};
    CHECK(scatter_nd(data, indices, updates) == expected);
}

// A graph spells every index out, the sliced axes' too (k = r), or leaves the last axis as a slice (k = 3).
TEST_CASE("the update x[:, 0, 1] = 1 of a [1, 3, 8, 8] tensor, as its exported graph does it")
{
    xt::xtensor<float, 4> const x = xt::zeros<float>({1, 3, 8, 8});
    xt::xtensor<std::int64_t, 3> spelled_out = xt::zeros<std::int64_t>({1, 8, 4});
    for (std::size_t column = 0; column < 8; ++column) {
        spelled_out(0, column, 2) = 1;
        spelled_out(0, column, 3) = static_cast<std::int64_t>(column);
    }
    xt::xtensor<float, 4> const by_items =
        scatter_nd(x, spelled_out, xt::xtensor<float, 2>(xt::ones<float>({1, 8})));
    xt::xtensor<float, 4> const by_slice =
        scatter_nd(x, indices_2d{{0, 0, 1}}, xt::xtensor<float, 2>(xt::ones<float>({1, 8})));
    for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t row = 0; row < 8; ++row)
            for (std::size_t column = 0; column < 8; ++column) {
                float const expected = channel == 0 && row == 1 ? 1.0f : 0.0f;
                CHECK(by_items(0, channel, row, column) == expected);
                CHECK(by_slice(0, channel, row, column) == expected);
            }
}

TEST_CASE("k from 0 to r, with every number of axes in front")
{
    textbook::dims const shapes[] = {{5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}};
    textbook::dims const fronts[] = {{}, {4}, {2, 3}, {1, 2, 2}};
    for (textbook::dims const& data : shapes)
        for (textbook::dims const& front : fronts)
            for (std::size_t k = 0; k <= data.size(); ++k)
                check_random_case<xt::xarray<double>>(data, front, k);
}

TEST_CASE("more updates than a block holds")
{
    check_random_case<xt::xarray<double>>({40}, {1000}, 1);
    check_random_case<xt::xarray<double>>({7, 5, 3}, {333}, 2);
    check_random_case<xt::xarray<double>>({3, 2, 2, 5}, {200}, 3);
}

TEST_CASE("data that is larger than a core's caches")
{
    static_assert(800'000 * sizeof(double) > tuning::prefetched_data_bytes);
    check_random_case<xt::xarray<double>>({800'000}, {1300}, 1);
    check_random_case<xt::xarray<double>>({200'000, 4}, {600}, 1);
}

TEST_CASE_TEMPLATE("indices of any integer type", Index, std::int8_t, std::uint8_t, std::int16_t,
    std::int32_t, std::uint32_t, std::int64_t, std::uint64_t)
{
    xt::xtensor<int, 1> const data = {0, 0, 0, 0};
    xt::xtensor<Index, 2> indices = {{0}, {3}};
    xt::xtensor<int, 1> const updates = {7, 8};
    CHECK(scatter_nd(data, indices, updates) == xt::xtensor<int, 1>{7, 0, 0, 8});
    if (std::is_signed_v<Index>) {
        indices = {{static_cast<Index>(-4)}, {static_cast<Index>(-1)}};
        CHECK(scatter_nd(data, indices, updates) == xt::xtensor<int, 1>{7, 0, 0, 8});
    }
}

TEST_CASE("one tuple: the update of a single item may be a number, a rank-0 tensor or a lazy expression")
{
    xt::xtensor<float, 2> const data = xt::zeros<float>({2, 3});
    xt::xtensor<std::int64_t, 1> const index = {1, -1};
    xt::xtensor<float, 2> const expected = {{0, 0, 0}, {0, 0, 5}};
    CHECK(scatter_nd(data, index, 5.0f) == expected);
    CHECK(scatter_nd(data, index, xt::xarray<float>(5.0f)) == expected);
    xt::xtensor<std::int64_t, 1> const row = {1};
    xt::xtensor<float, 1> const ones = xt::ones<float>({3});
    CHECK(scatter_nd(data, row, 2.0f * ones) == xt::xtensor<float, 2>{{0, 0, 0}, {2, 2, 2}});
    CHECK(scatter_nd(data + 1.0f, row, ones) == xt::xtensor<float, 2>{{1, 1, 1}, {1, 1, 1}});
}

TEST_CASE("nothing to do: empty indices, empty data, empty slices")
{
    xt::xtensor<float, 2> const data = {{1, 2}, {3, 4}};
    CHECK(
        scatter_nd(data, indices_2d::from_shape({0, 1}), xt::xtensor<float, 2>::from_shape({0, 2})) == data);
    CHECK(scatter_nd(data, indices_2d::from_shape({0, 2}), xt::xtensor<float, 1>::from_shape({0})) == data);
    auto const empty = xt::xtensor<float, 2>::from_shape({0, 2});
    CHECK(scatter_nd(empty, indices_2d::from_shape({0, 1}), xt::xtensor<float, 2>::from_shape({0, 2}))
              .shape(0) == 0);
    auto const no_columns = xt::xtensor<float, 2>::from_shape({2, 0});
    CHECK(scatter_nd(no_columns, indices_2d{{1}}, xt::xtensor<float, 2>::from_shape({1, 0})).shape(0) == 2);
}

TEST_CASE("k = 0: each update is a whole data, the last one stays")
{
    xt::xtensor<float, 1> const data = {1, 2};
    auto const indices = indices_2d::from_shape({2, 0});
    xt::xtensor<float, 2> const updates = {{3, 4}, {5, 6}};
    CHECK(scatter_nd(data, indices, updates) == xt::xtensor<float, 1>{5, 6});
    CHECK(scatter_nd(reduce_add, data, indices, updates) == xt::xtensor<float, 1>{9, 12});
}

TEST_CASE("duplicates: with none the last stays, with a reduction all count, the old value once")
{
    xt::xtensor<int, 1> const data = {10, 20, 30};
    indices_2d const indices = {{1}, {1}, {-2}, {0}};
    xt::xtensor<int, 1> const updates = {1, 2, 3, 4};
    CHECK(scatter_nd(data, indices, updates) == xt::xtensor<int, 1>{4, 3, 30});
    CHECK(scatter_nd(reduction::add, data, indices, updates) == xt::xtensor<int, 1>{14, 26, 30});
    CHECK(scatter_nd(reduction::mul, data, indices, updates) == xt::xtensor<int, 1>{40, 120, 30});
    CHECK(scatter_nd(reduction::max, data, indices, updates) == xt::xtensor<int, 1>{10, 20, 30});
    CHECK(scatter_nd(reduction::min, data, indices, updates) == xt::xtensor<int, 1>{4, 1, 30});
}

TEST_CASE("data that is moved in is not copied")
{
    xt::xtensor<float, 1> data = {1, 2, 3};
    float const* const memory = data.data();
    xt::xtensor<float, 1> const result =
        scatter_nd(std::move(data), indices_2d{{1}}, xt::xtensor<float, 1>{9});
    CHECK(result.data() == memory);
    CHECK(result == xt::xtensor<float, 1>{1, 9, 3});
}

TEST_CASE("data that is not moved stays as it is, and may hold the updates")
{
    xt::xtensor<float, 1> const data = {1, 2, 3};
    CHECK(scatter_nd(data, indices_2d{{2}, {0}, {1}}, data) == xt::xtensor<float, 1>{2, 3, 1});
    CHECK(data == xt::xtensor<float, 1>{1, 2, 3});
}

TEST_CASE("in place into views, with steps of any sign")
{
    xt::xtensor<int, 2> table = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    auto columns = xt::view(table, xt::all(), xt::range(1, 3));
    scatter_nd_into(columns, indices_2d{{0}, {-1}}, xt::xtensor<int, 2>{{-1, -2}, {-3, -4}});
    CHECK(table == xt::xtensor<int, 2>{{0, -1, -2, 3}, {4, 5, 6, 7}, {8, -3, -4, 11}});
    auto reversed =
        xt::strided_view(table, {xt::range(xt::placeholders::_, xt::placeholders::_, -1), xt::all()});
    scatter_nd_into(reduction::add, reversed, indices_2d{{0, 0}}, xt::xtensor<int, 1>{100});
    CHECK(table(2, 0) == 108);
    scatter_nd_into(xt::view(table, 1), indices_2d{{0}}, xt::xtensor<int, 1>{77});
    CHECK(table(1, 0) == 77);
}

TEST_CASE("fixed shapes stay fixed")
{
    xt::xtensor_fixed<float, xt::xshape<2, 2>> const data = {{1, 2}, {3, 4}};
    auto const result = scatter_nd(data, indices_2d{{1, 0}}, xt::xtensor<float, 1>{9});
    static_assert(std::is_same_v<decltype(result), xt::xtensor_fixed<float, xt::xshape<2, 2>> const>);
    CHECK(result(1, 0) == 9);
    CHECK(result(0, 1) == 2);
}

} // namespace scatter_nd_test
