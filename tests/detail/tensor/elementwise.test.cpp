// Elementwise expressions: which they are, and the items that the plain loop computes.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <xloom/detail/tensor/elementwise.hpp>

#include "support/xtensor_extras.hpp"

namespace tensor_elementwise_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
using columns = xt::xtensor<float, 2, xt::layout_type::column_major>;

template <class T, class E>
constexpr bool is_elementwise(E const&)
{
    return detail::is_elementwise<T, E>;
}

/// True if the plain loop computes the items of an expression, and writes no item past their end.
template <class T, class E>
bool is_stored(xt::xexpression<E> const& expression, std::vector<T> expected)
{
    detail::elementwise<T, E> const from(expression.derived_cast());
    REQUIRE(from.is_shaped_like(from.dims()));
    std::vector<T> to(expected.size() + 1, T(99));
    expected.push_back(T(99));
    detail::store_items(from, expected.size() - 1, to.data());
    return to == expected;
}

} // namespace

TEST_CASE("an expression is elementwise if its tensors are row-major and have items of the result's type")
{
    vector const a = {1, 2};
    matrix const m = {{1, 2}, {3, 4}};
    columns const c = {{1, 2}, {3, 4}};
    xt::xtensor<int, 1> const n = {1, 2};
    CHECK(is_elementwise<float>(a));
    CHECK(is_elementwise<float>(2 * a + xt::view(m, 0, xt::all())));
    CHECK(is_elementwise<float>(xt::where(a > 1.0f, a, -a)));
    CHECK(is_elementwise<int>(n * n));
    CHECK_FALSE(is_elementwise<double>(2.0 * a));
    CHECK_FALSE(is_elementwise<float>(a + n));
    CHECK_FALSE(is_elementwise<bool>(a > 1.0f));
    CHECK_FALSE(is_elementwise<bool>(xt::xtensor<bool, 1>{true}));
    CHECK_FALSE(is_elementwise<float>(a + xt::view(m, xt::all(), 0)));
    CHECK_FALSE(is_elementwise<float>(c + m));
    CHECK_FALSE(is_elementwise<float>(a + xt::sum(a)));
    CHECK_FALSE(is_elementwise<float>(xt::zeros<float>({2})));
    bool const flag = true;
    CHECK_FALSE(is_elementwise<float>(xt::where(flag, a, -a))); // there is no vector of bools
    CHECK_FALSE(is_elementwise<float>(xt::where((a > 1.0f) && flag, a, -a)));
}

TEST_CASE("tensors of different shapes are found, at any depth")
{
    vector const a = {1, 2}, b = {3, 4}, one = {1};
    matrix const m = {{1, 2}};
    auto const is_one_shape = [](auto const& e) {
        detail::elementwise<float, std::decay_t<decltype(e)>> const from(e);
        return from.is_shaped_like(from.dims());
    };
    CHECK(is_one_shape(1.0f + a * (b - 2.0f)));
    CHECK_FALSE(is_one_shape(1.0f + a * (one - 2.0f)));
    CHECK_FALSE(is_one_shape(one + a));
    CHECK_FALSE(is_one_shape(-a + m));
}

TEST_CASE("items of whole vectors and those left over are computed and stored")
{
    for (std::size_t const width : {0u, 1u, 7u, 16u, 35u}) {
        vector const a = xt::arange<float>(1, static_cast<float>(width + 1)), b = 3.0f * a;
        std::vector<float> expected(width);
        for (std::size_t i = 0; i < width; ++i)
            expected[i] = 2 * a(i) - b(i) * (a(i) > 4 ? 1.0f : 0.5f);
        CHECK(is_stored<float>(2 * a - b * xt::where(a > 4.0f, 1.0f, 0.5f), expected));
    }
    xt::xtensor<std::uint8_t, 1> const bytes = {200, 100};
    CHECK(is_stored<std::uint8_t>(bytes + bytes, {144, 200}));
    CHECK(is_stored<float>(matrix{{1, 2}, {3, 4}} * 1.0f, {1, 2, 3, 4}));
}

} // namespace tensor_elementwise_test
