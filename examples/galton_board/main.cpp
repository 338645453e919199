// A Galton board with 20 rows of pins, and a ball on each of the 2^20 ways down: each pin sends it to the
// left (a bit of the way is 0) or to the right (1). Eight threads count the balls of each bin: binomial
// coefficients.

#include <bit>
#include <cstdio>

#include <tbb/global_control.h>

#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/tbb.hpp>

int main()
{
    constexpr std::size_t rows = 20, ways = std::size_t{1} << rows;
    xt::xtensor<int, 2> bin({ways, 1});
    for (std::size_t way = 0; way < ways; ++way)
        bin(way, 0) = std::popcount(way);
    xt::xtensor<int, 1> const one_each({ways}, 1);
    xt::xtensor<int, 1> balls({rows + 1}, 0);
    tbb::global_control const eight(
        tbb::global_control::max_allowed_parallelism, 8); // even if there are fewer cores
    xloom::scatter_nd_into(xloom::reduce_add, balls, bin, one_each, {}, xloom::tbb_policy(8));

    for (std::size_t i = 0; i <= rows; ++i)
        std::printf("%2zu %6d |%.*s\n", i, balls(i), balls(i) / 4000,
            "**************************************************");
}
