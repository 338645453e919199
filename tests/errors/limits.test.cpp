// The caps on ranks and on the number of operands, word for word.

#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include <xloom/scan.hpp>

namespace errors_limits_test {

using namespace xloom;

TEST_CASE("scan refuses more axes than max_rank")
{
    xt::xarray<float> const deep = xt::ones<float>(std::vector<std::size_t>(max_rank + 1, 1));
    CHECK_THROWS_WITH_AS(scan(
                             [](float n, auto const&) {
                                 return scan_step{n, n};
                             },
                             0.0f, deep),
        "xloom: a list holds at most 16 items (max_rank, max_operands), but was given 17.", option_error);
    xt::xarray<float> const deepest = xt::ones<float>(std::vector<std::size_t>(max_rank, 1));
    CHECK_THROWS_WITH_AS(scan(
                             [&](float n, float) {
                                 return scan_step{n, deepest};
                             },
                             0.0f, xt::xtensor<float, 1>{1, 2}),
        "xloom::scan: a tensor may have at most 16 axes (max_rank), but scan_outputs[0] would stack elements of the shape [1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]. Return elements of a lower rank.",
        option_error);
}

TEST_CASE("scan refuses more inputs than max_operands")
{
    xt::xtensor<int, 1> const row{1, 2, 3};
    auto const inputs = []<std::size_t... I>(auto const& input, std::index_sequence<I...>) { return std::tie((void(I), input)...); };
    auto const total = [](int n, auto... x_t) { return scan_step{(n + ... + x_t)}; };
    CHECK(scan(total, 0, inputs(row, std::make_index_sequence<max_operands>())).final_state == 6 * 32);
    CHECK_THROWS_WITH_AS(scan(total, 0, inputs(row, std::make_index_sequence<max_operands + 1>())),
        "xloom::scan: there may be at most 32 operands of one kind (max_operands), but there are 33 scan inputs. Stack some of them into "
        "one tensor.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(total, 0, row, {.input_axes = axes(max_operands + 1, 0)}),
        "xloom: a list holds at most 32 items (max_rank, max_operands), but was given 33.", option_error);
}

} // namespace errors_limits_test
