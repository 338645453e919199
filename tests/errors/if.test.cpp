// What if_ refuses, word for word.

#include <doctest/doctest.h>

#include <xloom/control_flow/if.hpp>

namespace errors_if_test {

using namespace xloom;

namespace {

/// Neither branch may run.
template <class Cond>
void select(Cond const& cond)
{
    if_(
        cond,
        [] {
            FAIL_CHECK("a branch ran");
            return 1;
        },
        [] {
            FAIL_CHECK("a branch ran");
            return 2;
        });
}

} // namespace

TEST_CASE("if_ refuses a condition of several elements")
{
    CHECK_THROWS_WITH_AS(select(xt::xtensor<bool, 1>{true, true}),
        "xloom::if_: cond must have exactly one element, but cond has the shape [2]. Reduce it, for example "
        "with xt::all(cond).",
        shape_error);
    CHECK_THROWS_WITH_AS(select(xt::xarray<bool>(xt::ones<bool>({1, 2}))),
        "xloom::if_: cond must have exactly one element, but cond has the shape [1, 2]. Reduce it, for "
        "example with xt::all(cond).",
        shape_error);
    xt::xtensor_fixed<bool, xt::xshape<2>> const fixed{};
    CHECK_THROWS_WITH_AS(select(fixed),
        "xloom::if_: cond must have exactly one element, but cond has the shape [2]. Reduce it, for example "
        "with xt::all(cond).",
        shape_error);
}

TEST_CASE("if_ refuses a condition without elements")
{
    CHECK_THROWS_WITH_AS(select(xt::xtensor<bool, 1>(xt::zeros<bool>({0}))),
        "xloom::if_: cond must have exactly one element, but cond has the shape [0]. Reduce it, for example "
        "with xt::all(cond).",
        shape_error);
    CHECK_THROWS_WITH_AS(select(xt::xtensor<bool, 2>(xt::zeros<bool>({1, 0}))),
        "xloom::if_: cond must have exactly one element, but cond has the shape [1, 0]. Reduce it, for "
        "example with xt::all(cond).",
        shape_error);
}

TEST_CASE("if_ refuses a lazy condition of several elements")
{
    xt::xtensor<float, 1> const x{1, 2};
    CHECK_THROWS_WITH_AS(select(x > 0.0f),
        "xloom::if_: cond must have exactly one element, but cond has the shape [2]. Reduce it, for example "
        "with xt::all(cond).",
        shape_error);
}

} // namespace errors_if_test
