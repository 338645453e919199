// ScatterElements: the text's samples, every rank, axis and reduction, types, layouts, broadcast updates, the
// options, threads.

#include <doctest/doctest.h>

#include <complex>
#include <string>

#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/grid.hpp"
#include "support/nd_operands.hpp"
#include "support/textbook_elements.hpp"
#include "support/uniform_int.hpp"
#include "support/xtensor_extras.hpp"

namespace scatter_elements_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using index_vector = xt::xtensor<std::int64_t, 1>;
using index_matrix = xt::xtensor<std::int64_t, 2>;
using indices_of_any_rank = xt::xarray<std::int64_t>;

template <class T>
struct random_case {
    textbook::array<T> data, updates;
    textbook::array<std::int64_t> indices;

    random_case(textbook::dims const& data_shape, textbook::dims const& index_shape, std::size_t axis)
    {
        std::mt19937 random(static_cast<unsigned>(100 * data_shape.size() + 10 * axis + index_shape[axis]));
        data = random_items<T>(random, data_shape);
        updates = random_items<T>(random, index_shape);
        indices.shape = index_shape;
        auto const end = static_cast<std::int64_t>(data_shape[axis]);
        for (std::size_t i = 0; i < textbook::size_of(index_shape); ++i)
            indices.items.push_back(uniform_int<std::int64_t>(-end, end - 1)(random));
    }
};

/// Compares the call, in a copy and in place, with the textbook's.
template <class T, class Data, class Reduce, class Expected, class Policy = serial_policy>
void check_case(random_case<T> const& operands, std::size_t axis, Reduce const& reduce,
    Expected const& expected_reduce, Policy const& policy = {})
{
    auto const expected =
        textbook::scatter_elements(operands.data, operands.indices, operands.updates, axis, expected_reduce);
    scatter_elements_options const options{.axis = static_cast<std::int64_t>(axis)};
    auto data = to_tensor<Data>(operands.data);
    auto const indices = to_tensor<indices_of_any_rank>(operands.indices);
    auto const updates = to_tensor<Data>(operands.updates);
    CAPTURE(axis);
    CHECK(
        to_array(scatter_elements(reduce, data, indices, updates, options, policy)).items == expected.items);
    CHECK(to_array(data).items == operands.data.items);
    scatter_elements_into(reduce, data, indices, updates, options, policy);
    CHECK(to_array(data).items == expected.items);
}

template <class T, class Data = xt::xarray<T>>
void check_every_reduction(
    textbook::dims const& data_shape, textbook::dims const& index_shape, std::size_t axis)
{
    random_case<T> const operands(data_shape, index_shape, axis);
    check_case<T, Data>(operands, axis, reduction::none, [](T, T update) { return update; });
    check_case<T, Data>(operands, axis, reduction::add, [](T old, T update) { return T(old + update); });
    using wide = std::conditional_t<std::is_same_v<T, std::uint16_t>, std::uint32_t, T>; // int overflows
    check_case<T, Data>(
        operands, axis, reduction::mul, [](T old, T update) { return T(wide(old) * wide(update)); });
    check_case<T, Data>(
        operands, axis, reduction::max, [](T old, T update) { return old < update ? update : old; });
    check_case<T, Data>(
        operands, axis, reduction::min, [](T old, T update) { return update < old ? update : old; });
    auto const last_minus_old = [](T old, T update) { return T(update - old); };
    check_case<T, Data>(operands, axis, last_minus_old, last_minus_old);
}

matrix const zeros = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
index_matrix const indices = {{1, 0, 2}, {0, 2, 1}};
matrix const updates = {{1.0, 1.1, 1.2}, {2.0, 2.1, 2.2}};
matrix const row = {{1, 2, 3, 4, 5}};

} // namespace

TEST_CASE("ONNX's examples")
{
    CHECK(scatter_elements(zeros, indices, updates) == matrix{{2.0, 1.1, 0}, {1.0, 0, 2.2}, {0, 2.1, 1.2}});
    CHECK(scatter_elements(row, index_matrix{{1, 3}}, matrix{{1.1, 2.1}}, {.axis = 1}) ==
          matrix{{1, 1.1, 3, 2.1, 5}});
    CHECK(scatter_elements(row, index_matrix{{1, -3}}, matrix{{1.1, 2.1}}, {.axis = -1}) ==
          matrix{{1, 1.1, 2.1, 4, 5}});
    index_matrix const twice = {{1, 1}};
    CHECK(scatter_elements(reduction::add, row, twice, matrix{{1.5, 2}}, {.axis = 1}) ==
          matrix{{1, 5.5, 3, 4, 5}});
    CHECK(scatter_elements(reduction::mul, row, twice, matrix{{1.5, 2}}, {.axis = 1}) ==
          matrix{{1, 6, 3, 4, 5}});
    CHECK(scatter_elements(reduction::max, row, twice, matrix{{1.5, 7}}, {.axis = 1}) ==
          matrix{{1, 7, 3, 4, 5}});
    CHECK(scatter_elements(reduction::min, row, twice, matrix{{1.5, 7}}, {.axis = 1}) ==
          matrix{{1, 1.5, 3, 4, 5}});
}

