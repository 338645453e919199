// VJPs that Sacado records: the cases of every tape, and what its scalar and its memory promise.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <xloom/sacado.hpp>

#include "support/recorded_cases.hpp"

namespace sacado_test {

using namespace xloom;
using namespace recorded_cases;

TEST_CASE_TEMPLATE("a recurrence, for every checkpoint and layout", Matrix, mat,
    xt::xtensor<double, 2, xt::layout_type::column_major>)
{
    check_recurrence<sacado_tape, Matrix>();
}

TEST_CASE("a loop that ends by itself, whose carried value grows, and one that counts")
{
    check_loops<sacado_tape>();
}

TEST_CASE("a branch") { check_branch<sacado_tape>(); }

TEST_CASE("a body that throws ends its recording") { check_throwing_body<sacado_tape>(); }

namespace {

using scalar = sacado_tape::scalar;
constexpr recorded_with<sacado_tape> recorded;

/// Returns the derivatives of a function of two numbers.
template <class F>
std::vector<double> partials(F f, double a, double b)
{
    sacado_tape tape;
    scalar const x = tape.input(a), y = tape.input(b);
    tape.output(f(x, y));
    std::vector<double> const ct = {1};
    std::vector<double> by_inputs(2, -1);
    tape.reverse(ct, by_inputs);
    return by_inputs;
}

/// Checks the value and both derivatives of a generic function, the latter by central differences in the
/// widest type.
template <class F>
void check_function(F f, double a, double b)
{
    CAPTURE(a);
    CAPTURE(b);
    long double const d = 1e-6L, x = a, y = b;
    auto const found = partials(f, a, b);
    long double const by_x = (f(x + d, y) - f(x - d, y)) / (2 * d),
                      by_y = (f(x, y + d) - f(x, y - d)) / (2 * d);
    CHECK(found[0] == doctest::Approx(static_cast<double>(by_x)).epsilon(1e-9));
    CHECK(found[1] == doctest::Approx(static_cast<double>(by_y)).epsilon(1e-9));
    CHECK(f(scalar(a), scalar(b)).value() == doctest::Approx(static_cast<double>(f(x, y))).epsilon(1e-14));
}

std::string message_of_recording()
{
    try {
        sacado_tape second;
    } catch (body_error const& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("operators and functions")
{
    using namespace std;
    for (double const x : {-0.75, 0.375}) {
        double const y = 0.625;
        check_function([](auto a, auto b) { return +a - (-b); }, x, y);
        check_function([](auto a, auto b) { return a * b - a / b; }, x, y);
        check_function([](auto a, auto b) { return 2 * a + b / 3 - (1 - a) * (b + 5.0) / a; }, x, y);
        check_function(
            [](auto a, auto b) {
                a += b;
                b -= a;
                a *= b;
                b /= a;
                return a + b;
            },
            x, y);
        check_function([](auto a, auto b) { return abs(a) * fabs(b); }, x, y);
        check_function([](auto a, auto b) { return 3 * (max)(a, b) + (min)(a, b); }, x, y);
        check_function([](auto a, auto b) { return sqrt(b) * cbrt(a); }, x, y);
        check_function([](auto a, auto b) { return exp(a) * log(b) * log10(b); }, x, y);
        check_function([](auto a, auto b) { return sin(a) * cos(b) + tan(a); }, x, y);
        check_function([](auto a, auto b) { return asin(a) * acos(b) + atan(a); }, x, y);
        check_function([](auto a, auto b) { return atan2(a, b); }, x, y);
        check_function([](auto a, auto b) { return sinh(a) * cosh(b) + tanh(a); }, x, y);
        check_function([](auto a, auto b) { return asinh(a) * acosh(b + 1) + atanh(a); }, x, y);
        check_function([](auto a, auto b) { return pow(b, a); }, x, y);
    }
    CHECK(scalar(1) < 2);
    CHECK(2 >= scalar(2));
    CHECK(scalar(2) == 2);
    CHECK(scalar() == 0);
}

TEST_CASE("the larger and the smaller of a number and a constant")
{
    auto const limited = [](auto x, auto y) {
        return 3 * max(x, 0.5) + 5 * min(y, 2) + 7 * max(1, y) + min(1, x);
    };
    CHECK(partials(limited, 0.75, 4) == std::vector<double>{4, 7});
    CHECK(partials(limited, 0.25, 0.5) == std::vector<double>{1, 5});
}

TEST_CASE("powers of zero have derivatives")
{
    CHECK(partials([](auto x, auto) { return pow(x, 0); }, 0, 0) == std::vector<double>{0, 0});
    CHECK(partials([](auto x, auto) { return pow(x, 1); }, 0, 0) == std::vector<double>{1, 0});
    CHECK(partials([](auto x, auto) { return pow(x, 2); }, 0, 0) == std::vector<double>{0, 0});
    CHECK(partials([](auto x, auto y) { return pow(x, y); }, 0, 3) == std::vector<double>{0, 0});
    CHECK(partials([](auto x, auto) { return pow(x, 3); }, -2, 0) == std::vector<double>{12, 0});
}

TEST_CASE("what an expression returns may be kept by auto")
{
    auto const twice_squared = [](auto const& x, auto const& y) {
        auto const twice = x + x;
        auto copy = twice;
        copy *= twice;
        return copy * y;
    };
    CHECK(partials(twice_squared, 3, 2) == std::vector<double>{48, 36});
}

TEST_CASE("outputs that are repeated, constant, inputs or never assigned")
{
    sacado_tape tape;
    scalar const x = tape.input(3);
    static_cast<void>(tape.input(4));
    scalar const square = x * x;
    for (scalar const& output : {square, square, scalar(7), x, scalar()})
        tape.output(output);
    std::vector<double> const ct = {1, 10, 100, 1000, 10000};
    std::vector<double> by_inputs(2, -1);
    tape.reverse(ct, by_inputs);
    CHECK(by_inputs == std::vector<double>{6 * 11 + 1000, 0});
}

TEST_CASE("no outputs, no inputs, and no operations at all")
{
    std::vector<double> const none, one = {1};
    std::vector<double> by_input = {-1}, nothing;
    {
        sacado_tape tape;
        static_cast<void>(tape.input(2) * 3);
        tape.reverse(none, by_input);
        CHECK(by_input == std::vector<double>{0});
    }
    {
        sacado_tape tape;
        tape.output(scalar(2) * 3);
        tape.reverse(one, nothing);
    }
    sacado_tape tape;
    tape.reverse(none, nothing);
}

TEST_CASE("a recording leaves nothing to the next one")
{
    auto const product = [](auto const& x, auto const& y) {
        auto result = x;
        for (int i = 0; i < 1000; ++i) // several blocks of memory
            result = result * y;
        return result;
    };
    for (int repeat = 0; repeat < 3; ++repeat) {
        CHECK(partials(product, 2, 1) == std::vector<double>{1, 2000});
        sacado_tape abandoned;
        scalar const x = abandoned.input(1);
        abandoned.output(x / 0.0);
    }
}

TEST_CASE("a recording that is not reversed gives its memory back")
{
    auto const begin_of_memory = [] {
        {
            sacado_tape abandoned;
            static_cast<void>(abandoned.input(1) * 2);
        }
        return new Sacado::Rad::ADvari<double>(0.0);
    };
    auto const* const first = begin_of_memory();
    CHECK(begin_of_memory() == first);
}

TEST_CASE("a second recording is refused as long as the first one lasts")
{
    char const* const text = "xloom::sacado_tape: a recording must end before the next one begins, but "
                             "another one lasts. Sacado::Rad "
                             "has one memory for all threads: record in one thread at a time, and not within "
                             "a body that is recorded.";
    {
        sacado_tape first;
        CHECK(message_of_recording() == text);
        std::string of_thread;
        std::thread([&] { of_thread = message_of_recording(); }).join();
        CHECK(of_thread == text);
        std::vector<double> by_input(1);
        scalar const x = first.input(3);
        first.output(x * x);
        first.reverse(std::vector<double>{1}, by_input);
        CHECK(by_input[0] == 6);
        CHECK(message_of_recording() == ""); // reverse ends a recording
    }
    CHECK(message_of_recording() == "");
    check_nested_recording<sacado_tape>(text);
}

} // namespace sacado_test
