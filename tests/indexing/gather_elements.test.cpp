// GatherElements: the text's samples, every rank and axis, every type, layouts, the rules for indices out of
// range, threads.

#include <doctest/doctest.h>

#include <atomic>
#include <complex>
#include <string>

#include <xloom/indexing/gather_elements.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/grid.hpp"
#include "support/nd_operands.hpp"
#include "support/placed_tensor.hpp"
#include "support/textbook_elements.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/uniform_int.hpp"
#include "support/xtensor_extras.hpp"

namespace gather_elements_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<int, 2>;
using index_matrix = xt::xtensor<std::int64_t, 2>;
using indices_of_any_rank = xt::xarray<std::int64_t>;

/// Indices of an axis, duplicates among them, from `least` on.
textbook::array<std::int64_t> random_axis_indices(
    std::mt19937& random, textbook::dims const& shape, std::int64_t least, std::size_t length)
{
    textbook::array<std::int64_t> indices{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        indices.items.push_back(
            uniform_int<std::int64_t>(least, static_cast<std::int64_t>(length) - 1)(random));
    return indices;
}

template <class T, class Data = xt::xarray<T>, class Indices = indices_of_any_rank,
    class Policy = serial_policy>
void check_random_case(textbook::dims const& data_shape, textbook::dims const& index_shape, std::size_t axis,
    Policy const& policy = {})
{
    std::mt19937 random(static_cast<unsigned>(100 * data_shape.size() + 10 * axis + index_shape[axis]));
    auto const data = random_items<T>(random, data_shape);
    auto const indices = random_axis_indices(
        random, index_shape, -static_cast<std::int64_t>(data_shape[axis]), data_shape[axis]);
    auto const expected = textbook::gather_elements(data, indices, axis);
    CAPTURE(data_shape.size());
    CAPTURE(axis);
    auto const rank = static_cast<std::int64_t>(data_shape.size());
    for (std::int64_t const named :
        {static_cast<std::int64_t>(axis), static_cast<std::int64_t>(axis) - rank}) {
        auto const result = to_array(
            gather_elements(to_tensor<Data>(data), to_tensor<Indices>(indices), {.axis = named}, policy));
        CHECK(result.items == expected.items);
        CHECK(result.shape == expected.shape);
    }
}

matrix const data = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};

} // namespace

TEST_CASE("ONNX's examples")
{
    CHECK(gather_elements(matrix{{1, 2}, {3, 4}}, index_matrix{{0, 0}, {1, 0}}, {.axis = 1}) ==
          matrix{{1, 1}, {4, 3}});
    CHECK(gather_elements(data, index_matrix{{1, 2, 0}, {2, 0, 0}}) == matrix{{4, 8, 3}, {7, 2, 3}});
    CHECK(gather_elements(data, index_matrix{{-1, -2, 0}, {-2, 0, 0}}) == matrix{{7, 5, 3}, {4, 2, 3}});
}

TEST_CASE("every rank and axis, indices shorter than data, and longer along the axis")
{
    textbook::dims const shapes[] = {{5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}, {2, 3, 1, 2, 3}};
    for (textbook::dims const& shape : shapes)
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            check_random_case<int>(shape, shape, axis);
            textbook::dims shorter = shape;
            for (std::size_t& dim : shorter)
                dim = (dim + 1) / 2;
            check_random_case<int>(shape, shorter, axis);
            shorter[axis] = 3 * shape[axis];
            check_random_case<int>(shape, shorter, axis);
            shorter[axis] = 1;
            check_random_case<int>(shape, shorter, axis);
        }
}

TEST_CASE("more indices than are read at a time")
{
    check_random_case<int>({70}, {1000}, 0);
    check_random_case<int>({7, 300}, {5, 299}, 0);
    check_random_case<int>({7, 300}, {7, 1200}, 1);
    check_random_case<int>({3, 200, 5}, {3, 611, 4}, 1);
    check_random_case<int>({600, 2, 3}, {600, 1, 2}, 2);
}

/// Rows of all lengths up to `most`, whose indices begin at 0 or are of both signs, for the checks before use
/// and by block.
template <class T>
void check_rows(std::size_t most)
{
    std::mt19937 random(static_cast<unsigned>(most));
    for (std::size_t columns = 1; columns <= most; ++columns)
        for (std::int64_t const least : {0, -7}) {
            auto const items = random_items<T>(random, {3, 7});
            auto const indices = random_axis_indices(random, {3, columns}, least, 7);
            auto const expected = textbook::gather_elements(items, indices, 1);
            auto const data_tensor = to_tensor<xt::xarray<T>>(items);
            auto const index_tensor = to_tensor<indices_of_any_rank>(indices);
            CAPTURE(columns);
            CAPTURE(least);
            CHECK(to_array(gather_elements(data_tensor, index_tensor, {.axis = 1})).items == expected.items);
            xt::xarray<T> output = xt::xarray<T>::from_shape({3, columns});
            gather_elements_into(data_tensor, index_tensor, output, {.axis = 1});
            CHECK(to_array(output).items == expected.items);
        }
}