TEST_CASE("every rank, axis and reduction")
{
    textbook::dims const shapes[] = {{5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}};
    for (textbook::dims const& shape : shapes)
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            check_every_reduction<int>(shape, shape, axis);
            textbook::dims other = shape;
            for (std::size_t& dim : other)
                dim = (dim + 1) / 2;
            other[axis] = 4 * shape[axis];
            check_every_reduction<int>(shape, other, axis);
        }
    check_every_reduction<std::int64_t>({7, 300}, {6, 700}, 1);
    check_every_reduction<std::int64_t>({40, 30}, {640, 29}, 0);
}

TEST_CASE("types")
{
    check_every_reduction<float>({4, 5}, {9, 5}, 0);
    check_every_reduction<double>({4, 5}, {4, 9}, 1);
    check_every_reduction<std::int8_t>({4, 5}, {4, 5}, 1);
    check_every_reduction<std::uint16_t>({4, 5}, {4, 5}, 1);
    random_case<float16> const halves({4, 5}, {4, 9}, 1);
    check_case<float16, xt::xarray<float16>>(
        halves, 1, reduction::add, [](float16 old, float16 update) { return float16(old + update); });
    random_case<std::complex<double>> const complex({4, 5}, {4, 9}, 1);
    check_case<std::complex<double>, xt::xarray<std::complex<double>>>(complex, 1, reduction::mul,
        [](std::complex<double> old, std::complex<double> update) { return old * update; });
    xt::xtensor<bool, 1> const bits = {false, true};
    CHECK(scatter_elements(bits, index_vector{0, 1}, xt::xtensor<bool, 1>{true, false}) ==
          xt::xtensor<bool, 1>{true, false});
    xt::xtensor<std::string, 1> const words = {"a", "b"};
    xt::xtensor<std::string, 1> const ends = {"c", "d"};
    auto const joined = scatter_elements(reduce_add, words, index_vector{1, 1}, ends);
    CHECK(joined(0) == "a");
    CHECK(joined(1) == "bcd");
}

TEST_CASE("layouts: column-major, views, lazy expressions, containers of one's own")
{
    using columns = xt::xarray<int, xt::layout_type::column_major>;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        check_every_reduction<int, columns>({3, 4, 5}, {3, 4, 5}, axis);
        check_every_reduction<int, user::grid<int, 3>>({3, 4, 5}, {3, 4, 5}, axis);
    }
    matrix x = zeros;
    scatter_elements_into(xt::transpose(x), indices, updates);
    CHECK(x == matrix{{2.0, 1.0, 0}, {1.1, 0, 2.1}, {0, 2.2, 1.2}});
    CHECK(scatter_elements(reduce_add, zeros + 1.0, indices, 2.0 * updates) ==
          matrix{{5.0, 3.2, 1}, {3.0, 1, 5.4}, {1, 5.2, 3.4}});
    matrix moved = zeros;
    double const* const memory = moved.data();
    moved = scatter_elements(std::move(moved), indices, updates);
    CHECK(moved.data() == memory);
    CHECK(moved(0, 0) == 2.0);
}

