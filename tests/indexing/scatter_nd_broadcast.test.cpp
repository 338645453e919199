// ScatterND of updates that are broadcast, beside the textbook with the updates written out.

#include <doctest/doctest.h>

#include <complex>
#include <string>

#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/threads.hpp>

#include "../support/reduced_options.hpp"
#include "support/every_reduction.hpp"
#include "support/nd_operands.hpp"
#include "support/xtensor_extras.hpp"

namespace scatter_nd_broadcast_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using indices_2d = xt::xtensor<std::int64_t, 2>;

/// Returns the array with its items written out to a shape, by NumPy's rule.
template <class T>
textbook::array<T> written_out(textbook::array<T> const& array, textbook::dims const& shape)
{
    textbook::array<T> all{shape, {}};
    for (std::size_t flat = 0; flat < textbook::size_of(shape); ++flat) {
        textbook::dims const to = textbook::position_of(flat, shape);
        textbook::dims from(array.shape.size());
        for (std::size_t axis = 0; axis < from.size(); ++axis)
            from[axis] = array.shape[axis] == 1 ? 0 : to[axis + shape.size() - from.size()];
        all.items.push_back(array.items[textbook::flat_of(from, array.shape)]);
    }
    return all;
}

/// Returns every shape that is broadcast to `shape`: fewer axes, and some of the others of length 1.
std::vector<textbook::dims> shapes_broadcast_to(textbook::dims const& shape)
{
    std::vector<textbook::dims> all;
    for (std::size_t rank = 0; rank <= shape.size(); ++rank)
        for (std::size_t ones = 0; ones < std::size_t{1} << rank; ++ones) {
            textbook::dims some(shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end());
            for (std::size_t axis = 0; axis < rank; ++axis)
                if (ones >> axis & 1)
                    some[axis] = 1;
            all.push_back(some);
        }
    return all;
}

/// Data, indices, and the two shapes of updates.
struct scatter_case {
    textbook::dims data, front;
    std::size_t k;
};

/// Single items, rows and matrices; many and few of them; none.
scatter_case const cases[] = {{{7}, {20}, 1}, {{5}, {4, 6}, 1}, {{3, 4}, {9}, 2}, {{4, 5}, {3, 2}, 1},
    {{3, 2, 4}, {5}, 1}, {{3, 2, 4}, {2, 3}, 2}, {{2, 3}, {4}, 0}, {{4}, {}, 1}, {{3, 2}, {}, 1},
    {{2, 1, 3}, {3, 1, 2}, 1}, {{5, 0}, {3}, 1}, {{5, 2}, {0}, 1}, {{6, 40}, {50}, 1}, {{50}, {30, 40}, 1}};

/// Calls f(data, indices, updates, updates written out) for every case and every shape of its updates.
template <class T, class F>
void for_each_case(F const& f)
{
    std::mt19937 random(11);
    for (scatter_case const& each : cases) {
        auto const indices = random_indices(random, each.front, each.data, each.k);
        textbook::array<T> data{each.data, {}};
        for (std::size_t i = 0; i < textbook::size_of(each.data); ++i)
            data.items.push_back(item_from<T>(static_cast<int>(random() % 7) - 3));
        textbook::dims const required = updates_shape(each.data, indices.shape);
        for (textbook::dims const& shape : shapes_broadcast_to(required)) {
            textbook::array<T> updates{shape, {}};
            for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
                updates.items.push_back(item_from<T>(static_cast<int>(random() % 7) - 3));
            CAPTURE(to_string(xloom::shape(each.data.begin(), each.data.end())));
            CAPTURE(to_string(xloom::shape(indices.shape.begin(), indices.shape.end())));
            CAPTURE(to_string(xloom::shape(shape.begin(), shape.end())));
            f(data, indices, updates, written_out(updates, required));
        }
    }
}

template <class T>
void check_type(std::initializer_list<reduction> kinds)
{
    for_each_case<T>([&](auto const& data, auto const& indices, auto const& updates, auto const& all) {
        auto const tensor = to_tensor<xt::xarray<T>>(data);
        auto const index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
        auto const update_tensor = to_tensor<xt::xarray<T>>(updates);
        for (reduction const kind : kinds) {
            CAPTURE(name_of(kind));
            auto const expected = textbook::scatter_nd(data, indices, all,
                [kind](T const& old, T const& update) { return textbook_reduce<T>(kind, old, update); });
            auto result = tensor;
            scatter_nd_into(kind, result, index_tensor, broadcast(update_tensor));
            CHECK(to_array(result).items == expected.items);
            CHECK(to_array(scatter_nd(kind, tensor, index_tensor, broadcast(update_tensor))).items ==
                  expected.items);
        }
    });
}

} // namespace

