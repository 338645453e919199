// scan_lanes and scan_lanes_into: the bits of a textbook's loop over each sequence alone, whatever the number
// of sequences, their layout, their lengths and the number of threads.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/interop/threads.hpp>

#include "support/exact_number.hpp"
#include "support/placed_tensor.hpp"
#include "support/tensors.hpp"
#include "support/textbook_nd.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_lanes_test {

namespace {

using sizes = std::initializer_list<std::size_t>;
template <class T>
using vector = xt::xtensor<T, 1>;
template <class T>
using matrix = xt::xtensor<T, 2>;
using lengths = xt::xtensor<int, 1>;

/// A second-order section with a branch; its products have to be rounded.
template <class T>
constexpr auto filter = [](auto& s, auto& r, auto const& x, auto& y) {
    constexpr T unit = std::is_floating_point_v<T> ? T(1) / T(7) : T(1);
    y = T(2) * unit * x + s;
    s = T(3) * unit * x - T(4) * unit * y + r;
    r = x - xloom::select(x < s, y / T(3), -y / T(7));
};

/// The states and outputs of N sequences.
template <class T>
struct filtered {
    std::vector<T> s, r, y;
};

template <class T>
T item_at(std::size_t i)
{
    auto const number = static_cast<T>((i * 7919) % 1013);
    if constexpr (std::is_floating_point_v<T>)
        return number / 61 - 7;
    else
        return number;
}

/// Runs the filter over each sequence alone. Outputs after its end are zeros.
template <class T>
filtered<T> textbook_filter(std::size_t N, std::size_t length, std::vector<std::size_t> const& lens)
{
    using number = textbook::exact_number<T>;
    filtered<T> all{std::vector<T>(N), std::vector<T>(N), std::vector<T>(N * length)};
    for (std::size_t n = 0; n < N; ++n) {
        number s = item_at<T>(n), r = item_at<T>(n + 3);
        for (std::size_t t = 0; t < lens[n]; ++t) {
            number y;
            filter<T>(s, r, number(item_at<T>(n * length + t)), y);
            all.y[n * length + t] = y.value;
        }
        all.s[n] = s.value;
        all.r[n] = r.value;
    }
    return all;
}

/// Runs the filter over sequences in a layout. `turned`: the operands are [T, N].
template <class T, class... Env>
void check_filter(std::size_t N, std::size_t length, placement how, bool turned,
    std::optional<std::vector<std::size_t>> const& lens, Env&&... env)
{
    CAPTURE(N);
    CAPTURE(length);
    CAPTURE(turned);
    auto const expected = textbook_filter<T>(N, length, lens.value_or(std::vector<std::size_t>(N, length)));
    textbook::dims const dims = turned ? textbook::dims{length, N} : textbook::dims{N, length};
    placed_tensor<T> x(dims, how), y(dims, how);
    auto const at = [&](placed_tensor<T>& of, std::size_t n, std::size_t t) -> T& {
        return of.memory[static_cast<std::size_t>(
            of.place_of(turned ? textbook::dims{t, n} : textbook::dims{n, t}))];
    };
    vector<T> s = xt::zeros<T>({N}), r = s;
    for (std::size_t n = 0; n < N; ++n) {
        s(n) = item_at<T>(n);
        r(n) = item_at<T>(n + 3);
        for (std::size_t t = 0; t < length; ++t)
            at(x, n, t) = item_at<T>(n * length + t);
    }
    xloom::scan_lanes_options const options{.batch_axis = turned ? 1 : 0};
    if (lens) {
        lengths some = xt::zeros<int>({N});
        std::copy(lens->begin(), lens->end(), some.begin());
        xloom::scan_lanes_into(filter<T>, std::tie(s, r), x, some, y, options, env...);
    } else {
        xloom::scan_lanes_into(filter<T>, std::tie(s, r), x, std::nullopt, y, options, env...);
    }
    CHECK(std::equal(s.begin(), s.end(), expected.s.begin(), expected.s.end()));
    CHECK(std::equal(r.begin(), r.end(), expected.r.begin(), expected.r.end()));
    bool are_same = true;
    for (std::size_t n = 0; n < N; ++n)
        for (std::size_t t = 0; t < length; ++t)
            are_same = are_same && at(y, n, t) == expected.y[n * length + t];
    CHECK(are_same);
}

} // namespace

