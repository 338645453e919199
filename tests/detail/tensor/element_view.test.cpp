// A view of one element is an xtensor expression like any other, but for its shape, which it keeps.

#include <doctest/doctest.h>

#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include <xloom/detail/tensor/strided_element.hpp>
#include <xloom/detail/tensor/tensor.hpp>

#include "support/xtensor_extras.hpp"

namespace tensor_element_view_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<float, 2>;
using view2 = element_view<float, 2>;
using items = std::vector<float>;

items counted(std::size_t n)
{
    items result(n);
    for (std::size_t i = 0; i < n; ++i)
        result[i] = static_cast<float>(i + 1);
    return result;
}

/// Every kind of view of a [2, 3] element.
template <class View>
void check_as_expression()
{
    items memory = counted(6);
    View y(memory.data(), {2, 3});
    CHECK(y.dimension() == 2);
    CHECK(y.size() == 6);
    CHECK(y.data() == memory.data());
    CHECK(y(1, 0) == 4);
    CHECK(y == matrix{{1, 2, 3}, {4, 5, 6}});

    matrix const sum = y + 10.0f * y;
    CHECK(sum == matrix{{11, 22, 33}, {44, 55, 66}});
    CHECK(xt::sum(y)() == 21);
    matrix const row = xt::view(y, xt::range(1, 2), xt::all());
    CHECK(row == matrix{{4, 5, 6}});

    matrix const other{{6, 5, 4}, {3, 2, 1}};
    y = other;
    CHECK(memory == items{6, 5, 4, 3, 2, 1});
    xt::noalias(y) = 2.0f * other;
    CHECK(memory == items{12, 10, 8, 6, 4, 2});
    y += other;
    CHECK(memory == items{18, 15, 12, 9, 6, 3});
    y -= 1.0f;
    CHECK(memory == items{17, 14, 11, 8, 5, 2});
    xt::noalias(y) *= other;
    CHECK(memory == items{102, 70, 44, 24, 10, 2});
    y = y + y;
    CHECK(memory == items{204, 140, 88, 48, 20, 4});
    y = 7;
    CHECK(memory == items(6, 7));
    y.fill(8);
    CHECK(memory == items(6, 8));
    xt::view(y, xt::all(), 1) = 9;
    CHECK(memory == items{8, 9, 8, 8, 9, 8});
    y(1, 2) = 1;
    CHECK(memory[5] == 1);
    y = xt::transpose(matrix{{1, 2}, {3, 4}, {5, 6}});
    CHECK(memory == items{1, 3, 5, 2, 4, 6});
    y = matrix(other);
    CHECK(memory == items{6, 5, 4, 3, 2, 1});
}

template <class T>
concept std_swaps = requires(T& a, T& b) { std::swap(a, b); };

/// Everything but fixed shapes, for which it is a compile error.
template <class View>
void check_keeps_its_shape()
{
    items memory = counted(6);
    View y(memory.data(), {2, 3});
    auto const text = [](char const* assigned) {
        return std::string(
                   "xloom: an element must keep its shape, but one of the shape [2, 3] was assigned ") +
               assigned + ". Assign the shape it has.";
    };
    CHECK_THROWS_WITH_AS(y = matrix(xt::ones<float>({3, 2})), text("[3, 2]").c_str(), body_error);
    CHECK_THROWS_WITH_AS((y = xt::ones<float>({6})), text("[6]").c_str(), body_error);
    CHECK_THROWS_WITH_AS((xt::noalias(y) = xt::ones<float>({1, 3})), text("[1, 3]").c_str(), body_error);
    CHECK_THROWS_WITH_AS((y += xt::ones<float>({2, 2, 3})), text("[2, 2, 3]").c_str(), body_error);
    CHECK_THROWS_WITH_AS((y = xt::xarray<float>(1.0f)), text("[]").c_str(), body_error);
    CHECK(memory == counted(6));
}

} // namespace

TEST_CASE("an element_view is an expression, whether its rank is static or not, its shape fixed or not")
{
    check_as_expression<view2>();
    check_as_expression<element_view<float>>();
    check_as_expression<fixed_element_view<float, 2, 3>>();
}

