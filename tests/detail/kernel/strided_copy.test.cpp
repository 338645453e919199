// Copies between two layouts, compared with a loop over all indices.

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <xloom/detail/kernel/strided_copy.hpp>

#include "support/uniform_int.hpp"

namespace kernel_strided_copy_test {

using namespace xloom;

namespace {

/// Calls visit(offset in a, offset in b) for every index of a shape, in row-major order.
template <class Visit>
void for_each_index(shape const& dims, strides const& a, strides const& b, Visit&& visit)
{
    for (std::size_t flat = 0; flat < element_count(dims); ++flat) {
        std::size_t rest = flat;
        std::ptrdiff_t at_a = 0;
        std::ptrdiff_t at_b = 0;
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            auto const index = static_cast<std::ptrdiff_t>(rest % dims[axis]);
            rest /= dims[axis];
            at_a += index * a[axis];
            at_b += index * b[axis];
        }
        visit(at_a, at_b);
    }
}

/// Strides of distinct items: axes nested in a random order, with gaps, in random directions. Axes of length
/// 1 get any stride.
strides random_strides(shape const& dims, std::mt19937& random)
{
    auto const pick = [&](int low, int high) { return uniform_int<int>(low, high)(random); };
    std::vector<std::size_t> order(dims.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    if (pick(0, 1))
        std::shuffle(order.begin(), order.end(), random);
    strides steps(dims.size(), 0);
    std::ptrdiff_t step = pick(0, 2) ? 1 : 2;
    for (std::size_t i = order.size(); i-- > 0;) {
        std::size_t const axis = order[i];
        steps[axis] = dims[axis] == 1 ? pick(-7, 7) : pick(0, 3) ? step : -step;
        step *= static_cast<std::ptrdiff_t>(dims[axis] == 0 ? 1 : dims[axis]);
        if (!pick(0, 3))
            step += pick(1, 2);
    }
    return steps;
}

constexpr std::ptrdiff_t middle = 4000; // far from both ends

/// True if the copy wrote what a plain loop writes, and nothing else.
bool copies_like_a_loop(shape const& dims, strides const& from, strides const& to)
{
    std::vector<int> source(2 * middle);
    for (std::size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<int>(i);
    std::vector<int> expected(2 * middle, -1);
    std::vector<int> copied(2 * middle, -1);
    for_each_index(dims, from, to, [&](std::ptrdiff_t a, std::ptrdiff_t b) {
        expected[static_cast<std::size_t>(middle + b)] = source[static_cast<std::size_t>(middle + a)];
    });
    kernel::strided_copy(dims, from, to)(source.data() + middle, copied.data() + middle);
    return copied == expected;
}

} // namespace

TEST_CASE("strided_copy: layouts that occur")
{
    CHECK(copies_like_a_loop({}, {}, {}));
    CHECK(copies_like_a_loop({5}, {1}, {1}));
    CHECK(copies_like_a_loop({5}, {-1}, {1}));
    CHECK(copies_like_a_loop({5}, {3}, {-2}));
    CHECK(copies_like_a_loop({3, 4}, {4, 1}, {1, 3}));
    CHECK(copies_like_a_loop({3, 4}, {-4, 1}, {4, 1}));
    CHECK(copies_like_a_loop({3, 4}, {8, 2}, {4, 1}));
    CHECK(copies_like_a_loop({2, 3, 4}, {12, 4, 1}, {1, 2, 6}));
    CHECK(copies_like_a_loop({2, 1, 4, 1}, {4, 99, 1, -99}, {-4, 0, -1, 5}));
    CHECK(copies_like_a_loop({2, 3, 2, 4}, {24, 8, 4, 1}, {24, 8, 4, 1}));
    CHECK(copies_like_a_loop({1, 1}, {7, 7}, {0, 0}));
    CHECK(copies_like_a_loop({4, 3}, {0, 1}, {3, 1}));
    CHECK(copies_like_a_loop({4, 3}, {2, 0}, {1, 4}));
    constexpr std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::max();
    CHECK(copies_like_a_loop({3, 1, 2}, {2, far, 1}, {1, -far, 3}));
}

TEST_CASE("strided_copy: transposes of every size, beside the eight rows that are copied at once")
{
    for (std::ptrdiff_t rows = 0; rows < 20; ++rows)
        for (std::ptrdiff_t columns = 0; columns < 20; ++columns) {
            CAPTURE(rows);
            CAPTURE(columns);
            shape const dims{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
            CHECK(copies_like_a_loop(dims, {columns + 2, 1}, {1, rows + 3}));
            CHECK(copies_like_a_loop(dims, {1, rows + 1}, {columns, 1}));
            CHECK(copies_like_a_loop(dims, {1, -rows - 1}, {-columns - 1, 1}));
        }
}

TEST_CASE("strided_copy: nothing is copied of an empty shape, not even from null pointers")
{
    CHECK(copies_like_a_loop({0}, {1}, {1}));
    CHECK(copies_like_a_loop({3, 0, 2}, {2, 2, 1}, {1, 3, 3}));
    kernel::strided_copy(shape{3, 0}, strides{1, 3}, strides{0, 1})(
        static_cast<int const*>(nullptr), static_cast<int*>(nullptr));
}

TEST_CASE("strided_copy: random layouts of every rank up to 4")
{
    std::mt19937 random(7);
    for (std::size_t rank = 0; rank <= 4; ++rank) {
        CAPTURE(rank);
        int failures = 0;
        for (int i = 0; i < 400; ++i) {
            shape dims;
            for (std::size_t axis = 0; axis < rank; ++axis)
                dims.push_back(uniform_int<std::size_t>(i % 8 == 0 ? 0 : 1, 4)(random));
            strides const from = random_strides(dims, random);
            strides const to = random_strides(dims, random);
            failures += !copies_like_a_loop(dims, from, to);
        }
        CHECK(failures == 0);
    }
}

TEST_CASE("strided_copy: every pair is visited once, in row-major order")
{
    std::mt19937 random(8);
    int failures = 0;
    for (int i = 0; i < 400; ++i) {
        shape dims;
        for (std::size_t axis = static_cast<std::size_t>(i) % 5; axis > 0; --axis)
            dims.push_back(uniform_int<std::size_t>(i % 8 == 0 ? 0 : 1, 4)(random));
        strides const from = random_strides(dims, random), to = random_strides(dims, random);
        std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> expected, found;
        for_each_index(
            dims, from, to, [&](std::ptrdiff_t a, std::ptrdiff_t b) { expected.emplace_back(a, b); });
        std::vector<int> items(2 * middle), others(2 * middle);
        kernel::strided_copy(dims, from, to)
            .for_each_pair(items.data() + middle, others.data() + middle, [&](int& a, int& b) {
                found.emplace_back(&a - (items.data() + middle), &b - (others.data() + middle));
            });
        failures += found != expected;
    }
    CHECK(failures == 0);
}

TEST_CASE("strided_copy: one plan serves many copies, and items are assigned")
{
    std::vector<std::string> const from{
        "one, not a small string at all", "two, not a small string at all", "three", "four"};
    std::vector<std::string> to(4);
    kernel::strided_copy const swap(shape{2}, strides{1}, strides{-1});
    swap(from.data(), to.data() + 1);
    swap(from.data() + 2, to.data() + 3);
    CHECK(to == std::vector<std::string>{from[1], from[0], from[3], from[2]});
}

} // namespace kernel_strided_copy_test
