#include <doctest/doctest.h>

#include <complex>
#include <string>

#include <xloom/control_flow/scan.hpp>

#include "support/grid.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_test {

using xloom::direction;
using xloom::scan;
using xloom::scan_step;

namespace {

constexpr auto running_sum = [](auto const& h, auto const& x_t) { return scan_step{h + x_t, h + x_t}; };
constexpr auto decaying_sum = [](auto const& h, auto const& x_t) {
    return scan_step{h / 2 + x_t, h / 2 + x_t};
};

} // namespace

TEST_CASE("Scan-9's sample: the running sum of [1, 2], [3, 4], [5, 6] ends at [9, 12]")
{
    xt::xtensor<float, 1> const initial = {0, 0};
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    auto const [y, z] = scan(running_sum, initial, x);
    static_assert(std::is_same_v<decltype(y), xt::xtensor<float, 1> const>);
    static_assert(std::is_same_v<decltype(z), xt::xtensor<float, 2> const>);
    CHECK(y == xt::xtensor<float, 1>{9, 12});
    CHECK(z == xt::xtensor<float, 2>{{1, 2}, {4, 6}, {9, 12}});
}

TEST_CASE_TEMPLATE("every axis and direction of input and output agrees with the textbook", X,
    xt::xtensor<float, 3>, xt::xarray<double>, xt::xtensor<std::int64_t, 3>,
    xt::xtensor<double, 3, xt::layout_type::column_major>, xt::xarray<float, xt::layout_type::column_major>)
{
    using state = std::conditional_t<xloom::enable_tensor<X>::rank == xloom::dynamic_rank,
        xt::xarray<typename X::value_type>, xt::xtensor<typename X::value_type, 2>>;
    // Multiples of 2^4 stay whole when halved four times, so that the integers follow the definition, too.
    auto x = textbook::tensor::counting({2, 4, 3});
    for (double& item : x.items)
        item *= 16;
    for (std::size_t const input_axis : {0u, 1u, 2u})
        for (std::size_t const output_axis : {0u, 1u, 2u})
            for (bool const input_reverse : {false, true})
                for (bool const output_reverse : {false, true})
                    for (bool const negative : {false, true}) {
                        textbook::tensor const h(x.slice(input_axis, 0).shape, 16);
                        auto const expected = textbook::scan(textbook::decaying_sum, h, x, input_axis,
                            input_reverse, output_axis, output_reverse);
                        auto const axis = [&](std::size_t a) {
                            return static_cast<std::int64_t>(a) - (negative ? 3 : 0);
                        };
                        auto const direction = [](bool reverse) {
                            return reverse ? direction::reverse : direction::forward;
                        };
                        auto const result = scan(decaying_sum, to_tensor<state>(h), to_tensor<X>(x),
                            {.scan_input_axes = {axis(input_axis)},
                                .scan_output_axes = {axis(output_axis)},
                                .scan_input_directions = {direction(input_reverse)},
                                .scan_output_directions = {direction(output_reverse)}});
                        CHECK(equals(result.final_state, expected.final_state));
                        CHECK(equals(result.scan_outputs, expected.scan_outputs));
                    }
}

TEST_CASE("several states, inputs and outputs of mixed element types, more inputs than outputs and the other "
          "way round")
{
    xt::xtensor<float, 1> const h = {1, 2};
    xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<int, 1> const n = {10, 20, 30};
    xt::xtensor<bool, 2> const keep = {{true, false}, {true, true}, {false, true}};

    SUBCASE("K = 1 < M = 3")
    {
        auto const [states, y] = scan(
            [](auto const& sum, int count, auto const& x_t, int n_t, auto const& keep_t) {
                xt::xtensor<float, 1> next = sum;
                for (std::size_t i = 0; i < 2; ++i)
                    if (keep_t(i))
                        next(i) += static_cast<float>(x_t(i));
                return scan_step{std::tuple{next, count + n_t}, next};
            },
            std::tuple{h, 0}, std::tie(x, n, keep));
        auto const& [sum, count] = states;
        CHECK(sum == xt::xtensor<float, 1>{5, 12});
        CHECK(count == 60);
        CHECK(y == xt::xtensor<float, 2>{{2, 2}, {5, 6}, {5, 12}});
    }
    SUBCASE("K = 3 > M = 1")
    {
        auto const [last, y] = scan(
            [](double before, int n_t) {
                return scan_step{n_t / 4.0, std::tuple{before, n_t > 10, std::complex<float>(1, 2)}};
            },
            0.5, n);
        auto const& [a, b, c] = y;
        static_assert(std::is_same_v<decltype(b), xt::xtensor<bool, 1> const>);
        CHECK(last == 7.5);
        CHECK(a == xt::xtensor<double, 1>{0.5, 2.5, 5});
        CHECK(b == xt::xtensor<bool, 1>{false, true, true});
        CHECK(c(2) == std::complex<float>(1, 2));
    }
}