TEST_CASE_TEMPLATE("scan_lanes_into: the bits of each sequence alone, in any layout", T, float, double,
    std::uint32_t, std::uint64_t)
{
    for (std::size_t const N : sizes{1, 3, 16, 37, 150})
        for (std::size_t const length : sizes{1, 17, 130})
            for (placement const how : every_placement)
                for (bool const turned : {false, true})
                    check_filter<T>(N, length, how, turned, {});
}

TEST_CASE("scan_lanes_into: rows that begin at the same offset in a page")
{
    check_filter<float>(40, 1024, placement::row_major, false, {});
    check_filter<double>(20, 512, placement::row_major, false, {});
}

TEST_CASE("scan_lanes_into: no sequences, and no steps")
{
    for (bool const turned : {false, true}) {
        check_filter<float>(0, 5, placement::row_major, turned, {});
        check_filter<float>(5, 0, placement::row_major, turned, {});
    }
}

TEST_CASE_TEMPLATE(
    "scan_lanes_into: sequences of unequal lengths, of which none has an item", T, float, double)
{
    for (std::size_t const N : sizes{1, 20, 70}) {
        std::vector<std::size_t> lens(N);
        for (std::size_t n = 0; n < N; ++n)
            lens[n] = n * 29 % 131;
        for (placement const how : every_placement)
            for (bool const turned : {false, true})
                check_filter<T>(N, 130, how, turned, lens);
        check_filter<T>(N, 130, placement::row_major, false, std::vector<std::size_t>(N, 0));
    }
}

TEST_CASE("scan_lanes_into: the same bits on any number of threads")
{
    for (std::size_t const threads : sizes{1, 2, 3, 7})
        for (bool const turned : {false, true})
            check_filter<float>(300, 40, placement::row_major, turned, {}, xloom::thread_policy(threads));
}

TEST_CASE("scan_lanes_into: parameters of each sequence, in all layouts, and several outputs of other types")
{
    std::size_t const N = 50, length = 33;
    auto const body = [](auto& sum, auto& count, auto const& gain, auto const& x, auto& y, auto& n) {
        sum = sum + gain * x;
        count = count + 1;
        y = sum;
        n = count;
    };
    vector<double> sum = xt::zeros<double>({N}), gain = sum;
    vector<std::int32_t> count = xt::zeros<std::int32_t>({N});
    matrix<double> x = xt::zeros<double>({N, length}), y = x;
    matrix<std::int32_t> n = xt::zeros<std::int32_t>({N, length});
    for (std::size_t i = 0; i < N; ++i) {
        gain(i) = item_at<double>(i);
        for (std::size_t t = 0; t < length; ++t)
            x(i, t) = item_at<double>(i + t);
    }
    xloom::scan_lanes_into(body, std::tie(sum, count), std::tie(gain, x), std::nullopt, std::tie(y, n));
    for (std::size_t i = 0; i < N; ++i) {
        double expected = 0;
        for (std::size_t t = 0; t < length; ++t) {
            expected = expected + textbook::rounded(gain(i), x(i, t));
            CHECK(y(i, t) == expected);
            CHECK(n(i, t) == static_cast<std::int32_t>(t + 1));
        }
        CHECK(sum(i) == expected);
        CHECK(count(i) == static_cast<std::int32_t>(length));
    }
    auto const gains = xt::stack(xt::xtuple(gain, gain), 1); // [N, 2], whose column is a strided parameter
    matrix<double> const pairs = gains;
    auto const column = xt::view(pairs, xt::all(), 1);
    matrix<double> z = y;
    matrix<std::int32_t> m = n;
    sum.fill(0);
    count.fill(0);
    xloom::scan_lanes_into(body, std::tie(sum, count), std::tie(column, x), std::nullopt, std::tie(z, m));
    CHECK(z == y);
}