TEST_CASE("broadcast: every shape, every reduction, many element types")
{
    check_type<double>(all_five);
    check_type<float>(all_five);
    check_type<std::int64_t>(all_five);
    check_type<std::uint8_t>({reduction::add});
    check_type<bool>(all_five);
    check_type<float16>({reduction::none, reduction::add, reduction::max});
    check_type<std::string>({reduction::none, reduction::add});
    check_type<std::complex<float>>({reduction::none, reduction::add, reduction::mul});
}

TEST_CASE("broadcast: the results of updates that are written out, with every option")
{
    reduced_options const all_options[] = {{.bounds = bounds::drop}, {.bounds = bounds::clip},
        {.bounds = bounds::assume}, {.duplicates = duplicates::first},
        {.reduction = reduction::add, .include_self = false}, {.reduction = reduction::mean},
        {.reduction = reduction::mean, .bounds = bounds::drop, .include_self = false},
        {.reduction = reduction::max, .include_self = false}};
    for_each_case<double>([&](auto const& data, auto const& indices, auto const& updates, auto const& all) {
        auto const tensor = to_tensor<xt::xarray<double>>(data);
        auto const update_tensor = to_tensor<xt::xarray<double>>(updates);
        auto const all_tensor = to_tensor<xt::xarray<double>>(all);
        for (reduced_options const& options : all_options) {
            CAPTURE(&options - all_options);
            auto index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
            if (options.bounds == bounds::drop || options.bounds == bounds::clip)
                for (std::size_t i = 0; i < index_tensor.size(); i += 3)
                    index_tensor.storage()[i] += 100; // outside
            auto const expected = scatter_nd(options.reduction, tensor, index_tensor, all_tensor, options);
            CHECK(scatter_nd(options.reduction, tensor, index_tensor, broadcast(update_tensor), options) ==
                  expected);
            auto result = tensor;
            scatter_nd_into(
                options.reduction, result, index_tensor, broadcast(update_tensor), options, thread_policy{3});
            CHECK(result == expected);
        }
    });
}

TEST_CASE("broadcast: duplicates::error names them")
{
    vector data = {1, 2, 3};
    CHECK_THROWS_AS(
        scatter_nd_into(data, indices_2d{{1}, {1}}, broadcast(5), {.duplicates = duplicates::error}),
        index_error);
    scatter_nd_into(data, indices_2d{{1}, {0}}, broadcast(5), {.duplicates = duplicates::error});
    CHECK(data == vector{5, 5, 3});
}

TEST_CASE("broadcast: storage floats that are rounded once")
{
    xt::xtensor<bfloat16, 1> counts = {bfloat16(0), bfloat16(0)};
    auto const indices = xt::xtensor<int, 2>(xt::zeros<int>({300, 1}));
    scatter_nd_into(reduction::add, counts, indices, broadcast(1));
    CHECK(+counts(0) == 256.0f); // 256 + 1 is rounded to 256
    counts(0) = bfloat16(0);
    scatter_nd_into(reduction::add, counts, indices, broadcast(1), {.accumulate_in_float = true});
    CHECK(+counts(0) == 300.0f);
    xt::xtensor<bfloat16, 2> rows = xt::zeros<bfloat16>({2, 3});
    scatter_nd_into(reduction::add, rows, indices,
        broadcast(xt::xtensor<bfloat16, 1>{bfloat16(1), bfloat16(2), bfloat16(0)}),
        {.accumulate_in_float = true}, thread_policy{2});
    CHECK(+rows(0, 0) == 300.0f);
    CHECK(+rows(0, 1) == 600.0f);
    CHECK(+rows(0, 2) == 0.0f);
}

