// The derivatives of ScatterND and GatherND beside those of the operators themselves: exact ones, on scalars
// that carry derivatives, and central differences; and what holds of every derivative.

#include <doctest/doctest.h>

#include <ceres/jet.h>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "support/reduced_options.hpp"
#include "support/vjp_cases.hpp"

namespace scatter_nd_vjp_derivatives_test {

using namespace xloom;

namespace {

constexpr std::size_t rows = 4, columns = 2, count = 7;
constexpr std::size_t variables = rows * columns + count * columns;
using jet = ceres::Jet<double, static_cast<int>(variables)>;
using tuples = xt::xtensor<std::int64_t, 2>;

template <class T>
using matrix = xt::xtensor<T, 2>;

/// Numbers between -2 and 2, no two of which are equal.
matrix<double> random_numbers(std::mt19937& random, std::size_t n)
{
    auto numbers = matrix<double>::from_shape({n, columns});
    for (double& number : numbers)
        number = std::uniform_real_distribution<double>(-2, 2)(random);
    return numbers;
}

tuples random_rows(std::mt19937& random, bounds rule)
{
    auto indices = tuples::from_shape({count, 1});
    for (std::int64_t& index : indices)
        index = static_cast<std::int64_t>(random() % (detail::guarantees_in_range(rule) ? rows : rows + 2));
    return indices;
}

reduced_options forward(reduced_vjp_options const& options)
{
    return {.reduction = options.reduction,
        .bounds = options.bounds,
        .duplicates = options.duplicates,
        .include_self = options.include_self};
}

/// Items that each are a variable, from `first` on.
matrix<jet> variables_of(matrix<double> const& values, std::size_t first)
{
    auto jets = matrix<jet>::from_shape({values.shape(0), columns});
    for (std::size_t i = 0; i < values.size(); ++i)
        jets.data()[i] = jet(values.data()[i], static_cast<int>(first + i));
    return jets;
}

double dot(matrix<double> const& a, matrix<double> const& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a.data()[i] * b.data()[i];
    return sum;
}

} // namespace

TEST_CASE("scatter_nd of Ceres' Jet has the same derivatives")
{
    std::mt19937 random(1);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        CAPTURE(describe(options));
        auto const ct = random_numbers(random, rows), data = random_numbers(random, rows),
                   updates = random_numbers(random, count);
        tuples const indices = random_rows(random, options.bounds);
        auto const result = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
        auto const y = scatter_nd(options.reduction, variables_of(data, 0), indices,
            variables_of(updates, rows * columns), forward(options));
        jet sum(0.0);
        for (std::size_t i = 0; i < y.size(); ++i)
            sum += ct.data()[i] * y.data()[i];
        for (std::size_t i = 0; i < variables; ++i) {
            double const found =
                i < data.size() ? result.data.data()[i] : result.updates.data()[i - data.size()];
            double const expected = sum.v[static_cast<Eigen::Index>(i)];
            CHECK(std::abs(found - expected) <= 1e-12 * std::abs(expected));
        }
    }
}

TEST_CASE("central differences")
{
    constexpr double step = 1e-6;
    std::mt19937 random(2);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        CAPTURE(describe(options));
        auto const ct = random_numbers(random, rows);
        auto data = random_numbers(random, rows), updates = random_numbers(random, count);
        tuples const indices = random_rows(random, options.bounds);
        auto const result = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
        auto const slope = [&](double& variable) {
            double const before = variable;
            variable = before + step;
            double const above =
                dot(ct, scatter_nd(options.reduction, data, indices, updates, forward(options)));
            variable = before - step;
            double const below =
                dot(ct, scatter_nd(options.reduction, data, indices, updates, forward(options)));
            variable = before;
            return (above - below) / (2 * step);
        };
        for (std::size_t i = 0; i < data.size(); ++i)
            CHECK(result.data.data()[i] == doctest::Approx(slope(data.data()[i])).epsilon(1e-6));
        for (std::size_t i = 0; i < updates.size(); ++i)
            CHECK(result.updates.data()[i] == doctest::Approx(slope(updates.data()[i])).epsilon(1e-6));
    }
}

