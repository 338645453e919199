// The derivative of ScatterND against its definition: every option, ranks, layouts, types of indices.

#include <doctest/doctest.h>

#include <xloom/gradients/scatter_nd_vjp.hpp>

#include "support/reduced_options.hpp"
#include "support/vjp_cases.hpp"
#include "support/xtensor_extras.hpp"

namespace scatter_nd_vjp_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

/// Equal values, where quotients by small counts may differ in the last bit.
void check_equal(textbook::array<double> const& found, textbook::array<double> const& expected)
{
    REQUIRE(found.shape == expected.shape);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.items.size(); ++i)
        wrong += std::abs(found.items[i] - expected.items[i]) <= 1e-14 * std::abs(expected.items[i]) ? 0 : 1;
    CHECK(wrong == 0);
}

void check_case(vjp_operands const& operands, reduced_vjp_options const& options)
{
    CAPTURE(describe(options));
    auto const expected =
        textbook::scatter_nd_vjp(operands.ct, operands.data, operands.indices, operands.updates, options);
    auto const ct = to_tensor<xt::xarray<double>>(operands.ct);
    auto const data = to_tensor<xt::xarray<double>>(operands.data);
    auto const indices = to_tensor<xt::xarray<std::int64_t>>(operands.indices);
    auto const updates = to_tensor<xt::xarray<double>>(operands.updates);
    auto const result = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
    check_equal(to_array(result.data), expected.ct_data);
    check_equal(to_array(result.updates), expected.ct_updates);

    // Added to what the caller's gradients hold, in any layout; and each gradient alone.
    auto ct_data = xt::xarray<double>(data * 0 + 7);
    auto ct_updates = xt::xarray<double, xt::layout_type::column_major>(updates * 0 + 3);
    scatter_nd_vjp_into(
        options.reduction, data, indices, updates, ct, {.data = ct_data, .updates = ct_updates}, options);
    CHECK(ct_data == xt::xarray<double>(result.data + 7));
    CHECK(to_array(ct_updates).items == to_array(xt::xarray<double>(result.updates + 3)).items);
    ct_data.fill(5);
    scatter_nd_vjp_into(options.reduction, data, indices, updates, ct, {.data = ct_data}, options);
    CHECK(ct_data == xt::xarray<double>(result.data + 5));
    ct_updates.fill(7);
    scatter_nd_vjp_into(options.reduction, data, indices, updates, ct, {.updates = ct_updates}, options);
    CHECK(to_array(ct_updates).items == to_array(xt::xarray<double>(result.updates + 7)).items);
    scatter_nd_vjp_into(options.reduction, data, indices, updates, ct, {}, options);
}

} // namespace

TEST_CASE("every reduction, by hand")
{
    vector const ct = {10, 20, 30}, x = {1, 5, 3}, u = {5, 2, 4};
    tuples const i = {{1}, {0}, {1}};
    auto const check = [&](reduced_vjp_options const& options, vector const& dx, vector const& du) {
        CAPTURE(describe(options));
        auto const [ct_data, ct_updates] = scatter_nd_vjp(options.reduction, x, i, u, ct, options);
        CHECK(ct_data == dx);
        CHECK(ct_updates == du);
    };
    check({}, {0, 0, 30}, {0, 10, 20});
    check({.duplicates = duplicates::first}, {0, 0, 30}, {20, 10, 0});
    check({.reduction = reduction::add}, {10, 20, 30}, {20, 10, 20});
    check({.reduction = reduction::add, .include_self = false}, {0, 0, 30}, {20, 10, 20});
    check({.reduction = reduction::mul}, {20, 400, 30}, {400, 10, 500});
    check({.reduction = reduction::mul, .include_self = false}, {0, 0, 30}, {80, 10, 100});
    check({.reduction = reduction::max}, {0, 10, 30}, {10, 10, 0});
    check({.reduction = reduction::max, .ties = ties::first}, {0, 20, 30}, {0, 10, 0});
    check({.reduction = reduction::max, .include_self = false, .ties = ties::first}, {0, 0, 30}, {20, 10, 0});
    check({.reduction = reduction::min}, {10, 0, 30}, {0, 0, 20});
    check({.reduction = reduction::min, .include_self = false}, {0, 0, 30}, {0, 10, 20});
    check({.reduction = reduction::mean}, {5, 20.0 / 3, 30}, {20.0 / 3, 5, 20.0 / 3});
    check({.reduction = reduction::mean, .include_self = false}, {0, 0, 30}, {10, 10, 10});
}

TEST_CASE("zeros in a product: one, two, in the old value")
{
    vector const ct = {1, 1, 1, 1}, x = {2, 2, 0, 0}, u = {3, 0, 0, 0, 5, 7, 0};
    tuples const i = {{0}, {0}, {1}, {1}, {2}, {2}, {3}};
    auto const [ct_data, ct_updates] = scatter_nd_vjp(reduction::mul, x, i, u, ct);
    CHECK(ct_data == vector{0, 0, 35, 0});
    CHECK(ct_updates == vector{0, 6, 0, 0, 0, 0, 0});
}

