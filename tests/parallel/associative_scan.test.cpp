// associative_scan and associative_scan_into against the textbook form of their rule on bits.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/associative_scan.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/prefix_operands.hpp"
#include "support/textbook_prefix.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace associative_scan_test {

namespace {

using prefix_operands::number;
using xloom::reduction;

/// Lengths around the borders of groups and blocks.
constexpr std::size_t lengths[] = {0, 1, 2, 3, 15, 16, 17, 31, 33, 255, 256, 257, 272, 511, 513, 1000};

/// The same number, or NaN both.
template <class T>
bool are_same(T const& a, T const& b)
{
    return a == b || (a != a && b != b);
}

/// Requires y to be the textbook's scan of x along an axis.
template <class X, class Y, class Op, class T>
void require_textbook(X const& x, Y const& y, Op const& op, xloom::associative_scan_options const& options,
    std::optional<T> const& identity)
{
    std::size_t const rank = x.dimension();
    std::size_t const axis = options.axis < 0 ? rank - static_cast<std::size_t>(-options.axis)
                                              : static_cast<std::size_t>(options.axis);
    std::size_t const length = x.shape(axis);
    std::vector<std::size_t> dims(x.shape().begin(), x.shape().end());
    dims[axis] = length == 0 ? 0 : 1;
    std::size_t others = 1;
    for (std::size_t const dim : dims)
        others *= dim;
    for (std::size_t other = 0; other < others; ++other) {
        std::vector<std::size_t> at(rank);
        for (std::size_t a = rank, rest = other; a-- > 0; rest /= dims[a])
            at[a] = rest % dims[a];
        auto const index = [&](std::size_t t) {
            at[axis] = options.reverse ? length - 1 - t : t;
            return at;
        };
        std::vector<T> sequence;
        for (std::size_t t = 0; t < length; ++t)
            sequence.push_back(x[index(t)]);
        std::vector<T> const expected = textbook::associative_scan<T>(sequence, op, identity);
        for (std::size_t t = 0; t < length; ++t)
            if (!are_same<T>(y[index(t)], expected[t]))
                FAIL("element " << t << " of sequence " << other << " of length " << length);
    }
}

template <class T, class Op>
void compare_all_options(Op const& op, T const& identity)
{
    for (std::size_t const length : lengths)
        for (bool const reverse : {false, true})
            for (bool const exclusive : {false, true}) {
                auto x = xt::xtensor<T, 1>::from_shape({length});
                for (std::size_t i = 0; i < length; ++i)
                    x(i) = number<T>(i);
                xloom::associative_scan_options const options{.reverse = reverse, .exclusive = exclusive};
                auto const y = xloom::associative_scan(xloom::monoid{op, identity}, x, options);
                require_textbook<decltype(x), decltype(y), Op, T>(
                    x, y, op, options, exclusive ? std::optional<T>(identity) : std::nullopt);
            }
}

/// Scans along each axis of every layout, on one thread and several.
template <class T, class Op>
void compare_layouts(Op const& op, T const& identity)
{
    using array = xt::xtensor<T, 3, xt::layout_type::dynamic>;
    for (auto const& shape : {std::array<std::size_t, 3>{2, 270, 3}, {530, 2, 21}, {3, 2, 290}, {20, 1, 17}})
        for (auto const layout : {xt::layout_type::row_major, xt::layout_type::column_major}) {
            array x(shape, layout);
            std::size_t i = 0;
            for (T& item : x.storage())
                item = number<T>(i++);
            for (std::int64_t axis = -3; axis < 3; ++axis)
                for (bool const exclusive : {false, true}) {
                    xloom::associative_scan_options const options{
                        .axis = axis, .reverse = axis == 2, .exclusive = exclusive};
                    auto const given = exclusive ? std::optional<T>(identity) : std::nullopt;
                    array y(shape, layout);
                    for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2, 5}) {
                        y.fill(number<T>(3));
                        xloom::associative_scan_into(
                            xloom::monoid{op, identity}, x, y, options, xloom::thread_policy(threads));
                        require_textbook<array, array, Op, T>(x, y, op, options, given);
                    }
                    auto in_place = x;
                    xloom::associative_scan_into(
                        xloom::monoid{op, identity}, in_place, in_place, options, xloom::thread_policy(2));
                    CHECK(in_place == y);
                }
        }
}