TEST_CASE("scan_lanes_into: a state of K items, which the body sees as a span")
{
    std::size_t const N = 37, K = 5, length = 40;
    auto const cascade = [](auto& s, auto const& x, auto& y) {
        auto in = x;
        for (auto& each : s) {
            in = in + 0.5f * each;
            each = in;
        }
        y = in;
    };
    for (bool const turned : {false, true}) {
        matrix<float> s =
            turned ? matrix<float>(xt::ones<float>({K, N})) : matrix<float>(xt::ones<float>({N, K}));
        matrix<float> x = xt::zeros<float>({N, length});
        for (std::size_t i = 0; i < x.size(); ++i)
            x.flat(i) = item_at<float>(i);
        matrix<float> const given = turned ? matrix<float>(xt::transpose(x)) : x;
        matrix<float> y = given;
        lengths lens = xt::zeros<int>({N});
        for (std::size_t n = 0; n < N; ++n)
            lens(n) = static_cast<int>(n % 2 == 0 ? length : n);
        xloom::scan_lanes_into(cascade, s, given, lens, y, {.batch_axis = turned ? 1 : 0});
        for (std::size_t n = 0; n < N; ++n) {
            std::vector<float> expected(K, 1.0f);
            for (std::size_t t = 0; t < length; ++t) {
                float in = 0;
                if (t < static_cast<std::size_t>(lens(n))) {
                    in = x(n, t);
                    for (float& each : expected)
                        each = in = in + textbook::rounded(0.5f, each);
                }
                CHECK((turned ? y(t, n) : y(n, t)) == in);
            }
            for (std::size_t k = 0; k < K; ++k)
                CHECK((turned ? s(k, n) : s(n, k)) == expected[k]);
        }
    }
}

TEST_CASE("scan_lanes_into: an output that is the input")
{
    for (std::size_t const N : sizes{5, 16, 200}) {
        matrix<float> x = xt::zeros<float>({N, std::size_t{90}});
        for (std::size_t i = 0; i < x.size(); ++i)
            x.flat(i) = item_at<float>(i);
        matrix<float> y = x;
        vector<float> s = xt::zeros<float>({N}), r = s, s2 = s, r2 = s;
        xloom::scan_lanes_into(filter<float>, std::tie(s, r), x, std::nullopt, y);
        xloom::scan_lanes_into(filter<float>, std::tie(s2, r2), x, std::nullopt, x);
        CHECK(x == y);
        CHECK(s == s2);
    }
}

TEST_CASE("scan_lanes: the values of steps, and their types")
{
    matrix<float> const x = {{1, 2, 3}, {4, 5, 6}};
    vector<float> const zero = {0, 0};
    vector<std::int64_t> const none = {0, 10};
    auto const one =
        xloom::scan_lanes([](auto const& h, auto const& x_t) { return xloom::scan_step{h + x_t}; }, zero, x);
    static_assert(std::is_same_v<decltype(one.final_state), vector<float>>);
    static_assert(std::is_same_v<decltype(one.scan_outputs), std::tuple<>>);
    CHECK(one.final_state == vector<float>{6, 15});
    auto const two = xloom::scan_lanes(
        [](auto const& h, auto const& n, auto const& x_t) {
            return xloom::scan_step{std::tuple{h + x_t, n + 1}, std::tuple{n, h}};
        },
        std::tuple(zero, none), x, lengths{3, 1});
    CHECK(std::get<0>(two.final_state) == vector<float>{6, 4});
    CHECK(std::get<1>(two.final_state) == vector<std::int64_t>{3, 11});
    CHECK(std::get<0>(two.scan_outputs) == matrix<std::int64_t>{{0, 1, 2}, {10, 0, 0}});
    CHECK(std::get<1>(two.scan_outputs) == matrix<float>{{0, 1, 3}, {0, 0, 0}});
    auto const turned = xloom::scan_lanes(
        [](auto const& h, auto const& x_t) {
            return xloom::scan_step{h + x_t, h + x_t};
        },
        zero, matrix<float>{{1, 4}, {2, 5}, {3, 6}}, std::nullopt, {.batch_axis = -1});
    CHECK(turned.scan_outputs == matrix<float>{{1, 4}, {3, 9}, {6, 15}});
    auto const counted = xloom::scan_lanes(
        [](auto const& n) {
            return xloom::scan_step{n + 1, n};
        },
        none, std::tuple(), std::nullopt, {.length = 2});
    CHECK(counted.final_state == vector<std::int64_t>{2, 12});
    CHECK(counted.scan_outputs == matrix<std::int64_t>{{0, 1}, {10, 11}});
}

TEST_CASE_TEMPLATE(
    "elementary functions: a lane has the bits of a number, in scan_lanes and scan_batched", T, float, double)
{
    std::size_t const N = 37, length = 20;
    auto const body = [](auto& s, auto const& x, auto& y) {
        auto const u = xloom::abs(x) + T(1);
        y = xloom::exp(-u) + xloom::log(u) + xloom::sin(x) + xloom::cos(x) + xloom::tanh(x) +
            xloom::sigmoid(x) + xloom::sqrt(u) + xloom::pow(u, T(1.5)) + xloom::pow(T(2), x);
        s = xloom::max(xloom::min(s, y), x);
    };
    matrix<T> x = xt::zeros<T>({N, length}), y = x, z = x;
    for (std::size_t i = 0; i < x.size(); ++i)
        x.flat(i) = item_at<T>(i);
    vector<T> s = xt::zeros<T>({N}), r = s;
    xloom::scan_lanes_into(body, s, x, std::nullopt, y);
    xloom::scan_batched_into(body, r, x, std::nullopt, z);
    CHECK(y == z);
    CHECK(s == r);
}

