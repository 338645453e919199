// Reductions that scatter_nd refuses, word for word, and callables that throw.

#include <doctest/doctest.h>

#include <complex>
#include <functional>
#include <string>

#include <xloom/indexing/scatter_nd.hpp>

namespace errors_scatter_nd_reduction_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using tuples = xt::xtensor<std::int64_t, 2>;

tuples const last_and_first = {{1}, {0}};

/// Both calls must end in an option_error, and leave data, which is its own updates' copy, as it is.
template <class Data, class Reduce>
void refuse(
    std::string const& text, Data const& data, Reduce const& reduce, scatter_nd_options const& options = {})
{
    Data copy = data;
    CHECK_THROWS_WITH_AS(scatter_nd_into(reduce, copy, last_and_first, data, options),
        ("xloom::scatter_nd_into: " + text).c_str(), option_error);
    CHECK(copy == data);
    CHECK_THROWS_WITH_AS(scatter_nd(reduce, std::move(copy), last_and_first, data, options),
        ("xloom::scatter_nd: " + text).c_str(), option_error);
    CHECK(copy == data);
}

std::string meaningless(char const* reduction, char const* element)
{
    return std::string("a reduction must be defined for data's elements, but reduction is ") + reduction +
           " and data holds " + element + ". Choose another.";
}

/// No std::exception: nothing in the library may catch it and throw another.
struct mishap {};

} // namespace

TEST_CASE("scatter_nd refuses to multiply, compare or average strings")
{
    xt::xtensor<std::string, 1> const words = {"a", "longer than any small string there is"};
    refuse(meaningless("mul", "string"), words, reduction::mul);
    refuse(meaningless("max", "string"), words, reduction::max);
    refuse(meaningless("min", "string"), words, reduction::min);
    refuse(meaningless("mean", "string"), words, reduction::mean);
}

TEST_CASE("scatter_nd refuses to average bools")
{
    refuse(meaningless("mean", "bool"), xt::xtensor<bool, 1>{true, false}, reduction::mean);
}

TEST_CASE("scatter_nd refuses to compare complex numbers")
{
    xt::xtensor<std::complex<float>, 1> const plane = {{1, 2}, {3, 4}};
    refuse(meaningless("max", "complex64"), plane, reduction::max);
    refuse(meaningless("min", "complex64"), plane, reduction::min);
}

TEST_CASE("scatter_nd refuses a reduction that is none")
{
    refuse("the reduction must be one of xloom's, but it is number 6. Choose one.", vector{1, 2},
        static_cast<reduction>(6));
}

TEST_CASE("scatter_nd refuses that only the first of the updates that are reduced counts")
{
    std::string const rule = "duplicates::first requires reduction::none, but ";
    std::string const hint = ". Choose duplicates::last, with which every update counts.";
    refuse(rule + "reduction is add" + hint, vector{1, 2}, reduction::add, {.duplicates = duplicates::first});
    refuse(rule + "reduction is add" + hint, vector{1, 2}, reduce_add, {.duplicates = duplicates::first});
    refuse(rule + "reduction is min" + hint, vector{1, 2}, reduce_min, {.duplicates = duplicates::first});
    refuse(
        rule + "a callable reduces" + hint, vector{1, 2}, std::plus<>(), {.duplicates = duplicates::first});
    CHECK(scatter_nd(reduce_none, vector{1, 2}, tuples{{0}, {0}}, vector{3, 4},
              {.duplicates = duplicates::first}) == vector{3, 2});
}

TEST_CASE("after what a callable throws, scatter_nd_into's data holds what was written")
{
    int calls = 0;
    auto const until_third = [&calls](double old, double update) {
        if (++calls == 3)
            throw mishap{};
        return old + update;
    };
    vector data = {10, 20, 30, 40};
    tuples const indices = {{3}, {0}, {1}, {2}};
    vector const updates = {1, 2, 3, 4};
    CHECK_THROWS_AS(scatter_nd_into(until_third, data, indices, updates), mishap);
    CHECK(data == vector{12, 20, 30, 41});
    CHECK(calls == 3);

    // In the middle of a slice, of other items than the contiguous ones.
    xt::xtensor<double, 2, xt::layout_type::column_major> columns = {{1, 2}, {3, 4}, {5, 6}};
    calls = 0;
    CHECK_THROWS_AS(
        scatter_nd_into(until_third, columns, tuples{{2}, {0}}, xt::xtensor<double, 2>{{10, 20}, {30, 40}}),
        mishap);
    CHECK(columns == xt::xtensor<double, 2>{{1, 2}, {3, 4}, {15, 26}});
}

TEST_CASE("what a callable throws leaves scatter_nd, and data that was not moved as it was")
{
    vector const data = {10, 20};
    auto const never = [](double, double) -> double { throw mishap{}; };
    CHECK_THROWS_AS(scatter_nd(never, data, last_and_first, data), mishap);
    CHECK_THROWS_AS(scatter_nd(never, vector(data), last_and_first, data), mishap);
    CHECK(data == vector{10, 20});
}

} // namespace errors_scatter_nd_reduction_test