TEST_CASE("NaN: the values that equal a NaN are the NaN values; -0 equals 0")
{
    double const nan = std::numeric_limits<double>::quiet_NaN();
    vector const ct = {6, 6, 6, 6}, x = {1, nan, 0.0, 1}, u = {nan, 2, nan, 3, nan, -0.0, -0.0};
    tuples const i = {{0}, {0}, {0}, {1}, {1}, {2}, {3}};
    for (reduction const kind : {reduction::max, reduction::min}) {
        auto const even = scatter_nd_vjp(kind, x, i, u, ct);
        CHECK(even.data == vector{0, 3, 3, kind == reduction::max ? 6.0 : 0.0});
        CHECK(even.updates == vector{3, 0, 3, 0, 3, 3, kind == reduction::max ? 0.0 : 6.0});
        auto const first = scatter_nd_vjp(kind, x, i, u, ct, {.ties = ties::first});
        CHECK(first.data == vector{0, 6, 6, kind == reduction::max ? 6.0 : 0.0});
        CHECK(first.updates == vector{6, 0, 0, 0, 0, 0, kind == reduction::max ? 0.0 : 6.0});
    }
    // What a product or a cotangent makes of NaN and infinity is arithmetic.
    auto const product =
        scatter_nd_vjp(reduction::mul, vector{nan}, tuples{{0}, {0}}, vector{2, 3}, vector{1});
    CHECK(product.data == vector{6});
    CHECK(std::isnan(product.updates(0)));
    auto const with_zero =
        scatter_nd_vjp(reduction::mul, vector{nan}, tuples{{0}, {0}}, vector{0, 3}, vector{1});
    CHECK(std::isnan(with_zero.updates(1)));
}

TEST_CASE("every option, duplicates among the slices")
{
    std::mt19937 random(1);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        check_case(random_vjp_operands(random, {4}, {9}, 1, options.bounds), options);
        check_case(random_vjp_operands(random, {3, 2}, {2, 4}, 1, options.bounds), options);
        check_case(random_vjp_operands(random, {2, 3, 2}, {9}, 2, options.bounds), options);
    }
}

TEST_CASE("every option, no slice twice")
{
    std::mt19937 random(2);
    for (reduced_vjp_options const& options : all_vjp_options(true)) {
        auto operands = random_vjp_operands(random, {3, 4, 2}, {7}, 2);
        operands.indices = different_indices(random, 7, {3, 4, 2}, 2);
        check_case(operands, options);
    }
}

TEST_CASE("ranks, tuples of every width, sizes of zero")
{
    std::mt19937 random(3);
    struct sizes {
        textbook::dims data, front;
        std::size_t k;
    };
    sizes const all[] = {{{5}, {}, 1}, {{5}, {2, 2, 2}, 1}, {{3}, {4}, 0}, {{2, 3}, {}, 2},
        {{2, 3, 2, 2}, {5}, 3}, {{2, 3, 2, 2}, {5}, 4}, {{3, 0}, {4}, 1}, {{4}, {0}, 1}, {{2, 3}, {3, 0}, 1},
        {{100, 70}, {3}, 1}, {{1}, {70}, 1}};
    for (auto const& [data, front, k] : all)
        for (reduced_vjp_options const& options : all_vjp_options(false))
            if (options.bounds == bounds::check || options.bounds == bounds::drop)
                if (textbook::size_of(data) < 1000 || options.ties == ties::even)
                    check_case(random_vjp_operands(random, data, front, k), options);
    // Every update of an empty axis is dropped.
    auto const none = matrix::from_shape({0, 2});
    for (reduced_vjp_options options : all_vjp_options(false)) {
        options.bounds = bounds::drop;
        auto const result =
            scatter_nd_vjp(options.reduction, none, tuples{{0}, {-1}}, matrix{{1, 2}, {3, 4}}, none, options);
        CHECK(result.data == none);
        CHECK(result.updates == matrix{{0, 0}, {0, 0}});
    }
}

TEST_CASE("an update may be a plain number, indices of any integer type")
{
    vector const ct = {1, 2, 3}, x = {4, 5, 6};
    auto const [dx, du] = scatter_nd_vjp(reduction::mul, x, xt::xtensor<std::uint8_t, 1>{1}, 2.0, ct);
    CHECK(dx == vector{1, 4, 3});
    static_assert(std::is_same_v<decltype(du), double const>);
    CHECK(du == 10);
    auto const short_ones = xt::xtensor<short, 2>{{-1}, {0}};
    CHECK(scatter_nd_vjp(x, short_ones, vector{0, 0}, ct).updates == vector{3, 1});
}

