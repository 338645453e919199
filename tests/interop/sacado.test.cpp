// VJPs that Sacado records: the cases of every tape, and what its scalar and its memory promise.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <xloom/interop/sacado.hpp>

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

TEST_CASE("bodies that return expressions") { check_returned_expressions<sacado_tape>(); }

TEST_CASE("results without a derivative") { check_constant_results<sacado_tape>(); }

TEST_CASE("a body that throws ends its recording") { check_throwing_body<sacado_tape>(); }

TEST_CASE("a body that returns other numbers when it is recorded") { check_other_results<sacado_tape>(); }

namespace {

using scalar = sacado_tape::scalar;
constexpr recorded_with<sacado_tape> recorded;

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

TEST_CASE("operators and functions") { check_functions<sacado_tape>(); }

TEST_CASE("the number of a tape compares with numbers")
{
    CHECK(scalar(1) < 2);
    CHECK(2 >= scalar(2));
    CHECK(scalar(2) == 2);
    CHECK(scalar() == 0);
}

TEST_CASE("powers of zero have derivatives")
{
    CHECK(partials<sacado_tape>([](auto x, auto) { return pow(x, 0); }, 0, 0) == std::vector<double>{0, 0});
    CHECK(partials<sacado_tape>([](auto x, auto) { return pow(x, 1); }, 0, 0) == std::vector<double>{1, 0});
    CHECK(partials<sacado_tape>([](auto x, auto) { return pow(x, 2); }, 0, 0) == std::vector<double>{0, 0});
    CHECK(partials<sacado_tape>([](auto x, auto y) { return pow(x, y); }, 0, 3) == std::vector<double>{0, 0});
    CHECK(partials<sacado_tape>([](auto x, auto) { return pow(x, 3); }, -2, 0) == std::vector<double>{12, 0});
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
        CHECK(partials<sacado_tape>(product, 2, 1) == std::vector<double>{1, 2000});
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
