// gru_cell against gru and the textbook in float64, step by step.

#include <doctest/doctest.h>

#include <xloom/recurrent/gru_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/hidden_cell_cases.hpp"

namespace gru_cell_test {

using namespace xloom;
using family = gru_family;

TEST_CASE("gru_cell has the bits of a whole call, and is close to the textbook in float64")
{
    family::options options;
    check_every_size<family, float, gru_cell>(options, 4e-6);
    check_every_size<family, double, gru_cell>(options, 1e-14);
    options.linear_before_reset = true;
    check_every_size<family, float, gru_cell>(options, 4e-6);
}

TEST_CASE("gru_cell with other options")
{
    family::options options;
    options.clip = 0.5;
    check_cell_steps<family, float, gru_cell>({1, 1, 5, 7}, 0, options, 4e-6);
    check_cell_steps<family, float16, gru_cell>({1, 1, 5, 7}, 0, options, 1e-2);
}

TEST_CASE("gru_cell takes any contiguous items, is the body of a scan, and reads before it writes")
{
    check_cell_operands<family, gru_cell>();
}

TEST_CASE("gru_cell refuses what it cannot compute")
{
    check_cell_errors<family, gru_cell>("xloom::gru_cell");
}

} // namespace gru_cell_test
