// scatter_nd, gather_nd and their derivatives beside those of libtorch: index_put, scatter_reduce, index,
// index_select, gather. Where libtorch 1.13.1 has other derivatives than the definition, both are stated.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "../support/reduced_options.hpp"
#include "differences.hpp"
#include "oracle.hpp"
#include "support/vjp_cases.hpp"

namespace torch_scatter_gather_test {

using namespace xloom;
using torch_oracle::gathered;
using torch_oracle::scattered;
using numbers = torch_oracle::numbers;
using tuples = torch_oracle::indices;

namespace {

using tensor = xt::xarray<double>;
using index_tensor = xt::xarray<std::int64_t>;

numbers real_items(std::mt19937& random, textbook::dims const& shape)
{
    std::uniform_real_distribution<double> draw(-2, 2);
    numbers array{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        array.items.push_back(draw(random));
    return array;
}

/// The rows that tuples of one index name.
tuples rows_of(tuples const& of_one) { return {{of_one.shape[0]}, of_one.items}; }

/// What xloom returns, and its gradients.
scattered scatter(vjp_operands const& in, reduced_vjp_options const& options)
{
    auto const data = to_tensor<tensor>(in.data), updates = to_tensor<tensor>(in.updates);
    auto const indices = to_tensor<index_tensor>(in.indices);
    auto const result =
        scatter_nd(options.reduction, data, indices, updates, {.include_self = options.include_self});
    auto const [ct_data, ct_updates] =
        scatter_nd_vjp(options.reduction, data, indices, updates, to_tensor<tensor>(in.ct), options);
    return {to_array(result), to_array(ct_data), to_array(ct_updates)};
}

void check_close(scattered const& found, scattered const& expected)
{
    CHECK(torch_oracle::difference(found.result, expected.result) <= torch_oracle::tolerance);
    CHECK(torch_oracle::difference(found.ct_data, expected.ct_data) <= torch_oracle::tolerance);
    CHECK(torch_oracle::difference(found.ct_updates, expected.ct_updates) <= torch_oracle::tolerance);
}

/// Data, a number of tuples and their width.
struct sizes {
    textbook::dims data;
    std::size_t count, k;
};

sizes const every_size[] = {{{7}, 1, 1}, {{7}, 5, 1}, {{5, 3}, 4, 1}, {{5, 3}, 5, 2}, {{4, 2, 3}, 3, 1},
    {{4, 2, 3}, 8, 2}, {{4, 2, 3}, 20, 3}, {{4}, 0, 1}, {{300}, 200, 1}, {{40, 17}, 30, 1}};

struct torch_reduction {
    reduction kind;
    std::string name;
};

torch_reduction const every_torch_reduction[] = {{reduction::add, "sum"}, {reduction::mul, "prod"},
    {reduction::max, "amax"}, {reduction::min, "amin"}, {reduction::mean, "mean"}};

/// Updates of one slot of two, and what is expected of libtorch.
struct known_difference {
    double old;
    std::vector<double> updates;
    double ct;
    double d_old;
    std::vector<double> ct_updates;
};

bool is_same(double a, double b) { return textbook::is_equal(a, b); }
bool are_same(std::vector<double> const& a, std::vector<double> const& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

/// Operands of rank 1: slot 0 has the updates, slot 1 has none.
vjp_operands operands_of(known_difference const& of)
{
    std::size_t const count = of.updates.size();
    return {{{2}, {of.ct, 1}}, {{2}, {of.old, 1}}, {{count, 1}, std::vector<std::int64_t>(count, 0)},
        {{count}, of.updates}};
}

/// Checks that libtorch still differs as is claimed, and that xloom has the gradients of the definition.
void check_known(vjp_operands const& in, reduced_vjp_options const& options, scattered const& of_torch,
    known_difference const& claimed)
{
    auto const expected = textbook::scatter_nd_vjp(in.ct, in.data, in.indices, in.updates, options);
    auto const found = scatter(in, options);
    CHECK(are_same(found.ct_data.items, expected.ct_data.items));
    CHECK(are_same(found.ct_updates.items, expected.ct_updates.items));
    CHECK(are_same(of_torch.ct_data.items, {claimed.d_old, 1}));
    CHECK(are_same(of_torch.ct_updates.items, claimed.ct_updates));
    CHECK_FALSE((are_same(of_torch.ct_data.items, expected.ct_data.items) &&
                 are_same(of_torch.ct_updates.items, expected.ct_updates.items)));
}

void check_known(reduction kind, char const* name, bool include_self, known_difference const& claimed)
{
    CAPTURE(name);
    auto const in = operands_of(claimed);
    auto const of_torch =
        torch_oracle::scatter_reduce(in.ct, in.data, rows_of(in.indices), in.updates, name, include_self);
    check_known(in, {.reduction = kind, .include_self = include_self}, of_torch, claimed);
}

} // namespace

TEST_CASE("scatter_nd of different indices: index_put, scatter")
{
    std::mt19937 random(1);
    for (auto const& [data, count, k] : every_size) {
        vjp_operands in{real_items(random, data), real_items(random, data),
            different_indices(random, count, data, k), {}};
        in.updates = real_items(random, updates_shape(data, in.indices.shape));
        auto const found = scatter(in, {});
        check_close(found, torch_oracle::index_put(in.ct, in.data, in.indices, in.updates, false));
        if (k == 1)
            check_close(found, torch_oracle::scatter(in.ct, in.data, rows_of(in.indices), in.updates));
    }
}

TEST_CASE("scatter_nd that adds, at negative and repeated indices: index_put with accumulate")
{
    std::mt19937 random(2);
    for (auto const& [data, count, k] : every_size) {
        vjp_operands in{
            real_items(random, data), real_items(random, data), random_indices(random, {count}, data, k), {}};
        in.updates = real_items(random, updates_shape(data, in.indices.shape));
        check_close(scatter(in, {.reduction = reduction::add}),
            torch_oracle::index_put(in.ct, in.data, in.indices, in.updates, true));
    }
}

TEST_CASE("every reduction at repeated indices, ties and zeros among the values: scatter_reduce")
{
    std::mt19937 random(3);
    for (auto const& [data, count, k] : every_size)
        for (torch_reduction const& reduce : every_torch_reduction)
            for (bool const include_self : {true, false})
                for (bool const are_whole : {true, false}) {
                    bool const is_extremum = reduce.kind == reduction::max || reduce.kind == reduction::min;
                    if (k != 1 ||
                        (is_extremum && !include_self && are_whole)) // the latter: a known difference
                        continue;
                    CAPTURE(reduce.name);
                    CAPTURE(include_self);
                    CAPTURE(are_whole);
                    auto const draw = are_whole ? random_items<double> : real_items;
                    vjp_operands in{real_items(random, data), draw(random, data),
                        random_indices(random, {count}, data, 1), {}};
                    for (std::int64_t& row : in.indices.items) // libtorch refuses negative ones here
                        row = row < 0 ? row + static_cast<std::int64_t>(data[0]) : row;
                    in.updates = draw(random, updates_shape(data, in.indices.shape));
                    check_close(scatter(in, {.reduction = reduce.kind, .include_self = include_self}),
                        torch_oracle::scatter_reduce(
                            in.ct, in.data, rows_of(in.indices), in.updates, reduce.name, include_self));
                }
}

TEST_CASE("gather_nd: index, index_select")
{
    std::mt19937 random(4);
    for (sizes const& size : every_size) {
        auto const from = real_items(random, size.data);
        auto indices = random_indices(random, {size.count}, size.data, size.k);
        auto const ct = real_items(random, updates_shape(size.data, indices.shape));
        auto const check = [&](gathered const& expected) {
            auto const index = to_tensor<index_tensor>(indices);
            auto const result = gather_nd(to_tensor<tensor>(from), index);
            auto const ct_data = gather_nd_vjp(size.data, index, to_tensor<tensor>(ct));
            CHECK(torch_oracle::difference(to_array(result), expected.result) == 0);
            CHECK(torch_oracle::difference(to_array(ct_data), expected.ct_data) <= torch_oracle::tolerance);
        };
        check(torch_oracle::index(ct, from, indices));
        if (size.k != 1)
            continue;
        for (std::int64_t& row : indices.items)
            row = row < 0 ? row + static_cast<std::int64_t>(size.data[0]) : row;
        check(torch_oracle::index_select(ct, from, rows_of(indices)));
    }
}

TEST_CASE("gather_nd with a batch axis: gather")
{
    std::mt19937 random(5);
    for (auto const& [rows, columns, count] :
        {std::array<std::size_t, 3>{3, 4, 2}, {5, 2, 9}, {1, 1, 1}, {20, 30, 40}}) {
        auto const data = real_items(random, {rows, columns}), ct = real_items(random, {rows, count});
        tuples index{{rows, count}, {}};
        for (std::size_t i = 0; i < rows * count; ++i)
            index.items.push_back(static_cast<std::int64_t>(random() % columns));
        auto const expected = torch_oracle::gather(ct, data, index);
        auto const indices = to_tensor<index_tensor>(tuples{{rows, count, 1}, index.items});
        auto const result = gather_nd(to_tensor<tensor>(data), indices, {.batch_dims = 1});
        auto const ct_data =
            gather_nd_vjp(shape{rows, columns}, indices, to_tensor<tensor>(ct), {.batch_dims = 1});
        CHECK(torch_oracle::difference(to_array(result), expected.result) == 0);
        CHECK(torch_oracle::difference(to_array(ct_data), expected.ct_data) <= torch_oracle::tolerance);
    }
}

TEST_CASE("maxima and minima among infinities: scatter_reduce")
{
    double const infinity = std::numeric_limits<double>::infinity();
    for (torch_reduction const& reduce : {torch_reduction{reduction::max, "amax"}, {reduction::min, "amin"}})
        for (bool const include_self : {true, false})
            for (auto const& updates :
                {std::vector<double>{3, 4}, {infinity, -infinity}, {-infinity, -infinity}})
                for (double const old : {5.0, infinity}) {
                    if (!include_self && std::count(updates.begin(), updates.end(), old) != 0)
                        continue; // a known difference
                    CAPTURE(reduce.name);
                    auto const in = operands_of({old, updates, 12, {}, {}});
                    auto const found = scatter(in, {.reduction = reduce.kind, .include_self = include_self});
                    auto const expected = torch_oracle::scatter_reduce(
                        in.ct, in.data, rows_of(in.indices), in.updates, reduce.name, include_self);
                    CHECK(found.result.items == expected.result.items);
                    CHECK(found.ct_data.items == expected.ct_data.items);
                    CHECK(found.ct_updates.items == expected.ct_updates.items);
                }
}

// PyTorch's documentation of scatter: "the gradient will be incorrect" if indices are not unique.
TEST_CASE("known differences: libtorch gives the cotangent to all of several plain writes")
{
    known_difference const claimed{1, {5, 6}, 10, 0, {10, 10}}; // the definition: 0, 10
    auto const in = operands_of(claimed);
    check_known(in, {}, torch_oracle::index_put(in.ct, in.data, in.indices, in.updates, false), claimed);
    check_known(in, {}, torch_oracle::scatter(in.ct, in.data, rows_of(in.indices), in.updates), claimed);
}

TEST_CASE("known differences: libtorch counts an old value that takes no part among the ties")
{
    for (auto const& [kind, name] : {std::pair(reduction::max, "amax"), {reduction::min, "amin"}}) {
        check_known(kind, name, false, {5, {5, 5}, 12, 0, {4, 4}}); // the definition: 6, 6
        check_known(kind, name, false, {5, {5}, 12, 0, {6}});       // the definition: 12
    }
}

TEST_CASE("known differences: libtorch gives NaN to every value of a slot whose extremum is NaN")
{
    double const nan = std::nan("");
    for (auto const& [kind, name] : {std::pair(reduction::max, "amax"), {reduction::min, "amin"}}) {
        check_known(kind, name, true, {5, {nan, 4}, 12, nan, {nan, nan}}); // the definition: 0, and 12, 0
        check_known(kind, name, true, {nan, {3, 4}, 12, nan, {nan, nan}}); // the definition: 12, and 0, 0
        check_known(kind, name, false, {5, {nan, 4}, 12, 0, {nan, nan}});  // the definition: 12, 0

        // A slot without updates: its gradient is ct.
        vjp_operands const in{{{2}, {12, 1}}, {{2}, {5, nan}}, {{1, 1}, {0}}, {{1}, {7}}};
        reduced_vjp_options const options{.reduction = kind, .include_self = false};
        auto const of_torch =
            torch_oracle::scatter_reduce(in.ct, in.data, rows_of(in.indices), in.updates, name, false);
        CHECK(are_same(of_torch.ct_data.items, {0, nan}));
        CHECK(scatter(in, options).ct_data.items == std::vector<double>{0, 1});
        CHECK(textbook::scatter_nd_vjp(in.ct, in.data, in.indices, in.updates, options).ct_data.items ==
              std::vector<double>{0, 1});
    }
}

TEST_CASE("known differences: libtorch multiplies an infinite cotangent by the zeros of other values")
{
    double const infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    check_known(
        reduction::max, "amax", true, {1, {3, 4}, infinity, nan, {nan, infinity}}); // 0, and 0, infinity
    check_known(
        reduction::min, "amin", true, {1, {3, 4}, infinity, infinity, {nan, nan}}); // infinity, and 0, 0
}

TEST_CASE("known differences: libtorch divides a product that is out of range by one of its factors")
{
    double const infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    check_known(reduction::mul, "prod", true, {1e-200, {1e-200, 1e200}, 1, 0, {0, 0}}); // 1, and 1, 0
    check_known(reduction::mul, "prod", true,
        {1e200, {1e200, 1e-200}, 1, infinity, {infinity, infinity}}); // 1, and 1, infinity
    check_known(reduction::mul, "prod", true,
        {2, {infinity, 3}, 1, infinity, {nan, infinity}}); // infinity, and 6, infinity
    check_known(reduction::mul, "prod", false, {2, {infinity, 3}, 1, 0, {nan, infinity}}); // 3, infinity
}

} // namespace torch_scatter_gather_test