TEST_CASE("linear in the cotangent")
{
    std::mt19937 random(3);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        CAPTURE(describe(options));
        auto const a = random_numbers(random, rows), b = random_numbers(random, rows),
                   data = random_numbers(random, rows), updates = random_numbers(random, count);
        tuples const indices = random_rows(random, options.bounds);
        auto const of = [&](matrix<double> const& ct) {
            return scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
        };
        matrix<double> const both = 2.0 * a - 3.0 * b;
        auto const result = of(both), result_a = of(a), result_b = of(b);
        CHECK(xt::allclose(result.data, 2.0 * result_a.data - 3.0 * result_b.data));
        CHECK(xt::allclose(result.updates, 2.0 * result_a.updates - 3.0 * result_b.updates));
    }
}

TEST_CASE("a scatter's and a gather's derivative are adjoint to them and to each other")
{
    std::mt19937 random(4);
    for (bounds const rule : {bounds::check, bounds::assume, bounds::drop, bounds::clip}) {
        tuples const indices = random_rows(random, rule);
        auto const x = random_numbers(random, rows), ct = random_numbers(random, rows),
                   u = random_numbers(random, count), ct_u = random_numbers(random, count);
        // <ct, scatter(x, u)> = <ct_data, x> + <ct_updates, u> for reductions that are linear.
        for (reduction const kind : {reduction::none, reduction::add, reduction::mean})
            for (bool const include_self : {true, false}) {
                reduced_vjp_options const options{
                    .reduction = kind, .bounds = rule, .include_self = include_self};
                auto const [ct_data, ct_updates] =
                    scatter_nd_vjp(options.reduction, x, indices, u, ct, options);
                CHECK(dot(ct, scatter_nd(options.reduction, x, indices, u, forward(options))) ==
                      doctest::Approx(dot(ct_data, x) + dot(ct_updates, u)));
            }
        auto const gathered = gather_nd<2>(x, indices, {.bounds = rule});
        auto const d_x = gather_nd_vjp<2>(x.shape(), indices, ct_u, {.bounds = rule});
        CHECK(dot(ct_u, gathered) == doctest::Approx(dot(d_x, x)));
        matrix<double> const zeros = xt::zeros<double>({rows, columns});
        CHECK(d_x == scatter_nd(reduction::add, zeros, indices, ct_u, {.bounds = rule}));
        CHECK(scatter_nd_vjp(reduction::add, x, indices, u, ct, {.bounds = rule}).updates ==
              gather_nd<2>(ct, indices, {.bounds = rule}));
    }
}

TEST_CASE("the derivatives of scalars that carry derivatives: second derivatives")
{
    using dual = ceres::Jet<double, 1>;
    // d/dx of ct * x * u0 * u1 by x, u0 and u1, each differentiated by x.
    xt::xtensor<dual, 1> const ct = {dual(2.0)}, x = {dual(3.0, 0)}, u = {dual(5.0), dual(7.0)};
    tuples const indices = {{0}, {0}};
    auto const product = scatter_nd_vjp(reduction::mul, x, indices, u, ct);
    CHECK(product.data(0).a == 70);
    CHECK(product.data(0).v[0] == 0);
    CHECK(product.updates(0).a == 42);
    CHECK(product.updates(0).v[0] == 14);
    CHECK(product.updates(1).v[0] == 10);
    for (reduction const kind :
        {reduction::none, reduction::add, reduction::max, reduction::min, reduction::mean})
        for (ties const rule : {ties::even, ties::first})
            CHECK(scatter_nd_vjp(kind, x, indices, u, ct, {.ties = rule}).updates(1).v[0] == 0);
    CHECK(gather_nd_vjp<1>(shape{1}, indices, u)(0).a == 12);
}

} // namespace scatter_nd_vjp_derivatives_test
