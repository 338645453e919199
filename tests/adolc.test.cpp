// VJPs that ADOL-C records.

#include <doctest/doctest.h>

#include <xloom/adolc.hpp>

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

TEST_CASE("a body that throws ends its recording") { check_throwing_body<adolc_tape>(); }

TEST_CASE("a second recording is refused as long as the first one lasts")
{
    check_nested_recording<adolc_tape>(
        "xloom::adolc_tape: a recording must end before the next one begins, but another one lasts. All of "
        "them use one tape: record in one thread at a time, and not within a body that is recorded.");
}

} // namespace adolc_test
