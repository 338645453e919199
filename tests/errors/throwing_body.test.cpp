// A body that throws: its exception passes through, in-place operands hold what was written so far, pure
// forms change nothing of the caller's.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_throwing_body_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// No std::exception: nothing in the library may catch it and throw another.
struct mishap {
    std::int64_t when;
};

/// True if the call ends in a mishap at iteration `when`.
template <class Call>
bool throws_at(std::int64_t when, Call&& call)
{
    try {
        call();
    } catch (mishap const& found) {
        return found.when == when;
    }
    return false;
}

matrix const x{{1, 2}, {3, 4}, {5, 6}, {7, 8}};

/// A running sum that gives up in the middle of iteration 2: the states and the first item are written.
constexpr auto sum_until_2 = [](int& t, vector& h, auto const& x_t, auto& y_t) {
    xt::noalias(h) = h + x_t;
    y_t(0) = h(0);
    if (t++ == 2)
        throw mishap{2};
    y_t(1) = h(1);
};

} // namespace

TEST_CASE("a body's exception leaves scan, and init as it was")
{
    vector const init{1, 1};
    std::string const word = "unchanged, and longer than any small string";
    xt::xtensor<std::string, 1> const words{word};
    auto const body = [](int t, vector const& h, auto const& s, auto const& x_t) {
        if (t == 2)
            throw mishap{t};
        return scan_step{
            std::tuple{t + 1, h + x_t, xt::xtensor<std::string, 1>{s(0) + "!"}}, std::tuple{h, s}};
    };
    int const zero = 0;
    CHECK(throws_at(2, [&] { scan(body, std::tie(zero, init, words), x); }));
    CHECK(throws_at(2, [&] { scan(body, std::tie(zero, init, words), x, {.scan_output_axes = {1, -1}}); }));
    CHECK(init == vector{1, 1});
    CHECK(words(0) == word);
}

TEST_CASE("a body's exception leaves scan_batched, and init as it was")
{
    matrix init{{1, 1}, {2, 2}};
    xt::xtensor<float, 3> const batch = xt::ones<float>({2, 3, 2});
    int calls = 0;
    auto const body = [&](vector const& h, auto const& x_t) {
        if (++calls == 5)
            throw mishap{5};
        return scan_step{h + x_t, h};
    };
    CHECK(throws_at(5, [&] { scan_batched(body, init, batch); }));
    CHECK(init == matrix{{1, 1}, {2, 2}});
}

TEST_CASE("a body's exception leaves loop, and sequences and optionals as they were")
{
    std::vector<vector> const sequence{{1, 2}, {3}};
    std::optional<vector> const some = vector{4, 5};
    auto const body = [](std::int64_t i, bool, std::vector<vector> const& s, std::optional<vector> const& o) {
        if (i == 20)
            throw mishap{i};
        std::vector<vector> longer = s;
        longer.push_back({6});
        return loop_step{true,
            std::tuple{longer, i % 2 == 0 ? std::optional<vector>() : std::optional(longer[0])},
            o.has_value()};
    };
    CHECK(throws_at(20, [&] { loop(body, std::tie(sequence, some)); }));
    CHECK(sequence == std::vector<vector>{{1, 2}, {3}});
    CHECK(some == vector{4, 5});
}

TEST_CASE("a body's exception leaves scan_into; states and outputs hold what was written")
{
    int t = 0;
    vector h{0, 0};
    matrix y = xt::zeros<float>({4, 2});
    CHECK(throws_at(2, [&] { scan_into(sum_until_2, std::tie(t, h), x, y); }));
    CHECK(t == 3);
    CHECK(h == vector{9, 12});
    CHECK(xt::view(y, xt::range(0, 2)) == matrix{{1, 2}, {4, 6}});
    CHECK(y(2, 0) == 9);
    CHECK(xt::view(y, 3) == vector{0, 0});
}

TEST_CASE("after a body's exception, elements that went through a buffer are in their outputs too")
{
    int t = 0;
    vector h{0, 0};
    xt::xtensor<float, 2, xt::layout_type::column_major> y = xt::zeros<float>({4, 2});
    CHECK(throws_at(2, [&] { scan_into(sum_until_2, std::tie(t, h), x, y); }));
    CHECK(xt::view(y, xt::range(0, 2)) == matrix{{1, 2}, {4, 6}});
    CHECK(xt::view(y, 3) == vector{0, 0});
    t = 0;
    h.fill(0);
    y.fill(0);
    CHECK(throws_at(2, [&] {
        scan_into(sum_until_2, std::tie(t, h), x, y, {.scan_output_directions = {direction::reverse}});
    }));
    CHECK(xt::view(y, xt::range(2, 4)) == matrix{{4, 6}, {1, 2}});
    CHECK(xt::view(y, 0) == vector{0, 0});
}

