#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <xloom/control_flow/if.hpp>

#include "support/xtensor_extras.hpp"

namespace if_test {

using xloom::if_;

TEST_CASE("only the taken branch runs")
{
    int then_runs = 0;
    int else_runs = 0;
    auto const run = [&](bool cond) {
        return if_(
            cond, [&] { return ++then_runs; }, [&] { return -++else_runs; });
    };
    CHECK(run(true) == 1);
    CHECK(run(true) == 2);
    CHECK(else_runs == 0);
    CHECK(run(false) == -1);
    CHECK(then_runs == 2);
}

TEST_CASE("branches may return different shapes")
{
    auto const run = [](bool cond) {
        return if_(
            cond,
            [] {
                return xt::xarray<float>{1, 2};
            },
            [] {
                return xt::xarray<float>(xt::ones<float>({3, 1}));
            });
    };
    CHECK(run(true).shape() == xt::dynamic_shape<std::size_t>{2});
    CHECK(run(false).shape() == xt::dynamic_shape<std::size_t>{3, 1});

    auto const longer = if_(
        false, [] { return xt::xtensor<int, 1>{1}; },
        [] {
            return xt::xtensor<int, 1>{1, 2, 3};
        });
    CHECK(longer.size() == 3);
}

TEST_CASE("several outputs, sequences and optionals")
{
    using sequence = std::vector<xt::xtensor<float, 1>>;
    xt::xtensor<float, 1> const x = {1, 2};
    auto const [s, o, text, number] = if_(
        x(0) > 0,
        [&] {
            return std::tuple{sequence{x, x}, std::optional<float>{}, std::string("then"), 1};
        },
        [&] {
            return std::tuple{sequence{}, std::optional<float>{3.f}, std::string("else"), 2};
        });
    CHECK(s.size() == 2);
    CHECK(!o.has_value());
    CHECK(text == "then");
    CHECK(number == 1);
}

TEST_CASE("cond may be a tensor of any rank with one element, or a lazy one")
{
    auto const taken = [](auto const& cond) {
        return if_(
            cond, [] { return 1; }, [] { return 2; });
    };
    CHECK(taken(xt::xtensor<bool, 0>(true)) == 1);
    CHECK(taken(xt::xtensor<bool, 1>{false}) == 2);
    xt::xarray<bool> const matrix = xt::ones<bool>({1, 1});
    CHECK(taken(matrix) == 1);
    xt::xtensor_fixed<bool, xt::xshape<1, 1>> fixed;
    fixed.fill(true);
    CHECK(taken(fixed) == 1);
    xt::xtensor<float, 1> const x = {3};
    CHECK(taken(x > 2.f) == 1);
    CHECK(taken(x > 5.f) == 2);
    CHECK(taken(xt::view(xt::xtensor<bool, 1>{false, true}, xt::range(1, 2))) == 1);
}

TEST_CASE("a branch that returns an outer variable returns a copy")
{
    xt::xtensor<float, 1> x = {1, 2};
    auto const result = if_(
        true, [&]() -> auto& { return x; }, [&]() -> auto& { return x; });
    static_assert(std::is_same_v<decltype(result), xt::xtensor<float, 1> const>);
    x(0) = 7;
    CHECK(result(0) == 1);
}

TEST_CASE("what a branch throws passes through")
{
    CHECK_THROWS_WITH_AS(if_(
                             true, []() -> int { throw std::domain_error("mine"); }, [] { return 1; }),
        "mine", std::domain_error);
}

} // namespace if_test
