// scan_lanes_vjp: the bits of a textbook's loop over each sequence alone, derivatives by central differences,
// and what it refuses, word for word.

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/scan_lanes_vjp.hpp>
#include <xloom/interop/threads.hpp>

#include "support/exact_number.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_lanes_vjp_test {

namespace {

using sizes = std::initializer_list<std::size_t>;
template <class T>
using vector = xt::xtensor<T, 1>;
template <class T>
using matrix = xt::xtensor<T, 2>;

/// A section of second order with a product of its states.
struct section {
    template <class V>
    auto operator()(V const& s, V const& r, V const& x, V const& a, V const& b) const
    {
        V const y = b * x + s;
        return xloom::scan_step{std::tuple(r - a * y + s * r, x - b * y), std::tuple(y, y * s)};
    }
};

/// Its VJP. On numbers and lanes alike: what is added to is written as a sum.
struct section_vjp {
    template <class V>
    void operator()(V const& s, V const& r, V const& x, V const& a, V const& b, V const& ct_next_s,
        V const& ct_next_r, V const& ct_y, V const& ct_z, V& ct_s, V& ct_r, V& ct_x, V& ct_a, V& ct_b) const
    {
        V const y = b * x + s;
        V const ct = ct_y + ct_z * s - ct_next_s * a - ct_next_r * b; // of y
        ct_s = ct_s + ct_z * y + ct_next_s * r + ct;
        ct_r = ct_r + ct_next_s + ct_next_s * s;
        ct_x = ct_x + ct_next_r + ct * b;
        ct_a = ct_a - ct_next_s * y;
        ct_b = ct_b - ct_next_r * y + ct * x;
    }
};

template <class T>
T item_at(std::size_t i)
{
    return static_cast<T>((i * 7919) % 1013) / 1013 - T(0.5);
}

/// The operands of N sequences and the cotangents of their results, [N, T].
template <class T>
struct operands {
    vector<T> s, r, a, b, ct_s, ct_r;
    matrix<T> x, ct_y, ct_z;

    operands(std::size_t N, std::size_t length)
        : s(numbers(N, 1)),
          r(numbers(N, 2)),
          a(numbers(N, 3)),
          b(numbers(N, 4)),
          ct_s(numbers(N, 5)),
          ct_r(numbers(N, 6)),
          x(numbers(N, length, 7)),
          ct_y(numbers(N, length, 8)),
          ct_z(numbers(N, length, 9))
    {}

    static vector<T> numbers(std::size_t N, std::size_t seed)
    {
        auto all = vector<T>::from_shape({N});
        for (std::size_t n = 0; n < N; ++n)
            all(n) = item_at<T>(n * 13 + seed);
        return all;
    }
    static matrix<T> numbers(std::size_t N, std::size_t length, std::size_t seed)
    {
        auto all = matrix<T>::from_shape({N, length});
        for (std::size_t i = 0; i < N * length; ++i)
            all.data()[i] = item_at<T>(i * 17 + seed);
        return all;
    }
};

/// The cotangents of the operands.
template <class T>
struct operand_gradients {
    vector<T> s, r, a, b;
    matrix<T> x;