TEST_CASE("an element_view keeps its shape")
{
    check_keeps_its_shape<view2>();
    check_keeps_its_shape<element_view<float>>();
    check_keeps_its_shape<fixed_element_view<float, 2, 3>>();
}

TEST_CASE("an element_view of another view's shape takes its values")
{
    items a = counted(6);
    items b(6, 0);
    view2 const from(a.data(), {2, 3});
    view2 to(b.data(), {2, 3});
    to = from;
    CHECK(b == counted(6));
    items c = counted(4);
    view2 const smaller(c.data(), {2, 2});
    CHECK_THROWS_AS(to = smaller, body_error);
    view2 const& same = to;
    to = same;
    CHECK(b == counted(6));
}

TEST_CASE("an element_view takes the values of a view that it overlaps")
{
    using words = std::vector<std::string>;
    words memory{"1", "2", "3", "4", "5", "6"};
    element_view<std::string, 1> early(memory.data(), {4});
    element_view<std::string, 1> late(memory.data() + 2, {4});
    early = late;
    CHECK(memory == words{"3", "4", "5", "6", "5", "6"});
    late = early;
    CHECK(memory == words{"3", "4", "3", "4", "5", "6"});
}

TEST_CASE("an element_view of rank 0 is one item")
{
    float item = 3;
    element_view<float, 0> y(&item, {});
    CHECK(y.dimension() == 0);
    CHECK(y.size() == 1);
    CHECK(y() == 3);
    y = 4;
    CHECK(item == 4);
    y() = 5;
    CHECK(item == 5);
    y = xt::xtensor<float, 0>(6.0f);
    CHECK(item == 6);
    element_view<float> dynamic(&item, {});
    xt::noalias(dynamic) = dynamic + y;
    CHECK(item == 12);
    matrix const sum = dynamic + matrix{{1, 2}};
    CHECK(sum == matrix{{13, 14}});
    fixed_element_view<float> fixed(&item, {});
    fixed += 1.0f;
    CHECK(item == 13);
}

TEST_CASE("an element_view without items is assigned nothing")
{
    view2 y(nullptr, {2, 0});
    CHECK(y.size() == 0);
    y = 1;
    y = matrix(matrix::from_shape({2, 0}));
    CHECK_THROWS_AS(y = matrix(matrix::from_shape({0, 2})), body_error);
}

TEST_CASE("an element_view of const items reads them")
{
    items const memory = counted(6);
    element_view<float const, 2> const x(memory.data(), {3, 2});
    matrix const doubled = 2.0f * x;
    CHECK(doubled == matrix{{2, 4}, {6, 8}, {10, 12}});
    static_assert(std::is_same_v<decltype(x(0, 0)), float const&>);
    static_assert(!std::is_assignable_v<decltype(x(0, 0)), float>);
    static_assert(std::is_same_v<detail::item_t<decltype(x)>, float>);
}

TEST_CASE("an element that is written converts to one that is read")
{
    items memory = counted(6);
    auto const last_of = [](element_view<float const, 2> x) { return x(2, 1); };
    view2 const y(memory.data(), {3, 2});
    CHECK(last_of(y) == 6);
    fixed_element_view<float const, 3, 2> const fixed = fixed_element_view<float, 3, 2>(memory.data(), {});
    CHECK(fixed == y);
    element_view<float> any(memory.data(), {2});
    element_view<float const> const reads = any;
    any = 7;
    CHECK(reads == xt::xtensor<float, 1>{7, 7});
    static_assert(!std::is_convertible_v<element_view<float const, 2>, view2>);

    strided_element<float const, 2> const transposed =
        strided_element<float, 2>(memory.data(), {{2, 3}, {1, 2}});
    CHECK(transposed.shape() == std::array<std::size_t, 2>{2, 3});
    CHECK(transposed(1, 2) == 6);
    static_assert(!std::is_convertible_v<strided_element<float const, 2>, strided_element<float, 2>>);
}

TEST_CASE("an element_view of strings assigns them")
{
    using strings = xt::xtensor<std::string, 1>;
    std::vector<std::string> memory{"one, which is not a small string", "two, which is not a small string"};
    element_view<std::string, 1> y(memory.data(), {2});
    strings const copy = y;
    y = strings{"three", "four"};
    CHECK(memory == std::vector<std::string>{"three", "four"});
    y = copy;
    CHECK(memory[1] == "two, which is not a small string");
    y = std::string("same");
    CHECK(memory == std::vector<std::string>{"same", "same"});
    y = y + strings{"!", "?"};
    CHECK(memory == std::vector<std::string>{"same!", "same?"});
}

