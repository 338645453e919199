// Decodes distributions that are written down.

#include <doctest/doctest.h>

#include "decode.hpp"

namespace {

std::string decode(std::vector<std::size_t> const& best)
{
    xt::xtensor<float, 2> probabilities = xt::zeros<float>({best.size(), std::size_t{4}});
    for (std::size_t t = 0; t < best.size(); ++t)
        probabilities(t, best[t]) = 0.6f;
    return reader::decode_best_path(probabilities, {" ", "a", "\xc3\xa9", "|Broken|0|1"}, 3);
}

} // namespace

TEST_CASE("the best path is without blanks and repetitions")
{
    CHECK(decode({3, 1, 1, 3, 2, 2, 2}) == "a\xc3\xa9");
    CHECK(decode({1, 3, 1}) == "aa");
    CHECK(decode({1, 1}) == "a");
    CHECK(decode({3, 3}) == "");
    CHECK(decode({}) == "");
}

TEST_CASE("words are separated by one space")
{
    CHECK(decode({0, 1, 0, 3, 0, 2, 0}) == "a \xc3\xa9");
    CHECK(decode({0, 3, 0}) == "");
}
