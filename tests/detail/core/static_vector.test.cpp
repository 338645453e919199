// static_vector: a list in place, at run time and in constant expressions.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <sstream>

#include <xloom/detail/core/static_vector.hpp>

namespace core_static_vector_test {

using namespace xloom;

namespace {

using list = static_vector<int, 4>;

constexpr bool construction()
{
    std::array<short, 3> const source{1, 2, 3};
    return list{}.empty() && list{}.size() == 0 && list(3, 7) == list{7, 7, 7} && list{3, 7}.size() == 2 &&
           list(source.begin(), source.end()) == list{1, 2, 3} && list::capacity() == 4;
}

constexpr bool access()
{
    list items{1, 2, 3};
    items[0] = 5;
    items.back() = 6;
    *(items.begin() + 1) = 7;
    list const& same = items;
    return same[0] == 5 && same[1] == 7 && same.back() == 6 && same.end() - same.begin() == 3 &&
           same.data() == same.begin() && items.data() == items.begin() && items.end() - items.begin() == 3;
}

constexpr bool insertion()
{
    list items{1, 2};
    items.insert(0, 8);
    items.insert(3, 9);
    list middle{1, 3};
    middle.insert(1, 2);
    return items == list{8, 1, 2, 9} && middle == list{1, 2, 3};
}

constexpr bool erasure()
{
    list items{1, 2, 3, 4};
    items.erase(3);
    items.erase(0);
    items.erase(0);
    return items == list{3} && items.size() == 1;
}

constexpr bool resizing()
{
    list items{1, 2, 3};
    items.resize(1);
    bool const shrank = items == list{1};
    items.resize(3);
    bool const grew = items == list{1, 0, 0};
    items.resize(4, 9);
    return shrank && grew && items == list{1, 0, 0, 9};
}

// Items past the end are not compared.
constexpr bool comparison()
{
    list shrunk{1, 2};
    shrunk.resize(1);
    return shrunk == list{1} && list{1} != list{2} && list{1} != list{1, 1} && list{} == list{};
}

} // namespace

TEST_CASE("static_vector: run time and constant expressions agree")
{
    static_assert(construction());
    CHECK(construction());
    static_assert(access());
    CHECK(access());
    static_assert(insertion());
    CHECK(insertion());
    static_assert(erasure());
    CHECK(erasure());
    static_assert(resizing());
    CHECK(resizing());
    static_assert(comparison());
    CHECK(comparison());
}

TEST_CASE("static_vector: an input range that can be read once")
{
    std::istringstream numbers("3 1 2");
    CHECK(list(std::istream_iterator<int>(numbers), std::istream_iterator<int>()) == list{3, 1, 2});
}

TEST_CASE("static_vector: too many items")
{
    constexpr char const* text =
        "xloom: a list holds at most 4 items (max_rank, max_operands), but was given 5.";
    list full{1, 2, 3, 4};
    CHECK_THROWS_WITH_AS((list{1, 2, 3, 4, 5}), text, option_error);
    CHECK_THROWS_WITH_AS(list(5, 0), text, option_error);
    CHECK_THROWS_WITH_AS(full.push_back(5), text, option_error);
    CHECK_THROWS_WITH_AS(full.insert(0, 5), text, option_error);
    CHECK_THROWS_WITH_AS(full.resize(5), text, option_error);
    CHECK(full == list{1, 2, 3, 4});
}

} // namespace core_static_vector_test