TEST_CASE("what an element_view is part of is evaluated to a container")
{
    items memory = counted(6);
    view2 ranked(memory.data(), {2, 3});
    element_view<float> dynamic(memory.data(), {2, 3});
    fixed_element_view<float, 2, 3> fixed(memory.data(), {});
    static_assert(std::is_same_v<std::decay_t<decltype(xt::eval(ranked + ranked))>, matrix>);
    static_assert(std::is_same_v<std::decay_t<decltype(xt::eval(dynamic + dynamic))>, xt::xarray<float>>);
    static_assert(std::is_same_v<std::decay_t<decltype(xt::eval(fixed + fixed))>,
        xt::xtensor_fixed<float, xt::xshape<2, 3>>>);
    static_assert(std::is_same_v<std::decay_t<decltype(xt::eval(ranked + dynamic))>, xt::xarray<float>>);
    CHECK(xt::eval(ranked + dynamic) == matrix{{2, 4, 6}, {8, 10, 12}});
    CHECK(xt::eval(fixed + fixed) == matrix{{2, 4, 6}, {8, 10, 12}});

    static_assert(std::is_same_v<detail::owned_t<view2>, matrix>);
    static_assert(std::is_same_v<detail::owned_t<element_view<float const>>, xt::xarray<float>>);
    static_assert(
        std::is_same_v<detail::owned_t<decltype(fixed)>, xt::xtensor_fixed<float, xt::xshape<2, 3>>>);
}

TEST_CASE("a copy of an element_view is another view of the same memory")
{
    items memory = counted(6);
    view2 y(memory.data(), {2, 3});
    auto copy = y;
    copy(0, 0) = 50;
    CHECK(y(0, 0) == 50);
    auto evaluated = xt::eval(y);
    evaluated(0, 1) = 60;
    CHECK(memory[1] == 60);
    matrix const container = y;
    y(0, 2) = 70;
    CHECK(container(0, 2) == 3);
}

TEST_CASE("swapping two element_views swaps their values")
{
    items a = counted(6);
    items b(6, 0);
    view2 y(a.data(), {2, 3});
    view2 z(b.data(), {2, 3});
    std::ranges::swap(y, z);
    CHECK(b == counted(6));
    CHECK(a == items(6, 0));
    CHECK(y.data() == a.data());
    using std::swap;
    swap(y, z);
    CHECK(a == counted(6));
    view2 narrow(b.data(), {3, 2});
    CHECK_THROWS_AS(swap(y, narrow), body_error);
    CHECK(a == counted(6));
}

TEST_CASE("std::swap, which would leave two element_views equal, does not compile")
{
    static_assert(
        !std_swaps<view2> && !std_swaps<element_view<float>> && !std_swaps<fixed_element_view<float, 2>>);
    static_assert(std::is_copy_constructible_v<view2> && std::is_copy_assignable_v<view2> &&
                  std::is_move_constructible_v<view2>);
}

TEST_CASE("an element_view moves to other memory")
{
    items memory = counted(8);
    element_view<float, 1> y(memory.data(), {2});
    for (std::size_t t = 0; t < 4; ++t) {
        y.rebind(memory.data() + 2 * t);
        CHECK(y(1) == static_cast<float>(2 * t + 2));
        y += y;
    }
    CHECK(memory == items{2, 4, 6, 8, 10, 12, 14, 16});
}

TEST_CASE("an element_view is a tensor, with its own row-major layout")
{
    items memory = counted(6);
    view2 const y(memory.data(), {2, 3});
    static_assert(tensor<view2> && tensor<element_view<float>> && tensor<fixed_element_view<float, 2>>);
    static_assert(
        enable_tensor<view2>::rank == 2 && enable_tensor<element_view<float>>::rank == dynamic_rank);
    CHECK(detail::shape_of(y) == shape{2, 3});
    CHECK(detail::layout_of(y).strides == strides{3, 1});
    CHECK(enable_tensor<view2>::data(y) == memory.data());
}

} // namespace tensor_element_view_test