TEST_CASE("states, inputs and outputs may each be absent")
{
    xt::xtensor<float, 1> const x = {1, 2, 3};
    SUBCASE("no states: a map")
    {
        auto const [none, y] = scan(
            [](float x_t) {
                return scan_step{std::tuple{}, x_t * x_t};
            },
            std::tuple{}, x);
        static_assert(std::is_same_v<decltype(none), std::tuple<> const>);
        CHECK(y == xt::xtensor<float, 1>{1, 4, 9});
    }
    SUBCASE("no outputs: a fold")
    {
        auto const [product, none] = scan([](float p, float x_t) { return scan_step{p * x_t}; }, 1.f, x);
        static_assert(std::is_same_v<decltype(none), std::tuple<> const>);
        CHECK(product == 6);
    }
    SUBCASE("no inputs: options.length tells the number of iterations")
    {
        auto const [last, y] = scan(
            [](int a, int b) {
                return scan_step{std::tuple{b, a + b}, a};
            },
            std::tuple{0, 1}, std::tuple{}, {.length = 8});
        CHECK(y == xt::xtensor<int, 1>{0, 1, 1, 2, 3, 5, 8, 13});
        CHECK(std::get<0>(last) == 21);
    }
}

TEST_CASE("length 0 keeps the initial states and gives outputs of length 0")
{
    SUBCASE("xtensor: dimensions that no type tells are 0")
    {
        xt::xtensor<float, 1> const h = {7, 8};
        auto const [last, y] = scan(running_sum, h, xt::xtensor<float, 2>::from_shape({0, 2}));
        CHECK(last == h);
        CHECK(y.shape() == std::array<std::size_t, 2>{0, 0});
    }
    SUBCASE("along another axis")
    {
        xt::xtensor<float, 1> const h = {7, 8};
        auto const [last, y] = scan(running_sum, h, xt::xtensor<float, 2>::from_shape({2, 0}),
            {.scan_input_axes = {1}, .scan_output_axes = {-1}});
        CHECK(last == h);
        CHECK(y.shape() == std::array<std::size_t, 2>{0, 0});
    }
    SUBCASE("xarray: [0]")
    {
        xt::xarray<float> const h = {7, 8};
        auto const [last, y] = scan(running_sum, h, xt::xarray<float>::from_shape({0, 2}));
        CHECK(last == h);
        CHECK(y.dimension() == 1);
        CHECK(y.shape(0) == 0);
    }
    SUBCASE("scalars: [0]")
    {
        auto const [last, y] = scan(running_sum, 3.f, xt::xtensor<float, 1>::from_shape({0}));
        CHECK(last == 3);
        CHECK(y.shape() == std::array<std::size_t, 1>{0});
    }
    SUBCASE("fixed elements: exact")
    {
        xt::xtensor_fixed<float, xt::xshape<2>> const h = {7, 8};
        auto const [last, y] = scan(
            [](auto const& state, auto const&) {
                return scan_step{state, state};
            },
            h, xt::xtensor<float, 2>::from_shape({0, 2}));
        CHECK(last == h);
        CHECK(y.shape() == std::array<std::size_t, 2>{0, 2});
    }
}

TEST_CASE("elements may have no items")
{
    xt::xtensor<float, 1> const h = xt::xtensor<float, 1>::from_shape({0});
    auto const [last, y] = scan(running_sum, h, xt::xtensor<float, 2>::from_shape({3, 0}));
    CHECK(last.size() == 0);
    CHECK(y.shape() == std::array<std::size_t, 2>{3, 0});
}