struct matrix {
    int a = 1, b = 0, c = 0, d = 1;
    friend bool operator==(matrix const&, matrix const&) = default;
};
/// Wraps around, so that it is associative for all values.
matrix product(matrix const& x, matrix const& y)
{
    auto const dot = [](int p, int q, int r, int s) {
        return static_cast<int>(static_cast<unsigned>(p) * static_cast<unsigned>(q) +
                                static_cast<unsigned>(r) * static_cast<unsigned>(s));
    };
    return {
        dot(x.a, y.a, x.b, y.c), dot(x.a, y.b, x.b, y.d), dot(x.c, y.a, x.d, y.c), dot(x.c, y.b, x.d, y.d)};
}

} // namespace

TEST_CASE("associative_scan: the rule on bits, reductions")
{
    compare_all_options<float>(xloom::reduce_add, 0.0f);
    compare_all_options<float>(xloom::reduce_add, 0.3f); // any initial value
    compare_all_options<float>(xloom::reduce_mul, 1.0f);
    compare_all_options<double>(xloom::reduce_add, 0.0);
    compare_all_options<float>(xloom::reduce_max, -std::numeric_limits<float>::infinity());
    compare_all_options<double>(xloom::reduce_min, std::numeric_limits<double>::infinity());
}

TEST_CASE("associative_scan: the rule on bits, integers and storage types")
{
    compare_all_options<std::int32_t>(xloom::reduce_add, 0);
    compare_all_options<std::int64_t>(xloom::reduce_mul, 1);
    compare_all_options<std::uint64_t>(xloom::reduce_max, std::uint64_t{0});
    compare_all_options<std::int8_t>(xloom::reduce_add, std::int8_t{0});
    compare_all_options<bool>(xloom::reduce_add, false);
    compare_all_options<xloom::float16>(xloom::reduce_add, xloom::float16(0));
    compare_all_options<std::complex<double>>(xloom::reduce_add, std::complex<double>(0));
}

TEST_CASE("associative_scan: the rule on bits, callables")
{
    compare_all_options<double>([](double a, double b) { return a + b; }, 0.0);
    compare_all_options<long double>(xloom::reduce_add, 0.0L);
}

TEST_CASE("associative_scan: a callable has the bits of the reduction")
{
    auto x = xt::xtensor<float, 1>::from_shape({5000});
    for (std::size_t i = 0; i < x.size(); ++i)
        x(i) = number<float>(i);
    auto const add = [](float a, float b) { return a + b; };
    CHECK(xloom::associative_scan(add, x) == xloom::associative_scan(reduction::add, x));
}

TEST_CASE("associative_scan: layouts, axes, threads, in place")
{
    compare_layouts<float>(xloom::reduce_add, 0.0f);
    compare_layouts<double>([](double a, double b) { return a + b; }, 0.5);
}

TEST_CASE("associative_scan: short rows, and rows whose distance is a power of two")
{
    using matrix_of_floats = xt::xtensor<float, 2>;
    auto const compare = [](matrix_of_floats::shape_type const& shape, std::int64_t axis) {
        auto x = matrix_of_floats::from_shape(shape);
        for (std::size_t i = 0; i < x.size(); ++i)
            x.data()[i] = number<float>(i);
        for (bool const reverse : {false, true})
            for (bool const exclusive : {false, true}) {
                xloom::associative_scan_options const options{
                    .axis = axis, .reverse = reverse, .exclusive = exclusive};
                require_textbook<matrix_of_floats, matrix_of_floats, xloom::detail::reduce_add_t, float>(x,
                    xloom::associative_scan(reduction::add, x, options), xloom::reduce_add, options,
                    exclusive ? std::optional<float>(0.0f) : std::nullopt);
            }
    };
    for (std::size_t length = 1; length <= 17; ++length) {
        compare({5, length}, 1);
        for (std::size_t const neighbours : {1U, 5U, 15U, 16U, 31U})
            compare({length, neighbours}, 0);
    }
    compare({300, 512}, 0);
}

TEST_CASE_TEMPLATE("associative_scan: neighbours in a wider tensor, whose other items stay", T, float, double,
    std::int32_t, std::int64_t)
{
    auto x = xt::xtensor<T, 2>::from_shape({35, 40});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = number<T>(i);
    for (std::size_t neighbours = 1; neighbours <= 33; ++neighbours) {
        auto y = x;
        auto const some = [&](auto& of) { return xt::view(of, xt::all(), xt::range(4, 4 + neighbours)); };
        auto inner = some(y);
        xloom::associative_scan_into(reduction::add, inner, inner);
        xt::xtensor<T, 2> const before = some(x), after = inner;
        require_textbook<decltype(x), decltype(x), xloom::detail::reduce_add_t, T>(
            before, after, xloom::reduce_add, {}, std::nullopt);
        inner = before;
        CHECK(y == x);
    }
}