    friend bool operator==(operand_gradients const&, operand_gradients const&) = default;
};

using lengths = xt::xtensor<std::int64_t, 1>;

/// Goes through each sequence alone, forwards and back.
template <class T>
operand_gradients<T> textbook_gradients(operands<T> const& o, std::optional<lengths> const& lens)
{
    using number = textbook::exact_number<T>;
    std::size_t const N = o.x.shape(0);
    operand_gradients<T> ct{o.s, o.s, o.s, o.s, xt::zeros<T>(o.x.shape())};
    for (std::size_t n = 0; n < N; ++n) {
        std::size_t const length = lens ? static_cast<std::size_t>((*lens)(n)) : o.x.shape(1);
        std::vector<number> s{o.s(n)}, r{o.r(n)};
        number const a = o.a(n), b = o.b(n);
        for (std::size_t t = 0; t < length; ++t) {
            auto const [next, outputs] = section()(s[t], r[t], number(o.x(n, t)), a, b);
            s.push_back(std::get<0>(next));
            r.push_back(std::get<1>(next));
        }
        number ct_s = o.ct_s(n), ct_r = o.ct_r(n), ct_a = T(0), ct_b = T(0);
        for (std::size_t t = length; t-- > 0;) {
            number before_s = T(0), before_r = T(0), ct_x = T(0);
            section_vjp()(s[t], r[t], number(o.x(n, t)), a, b, ct_s, ct_r, number(o.ct_y(n, t)),
                number(o.ct_z(n, t)), before_s, before_r, ct_x, ct_a, ct_b);
            ct_s = before_s;
            ct_r = before_r;
            ct.x(n, t) = ct_x.value;
        }
        ct.s(n) = ct_s.value;
        ct.r(n) = ct_r.value;
        ct.a(n) = ct_a.value;
        ct.b(n) = ct_b.value;
    }
    return ct;
}

template <class T, class Lens = std::nullopt_t, class... Env>
operand_gradients<T> gradients_of(
    operands<T> const& o, bool turned, Lens const& lens = std::nullopt, Env&&... env)
{
    auto const run = [&](auto const& x, auto const& ct_y, auto const& ct_z) {
        return xloom::scan_lanes_vjp(section(), section_vjp(), std::tie(o.s, o.r), std::tie(x, o.a, o.b),
            lens, xloom::cotangents().states(o.ct_s, o.ct_r).outputs(ct_y, ct_z),
            xloom::scan_lanes_options{.batch_axis = turned ? 1 : 0}, env...);
    };
    auto const all = [&] {
        if (!turned)
            return run(o.x, o.ct_y, o.ct_z);
        auto const turn = [](matrix<T> const& of) -> matrix<T> { return xt::transpose(of); };
        return run(turn(o.x), turn(o.ct_y), turn(o.ct_z));
    }();
    auto const& [s, r] = all.init;
    auto const& [x, a, b] = all.scan_inputs;
    return {s, r, a, b, turned ? matrix<T>(xt::transpose(x)) : x};
}

/// The cotangents' product with the results, by a loop.
double weighted_results(operands<double> const& o)
{
    double sum = 0;
    for (std::size_t n = 0; n < o.x.shape(0); ++n) {
        double s = o.s(n), r = o.r(n);
        for (std::size_t t = 0; t < o.x.shape(1); ++t) {
            auto const [next, outputs] = section()(s, r, o.x(n, t), o.a(n), o.b(n));
            sum += o.ct_y(n, t) * std::get<0>(outputs) + o.ct_z(n, t) * std::get<1>(outputs);
            std::tie(s, r) = next;
        }
        sum += o.ct_s(n) * s + o.ct_r(n) * r;
    }
    return sum;
}

} // namespace

TEST_CASE_TEMPLATE("scan_lanes_vjp: the bits of each sequence alone, for every layout and number of threads",
    T, float, double)
{
    for (std::size_t const N : sizes{1, 3, 16, 37, 150})
        for (std::size_t const length : sizes{1, 17, 130}) {
            operands<T> const o(N, length);
            auto const expected = textbook_gradients(o, std::nullopt);
            for (bool const turned : {false, true}) {
                CHECK(gradients_of(o, turned) == expected);
                CHECK(gradients_of(o, turned, std::nullopt, xloom::thread_policy(3)) == expected);
            }
        }
}

TEST_CASE_TEMPLATE(
    "scan_lanes_vjp: sequences of unequal lengths, and what is not read past their ends", T, float, double)
{
    T const nan = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t const N : sizes{1, 3, 16, 37, 150})
        for (std::size_t const length : sizes{1, 17, 130}) {
            operands<T> o(N, length);
            auto lens = lengths::from_shape({N});
            for (std::size_t n = 0; n < N; ++n) {
                lens(n) = static_cast<std::int64_t>(n * 7 % (length + 1));
                for (auto t = static_cast<std::size_t>(lens(n)); t < length; ++t)
                    o.x(n, t) = o.ct_y(n, t) = o.ct_z(n, t) = nan;
            }
            auto const expected = textbook_gradients(o, lens);
            for (bool const turned : {false, true}) {
                CHECK(gradients_of(o, turned, lens) == expected);
                CHECK(gradients_of(o, turned, lens, xloom::thread_policy(3)) == expected);
            }
        }
    CHECK_THROWS_AS(gradients_of(operands<T>(2, 3), false, lengths{1, 4}), xloom::index_error);
}

TEST_CASE("scan_lanes_vjp: derivatives by central differences")
{
    operands<double> o(5, 12);
    auto const ct = gradients_of(o, false);
    auto const check = [&](auto& operand, auto const& gradient) {
        for (std::size_t i = 0; i < operand.size(); ++i) {
            double const before = operand.data()[i], step = 1e-5;
            operand.data()[i] = before + step;
            double const above = weighted_results(o);
            operand.data()[i] = before - step;
            double const below = weighted_results(o);
            operand.data()[i] = before;
            CHECK(gradient.data()[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-7));
        }
    };
    check(o.s, ct.s);
    check(o.r, ct.r);
    check(o.a, ct.a);
    check(o.b, ct.b);
    check(o.x, ct.x);
}

