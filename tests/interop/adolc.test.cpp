// VJPs that ADOL-C records.

#include <doctest/doctest.h>

#include <xloom/interop/adolc.hpp>

#include "support/recorded_cases.hpp"

namespace adolc_test {

using namespace xloom;
using namespace recorded_cases;

TEST_CASE_TEMPLATE("a recurrence, for every checkpoint and layout", Matrix, mat,
    xt::xtensor<double, 2, xt::layout_type::column_major>)
{
    check_recurrence<adolc_tape, Matrix>();
}

TEST_CASE("a loop that ends by itself, whose carried value grows, and one that counts")
{
    check_loops<adolc_tape>();
}

TEST_CASE("a branch") { check_branch<adolc_tape>(); }

TEST_CASE("bodies that return expressions") { check_returned_expressions<adolc_tape>(); }

TEST_CASE("results without a derivative") { check_constant_results<adolc_tape>(); }

TEST_CASE("operators and functions")
{
    check_functions<adolc_tape>();
    using scalar = adolc_tape::scalar;
    CHECK(partials<adolc_tape>([](auto a, auto b) { return fmax(a, 0.5) * fmin(2, b); }, 0.75, 4) ==
          std::vector<double>{2, 0});
    CHECK(partials<adolc_tape>([](auto a, auto b) { return floor(a) * b + ceil(b) * a; }, 2.5, 1.25) ==
          std::vector<double>{2, 2});
    // In parentheses: doctest would print a scalar, for which ADOL-C's library has libstdc++'s streams only.
    CHECK((scalar(1) < 2));
    CHECK((2 >= scalar(2)));
    CHECK((scalar(2) == 2));
    CHECK((scalar() == 0));
}

TEST_CASE("a recorded number and one of ADOL-C")
{
    adolc_tape tape;
    adolc_tape::scalar const x = tape.input(3);
    adouble square = x * x;
    square *= 2;
    auto const cube = square * x; // of an adouble and a number
    tape.output(cube + square);
    std::vector<double> const ct = {1};
    std::vector<double> by_x(1);
    tape.reverse(ct, by_x);
    CHECK(by_x[0] == 66); // 6 x^2 + 4 x
}

TEST_CASE("a body that throws ends its recording") { check_throwing_body<adolc_tape>(); }

TEST_CASE("a body that returns other numbers when it is recorded") { check_other_results<adolc_tape>(); }

TEST_CASE("a second recording is refused as long as the first one lasts")
{
    check_nested_recording<adolc_tape>(
        "xloom::adolc_tape: a recording must end before the next one begins, but another one lasts. All of "
        "them use one tape: record in one thread at a time, and not within a body that is recorded.");
}

} // namespace adolc_test