TEST_CASE("fixed shapes in, fixed shapes out")
{
    xt::xtensor_fixed<float, xt::xshape<3, 2>> const x = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor_fixed<float, xt::xshape<2>> const h = {0, 0};
    auto const [y, z] = scan(running_sum, h, x);
    static_assert(std::is_same_v<decltype(y), xt::xtensor_fixed<float, xt::xshape<2>> const>);
    static_assert(std::is_same_v<decltype(z), xt::xtensor_fixed<float, xt::xshape<3, 2>> const>);
    CHECK(y(1) == 12);
    CHECK(z(1, 0) == 4);

    auto const [count, each] = scan([](int n, auto const& x_t) { return scan_step{n + 1, x_t(0)}; }, 0, x);
    static_assert(std::is_same_v<decltype(each), xt::xtensor_fixed<float, xt::xshape<3>> const>);
    CHECK(count == 3);
    CHECK(each(2) == 5);

    // Axis 1 of a view, whose type has no fixed shape.
    xt::xtensor_fixed<float, xt::xshape<3>> const column = {0, 0, 0};
    auto const [sum, rows] =
        scan(running_sum, column, xt::strided_view(x, {xt::all(), xt::all()}), {.scan_input_axes = {1}});
    static_assert(std::is_same_v<decltype(sum), xt::xtensor_fixed<float, xt::xshape<3>> const>);
    CHECK(sum(2) == 11);
    CHECK(rows == xt::xtensor<float, 2>{{1, 3, 5}, {3, 7, 11}});

    // An output of a fixed shape in reverse, along axis 0, named from the back.
    auto const reversed = scan(running_sum, h, x,
        {.scan_input_axes = {-2},
            .scan_output_axes = {-2},
            .scan_input_directions = {direction::reverse},
            .scan_output_directions = {direction::reverse},
            .length = 3});
    static_assert(
        std::is_same_v<decltype(reversed.scan_outputs), xt::xtensor_fixed<float, xt::xshape<3, 2>>>);
    CHECK(reversed.final_state == xt::xtensor<float, 1>{9, 12});
    CHECK(reversed.scan_outputs == xt::xtensor<float, 2>{{9, 12}, {8, 10}, {5, 6}});
}

TEST_CASE_TEMPLATE("default options change neither the type of a result nor a bit", X,
    xt::xtensor_fixed<double, xt::xshape<3, 2>>,
    xt::xtensor_fixed<double, xt::xshape<3, 2>, xt::layout_type::column_major>, xt::xtensor<double, 2>,
    xt::xtensor<double, 2, xt::layout_type::column_major>, xt::xarray<double>)
{
    X const x = xt::xtensor<double, 2>{{0.1, 0.2}, {0.7, -3}, {1e9, 1e-9}};
    auto const check = [](auto const& body, auto const& h, auto const& inputs) {
        auto const without = scan(body, h, inputs);
        auto const with = scan(body, h, inputs, xloom::scan_options{});
        static_assert(std::is_same_v<decltype(without), decltype(with)>);
        CHECK(without.final_state == with.final_state);
        CHECK(without.scan_outputs == with.scan_outputs);
    };
    check(decaying_sum, xt::xtensor_fixed<double, xt::xshape<2>>{0.3, 0.5}, x);
    check(decaying_sum, xt::xtensor<double, 1>{0.3, 0.5}, x);
    auto const norms = [](double h, auto const& x_t, double factor) {
        return scan_step{h / 3 + x_t(0), std::tuple{factor * x_t(1), xt::xtensor<double, 1>{h}}};
    };
    check(norms, 0.1, std::tuple(x, xt::xtensor<double, 1>{0.3, 0.7, 0.9}));
    check(norms, 0.1, std::tuple(x, xt::xtensor_fixed<double, xt::xshape<3>>{0.3, 0.7, 0.9}));
}

TEST_CASE("a body need not be generic: elements have names")
{
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}};
    auto const [last, y] = scan(
        [](xt::xtensor<float, 1> const& h, xloom::element_view<float const, 1> const& x_t) {
            return scan_step{h + x_t, h * x_t};
        },
        xt::xtensor<float, 1>{1, 1}, x);
    CHECK(last == xt::xtensor<float, 1>{5, 7});
    CHECK(y == xt::xtensor<float, 2>{{1, 2}, {6, 12}});
}