TEST_CASE("scan_lanes_vjp: no sequences, no steps, no inputs, and no cotangents of the states")
{
    for (bool const turned : {false, true}) {
        CHECK(gradients_of(operands<float>(0, 5), turned).x.size() == 0);
        operands<float> const o(5, 0);
        auto const ct = gradients_of(o, turned);
        CHECK(ct.s == o.ct_s);
        CHECK(ct.r == o.ct_r);
        CHECK(ct.a == xt::zeros<float>({5}));
    }
    vector<double> const h = {1, 2}, ct_h = {1, 10};
    auto const twice = [](auto const& s) { return xloom::scan_step{2 * s, 3 * s}; };
    auto const twice_vjp = [](auto const&, auto const& ct_next, auto const& ct_y, auto& ct_s) {
        ct_s += 2 * ct_next + 3 * ct_y;
    };
    auto const [of_states, none] = xloom::scan_lanes_vjp(twice, twice_vjp, h, std::tuple(), std::nullopt,
        xloom::cotangents().states(ct_h).outputs(xt::zeros<double>({2, 3})), {.length = 3});
    CHECK(of_states == vector<double>{8, 80});
    matrix<double> const ct_y = {{1, 0, 0}, {0, 1, 0}};
    auto const [of_outputs, none_either] = xloom::scan_lanes_vjp(
        twice, twice_vjp, h, std::tuple(), std::nullopt, xloom::cotangents().outputs(ct_y));
    CHECK(of_outputs == vector<double>{3, 6});
}

TEST_CASE("scan_lanes_vjp: an exception of a body passes through")
{
    vector<float> const h = {1, 2};
    matrix<float> const x = {{1, 2}, {3, 4}};
    auto const body = [](auto const& s, auto const& x_t) { return xloom::scan_step{s + x_t, s}; };
    auto const faulty = [](auto const& s, auto const&...) -> void {
        if (s.size != 0)
            throw std::runtime_error("a step");
    };
    CHECK_THROWS_WITH_AS(xloom::scan_lanes_vjp(body, faulty, h, x, std::nullopt,
                             xloom::cotangents().outputs(x), xloom::thread_policy(2)),
        "a step", std::runtime_error);
}

TEST_CASE("scan_lanes_vjp refuses cotangents of other shapes")
{
    vector<float> const h = {1, 2}, three = {1, 2, 3};
    matrix<float> const x = xt::ones<float>({2, 4}), y = xt::ones<float>({2, 5});
    auto const body = [](auto const& s, auto const& x_t) { return xloom::scan_step{s + x_t, s}; };
    auto const never = [](auto const&...) { FAIL_CHECK("the body's VJP ran"); };
    CHECK_THROWS_WITH_AS(
        xloom::scan_lanes_vjp(body, never, h, x, std::nullopt, xloom::cotangents().states(three).outputs(x)),
        "xloom::scan_lanes_vjp: the cotangent of a state must have its shape, [2], but ct_states[0] has the "
        "shape [3]. Give it that shape.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::scan_lanes_vjp(body, never, h, x, std::nullopt, xloom::cotangents().outputs(y)),
        "xloom::scan_lanes_vjp: all inputs and outputs must have the same sequence length, but "
        "scan_inputs[0] has 4 (axis 1 of [2, 4]) and ct_outputs[0] has 5 (axis 1 of [2, 5]). Cut them to one "
        "length.",
        xloom::shape_error);
    xt::xarray<float> const many = xt::ones<float>(std::vector<std::size_t>(17, 1));
    CHECK_THROWS_WITH_AS(
        xloom::scan_lanes_vjp(body, never, h, x, std::nullopt, xloom::cotangents().states(many).outputs(x)),
        "xloom::scan_lanes_vjp: a tensor may have at most 16 axes (max_rank), but ct_states[0] has 17. "
        "Merge some of them.",
        xloom::shape_error);
}

TEST_CASE("scan_lanes_vjp refuses states that do not fit in memory")
{
    constexpr std::size_t quarter = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 2);
    vector<float> const h = {1, 2};
    auto const body = [](auto const& s) { return xloom::scan_step{s}; };
    auto const never = [](auto const&...) { FAIL_CHECK("the body's VJP ran"); };
    CHECK_THROWS_WITH_AS(xloom::scan_lanes_vjp(body, never, h, std::tuple(), std::nullopt,
                             xloom::cotangents().states(h), {.length = quarter}),
        ("xloom::scan_lanes_vjp: the states that are kept must fit in memory, but there are " +
            std::to_string(quarter) + " of the shape [2]. Run fewer iterations.")
            .c_str(),
        xloom::shape_error);
}

} // namespace scan_lanes_vjp_test
