// rnn_cell against rnn and the textbook in float64, step by step.

#include <doctest/doctest.h>

#include <xloom/recurrent/rnn_cell.hpp>

#include "support/hidden_cell_cases.hpp"
#include "support/rnn_calls.hpp"

namespace rnn_cell_test {

using namespace xloom;
using family = rnn_family;

TEST_CASE("rnn_cell has the bits of a whole call, and is close to the textbook in float64")
{
    family::options options;
    check_every_size<family, float, rnn_cell>(options, 4e-6);
    check_every_size<family, double, rnn_cell>(options, 1e-14);
}

TEST_CASE("rnn_cell with other options")
{
    family::options options;
    options.clip = 0.5;
    check_cell_steps<family, float, rnn_cell>({1, 1, 5, 7}, 0, options, 4e-6);
    check_cell_steps<family, float16, rnn_cell>({1, 1, 5, 7}, 0, options, 1e-2);
}

TEST_CASE("rnn_cell takes any contiguous items, is the body of a scan, and reads before it writes")
{
    check_cell_operands<family, rnn_cell>();
}

TEST_CASE("rnn_cell refuses what it cannot compute")
{
    check_cell_errors<family, rnn_cell>("xloom::rnn_cell");
}

} // namespace rnn_cell_test
