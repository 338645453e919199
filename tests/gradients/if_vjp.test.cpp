// if_vjp: the derivative of the branch that ran, and errors.

#include <doctest/doctest.h>

#include <span>
#include <vector>

#include <xloom/gradients/if_vjp.hpp>

namespace if_vjp_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;

constexpr auto product = [](vec const& x, double w) { return vec(w * x); };
constexpr auto product_vjp = [](vec const& x, double w, vec const& ct, vec& ct_x, double& ct_w) {
    ct_x += w * ct;
    ct_w += xt::sum(x * ct)();
};
constexpr auto square = [](vec const& x, double) { return vec(x * x); };
constexpr auto square_vjp = [](vec const& x, double, vec const& ct, vec& ct_x, double&) {
    ct_x += 2 * x * ct;
};

} // namespace

TEST_CASE("the gradient is that of the branch that ran; other operands have zeros")
{
    vec const x = {1, 2, 3};
    auto taken = if_vjp(true, product, product_vjp, square, square_vjp, std::tuple(x, 5.0));
    CHECK(taken.result == vec{5, 10, 15});
    for (int call = 0; call < 2; ++call) {
        auto const [ct_x, ct_w] = taken.pullback(vec{1, 10, 100});
        CHECK(ct_x == vec{5, 50, 500});
        CHECK(ct_w == 321);
    }
    xt::xarray<bool> const no = {false};
    auto other = if_vjp(no, product, product_vjp, square, square_vjp, std::tie(x, taken.result(0)));
    CHECK(other.result == vec{1, 4, 9});
    auto const [ct_x, ct_w] = other.pullback(vec{1, 10, 100});
    CHECK(ct_x == vec{2, 40, 600});
    CHECK(ct_w == 0);
}

TEST_CASE("several results, and a single operand")
{
    auto const both = [](double x) { return std::tuple(x * x, vec{x, 2 * x}); };
    auto const both_vjp = [](double x, double ct_square, vec const& ct_list, double& ct_x) {
        ct_x += 2 * x * ct_square + ct_list(0) + 2 * ct_list(1);
    };
    auto result = if_vjp(false, both, both_vjp, both, both_vjp, 3.0);
    CHECK(std::get<0>(result.result) == 9);
    CHECK(result.pullback(std::tuple(1.0, vec{10, 100})) == 216);
}

TEST_CASE("errors")
{
    vec const x = {1, 2, 3};
    auto taken = if_vjp(true, product, product_vjp, square, square_vjp, std::tuple(x, 5.0));
    CHECK_THROWS_WITH_AS(static_cast<void>(taken.pullback(vec{1, 2})),
        "xloom::if_vjp: a cotangent must have the shape of its value, but ct_result[0] is [2] and result[0] "
        "is "
        "[3]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(if_vjp(xt::xarray<bool>{true, false}, product, product_vjp, square,
                             square_vjp, std::tuple(x, 5.0))),
        "xloom::if_vjp: cond must have exactly one element, but cond has the shape [2]. Reduce it, for "
        "example "
        "with xt::all(cond).",
        shape_error);
}

TEST_CASE("a VJP that changes the shape of a cotangent is an error")
{
    vec const x = {1, 2, 3};
    auto const shorter = [](vec const&, double, vec const& ct, vec& ct_x, double&) { ct_x = vec{ct(0)}; };
    for (bool const cond : {true, false}) {
        auto taken = if_vjp(cond, product, shorter, square, shorter, std::tuple(x, 5.0));
        CHECK_THROWS_WITH_AS(static_cast<void>(taken.pullback(x)),
            "xloom::if_vjp: the VJP must give every cotangent the shape of its value, but operands[0] is [3] "
            "and the VJP made its cotangent [1]. Assign its items.",
            body_error);
    }
}

TEST_CASE("a lazy cotangent, and an operand that is a span")
{
    vec const x = {1, 2, 3}, ct = {1, 0, 2};
    auto taken = if_vjp(true, product, product_vjp, square, square_vjp, std::tuple(x, 5.0));
    CHECK(std::get<0>(taken.pullback(2 * ct)) == vec{10, 0, 20});

    auto const first = [](auto const& v) { return v[0]; };
    auto const first_vjp = [](auto const&, double ct_y, auto& ct_v) { ct_v[0] += ct_y; };
    std::vector<double> const values = {7, 8};
    auto of_span = if_vjp(true, first, first_vjp, first, first_vjp, std::span<double const>(values));
    CHECK(of_span.result == 7);
    CHECK(of_span.pullback(3.0)[0] == 3);
}

} // namespace if_vjp_test