TEST_CASE("broadcast: data and updates of any layout")
{
    using column_major = xt::xarray<double, xt::layout_type::column_major>;
    for_each_case<double>([](auto const& data, auto const& indices, auto const& updates, auto const& all) {
        auto const index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
        auto const expected =
            textbook::scatter_nd(data, indices, all, [](double old, double update) { return old + update; });
        auto const check = [&](auto result, auto const& update_tensor) {
            scatter_nd_into(reduce_add, result, index_tensor, broadcast(update_tensor));
            CHECK(to_array(result).items == expected.items);
            CHECK(to_array(scatter_nd([](double old, double update) { return old - update; }, result,
                               index_tensor, broadcast(update_tensor)))
                      .items == data.items);
        };
        check(to_tensor<column_major>(data), to_tensor<column_major>(updates));
        check(to_tensor<xt::xarray<double>>(data), to_tensor<column_major>(updates));
        check(to_tensor<column_major>(data), to_tensor<xt::xarray<double>>(updates));
        // Each axis from its last item to its first.
        auto reversed = updates;
        std::reverse(reversed.items.begin(), reversed.items.end());
        auto const memory = to_tensor<xt::xarray<double>>(reversed);
        if (!memory.shape().empty()) {
            xt::xstrided_slice_vector const backwards(
                memory.shape().size(), xt::range(xt::placeholders::_, xt::placeholders::_, -1));
            check(to_tensor<xt::xarray<double>>(data), xt::strided_view(memory, backwards));
        }
    });
}

TEST_CASE("broadcast: the bits of one thread on any number of threads")
{
    std::mt19937 random(7);
    for (textbook::dims const& shape :
        {textbook::dims{40}, textbook::dims{30000}, textbook::dims{50, 6}, textbook::dims{3, 30000}}) {
        std::size_t const count = shape.back() == 30000 && shape.size() == 2 ? 10 : 200'000 / shape.size();
        auto const indices = to_tensor<xt::xarray<std::int64_t>>(random_indices(random, {count}, shape, 1));
        auto const data = to_tensor<xt::xarray<float>>(random_items<float>(random, shape));
        textbook::dims const item = shape.size() == 1 ? textbook::dims{} : textbook::dims{shape[1]};
        auto const row = to_tensor<xt::xarray<float>>(random_items<float>(random, item));
        textbook::dims weights(shape.size(), 1);
        weights[0] = count;
        auto const weight = to_tensor<xt::xarray<float>>(random_items<float>(random, weights));
        auto const check = [&](auto const& updates) {
            auto const expected = scatter_nd(reduction::add, data, indices, broadcast(updates));
            for (std::size_t const threads : {2u, 3u, 8u}) {
                CAPTURE(threads);
                auto result = data;
                scatter_nd_into(reduction::add, result, indices, broadcast(updates), thread_policy{threads});
                CHECK(result == expected);
                CHECK(scatter_nd(reduce_add, data, indices, broadcast(updates), {}, thread_policy{threads}) ==
                      expected);
            }
            textbook::dims required = item;
            required.insert(required.begin(), count);
            auto const all = to_tensor<xt::xarray<float>>(written_out(to_array(updates), required));
            CHECK(scatter_nd(reduce_add, data, indices, all) == expected);
        };
        check(xt::xarray<float>(0.1f));
        check(row);
        check(weight);
    }
}

TEST_CASE("broadcast: promises")
{
    vector data = {1, 2, 3, 4};
    scatter_nd_into(data, indices_2d{{3}, {0}}, broadcast(9), {.unique = true}, thread_policy{2});
    CHECK(data == vector{9, 2, 3, 9});
    scatter_nd_into(
        reduction::add, data, indices_2d{{1}, {1}, {2}}, broadcast(1), {.sorted = true}, thread_policy{2});
    CHECK(data == vector{9, 4, 4, 9});
}

TEST_CASE("broadcast: counting in three lines")
{
    xt::xtensor<std::int64_t, 1> counts = xt::zeros<std::int64_t>({4});
    xt::xtensor<int, 1> const values = {3, 1, 3, -1, 0};
    scatter_nd_into(reduce_add, counts, xt::view(values, xt::all(), xt::newaxis()), broadcast(1));
    CHECK(counts == xt::xtensor<std::int64_t, 1>{1, 1, 0, 3});
}

TEST_CASE("broadcast: scalars of other types with the same value")
{
    indices_2d const twice = {{0}, {0}};
    CHECK(scatter_nd(reduce_add, vector{1, 2}, twice, broadcast(3)) == vector{7, 2});
    CHECK(scatter_nd(reduce_add, vector{1, 2}, twice, broadcast(0.5f)) == vector{2, 2});
    CHECK(scatter_nd(reduce_add, xt::xtensor<int, 1>{1, 2}, twice, broadcast(3.0)) ==
          xt::xtensor<int, 1>{7, 2});
    CHECK(scatter_nd(reduce_add, xt::xtensor<int, 1>{1, 2}, twice, broadcast(true)) ==
          xt::xtensor<int, 1>{3, 2});
    xt::xtensor<float, 1> const data = {1, 2};
    CHECK_THROWS_WITH_AS(scatter_nd(data, twice, broadcast(0.1)),
        "xloom::scatter_nd: a number that is broadcast must be one of data's element type, but it is 0.1 and "
        "data holds float. Convert it first.",
        type_error);
    CHECK_THROWS_WITH_AS(scatter_nd(xt::xtensor<std::uint8_t, 1>{1, 2}, twice, broadcast(-256)),
        "xloom::scatter_nd: a number that is broadcast must be one of data's element type, but it is -256 "
        "and "
        "data holds uint8. Convert it first.",
        type_error);
}

