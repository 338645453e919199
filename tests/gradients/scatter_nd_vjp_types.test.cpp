// The derivative of ScatterND for every element type that has gradients.

#include <doctest/doctest.h>

#include <complex>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/grid.hpp"
#include "support/reduced_options.hpp"
#include "support/vjp_cases.hpp"

namespace scatter_nd_vjp_types_test {

using namespace xloom;

namespace {

using tuples = xt::xtensor<std::int64_t, 2>;

constexpr reduction all_six[] = {
    reduction::none, reduction::add, reduction::mul, reduction::max, reduction::min, reduction::mean};

/// Gradients rounded once, of operands that the type represents.
template <class T>
void check_type(bool is_ordered = true)
{
    std::mt19937 random(5);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        bool const is_extremum = options.reduction == reduction::max || options.reduction == reduction::min;
        if (options.bounds != bounds::drop || (is_extremum && !is_ordered))
            continue;
        CAPTURE(describe(options));
        for (std::size_t const k : {std::size_t{1}, std::size_t{2}}) {
            auto const operands = random_vjp_operands(random, {5, 3}, {9}, k, options.bounds);
            auto const expected = textbook::scatter_nd_vjp(
                operands.ct, operands.data, operands.indices, operands.updates, options);
            auto const result = scatter_nd_vjp(options.reduction, to_tensor<xt::xarray<T>>(operands.data),
                to_tensor<xt::xarray<std::int64_t>>(operands.indices),
                to_tensor<xt::xarray<T>>(operands.updates), to_tensor<xt::xarray<T>>(operands.ct), options);
            auto const count_wrong = [&](auto const& found, textbook::array<double> const& gradients) {
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    T const rounded = detail::is_small_float<T> ? T(static_cast<float>(gradients.items[i]))
                                                                : T(gradients.items[i]);
                    if constexpr (std::is_same_v<T, long double>) // whose quotients have more digits
                        wrong += std::abs(found.data()[i] - rounded) <= 1e-15L * std::abs(rounded) ? 0 : 1;
                    else
                        wrong += found.data()[i] != rounded ? 1 : 0;
                }
                return wrong;
            };
            CHECK(count_wrong(result.data, expected.ct_data) == 0);
            CHECK(count_wrong(result.updates, expected.ct_updates) == 0);
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("floating-point numbers, built in", T, float, long double) { check_type<T>(); }

TEST_CASE_TEMPLATE("storage floats: computed in float, rounded once", T, float16, bfloat16, float8_e5m2)
{
    check_type<T>();
    // 2^-9 * 2^-9 is no float16, but a gradient that contains it is.
    if constexpr (std::is_same_v<T, float16>) {
        xt::xtensor<T, 1> const small = {T(std::ldexp(1.0f, -14)), T(std::ldexp(1.0f, -14)), T(1024)};
        auto const result = scatter_nd_vjp(reduction::mul, xt::xtensor<T, 1>{T(16384)}, tuples{{0}, {0}, {0}},
            small, xt::xtensor<T, 1>{T(16384)});
        CHECK(result.data(0) == T(std::ldexp(1.0f, -4)));
    }
}

TEST_CASE("complex numbers are not conjugated, and have no order")
{
    using complex = std::complex<double>;
    using namespace std::complex_literals;
    xt::xtensor<complex, 1> const ct = {1.0 + 2.0i}, x = {2.0 - 1.0i}, u = {3.0i, 1.0 - 1.0i};
    tuples const i = {{0}, {0}};
    auto const result = scatter_nd_vjp(reduction::mul, x, i, u, ct);
    CHECK(result.data(0) == ct(0) * u(0) * u(1));
    CHECK(result.updates(0) == ct(0) * x(0) * u(1));
    CHECK(result.updates(1) == ct(0) * x(0) * u(0));
    auto const mean = scatter_nd_vjp(reduction::mean, x, i, u, ct, {.include_self = false});
    CHECK(mean.data(0) == 0.0);
    CHECK(mean.updates(1) == 0.5 + 1.0i);
    CHECK_THROWS_WITH_AS(scatter_nd_vjp(reduction::max, x, i, u, ct),
        "xloom::scatter_nd_vjp: a reduction must be defined for data's elements, but reduction is max and "
        "data holds complex128. Choose another.",
        option_error);
}

TEST_CASE("scalars of other libraries: second derivatives")
{
    using dual = boost::math::differentiation::autodiff_fvar<double, 1>;
    auto const x = boost::math::differentiation::make_fvar<double, 1>(3.0);
    for (reduction const kind : all_six) {
        CAPTURE(name_of(kind));
        auto const result = scatter_nd_vjp(kind, xt::xtensor<dual, 1>{x}, tuples{{0}, {0}},
            xt::xtensor<dual, 1>{dual(5.0), dual(7.0)}, xt::xtensor<dual, 1>{dual(2.0)});
        bool const is_product = kind == reduction::mul;
        CHECK(result.updates(0).derivative(1) == (is_product ? 14 : 0));
        CHECK(result.updates(1).derivative(1) == (is_product ? 10 : 0));
        CHECK(result.data(0).derivative(1) == 0);
    }
}

TEST_CASE("containers of one's own")
{
    user::grid<double, 1> ct({3}), x({3}), u({2});
    for (int i = 0; i < 3; ++i)
        ct.items[static_cast<std::size_t>(i)] = 10 * (i + 1);
    auto const result = scatter_nd_vjp(x, tuples{{2}, {2}}, u, ct);
    static_assert(std::is_same_v<decltype(result.data), user::grid<double, 1>>);
    CHECK(to_array(result.data).items == std::vector<double>{10, 20, 0});
    CHECK(to_array(result.updates).items == std::vector<double>{0, 30});
    xt::xtensor_fixed<double, xt::xshape<2>> const fixed = {1, 2};
    auto const of_fixed = scatter_nd_vjp(fixed, tuples{{0}}, xt::xtensor<double, 1>{5}, fixed);
    CHECK(of_fixed.data(0) == 0);
    CHECK(of_fixed.data(1) == 2);
}

} // namespace scatter_nd_vjp_types_test
