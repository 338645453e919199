// Reductions that scatter_nd refuses, word for word, and callables that throw.

#include <doctest/doctest.h>

#include <complex>
#include <string>

#include <xloom/indexing/scatter_nd.hpp>

namespace errors_scatter_nd_reduction_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using tuples = xt::xtensor<std::int64_t, 2>;

tuples const last_and_first = {{1}, {0}};

/// Both calls must end in an option_error, and leave data, which is its own updates' copy, as it is.
template <class Data, class... More>
void refuse(std::string const& text, Data const& data, More const&... more)
{
    Data copy = data;
    CHECK_THROWS_WITH_AS(scatter_nd_into(copy, last_and_first, data, more...),
        ("xloom::scatter_nd_into: " + text).c_str(), option_error);
    CHECK(copy == data);
    CHECK_THROWS_WITH_AS(scatter_nd(std::move(copy), last_and_first, data, more...),
        ("xloom::scatter_nd: " + text).c_str(), option_error);
    CHECK(copy == data);
}

std::string meaningless(char const* reduction, char const* element)
{
    return std::string("a reduction must be defined for data's elements, but reduction is ") + reduction +
           " and data holds " + element + ". Choose another.";
}

scatter_nd_options named(reduction kind) { return {.reduction = kind}; }

/// No std::exception: nothing in the library may catch it and throw another.
struct mishap {};

} // namespace

TEST_CASE("scatter_nd refuses to multiply, compare or average strings")
{
    xt::xtensor<std::string, 1> const words = {"a", "longer than any small string there is"};
    refuse(meaningless("mul", "string"), words, named(reduction::mul));
    refuse(meaningless("max", "string"), words, named(reduction::max));
    refuse(meaningless("min", "string"), words, named(reduction::min));
    refuse(meaningless("mean", "string"), words, named(reduction::mean));
}

TEST_CASE("scatter_nd refuses to average bools")
{
    refuse(meaningless("mean", "bool"), xt::xtensor<bool, 1>{true, false}, named(reduction::mean));
}

TEST_CASE("scatter_nd refuses to compare complex numbers")
{
    xt::xtensor<std::complex<float>, 1> const plane = {{1, 2}, {3, 4}};
    refuse(meaningless("max", "complex64"), plane, named(reduction::max));
    refuse(meaningless("min", "complex64"), plane, named(reduction::min));
}

TEST_CASE("scatter_nd refuses a reduction that is none")
{
    refuse("options.reduction must be a reduction, but it is number 6. Choose one.", vector{1, 2},
        named(static_cast<reduction>(6)));
}

TEST_CASE("scatter_nd refuses two reductions at once")
{
    refuse("where a callable reduces, options.reduction must be none, but it is add. Omit it.", vector{1, 2},
        reduce_max, named(reduction::add));
    refuse("where a callable reduces, options.reduction must be none, but it is mean. Omit it.", vector{1, 2},
        std::minus<>{}, named(reduction::mean));
}

TEST_CASE("scatter_nd refuses that only the first of the updates that are reduced counts")
{
    std::string const law = "duplicates::first requires reduction::none, but ";
    std::string const hint = ". Choose duplicates::last, with which every update counts.";
    refuse(law + "reduction is add" + hint, vector{1, 2},
        scatter_nd_options{.reduction = reduction::add, .duplicates = duplicates::first});
    refuse(law + "a callable reduces" + hint, vector{1, 2}, reduce_add,
        scatter_nd_options{.duplicates = duplicates::first});
    CHECK(scatter_nd(vector{1, 2}, tuples{{0}, {0}}, vector{3, 4}, reduce_none,
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
    CHECK_THROWS_AS(scatter_nd_into(data, indices, updates, until_third), mishap);
    CHECK(data == vector{12, 20, 30, 41});
    CHECK(calls == 3);

    // In the middle of a slice, of other items than lie side by side.
    xt::xtensor<double, 2, xt::layout_type::column_major> columns = {{1, 2}, {3, 4}, {5, 6}};
    calls = 0;
    CHECK_THROWS_AS(
        scatter_nd_into(columns, tuples{{2}, {0}}, xt::xtensor<double, 2>{{10, 20}, {30, 40}}, until_third),
        mishap);
    CHECK(columns == xt::xtensor<double, 2>{{1, 2}, {3, 4}, {15, 26}});
}

TEST_CASE("what a callable throws leaves scatter_nd, and data that was not moved as it was")
{
    vector const data = {10, 20};
    auto const never = [](double, double) -> double { throw mishap{}; };
    CHECK_THROWS_AS(scatter_nd(data, last_and_first, data, never), mishap);
    CHECK_THROWS_AS(scatter_nd(vector(data), last_and_first, data, never), mishap);
    CHECK(data == vector{10, 20});
}

} // namespace errors_scatter_nd_reduction_test