TEST_CASE("after a body_error of scan_into, states and outputs hold what was written")
{
    int t = 0;
    vector h{0, 0};
    matrix y = xt::zeros<float>({4, 2});
    auto const body = [](int& n, vector& state, auto const& x_t, auto& y_t) {
        xt::noalias(y_t) = state + x_t;
        if (n++ == 1)
            state = vector{1, 2, 3};
    };
    CHECK_THROWS_AS(scan_into(body, std::tie(t, h), x, y), body_error);
    CHECK(t == 2);
    CHECK(h == vector{1, 2, 3});
    CHECK(y == matrix{{1, 2}, {3, 4}, {0, 0}, {0, 0}});

    t = 0;
    h = vector{0, 0};
    auto const wrong = [](int& n, vector& state, auto const& x_t, auto& y_t) {
        xt::noalias(state) = x_t;
        if (n++ == 1)
            xt::noalias(y_t) = xt::ones<float>({3});
        y_t.fill(1);
    };
    y.fill(0);
    CHECK_THROWS_AS(scan_into(wrong, std::tie(t, h), x, y), body_error);
    CHECK(t == 2);
    CHECK(h == vector{3, 4});
    CHECK(xt::view(y, 0) == vector{1, 1});
    CHECK(xt::view(y, xt::range(2, 4)) == matrix{{0, 0}, {0, 0}});
}

TEST_CASE("a body's exception leaves loop_into; carried values and outputs hold what was written")
{
    double total = 0;
    std::vector<vector> sequence;
    std::optional<vector> last;
    matrix y = xt::zeros<float>({4, 2});
    auto const body = [](std::int64_t i, double& sum, std::vector<vector>& s, std::optional<vector>& o,
                          auto& y_t) {
        sum += 1.5;
        s.push_back(vector(xt::ones<float>({i + 1})));
        o = s.back();
        y_t(0) = static_cast<float>(i);
        if (i == 2)
            throw mishap{i};
        y_t(1) = static_cast<float>(i);
        return true;
    };
    CHECK(throws_at(2, [&] { loop_into(body, std::tie(total, sequence, last), y); }));
    CHECK(total == 4.5);
    CHECK(sequence == std::vector<vector>{{1}, {1, 1}, {1, 1, 1}});
    CHECK(last == vector{1, 1, 1});
    CHECK(xt::view(y, xt::range(0, 2)) == matrix{{0, 0}, {1, 1}});
    CHECK(y(2, 0) == 2);
    CHECK(xt::view(y, 3) == vector{0, 0});
}

TEST_CASE("nested bodies: an inner exception passes through both operators")
{
    int outer = 0;
    int inner = 0;
    xt::xtensor<float, 3> y = xt::zeros<float>({2, 4, 2});
    auto const body = [&](int& n, auto& y_t) {
        ++n;
        int t = n == 2 ? 0 : 10;
        vector h{0, 0};
        try {
            scan_into(sum_until_2, std::tie(t, h), x, y_t);
        } catch (mishap const&) {
            inner = t;
            throw;
        }
    };
    CHECK(throws_at(2, [&] { scan_into(body, outer, std::tuple{}, y, {.length = 2}); }));
    CHECK(outer == 2);
    CHECK(inner == 3);
    CHECK(xt::view(y, 0, 3) == vector{16, 20});
    CHECK(y(1, 1, 1) == 6);
}

TEST_CASE("a branch's exception leaves if_")
{
    CHECK(throws_at(7, [] {
        if_(
            true, []() -> int { throw mishap{7}; }, [] { return 1; });
    }));
}

TEST_CASE("after a body's exception the operators work as before")
{
    auto const body = [](vector const& h, auto const& x_t) {
        if (x_t(0) == 5)
            throw mishap{2};
        return scan_step{h + x_t, h + x_t};
    };
    CHECK(throws_at(2, [&] { scan(body, vector{0, 0}, x); }));
    auto const first = xt::eval(xt::view(x, xt::range(0, 2)));
    CHECK(scan(body, vector{0, 0}, first).scan_outputs == matrix{{1, 2}, {4, 6}});
}

} // namespace errors_throwing_body_test
