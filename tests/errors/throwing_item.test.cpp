// Items whose assignment throws: the exception passes through, and what was copied to the outputs so far
// stays there.

#include <doctest/doctest.h>

#include <new>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>

namespace errors_throwing_item_test {

using namespace xloom;

namespace {

/// An int whose copies run out of memory once it is 3.
struct heavy {
    int value = 0;

    heavy() = default;
    heavy(int v) : value(v) {}
    heavy(heavy const&) = default;
    heavy& operator=(heavy const& other)
    {
        if (other.value == 3)
            throw std::bad_alloc();
        value = other.value;
        return *this;
    }
    friend bool operator==(heavy const& a, heavy const& b) { return a.value == b.value; }
};

constexpr auto count = [](int& n, auto& y_t) {
    for (std::size_t i = 0; i < y_t.size(); ++i)
        y_t(i).value = n;
    ++n;
};

} // namespace

TEST_CASE("scan_into hands on what copying a strided output element throws")
{
    auto y = xt::xtensor<heavy, 2>::from_shape({2, 5});
    int n = 0;
    CHECK_THROWS_AS(
        scan_into(count, n, std::tuple{}, y, {.scan_output_axes = {1}, .length = 5}), std::bad_alloc);
    CHECK(n == 4);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t t = 0; t < 5; ++t)
            CHECK(y(i, t) == (t < 3 ? static_cast<int>(t) : 0));
}

TEST_CASE("scan_into hands on what copying a strided input element throws")
{
    auto x = xt::xtensor<heavy, 2>::from_shape({2, 5});
    for (std::size_t t = 0; t < 5; ++t)
        x(0, t).value = x(1, t).value = static_cast<int>(t);
    int n = 0;
    auto const sum = [](int& total, auto const& x_t) { total += x_t(0).value + x_t(1).value; };
    CHECK_THROWS_AS(scan_into(sum, n, x, std::tuple{}, {.scan_input_axes = {1}}), std::bad_alloc);
    CHECK(n == 6);
}

TEST_CASE("scan_batched_into hands on what copying a strided element throws, of an output and of a state")
{
    auto y = xt::xtensor<heavy, 3, xt::layout_type::column_major>::from_shape({2, 4, 2});
    xt::xtensor<int, 1> n = {0, 2};
    CHECK_THROWS_AS(scan_batched_into(count, n, std::tuple{}, xt::xtensor<int, 1>{2, 3}, y, {.length = 4}),
        std::bad_alloc);
    CHECK(n == xt::xtensor<int, 1>{2, 4});
    for (std::size_t t = 0; t < 4; ++t)
        CHECK(y(0, t, 1) == (t < 2 ? static_cast<int>(t) : 0));
    CHECK(y(1, 0, 1) == 2);

    auto h = xt::xtensor<heavy, 2, xt::layout_type::column_major>::from_shape({3, 2});
    auto const add = [](auto& state) { state(1).value += 1; };
    CHECK_THROWS_AS(
        scan_batched_into(add, h, std::tuple{}, xt::xtensor<int, 1>{2, 3, 1}, std::tuple{}, {.length = 3}),
        std::bad_alloc);
    CHECK(h(0, 1) == 2);
    CHECK(h(1, 1) == 0);
    CHECK(h(2, 1) == 0);
}

TEST_CASE("loop_into hands on what copying an element of a column-major output throws")
{
    auto y = xt::xtensor<heavy, 2, xt::layout_type::column_major>::from_shape({5, 2});
    int n = 0;
    auto const body = [](std::int64_t, int& total, auto& y_t) {
        count(total, y_t);
        return true;
    };
    CHECK_THROWS_AS(loop_into(body, n, y), std::bad_alloc);
    CHECK(n == 4);
    CHECK(y(2, 0) == 2);
    CHECK(y(3, 0) == 0);
}

} // namespace errors_throwing_item_test