TEST_CASE("updates that broadcast are not written out")
{
    CHECK(scatter_elements(zeros, indices, broadcast(7)) == matrix{{7, 7, 0}, {7, 0, 7}, {0, 7, 7}});
    CHECK(scatter_elements(reduce_add, zeros, indices, broadcast(vector{1, 2, 3})) ==
          matrix{{1, 2, 0}, {1, 0, 3}, {0, 2, 3}});
    CHECK(scatter_elements(zeros, indices, broadcast(matrix{{1}, {2}}), {.axis = 1}) ==
          matrix{{1, 1, 1}, {2, 2, 2}, {0, 0, 0}});
    std::mt19937 random(1);
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (textbook::dims const& shape : {textbook::dims{}, {5}, {4, 1}, {3, 1, 5}, {3, 4, 1}, {1, 1, 1}}) {
            random_case<int> operands({3, 4, 5}, {3, 4, 5}, axis);
            auto const small = random_items<int>(random, shape);
            auto const expected = textbook::scatter_elements(operands.data, operands.indices,
                textbook::broadcast_to(small, operands.indices.shape), axis,
                [](int old, int update) { return old + update; });
            auto const result = scatter_elements(reduce_add, to_tensor<xt::xarray<int>>(operands.data),
                to_tensor<indices_of_any_rank>(operands.indices),
                broadcast(to_tensor<xt::xarray<int>>(small)), {.axis = static_cast<std::int64_t>(axis)});
            CHECK(to_array(result).items == expected.items);
        }
}

TEST_CASE("options")
{
    matrix const x = {{1, 2, 3}, {4, 5, 6}};
    index_matrix const twice = {{0, 0}, {2, 2}};
    matrix const u = {{10, 20}, {30, 40}};
    CHECK(scatter_elements(x, twice, u, {.axis = 1, .duplicates = duplicates::first}) ==
          matrix{{10, 2, 3}, {4, 5, 30}});
    CHECK(scatter_elements(reduction::add, x, twice, u, {.axis = 1, .include_self = false}) ==
          matrix{{30, 2, 3}, {4, 5, 70}});
    CHECK(scatter_elements(reduction::mean, x, twice, u, {.axis = 1}) ==
          matrix{{31.0 / 3, 2, 3}, {4, 5, 76.0 / 3}});
    index_matrix const outside = {{3, 0}, {-4, -1}};
    CHECK(scatter_elements(x, outside, u, {.axis = 1, .bounds = bounds::drop}) ==
          matrix{{20, 2, 3}, {4, 5, 40}});
    CHECK(scatter_elements(x, outside, u, {.axis = 1, .bounds = bounds::clip}) ==
          matrix{{20, 2, 10}, {30, 5, 40}});
    CHECK(scatter_elements(x, index_matrix{{0, 1}, {1, 2}}, u, {.axis = 1, .unique = true, .sorted = true}) ==
          matrix{{10, 20, 3}, {4, 30, 40}});
    xt::xtensor<float16, 1> const small = {float16(2048)};
    xt::xtensor<float16, 1> const ones = {float16(1), float16(1)};
    index_vector const same = {0, 0};
    CHECK(float(scatter_elements(reduce_add, small, same, ones)(0)) == 2048);
    CHECK(float(scatter_elements(reduce_add, small, same, ones, {.accumulate_in_float = true})(0)) == 2050);
}

TEST_CASE("empty operands")
{
    auto const none = index_matrix::from_shape({0, 3});
    auto const no_updates = matrix::from_shape({0, 3});
    CHECK(scatter_elements(zeros, none, no_updates) == zeros);
    auto const no_rows = matrix::from_shape({0, 3});
    CHECK(scatter_elements(no_rows, none, no_updates).shape(0) == 0);
    CHECK(scatter_elements(no_rows, index_matrix{{0, 1, 2}}, matrix{{1, 2, 3}}, {.bounds = bounds::drop})
              .shape(0) == 0);
}

TEST_CASE("threads give the bits of serial")
{
    for (std::size_t axis = 0; axis < 3; ++axis) {
        random_case<float> operands({30, 40, 50}, {30, 40, 50}, axis);
        for (float& item : operands.updates.items)
            item *= 0.1f;
        auto const data = to_tensor<xt::xarray<float>>(operands.data);
        auto const index_tensor = to_tensor<indices_of_any_rank>(operands.indices);
        auto const update_tensor = to_tensor<xt::xarray<float>>(operands.updates);
        for (reduction const kind : {reduction::none, reduction::add, reduction::mean}) {
            scatter_elements_options const options{.axis = static_cast<std::int64_t>(axis)};
            auto const expected = scatter_elements(kind, data, index_tensor, update_tensor, options);
            for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 8})
                CHECK(scatter_elements(kind, data, index_tensor, update_tensor, options,
                          thread_policy{threads}) == expected);
        }
    }
}

TEST_CASE("an exception of a callable propagates")
{
    auto const fails = [](double, double) -> double { throw std::runtime_error("told so"); };
    CHECK_THROWS_WITH_AS(scatter_elements(fails, zeros, indices, updates), "told so", std::runtime_error);
}

} // namespace scatter_elements_test