TEST_CASE("rows of few items, of indices that are not negative and of both signs")
{
    check_rows<std::uint8_t>(34);
    check_rows<float>(34);
    check_rows<double>(18);
    check_rows<std::complex<double>>(18);
}

TEST_CASE("an index out of range in any block is an error before anything is written")
{
    auto const items = xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}};
    for (std::size_t const wrong : std::initializer_list<std::size_t>{0, 511, 512, 1499, 1500, 2999}) {
        xt::xtensor<std::int16_t, 2> indices = xt::zeros<std::int16_t>({2, 1500});
        indices.flat(wrong) = wrong % 2 == 0 ? 3 : -4;
        CHECK_THROWS_AS(gather_elements(items, indices, {.axis = 1}), index_error);
        CHECK_THROWS_AS(gather_elements(items, indices, {.axis = 1}, thread_policy{3}), index_error);
        xt::xtensor<float, 2> output = xt::ones<float>({2, 1500});
        CHECK_THROWS_AS(gather_elements_into(items, indices, output, {.axis = 1}), index_error);
        CHECK(output == xt::ones<float>({2, 1500}));
    }
}

TEST_CASE("an index out of range in any thread's part is an error")
{
    auto const items = xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}};
    std::size_t const columns = 50'000; // several parts
    for (std::size_t const wrong : {std::size_t{0}, columns - 1, columns, 2 * columns - 1}) {
        xt::xtensor<std::int16_t, 2> indices = xt::zeros<std::int16_t>({std::size_t{2}, columns});
        indices.flat(wrong) = 3;
        for (bool const is_backwards : {false, true}) {
            std::atomic<std::size_t> parts = 0;
            threads_or_backwards const policy{3, is_backwards, &parts};
            CHECK_THROWS_AS(gather_elements(items, indices, {.axis = 1}, policy), index_error);
            CHECK(parts > 1);
        }
    }
}

TEST_CASE("every element type")
{
    check_random_case<float>({4, 5}, {3, 5}, 0);
    check_random_case<double>({4, 5}, {3, 5}, 1);
    check_random_case<float16>({4, 5}, {4, 5}, 1);
    check_random_case<bfloat16>({4, 5}, {4, 5}, 0);
    check_random_case<float8_e4m3fn>({4, 5}, {4, 5}, 0);
    check_random_case<std::int8_t>({4, 5}, {4, 5}, 0);
    check_random_case<std::uint64_t>({4, 5}, {4, 5}, 0);
    check_random_case<bool>({4, 5}, {4, 5}, 1);
    check_random_case<std::complex<double>>({4, 5}, {4, 5}, 1);
    xt::xtensor<std::string, 1> const words = {"a", "bc", "a long word that has memory of its own"};
    xt::xtensor<std::string, 1> const taken = gather_elements(words, xt::xtensor<int, 1>{2, -2});
    CHECK(taken(0) == words(2));
    CHECK(taken(1) == "bc");
}

TEST_CASE("every index type")
{
    check_random_case<int, xt::xarray<int>, xt::xarray<std::int8_t>>({4, 5}, {3, 5}, 0);
    check_random_case<int, xt::xarray<int>, xt::xarray<std::int32_t>>({4, 5}, {3, 5}, 1);
    CHECK(gather_elements(data, xt::xtensor<std::uint8_t, 2>{{2, 0, 1}}) == matrix{{7, 2, 6}});
    CHECK(gather_elements(data, xt::xtensor<std::uint64_t, 2>{{2, 0, 1}}) == matrix{{7, 2, 6}});
}

TEST_CASE("layouts: column-major, views, lazy expressions, containers of one's own")
{
    using columns = xt::xarray<int, xt::layout_type::column_major>;
    using column_indices = xt::xarray<std::int64_t, xt::layout_type::column_major>;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        check_random_case<int, columns>({3, 4, 5}, {3, 4, 5}, axis);
        check_random_case<int, columns, column_indices>({3, 4, 5}, {2, 4, 5}, axis);
        check_random_case<int, user::grid<int, 3>, column_indices>({3, 4, 5}, {3, 3, 4}, axis);
    }
    auto const reversed =
        xt::strided_view(data, {xt::range(xt::placeholders::_, xt::placeholders::_, -1), xt::all()});
    CHECK(gather_elements(reversed, index_matrix{{0, 1, 2}}) == matrix{{7, 5, 3}});
    CHECK(gather_elements(data + data, index_matrix{{0, 1, 2}}) == matrix{{2, 10, 18}});
    CHECK(gather_elements(data, index_matrix{{0, 1, 2}} - 1) == matrix{{7, 2, 6}});
    matrix output = {{0, 0}, {0, 0}};
    gather_elements_into(data, index_matrix{{1, 2}, {0, 1}}, xt::transpose(output));
    CHECK(output == matrix{{4, 1}, {8, 5}});
    static_assert(std::is_same_v<decltype(gather_elements(data, index_matrix{{0}})), matrix>);
}