TEST_CASE("inputs may be views, adaptors and lazy expressions")
{
    xt::xtensor<float, 3> const buffer = xt::reshape_view(xt::arange<float>(24), {2, 4, 3});
    xt::xtensor<float, 1> const h = {0, 0, 0};
    auto const expected = [&](auto const& x) {
        return scan(running_sum, h, xt::xtensor<float, 2>(x)).scan_outputs;
    };

    SUBCASE("a contiguous view")
    {
        CHECK(scan(running_sum, h, xt::view(buffer, 1)).scan_outputs == expected(xt::view(buffer, 1)));
    }
    SUBCASE("a view with steps and an offset")
    {
        auto const x = xt::view(buffer, 1, xt::range(1, 4, 2), xt::all());
        CHECK(scan(running_sum, h, x).scan_outputs == expected(x));
    }
    SUBCASE("a view that runs backwards")
    {
        auto const x = xt::view(buffer, 0, xt::range(3, xt::placeholders::_, -1), xt::all());
        CHECK(scan(running_sum, h, x).scan_outputs == expected(x));
    }
    SUBCASE("a strided view")
    {
        auto const x = xt::strided_view(buffer, {1, xt::all(), xt::all()});
        xt::xarray<float> const state = h;
        CHECK(scan(running_sum, state, x).scan_outputs == xt::xarray<float>(expected(xt::view(buffer, 1))));
    }
    SUBCASE("a transpose")
    {
        xt::xtensor<float, 2> const columns = xt::view(buffer, 0);
        auto const x = xt::transpose(columns);
        xt::xtensor<float, 1> const state = {0, 0, 0, 0};
        CHECK(scan(running_sum, state, x).scan_outputs ==
              scan(running_sum, state, xt::xtensor<float, 2>(x)).scan_outputs);
    }
    SUBCASE("an adaptor over a plain vector")
    {
        std::vector<float> const items = {1, 2, 3, 4, 5, 6};
        auto const x = xt::adapt(items, std::array<std::size_t, 2>{2, 3});
        CHECK(scan(running_sum, h, x).scan_outputs == expected(x));
    }
    SUBCASE("a lazy expression, and one among variables")
    {
        xt::xtensor<float, 2> const x = xt::view(buffer, 1);
        CHECK(scan(running_sum, h, x * 2).scan_outputs == expected(x * 2));
        auto const both =
            scan([](auto const& state, auto const& a, auto const& b) { return scan_step{state + a + b}; }, h,
                std::tuple{x, x * 2});
        CHECK(both.final_state == scan(running_sum, h, x * 3).final_state);
    }
    SUBCASE("a flattened view, whose items xtensor reaches through an iterator alone")
    {
        xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
        auto const sum = [](float state, float x_t) { return scan_step{state + x_t, state + x_t}; };
        CHECK(scan(sum, 0.0f, xt::ravel(xt::view(x, xt::all(), xt::range(1, 3)))).scan_outputs ==
              xt::xtensor<float, 1>{2, 5, 10, 16});
        CHECK(scan(sum, 0.0f, xt::flatten(xt::transpose(x))).scan_outputs ==
              xt::xtensor<float, 1>{1, 5, 7, 12, 15, 21});
        CHECK(scan(sum, 0.0f, xt::ravel<xt::layout_type::column_major>(x)).final_state == 21);
        auto const items = xt::ravel(x);
        CHECK(scan(sum, 0.0f, items).scan_outputs == xt::xtensor<float, 1>{1, 3, 6, 10, 15, 21});
        auto const add = [](xt::xtensor<float, 1> next, float x_t) {
            next += x_t;
            return scan_step{xt::ravel(xt::view(next, xt::all()))};
        };
        auto const two = scan(add, xt::ravel(xt::view(x, xt::all(), 0)), items);
        static_assert(std::is_same_v<decltype(two.final_state), xt::xtensor<float, 1>>);
        CHECK(two.final_state == xt::xtensor<float, 1>{22, 25});
    }
    SUBCASE("a view or an adaptor as the initial state is copied")
    {
        std::vector<float> items = {0, 0, 0};
        auto state = xt::adapt(items, std::array<std::size_t, 1>{3});
        auto const result = scan(running_sum, state, xt::view(buffer, 1));
        static_assert(std::is_same_v<decltype(result.final_state), xt::xtensor<float, 1>>);
        CHECK(result.scan_outputs == expected(xt::view(buffer, 1)));
        CHECK(items == std::vector<float>{0, 0, 0});
    }
}