TEST_CASE("associative_scan: many elements on several threads")
{
    for (std::size_t const length : std::initializer_list<std::size_t>{100'000, 65'536, 65'537}) {
        auto x = xt::xtensor<float, 1>::from_shape({length});
        for (std::size_t i = 0; i < length; ++i)
            x(i) = number<float>(i);
        for (bool const exclusive : {false, true}) {
            xloom::associative_scan_options const options{.exclusive = exclusive};
            auto const y = xloom::associative_scan(reduction::add, x, options);
            require_textbook<decltype(x), decltype(y), xloom::detail::reduce_add_t, float>(
                x, y, xloom::reduce_add, options, exclusive ? std::optional<float>(0.0f) : std::nullopt);
            for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7})
                CHECK(
                    xloom::associative_scan(reduction::add, x, options, xloom::thread_policy(threads)) == y);
        }
        xt::xtensor<float, 2> two = xt::stack(xt::xtuple(x, x), 1);
        CHECK(xloom::associative_scan(reduction::add, two, {}, xloom::thread_policy(2)) ==
              xloom::associative_scan(reduction::add, two));
    }
}

TEST_CASE("associative_scan: views of any strides")
{
    xt::xtensor<float, 2> x = xt::reshape_view(xt::arange<float>(0, 1200), {600, 2}) * 0.37f;
    auto const odd = xt::view(x, xt::range(1, 600, 2), 1);
    xt::xtensor<float, 1> const copy = odd;
    CHECK(xloom::associative_scan(reduction::add, odd) == xloom::associative_scan(reduction::add, copy));
    auto const backwards = xt::view(x, xt::range(xt::placeholders::_, xt::placeholders::_, -1), 0);
    xt::xtensor<float, 1> const turned = backwards;
    CHECK(xloom::associative_scan(reduction::add, backwards) ==
          xloom::associative_scan(reduction::add, turned));
    CHECK(xloom::associative_scan(reduction::add, copy + 1.0f) ==
          xloom::associative_scan(reduction::add, xt::xtensor<float, 1>(copy + 1.0f)));
}

TEST_CASE("associative_scan: strings, which do not commute")
{
    auto x = xt::xtensor<std::string, 1>::from_shape({3000});
    std::string all;
    for (std::size_t i = 0; i < x.size(); ++i)
        x(i) = std::string(1, static_cast<char>('a' + i % 26));
    for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2}) {
        auto const y = xloom::associative_scan(reduction::add, x, {}, xloom::thread_policy(threads));
        auto const z =
            xloom::associative_scan(reduction::add, x, {.exclusive = true}, xloom::thread_policy(threads));
        all.clear();
        for (std::size_t i = 0; i < x.size(); ++i) {
            REQUIRE(z(i) == all);
            REQUIRE(y(i) == (all += x(i)));
        }
    }
}

TEST_CASE("associative_scan: products of matrices, as elements and as tuples of operands")
{
    std::size_t const length = 3000;
    auto x = xt::xtensor<matrix, 1>::from_shape({length});
    auto a = xt::xtensor<int, 1>::from_shape({length});
    auto b = a, c = a, d = a;
    for (std::size_t i = 0; i < length; ++i) {
        x(i) = {number<int>(i), number<int>(i + 1), number<int>(i + 2), number<int>(i + 3)};
        a(i) = x(i).a, b(i) = x(i).b, c(i) = x(i).c, d(i) = x(i).d;
    }
    using tuple = std::tuple<int, int, int, int>;
    auto const multiply = [](tuple const& p, tuple const& q) {
        auto const of = [](tuple const& t) {
            return std::apply([](auto... items) { return matrix{items...}; }, t);
        };
        auto const [e, f, g, h] = product(of(p), of(q));
        return tuple(e, f, g, h);
    };
    for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2}) {
        auto const y = xloom::associative_scan(product, x, {}, xloom::thread_policy(threads));
        auto const [e, f, g, h] =
            xloom::associative_scan(multiply, std::tie(a, b, c, d), {}, xloom::thread_policy(threads));
        auto const [o, p, q, r] = xloom::associative_scan(xloom::monoid{multiply, tuple(1, 0, 0, 1)},
            std::tie(a, b, c, d), {.exclusive = true}, xloom::thread_policy(threads));
        matrix running;
        for (std::size_t i = 0; i < length; ++i) {
            REQUIRE((matrix{o(i), p(i), q(i), r(i)} == running));
            running = product(running, x(i));
            REQUIRE(y(i) == running);
            REQUIRE((matrix{e(i), f(i), g(i), h(i)} == running));
        }
    }
}

