// Items that need a larger alignment than operator new gives.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>

#include "support/xtensor_extras.hpp"

namespace over_aligned_test {

namespace {

struct alignas(256) wide {
    double value = 0;
    friend wide operator+(wide const& a, wide const& b) { return {a.value + b.value}; }
    friend bool operator==(wide const& a, wide const& b) { return a.value == b.value; }
};

template <std::size_t Rank>
using wide_tensor = xt::xtensor<wide, Rank, xt::layout_type::row_major, std::allocator<wide>>;

bool is_aligned(wide const* items) { return reinterpret_cast<std::uintptr_t>(items) % alignof(wide) == 0; }

} // namespace

TEST_CASE("elements that are carried through a buffer keep the alignment of their items")
{
    wide_tensor<2> x = {{wide{1}, wide{2}}, {wide{3}, wide{4}}, {wide{5}, wide{6}}};
    wide_tensor<2> y = x;
    auto const body = [](auto const& x_t, auto& y_t) {
        CHECK(is_aligned(x_t.data()));
        CHECK(is_aligned(y_t.data()));
        xt::noalias(y_t) = x_t + x_t;
    };
    xloom::scan_into(body, std::tuple(), x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
    CHECK(y(2, 1) == wide{12});
}

TEST_CASE("what a body computes of them is stored aligned")
{
    xt::xtensor<int, 1> const x = {1, 2, 3};
    wide_tensor<1> const initial = {wide{1}, wide{2}};
    auto const twice = [](auto const& h, int) {
        xloom::scan_step step{h + h};
        CHECK(is_aligned(step.state.data()));
        return step;
    };
    auto const result = xloom::scan(twice, initial, x);
    CHECK(result.final_state(1) == wide{16});
}

TEST_CASE("a scan output of them is a compile error where xtensor aligns less")
{
    using namespace xloom::detail;
    constexpr bool expected = XTENSOR_DEFAULT_ALIGNMENT == 0;
    CHECK(every_item_stacks<wide> == expected);
    CHECK(every_item_stacks<wide_tensor<1>> == expected);
    CHECK(every_item_stacks<std::tuple<int, wide>> == expected);
}

} // namespace over_aligned_test