TEST_CASE("layouts: column-major, strided views, lazy expressions, types of one's own")
{
    std::mt19937 random(4);
    for (reduced_vjp_options const& options : all_vjp_options(false)) {
        CAPTURE(describe(options));
        auto const operands = random_vjp_operands(random, {3, 4}, {6}, 1, options.bounds);
        auto const ct = to_tensor<matrix>(operands.ct);
        auto const data = to_tensor<matrix>(operands.data);
        auto const indices = to_tensor<tuples>(operands.indices);
        auto const updates = to_tensor<matrix>(operands.updates);
        auto const expected = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);

        using columns = xt::xtensor<double, 2, xt::layout_type::column_major>;
        columns const ct_columns = ct, updates_columns = updates;
        columns ct_data = 2.0 * ct, ct_updates = 2.0 * updates;
        scatter_nd_vjp_into(options.reduction, columns(data), indices, updates_columns, ct_columns,
            {ct_data, ct_updates}, options);
        CHECK(ct_data == matrix(2.0 * ct + expected.data));
        CHECK(ct_updates == matrix(2.0 * updates + expected.updates));

        matrix wide = xt::zeros<double>({12, 4});
        auto rows = xt::view(wide, xt::range(11, xt::placeholders::_, -2), xt::all());
        auto const result = scatter_nd_vjp(options.reduction, xt::transpose(columns(xt::transpose(data))),
            indices, updates + 0.0, 1.0 * ct, options);
        CHECK(result.data == expected.data);
        scatter_nd_vjp_into(options.reduction, data, indices, updates, ct, {.updates = rows}, options);
        CHECK(matrix(rows) == expected.updates);
        CHECK(xt::sum(xt::view(wide, xt::range(0, 12, 2), xt::all()))() == 0);
    }
}

TEST_CASE_TEMPLATE("products with a zero have gradients of 0, even where the others overflow", T, float,
    double, xloom::float16)
{
    for (std::size_t const zero : std::initializer_list<std::size_t>{0, 700, 1399}) {
        xt::xtensor<T, 1> u(std::array<std::size_t, 1>{1400}, T(2));
        xt::xtensor<T, 1> const ct = {T(1)}, data = {T(2)};
        u(zero) = T(0);
        xt::xtensor<int, 2> const first = xt::zeros<int>({1400, 1});
        auto const [ct_data, ct_updates] = scatter_nd_vjp(reduction::mul, data, first, u, ct);
        CHECK(static_cast<float>(ct_data(0)) == 0.0f);
        for (std::size_t i = 0; i < 1400; ++i)
            if (i != zero)
                REQUIRE(static_cast<float>(ct_updates(i)) == 0.0f);
        CHECK(std::isinf(static_cast<float>(ct_updates(zero)))); // 2^1400
    }
}

TEST_CASE("products of complex numbers with a zero, of which others overflow to an infinite part and a NaN")
{
    using complex = std::complex<float>;
    xt::xtensor<complex, 1> const data = {complex(1e30f, 1e30f)}, ct = {complex(1, 0)},
                                  u = {complex(1e30f, 1e30f), complex(2, 0), complex(0, 0)};
    auto const [ct_data, ct_updates] = scatter_nd_vjp(reduction::mul, data, tuples{{0}, {0}, {0}}, u, ct);
    CHECK(ct_data(0) == complex());
    CHECK(ct_updates(0) == complex());
    CHECK(ct_updates(1) == complex());
}

TEST_CASE("mul: a cotangent of 0 gives gradients of 0, whatever the products")
{
    xt::xtensor<float, 1> const data = {1e30f}, ct = {0}, u = {1e30f, 1e30f}, one_infinite = {2, 1e38f};
    xt::xtensor<int, 2> const first = {{0}, {0}};
    for (auto const& updates : {u, one_infinite}) {
        auto const [ct_data, ct_updates] = scatter_nd_vjp(reduction::mul, data, first, updates, ct);
        CHECK(ct_data(0) == 0);
        CHECK(ct_updates == xt::xtensor<float, 1>{0, 0});
    }
    xt::xtensor<xloom::float16, 1> const half = {xloom::float16(60000)}, none = {xloom::float16(0)},
                                         halves = {half(0), half(0)};
    auto const [ct_half, ct_halves] = scatter_nd_vjp(reduction::mul, half, first, halves, none);
    CHECK(static_cast<float>(ct_half(0)) == 0);
    CHECK(static_cast<float>(ct_halves(1)) == 0);
}

TEST_CASE("few updates of data that is larger than a cache")
{
    xt::xtensor<float, 1> const data = xt::zeros<float>({std::size_t{1} << 21}), ct = data + 6.0f,
                                updates = {3, 5};
    for (reduction const reduce : {reduction::add, reduction::mean, reduction::mul, reduction::max}) {
        auto const result = scatter_nd_vjp(reduce, data, tuples{{7}, {9}}, updates, ct);
        bool const is_mean = reduce == reduction::mean, is_mul = reduce == reduction::mul;
        CHECK(result.updates == xt::xtensor<float, 1>{is_mean  ? 3.0f
                                                      : is_mul ? 0.0f
                                                               : 6.0f,
                                    is_mean  ? 3.0f
                                    : is_mul ? 0.0f
                                             : 6.0f});
        CHECK(result.data(8) == 6);
    }
}

} // namespace scatter_nd_vjp_test