TEST_CASE("associative_scan: NaN, infinity and -0")
{
    auto const nan = std::numeric_limits<float>::quiet_NaN();
    auto x = xt::xtensor<float, 1>::from_shape({40});
    x.fill(-0.0f);
    auto const sums = xloom::associative_scan(reduction::add, x);
    for (float const sum : sums)
        CHECK(std::signbit(sum));
    x(20) = nan;
    x(3) = std::numeric_limits<float>::infinity();
    for (auto const kind : {reduction::add, reduction::mul, reduction::max, reduction::min}) {
        auto const y = xloom::associative_scan(kind, x);
        CHECK_FALSE(std::isnan(y(2)));
        for (std::size_t i = 20; i < 40; ++i)
            CHECK(std::isnan(y(i)));
    }
}

TEST_CASE("associative_scan: integers wrap around")
{
    auto constexpr most = std::numeric_limits<std::int32_t>::max();
    xt::xtensor<std::int32_t, 1> x = xt::ones<std::int32_t>({20});
    x(0) = most;
    CHECK(xloom::associative_scan(reduction::add, x)(1) == std::numeric_limits<std::int32_t>::lowest());
    xt::xtensor<std::int8_t, 1> const small = {127, 1, 1};
    CHECK(xloom::associative_scan(reduction::add, small) == xt::xtensor<std::int8_t, 1>{127, -128, -127});
}

TEST_CASE("associative_scan: strides of an empty tensor may be of any size")
{
    constexpr std::ptrdiff_t distant = (std::numeric_limits<std::ptrdiff_t>::max)() / 2 + 1; // a power of two
    xloom::detail::sequences<1> const no_columns({{{{4, 0}, {distant, 1}}}}, 0, true);
    CHECK(no_columns.length() == 4);
    CHECK(no_columns.count() == 0);
    xloom::detail::sequences<1> const no_rows({{{{0, 4, 4}, {1, distant, distant}}}}, 0, true);
    CHECK(no_rows.length() == 0);
    CHECK(no_rows.count() == 16);
}

TEST_CASE("associative_scan: exclusive scans begin with the identity")
{
    xt::xtensor<float, 1> const x = {2, 3};
    using one = xt::xtensor<float, 1>;
    auto const infinity = std::numeric_limits<float>::infinity();
    CHECK(xloom::associative_scan(reduction::add, x, {.exclusive = true}) == one{0, 2});
    CHECK(xloom::associative_scan(reduction::mul, x, {.exclusive = true}) == one{1, 2});
    CHECK(xloom::associative_scan(reduction::max, x, {.exclusive = true}) == one{-infinity, 2});
    CHECK(xloom::associative_scan(reduction::min, x, {.exclusive = true}) == one{infinity, 2});
    xt::xtensor<int, 1> const n = {2, 3};
    CHECK(xloom::associative_scan(reduction::max, n, {.exclusive = true})(0) ==
          std::numeric_limits<int>::lowest());
}

TEST_CASE("associative_scan: exceptions of the operator propagate")
{
    xt::xtensor<int, 1> const x = xt::arange(3000);
    auto const faulty = [](int a, int b) { return b == 2000 ? throw std::runtime_error("2000") : a + b; };
    CHECK_THROWS_WITH_AS(xloom::associative_scan(faulty, x), "2000", std::runtime_error);
}