TEST_CASE("scan_lanes_into: an exception of the body passes through")
{
    matrix<float> const x = xt::ones<float>({40, 10});
    vector<float> s = xt::zeros<float>({40});
    auto const body = [](auto& h, auto const& x_t) {
        h = h + x_t;
        throw std::runtime_error("body");
    };
    CHECK_THROWS_WITH_AS(xloom::scan_lanes_into(body, s, x), "body", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        xloom::scan_lanes_into(body, s, x, std::nullopt, std::tuple(), {}, xloom::thread_policy(3)), "body",
        std::runtime_error);
}

TEST_CASE("integers divided by the padding of shorter sequences")
{
    xt::xtensor<std::int32_t, 2> const x = {{5, -1, 0, 0}, {3, 4, 6, 9}};
    xt::xtensor<std::int32_t, 1> const init = {100, 10000}, lens = {2, 4};
    auto const [last, all] = xloom::scan_lanes(
        [](auto const& s, auto const& x_t) {
            return xloom::scan_step{s / x_t, s % x_t};
        },
        init, x, lens);
    CHECK(last == xt::xtensor<std::int32_t, 1>{-20, 15});
    CHECK(all == xt::xtensor<std::int32_t, 2>{{0, 0, 0, 0}, {1, 1, 5, 3}});
}

TEST_CASE_TEMPLATE("numbers of shorter sequences' padding that no integer has", T, std::int32_t, std::int64_t,
    std::uint32_t, std::uint64_t)
{
    constexpr double huge = 1e300, none = std::numeric_limits<double>::quiet_NaN();
    matrix<double> const x = {{1, 2, 3, 4}, {5, huge, none, -huge}};
    matrix<float> const y = {{1, 2, 3, 4}, {5, 1e30f, std::numeric_limits<float>::infinity(), -1e30f}};
    xt::xtensor<std::int32_t, 1> const lens = {4, 1};
    xt::xtensor<T, 1> s = {0, 0};
    auto const add = [](auto& h, auto const& x_t, auto const& y_t) {
        using number = std::decay_t<decltype(h)>;
        h = h + number(x_t) * number(y_t);
    };
    xloom::scan_lanes_into(add, s, std::tie(x, y), lens);
    CHECK(s == xt::xtensor<T, 1>{30, 25});
}

TEST_CASE("numbers beyond an integer's range by less than one, and the magnitude of its lowest number")
{
    using integers = vector<std::int32_t>;
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    matrix<double> const x = {
        {lowest - 0.5}, {lowest}, {2147483647.5}, {lowest - 1.0}, {2147483648.0}, {-3.5}};
    integers s = xt::zeros<std::int32_t>({6}), magnitude = s;
    xloom::scan_lanes_into(
        [](auto& h, auto& m, auto const& x_t) {
            using number = std::decay_t<decltype(h)>;
            h = number(x_t);
            m = xloom::abs(h);
        },
        std::tie(s, magnitude), x);
    CHECK(s == integers{lowest, lowest, 2147483647, 0, 0, -3});
    CHECK(magnitude == integers{lowest, lowest, 2147483647, 0, 0, 3});
    for (std::size_t i = 0; i < s.size(); ++i)
        CHECK(xloom::abs(s(i)) == magnitude(i));
}

TEST_CASE("numbers of several types have the common one, as beside lanes")
{
    CHECK((xloom::max)(0, 0.75) == 0.75);
    CHECK((xloom::min)(1, 0.75) == 0.75);
    CHECK(xloom::select(false, 0, 0.75f) == 0.75f);
    CHECK(xloom::pow(2, 0.5f) == std::sqrt(2.0f));
    matrix<float> const x = {{0.75f, -1, 2.5f}};
    vector<float> s = {0}, r = {0};
    auto const relu = [](auto& h, auto const& x_t) { h = h + (xloom::max)(0, x_t); };
    xloom::scan_lanes_into(relu, s, x);
    xloom::scan_batched_into(relu, r, x);
    CHECK(s(0) == 3.25f);
    CHECK(r(0) == 3.25f);
}

} // namespace scan_lanes_test
