// What returns a new tensor checks its indices block by block; its errors are those of the calls that check
// all indices before anything is written.

#include <doctest/doctest.h>

#include <string>

#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/threads.hpp>

#include "../support/reduced_options.hpp"
#include "support/xtensor_extras.hpp"

namespace checked_by_block_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using tuples = xt::xtensor<std::int64_t, 2>;

constexpr std::size_t count = 50'000; // many blocks, and enough for three threads

vector const data = xt::arange<float>(1000);
vector const updates = xt::ones<float>({count});

/// Indices of which those at the positions `wrong` are outside.
tuples indices_with(std::initializer_list<std::size_t> wrong)
{
    tuples indices = tuples::from_shape({count, 1});
    for (std::size_t i = 0; i < count; ++i)
        indices(i, 0) = static_cast<std::int64_t>(7 * i % 1000);
    for (std::size_t const i : wrong)
        indices(i, 0) = i % 2 == 0 ? 1000 : -1001;
    return indices;
}

/// The text of the index_error of a call, without the name of the operator.
template <class Call>
std::string error_of(Call const& call)
{
    try {
        call();
    } catch (index_error const& error) {
        std::string const text = error.what();
        return text.substr(text.find(": "));
    }
    return "none";
}

std::initializer_list<std::initializer_list<std::size_t>> const all_wrong = {
    {0}, {49'999}, {511, 512}, {3, 30'700}, {45'000, 600, 601}};

} // namespace

TEST_CASE("gather_nd reports every index outside, whichever block it is in, on any number of threads")
{
    CHECK(error_of([] { gather_nd(data, indices_with({})); }) == "none");
    for (auto const& wrong : all_wrong) {
        tuples const indices = indices_with(wrong);
        vector output = vector::from_shape({count});
        std::string const expected = error_of([&] { gather_nd_into(data, indices, output); });
        CHECK(expected != "none");
        CHECK(error_of([&] { gather_nd(data, indices); }) == expected);
        CHECK(error_of([&] { gather_nd<1>(data, indices, {}, thread_policy{3}); }) == expected);
    }
}

TEST_CASE("scatter_nd to a copy reports every index outside, whichever block it is in")
{
    for (auto const& wrong : all_wrong)
        for (reduction const kind : {reduction::none, reduction::add, reduction::mean}) {
            tuples const indices = indices_with(wrong);
            vector target = data;
            std::string const expected = error_of([&] { scatter_nd_into(kind, target, indices, updates); });
            CHECK(expected != "none");
            CHECK(target == data);
            auto const copied = [&](scatter_nd_options const& options) {
                return error_of([&] { scatter_nd(kind, data, indices, updates, options); });
            };
            CHECK(copied({}) == expected);
            CHECK(copied({.duplicates = duplicates::error}) == expected);
            CHECK(copied({.include_self = false}) == expected);
            CHECK(copied({.unique = true}) == expected);
            CHECK(error_of([&] { scatter_nd(kind, data, indices, updates, thread_policy{3}); }) == expected);
            CHECK(error_of([&] { scatter_nd(kind, vector(data), indices, updates); }) == expected);
        }
}

TEST_CASE("scatter_nd to a copy reports an index outside before long slices are copied")
{
    auto const rows = xt::xtensor<float, 2>(xt::ones<float>({1024, 256}));
    auto indices = xt::xtensor<int, 2>(xt::zeros<int>({1024, 1}));
    indices(1000, 0) = 1024;
    CHECK(
        error_of([&] { scatter_nd(reduction::add, rows, indices, rows); }) ==
        ": an index into an axis of length d must be in [-d, d - 1], but indices[1000, 0] is 1024 (axis 0 of "
        "length 1024). Correct it, or choose bounds::drop or bounds::clip.");
}

TEST_CASE("a callable is not called if an index is outside")
{
    int calls = 0;
    auto const add = [&](float a, float b) {
        ++calls;
        return a + b;
    };
    CHECK_THROWS_AS(scatter_nd(add, data, indices_with({49'999}), updates), index_error);
    CHECK(calls == 0);
}

TEST_CASE("of several errors, that of the indices precedes those of the reduction and of the rank")
{
    CHECK_THROWS_AS(gather_nd<2>(data, indices_with({49'999})), index_error);
    CHECK_THROWS_AS(gather_nd<2>(data, indices_with({})), shape_error);
    CHECK_THROWS_AS(
        scatter_nd(static_cast<reduction>(99), data, indices_with({49'999}), updates), index_error);
    CHECK_THROWS_AS(scatter_nd(reduce_add, data, indices_with({49'999}), updates), index_error);
}

TEST_CASE("indices into data without items are checked")
{
    xt::xtensor<float, 2> const none = xt::xtensor<float, 2>::from_shape({4, 0});
    xt::xtensor<float, 2> const no_updates = xt::xtensor<float, 2>::from_shape({1, 0});
    CHECK_THROWS_AS(gather_nd(none, tuples{{4}}), index_error);
    CHECK(gather_nd<2>(none, tuples{{3}}).shape(0) == 1);
    CHECK_THROWS_AS(scatter_nd(none, tuples{{4}}, no_updates), index_error);
    CHECK(scatter_nd(none, tuples{{3}}, no_updates).shape(0) == 4);
}

} // namespace checked_by_block_test