TEST_CASE("a user's own container goes in and comes out")
{
    auto const x = to_tensor<user::grid<double, 2>>(textbook::tensor::counting({4, 3}));
    auto const h = to_tensor<user::grid<double, 1>>(textbook::tensor({3}));
    auto const [last, y] = scan(
        [](user::grid<double, 1> const& state, auto const& x_t) {
            user::grid<double, 1> next = state;
            for (std::size_t i = 0; i < 3; ++i)
                next.items[i] = state.items[i] / 2 + x_t(i);
            return scan_step{next, next};
        },
        h, x);
    static_assert(std::is_same_v<decltype(y), user::grid<double, 2> const>);
    auto const expected = textbook::scan(textbook::decaying_sum, textbook::tensor({3}),
        textbook::tensor::counting({4, 3}), 0, false, 0, false);
    CHECK(equals(last, expected.final_state));
    CHECK(equals(y, expected.scan_outputs));
}

TEST_CASE("items of any type: strings, complex numbers, long double")
{
    xt::xtensor<std::string, 1> const words = {"to", "be", "or"};
    auto const [sentence, prefixes] = scan(
        [](std::string const& s, std::string const& w) {
            return scan_step{s + w + " ", s};
        },
        std::string(), words);
    CHECK(sentence == "to be or ");
    CHECK(prefixes(2) == "to be ");

    xt::xtensor<std::string, 2> const table = {{"a", "b"}, {"c", "d"}};
    auto const [last, columns] = scan(
        [](xt::xtensor<std::string, 1> const& s, auto const& column) {
            xt::xtensor<std::string, 1> const joined = {s(0) + column(0), s(1) + column(1)};
            return scan_step{joined, joined};
        },
        xt::xtensor<std::string, 1>{"-", "+"}, table, {.scan_input_axes = {1}, .scan_output_axes = {1}});
    CHECK(last == xt::xtensor<std::string, 1>{"-ab", "+cd"});
    CHECK(columns(1, 0) == "+c");

    xt::xtensor<std::complex<double>, 1> const z = {{0, 1}, {0, 1}, {0, 1}};
    CHECK(scan([](std::complex<double> p, std::complex<double> z_t) { return scan_step{p * z_t}; },
              std::complex<double>(1), z)
              .final_state == std::complex<double>(0, -1));
    xt::xtensor<long double, 1> const q = {0.5L, 0.25L};
    CHECK(scan([](long double s, long double q_t) { return scan_step{s + q_t}; }, 0.0L, q).final_state ==
          0.75L);
}

TEST_CASE("a rank-1 xarray hands the body rank-0 views")
{
    xt::xarray<float> const x = {1, 2, 3};
    auto const [last, y] = scan(
        [](float h, auto const& x_t) {
            return scan_step{h + x_t(), h * x_t()};
        },
        1.f, x);
    CHECK(last == 7);
    CHECK(y == xt::xtensor<float, 1>{1, 4, 12});
}

TEST_CASE("what is moved in is not copied, what is returned is the caller's to keep")
{
    xt::xtensor<float, 2> x = {{1, 2}, {3, 4}};
    auto result = scan(running_sum, xt::xtensor<float, 1>{0, 0}, x);
    x.fill(100);
    CHECK(result.scan_outputs == xt::xtensor<float, 2>{{1, 2}, {4, 6}});

    std::vector<int> order;
    auto const counted = scan(
        [&order](int n, float x_t) {
            order.push_back(static_cast<int>(x_t));
            return scan_step{n + 1};
        },
        0, xt::xtensor<float, 1>{3, 1, 2});
    CHECK(counted.final_state == 3);
    CHECK(order == std::vector<int>{3, 1, 2});
}

} // namespace scan_test