TEST_CASE("indices out of range are dropped or clipped")
{
    index_matrix const outside = {{3, 0, -4}, {-1, 100, 1}};
    CHECK(gather_elements(data, outside, {.bounds = bounds::drop}) == matrix{{0, 2, 0}, {7, 0, 6}});
    CHECK(gather_elements(data, outside, {.bounds = bounds::clip}) == matrix{{7, 2, 3}, {7, 8, 6}});
    CHECK(
        gather_elements(data, outside, {.axis = 1, .bounds = bounds::drop}) == matrix{{0, 1, 0}, {6, 0, 5}});
    matrix output = {{-1, -1, -1}, {-1, -1, -1}};
    gather_elements_into(data, outside, output, {.bounds = bounds::drop});
    CHECK(output == matrix{{-1, 2, -1}, {7, -1, 6}});
    CHECK(gather_elements(data, index_matrix{{0, 1, 2}}, {.bounds = bounds::assume}) == matrix{{1, 5, 9}});
}

TEST_CASE("blocks with indices out of range and blocks without give what the rule says")
{
    textbook::dims const shape{40, 37}; // 1480 indices
    std::mt19937 random(5);
    auto const items = random_items<int>(random, shape);
    auto const x = to_tensor<matrix>(items);
    for (std::size_t axis = 0; axis < 2; ++axis)
        for (std::size_t const outside : std::initializer_list<std::size_t>{0, 511, 512, 1023, 1024, 1479}) {
            auto const length = static_cast<std::int64_t>(shape[axis]);
            auto indices = random_axis_indices(random, shape, -length, shape[axis]);
            indices.items[outside] = length - 1;
            auto const clipped = textbook::gather_elements(items, indices, axis);
            textbook::array<int> dropped = clipped;
            dropped.items[outside] = 0;
            indices.items[outside] = length + 3;
            auto const given = to_tensor<index_matrix>(indices);
            CAPTURE(axis);
            CAPTURE(outside);
            for (bounds const rule : {bounds::clip, bounds::drop}) {
                auto const& expected = rule == bounds::clip ? clipped : dropped;
                gather_elements_options const options{static_cast<std::int64_t>(axis), rule};
                CHECK(to_array(gather_elements(x, given, options)).items == expected.items);
                matrix output = xt::zeros<int>(given.shape());
                gather_elements_into(x, given, output, options);
                CHECK(to_array(output).items == expected.items);
            }
        }
}

TEST_CASE("an axis of stride 0, and one of length 1 that has the stride of another one")
{
    placed_tensor<int> repeated({1}, placement::row_major);
    repeated.memory[0] = 7;
    repeated.layout = {{4}, {0}};
    xt::xtensor<int, 1> sevens = {0, 0, 0};
    gather_elements_into(repeated, xt::xtensor<int, 1>{0, 3, -1}, sevens);
    CHECK(sevens == xt::xtensor<int, 1>{7, 7, 7});

    auto const column = place<int>(textbook::array<int>{{5, 1}, {1, 2, 3, 4, 5}});
    REQUIRE(column.layout.strides == strides{1, 1});
    matrix output = matrix::from_shape({5, 1});
    gather_elements_into(column, index_matrix{{0}, {0}, {-1}, {0}, {-1}}, output, {.axis = 1});
    CHECK(output == matrix{{1}, {2}, {3}, {4}, {5}});
}

TEST_CASE("empty operands")
{
    auto const no_rows = xt::xtensor<int, 2>::from_shape({0, 3});
    auto const no_indices = index_matrix::from_shape({0, 3});
    CHECK(gather_elements(no_rows, no_indices).shape(0) == 0);
    CHECK(gather_elements(data, no_indices).shape(1) == 3);
    CHECK(gather_elements(no_rows, index_matrix{{5, 5, 5}}, {.bounds = bounds::drop}) == matrix{{0, 0, 0}});
    CHECK_THROWS_AS(gather_elements(no_rows, index_matrix{{0, 0, 0}}), index_error);
    CHECK_THROWS_AS(gather_elements(no_rows, index_matrix{{0, 0, 0}}, {.bounds = bounds::clip}), index_error);
}

TEST_CASE("threads give the same items")
{
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2, 3, 5})
            check_random_case<float, xt::xarray<float>, indices_of_any_rank>(
                {30, 40, 50}, {30, 40, 50}, axis, thread_policy{threads});
}

} // namespace gather_elements_test