TEST_CASE("associative_scan: parts in any order, and on one thread")
{
    xt::xtensor<double, 1> const x = xt::arange<double>(100'000) * 0.37;
    auto const add = [](double a, double b) { return a + b; };
    auto const y = xloom::associative_scan(add, x);
    for (std::size_t const parts : {2U, 3U, 7U}) {
        CHECK(xloom::associative_scan(add, x, {}, threads_or_backwards{parts, true}) == y);
        CHECK(xloom::associative_scan(add, x, {}, threads_or_backwards{parts}) == y);
        CHECK(xloom::cumulative_sum(x, threads_or_backwards{parts, true}) == y);
    }
}

TEST_CASE("associative_scan: an exception of the operator ends the work of all threads")
{
    xt::xtensor<int, 1> const x = xt::arange(100'000);
    for (int const number : {1, 20'000, 50'000, 99'999}) {
        auto const faulty = [number](int a, int b) {
            return b == number ? throw std::runtime_error("faulty") : std::max(a, b);
        };
        for (std::size_t const threads : {2U, 3U, 7U})
            for (int repetition = 0; repetition < 10; ++repetition)
                CHECK_THROWS_WITH_AS(xloom::associative_scan(faulty, x, {}, xloom::thread_policy(threads)),
                    "faulty", std::runtime_error);
    }
}

TEST_CASE("associative_scan: no thread waits for one that has thrown before its turn")
{
    xt::xtensor<int, 1> const x = xt::arange(100'000);
    std::atomic<bool> has_thrown = false;
    auto const faulty = [&](int a, int b) {
        using namespace std::chrono;
        if (b == 1) // the first chunk ends when the other thread has left
            for (auto const begin = steady_clock::now(); steady_clock::now() < begin + milliseconds(100);)
                std::this_thread::sleep_for(milliseconds(has_thrown ? 20 : 1));
        if (b != 20'001) // in the totals of a later chunk
            return std::max(a, b);
        has_thrown = true;
        throw std::runtime_error("faulty");
    };
    CHECK_THROWS_WITH_AS(
        xloom::associative_scan(faulty, x, {}, xloom::thread_policy(3)), "faulty", std::runtime_error);
}

TEST_CASE("associative_scan: errors")
{
    xt::xtensor<float, 2> x = xt::ones<float>({2, 3});
    xt::xtensor<float, 2> y = xt::ones<float>({3, 2});
    xt::xarray<float> const scalar = 1.0f;
    auto const add = [](float a, float b) { return a + b; };
    CHECK_THROWS_WITH_AS(xloom::associative_scan(reduction::add, x, {.axis = 2}),
        "xloom::associative_scan: an axis of a tensor of rank r must be in [-r, r - 1], but options.axis is "
        "2 and x has the shape [2, 3]. Name an axis that the tensor has.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::associative_scan(reduction::add, scalar),
        "xloom::associative_scan: x must have at least one axis, but it has rank 0. Give it an axis for the "
        "scan.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::associative_scan_into(reduction::add, x, y),
        "xloom::associative_scan_into: all operands must have the same shape, but x has [2, 3] and y has [3, "
        "2]. "
        "Give them one shape.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::associative_scan(reduction::mean, x),
        "xloom::associative_scan: the reduction must be add, mul, max or min, but it is mean. Choose one of "
        "them.",
        xloom::option_error);
    xt::xtensor<std::complex<float>, 1> const z = {{1, 1}};
    CHECK_THROWS_WITH_AS(xloom::associative_scan(reduction::max, z),
        "xloom::associative_scan: the reduction must be defined for the elements, but max is not. Choose "
        "another.",
        xloom::option_error);
    CHECK_THROWS_WITH_AS(xloom::associative_scan(add, x, {.exclusive = true}),
        "xloom::associative_scan: an exclusive scan begins with the identity of its operator, but that of a "
        "callable is not known. Pass xloom::monoid{op, identity}.",
        xloom::option_error);
    auto shifted = xt::view(x, 0, xt::range(1, 3));
    CHECK_THROWS_WITH_AS(
        xloom::associative_scan_into(reduction::add, xt::view(x, 0, xt::range(0, 2)), shifted),
        "xloom::associative_scan_into: an operand that is written must have memory of its own, but y "
        "overlaps x. Copy one of the two, or pass one tensor as both.",
        xloom::overlap_error);
    auto const keep = [](std::tuple<float, float> const& a, std::tuple<float, float> const&) { return a; };
    xt::xtensor<float, 2> w = x;
    CHECK_THROWS_AS(xloom::associative_scan_into(keep, std::tie(x, x), std::tie(w, w)), xloom::overlap_error);
    CHECK_THROWS_AS(xloom::associative_scan(keep, std::tie(x, y)), xloom::shape_error);
    CHECK(x == xt::ones<float>({2, 3}));
}

} // namespace associative_scan_test
