// GatherND with indices of every type, and with elements that are no numbers.

#include <doctest/doctest.h>

#include <string>

#include <xloom/indexing/gather_nd.hpp>

namespace gather_nd_types_test {

using namespace xloom;

namespace {

using tuples = xt::xtensor<std::int64_t, 2>;
using vector = xt::xtensor<double, 1>;

} // namespace

TEST_CASE_TEMPLATE("indices of any integer type", Index, std::int8_t, std::uint8_t, std::int16_t,
    std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, char)
{
    vector const data = {10, 20, 30, 40};
    xt::xtensor<Index, 2> const indices = {{3}, {0}};
    CHECK(gather_nd<1>(data, indices) == vector{40, 10});
    if (std::is_signed_v<Index>)
        CHECK(gather_nd<1>(data, xt::xtensor<Index, 2>{{static_cast<Index>(-1)}, {static_cast<Index>(-4)}}) ==
              vector{40, 10});
    CHECK(gather_nd<1>(data, xt::xtensor<Index, 2>{{4}, {3}}, {.bounds = bounds::drop}) == vector{0, 40});
    CHECK(gather_nd<1>(data, xt::xtensor<Index, 2>{{4}, {0}}, {.bounds = bounds::clip}) == vector{40, 10});
}

TEST_CASE("strings, omitted ones empty")
{
    std::string const longer = "longer than any small string there is";
    xt::xtensor<std::string, 2> const words = {{"a", longer}, {"c", "d"}};
    auto const rows = gather_nd<2>(words, tuples{{1}, {0}, {2}}, {.bounds = bounds::drop});
    CHECK(rows == xt::xtensor<std::string, 2>{{"c", "d"}, {"a", longer}, {"", ""}});
    CHECK(gather_nd(words, tuples{{0, -1}})(0) == longer);
    CHECK(words(0, 1) == longer);
}

TEST_CASE("bools, omitted ones false")
{
    xt::xtensor<bool, 1> const flags = {true, false, true};
    CHECK(gather_nd<1>(flags, tuples{{2}, {1}, {3}, {0}}, {.bounds = bounds::drop}) ==
          xt::xtensor<bool, 1>{true, false, false, true});
}

} // namespace gather_nd_types_test