TEST_CASE("broadcast: expressions, temporaries and scalars of the data's own")
{
    vector const row = {1, 2};
    matrix data = {{0, 0}, {0, 0}};
    indices_2d const indices = {{1}, {1}, {0}};
    scatter_nd_into(reduce_add, data, indices, broadcast(2.0 * row));
    CHECK(data == matrix{{2, 4}, {4, 8}});
    auto const doubled = 2.0 * row;
    scatter_nd_into(reduce_add, data, indices, broadcast(doubled));
    CHECK(data == matrix{{4, 8}, {8, 16}});
    auto const owned = broadcast(vector{1, 1}); // used after the temporary's end
    scatter_nd_into(reduce_add, data, indices, owned);
    CHECK(data == matrix{{5, 9}, {10, 18}});
    scatter_nd_into(reduce_add, data, indices, broadcast(data(0, 0))); // 5, also after data(0, 0) is 10
    CHECK(data == matrix{{10, 14}, {20, 28}});
    CHECK_THROWS_AS(scatter_nd_into(data, indices, broadcast(xt::view(data, 0, xt::all()))), overlap_error);
    std::string const word = "a string that is too long for the small-string optimisation";
    xt::xtensor<std::string, 1> words = {"", "b"};
    scatter_nd_into(reduce_add, words, indices, broadcast(word));
    CHECK(words(0) == word);
    CHECK(words(1) == "b" + word + word);
}

TEST_CASE("broadcast: data that is moved in, and a callable")
{
    vector data = {1, 2};
    double const* const memory = data.data();
    data = scatter_nd([](double old, double update) { return old * update; }, std::move(data),
        indices_2d{{0}, {0}}, broadcast(3));
    CHECK(data == vector{9, 2});
    CHECK(data.data() == memory);
}

TEST_CASE("broadcast: large slices, which are not fused with the copy")
{
    auto const data = xt::xtensor<float, 2>(xt::ones<float>({1024, 512}));
    auto const indices = xt::xtensor<int, 2>(xt::ones<int>({1024, 1}));
    auto const result = scatter_nd(reduction::add, data, indices, broadcast(1));
    CHECK(result(1, 0) == 1025.0f);
    CHECK(result(1, 511) == 1025.0f);
    CHECK(result(2, 511) == 1.0f);
}

TEST_CASE("broadcast: shapes that NumPy does not broadcast")
{
    matrix data = {{1, 2, 3}, {4, 5, 6}};
    matrix const before = data;
    indices_2d const indices = {{0}, {1}, {1}, {0}};
    CHECK_THROWS_WITH_AS(scatter_nd_into(data, indices, broadcast(vector{1, 2})),
        "xloom::scatter_nd_into: updates must broadcast to the shape indices.shape[:-1] ++ data.shape[1:] = "
        "[4, 3], but it is [2] (data [2, 3], indices [4, 1]). From the last axis on, give each the length "
        "there or 1.",
        shape_error);
    CHECK_THROWS_AS(scatter_nd_into(data, indices, broadcast(vector{1, 2, 3, 4})), shape_error);
    CHECK_THROWS_AS(
        scatter_nd_into(data, indices, broadcast(xt::xtensor<double, 3>{{{1, 2, 3}}})), shape_error);
    CHECK_THROWS_AS(scatter_nd_into(data, xt::xtensor<int, 1>{0, 1, 1}, broadcast(1)), shape_error);
    CHECK_THROWS_AS(scatter_nd_into(data, indices_2d{{2}}, broadcast(1)), index_error);
    CHECK(data == before);
    // An axis of length 1 is not lengthened by updates.
    CHECK_THROWS_AS(
        scatter_nd_into(data, indices_2d{{1}}, broadcast(matrix{{1, 2, 3}, {4, 5, 6}})), shape_error);
    // Updates that are not marked are not broadcast.
    CHECK_THROWS_AS(scatter_nd_into(data, indices, vector{1, 2, 3}), shape_error);
}

} // namespace scatter_nd_broadcast_test
