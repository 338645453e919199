// Which operands of scan_into may share memory, and the text of the refusal.

#include <doctest/doctest.h>

#include <string>

#include <xloom/control_flow/scan.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_overlap_test {

using namespace xloom;
using enum direction;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// A body must not run.
constexpr auto never = [](auto&...) { FAIL_CHECK("the body ran"); };

vector ones(std::size_t n) { return xt::ones<float>({n}); }
matrix ones(std::size_t n, std::size_t m) { return xt::ones<float>({n, m}); }

char const* const or_traversal = ", or give both the same axis and direction";
char const* const or_tensor = ", or pass one tensor as both";

std::string overlap_text(char const* pairs, char const* remedy)
{
    return std::string("xloom::scan_into: an operand that is written must have memory of its own, but ") +
           pairs + ". Copy one of the two" + remedy + ".";
}

/// One call that must end in an overlap_error.
template <class States, class Inputs, class Outputs>
void refuse_overlap(States&& states, Inputs const& inputs, Outputs&& outputs, char const* pairs,
    char const* remedy = "", scan_options const& options = {})
{
    CHECK_THROWS_WITH_AS(
        scan_into(never, static_cast<States&&>(states), inputs, static_cast<Outputs&&>(outputs), options),
        overlap_text(pairs, remedy).c_str(), overlap_error);
}

} // namespace

TEST_CASE("scan_into refuses an output in the memory of an input that is walked otherwise")
{
    vector h = ones(3);
    matrix x = ones(3, 3);
    refuse_overlap(h, x, x, "scan_outputs[0] overlaps scan_inputs[0]", or_traversal,
        {.scan_input_directions = {reverse}});
    refuse_overlap(h, x, x, "scan_outputs[0] overlaps scan_inputs[0]", or_traversal,
        {.scan_output_directions = {reverse}});
    refuse_overlap(
        h, x, x, "scan_outputs[0] overlaps scan_inputs[0]", or_traversal, {.scan_output_axes = {1}});
    refuse_overlap(h, std::tie(x, x), x, "scan_outputs[0] overlaps scan_inputs[1]", or_traversal,
        {.scan_input_directions = {forward, reverse}});
}

TEST_CASE("scan_into refuses a shifted view of an input's buffer")
{
    vector h = ones(3);
    vector buffer = ones(7);
    auto const early = xt::view(buffer, xt::range(0, 6));
    auto late = xt::view(buffer, xt::range(1, 7));
    refuse_overlap(h, early, late, "scan_outputs[0] overlaps scan_inputs[0]", or_tensor);
    auto even = xt::view(buffer, xt::range(0, 6, 2));
    auto const fourth = xt::view(buffer, xt::range(4, 7));
    refuse_overlap(h, fourth, even, "scan_outputs[0] overlaps scan_inputs[0]", or_tensor);
}

TEST_CASE("scan_into refuses outputs that overlap each other")
{
    vector h = ones(3);
    matrix const x = ones(3, 4);
    matrix y = ones(3, 4);
    matrix other = ones(3, 4);
    refuse_overlap(h, x, std::tie(y, other, y), "scan_outputs[0] overlaps scan_outputs[2]");
    auto left = xt::view(y, xt::all(), xt::range(0, 3));
    auto right = xt::view(y, xt::all(), xt::range(2, 4));
    refuse_overlap(h, x, std::tie(left, right), "scan_outputs[0] overlaps scan_outputs[1]");
}

TEST_CASE("scan_into refuses a state in the memory of another operand")
{
    vector h = ones(4);
    matrix x = ones(3, 4);
    matrix y = ones(3, 4);
    auto row = xt::view(x, 1, xt::all());
    refuse_overlap(row, x, y, "states[0] overlaps scan_inputs[0]");
    auto last = xt::view(y, 2, xt::all());
    refuse_overlap(std::tie(h, last), x, y, "states[1] overlaps scan_outputs[0]");
    refuse_overlap(std::tie(h, h), x, y, "states[0] overlaps states[1]");
    refuse_overlap(x(2, 3), x, y, "states[0] overlaps scan_inputs[0]");
    float& corner = x(0, 0);
    refuse_overlap(std::tie(corner, corner), x, y,
        "states[0] overlaps states[1], states[0] overlaps scan_inputs[0] and states[1] overlaps "
        "scan_inputs[0]");
    CHECK(x == ones(3, 4));
}

TEST_CASE("scan_into may write over an input's own tensor, walked alike")
{
    auto const running = [](float& sum, auto const& x_t, auto& y_t) {
        sum += x_t(0);
        y_t(0) = sum;
        y_t(1) = -sum;
    };
    matrix x{{1, 0}, {2, 0}, {3, 0}};
    float sum = 0;
    scan_into(running, sum, x, x);
    CHECK(x == matrix{{1, -1}, {3, -3}, {6, -6}});
    sum = 0;
    scan_into(running, sum, x, x, {.scan_input_directions = {reverse}, .scan_output_directions = {reverse}});
    CHECK(x == matrix{{10, -10}, {9, -9}, {6, -6}});
    xt::xtensor<float, 2, xt::layout_type::column_major> columns = ones(2, 3);
    sum = 0;
    scan_into(running, sum, columns, columns, {.scan_input_axes = {1}, .scan_output_axes = {-1}});
    CHECK(columns == matrix{{1, 2, 3}, {-1, -2, -3}});
    // The other input is another part of the same tensor's owner, and only read.
    sum = 0;
    scan_into([](float& total, auto const& a, auto const& b, auto& y_t) { y_t(0) = total += a(0) * b(1); },
        sum, std::tie(x, x), x);
    CHECK(x(2, 0) == -100 - 81 - 36);
}

TEST_CASE("scan_into may write between the items of its input")
{
    vector buffer{1, 0, 2, 0, 3, 0};
    auto const even = xt::view(buffer, xt::range(0, 6, 2));
    auto odd = xt::view(buffer, xt::range(1, 6, 2));
    float sum = 0;
    scan_into([](float& total, float x_t, float& y_t) { y_t = total += x_t; }, sum, even, odd);
    CHECK(buffer == vector{1, 1, 2, 3, 3, 6});
}

TEST_CASE("scan_into may write the columns beside its input's")
{
    matrix buffer{{1, 2, 0, 0}, {3, 4, 0, 0}};
    auto const left = xt::view(buffer, xt::all(), xt::range(0, 2));
    auto right = xt::view(buffer, xt::all(), xt::range(2, 4));
    vector h = xt::zeros<float>({2});
    scan_into(
        [](vector& sum, auto const& x_t, auto& y_t) {
            xt::noalias(sum) = sum + x_t;
            xt::noalias(y_t) = sum;
        },
        h, left, right);
    CHECK(buffer == matrix{{1, 2, 1, 2}, {3, 4, 4, 6}});
}

TEST_CASE("a lazy input may read what the scan writes: it is evaluated before")
{
    matrix x{{1, 2}, {3, 4}};
    float n = 0;
    scan_into([](float&, auto const& x_t, auto& y_t) { xt::noalias(y_t) = x_t; }, n, 2.0f * x, x,
        {.scan_input_directions = {reverse}});
    CHECK(x == matrix{{6, 8}, {2, 4}});
}

} // namespace errors_overlap_test
