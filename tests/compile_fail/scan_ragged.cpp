// Mistakes in a call of scan_ragged or scan_ragged_into.
// clang-format off
// 1: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 2: a state is a tensor whose axis 0 is the batch, or the segments
// 3: a scan input or output must be a tensor: of xtensor, a std::vector
// 4: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 5: the body must be callable as body(state const&..., element const&...)
// 6: the body must return xloom::scan_step{state, scan_outputs}
// 7: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 8: a state is a tensor whose axis 0 is the batch, or the segments
// 9: a state is updated in place, so it must not be const
// 10: a scan input or output must be a tensor: of xtensor, a std::vector
// 11: a scan output is written, so it must not be const
// 12: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 13: the body must be callable as body(state&..., element const&..., output&...)
// 14: the body writes through its references and must return void
// 15: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// clang-format on
#include <array>

#include <xloom/control_flow/scan_ragged.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> const x = {1, 2}, init = {0, 0};
    xt::xtensor<float, 1> h = init, y = x;
    xt::xtensor<int, 1> const splits = {0, 1, 2};
    auto const add = [](float a, float b) { return xloom::scan_step{a + b, a + b}; };
    auto const update = [](float& a, float b, float& c) { c = a += b; };
#if CASE == 0
    xloom::scan_ragged(add, init, x, splits);
    xloom::scan_ragged_into(update, h, x, splits, y);
#elif CASE == 1
    xloom::scan_ragged(add, std::make_tuple(std::make_tuple(h)), x, splits);
#elif CASE == 2
    xloom::scan_ragged(add, 0.0f, x, splits);
#elif CASE == 3
    xloom::scan_ragged(add, init, std::array<float, 2>{1, 2}, splits);
#elif CASE == 4
    xloom::scan_ragged(add, init, x, x);
#elif CASE == 5
    xloom::scan_ragged([](float a) { return xloom::scan_step{a, a}; }, init, x, splits);
#elif CASE == 6
    xloom::scan_ragged([](float a, float) { return a; }, init, x, splits);
#elif CASE == 7
    xloom::scan_ragged_into(update, std::make_tuple(std::make_tuple(h)), x, splits, y);
#elif CASE == 8
    float scalar = 0;
    xloom::scan_ragged_into(update, scalar, x, splits, y);
#elif CASE == 9
    xloom::scan_ragged_into(update, init, x, splits, y);
#elif CASE == 10
    xloom::scan_ragged_into(update, h, std::array<float, 2>{1, 2}, splits, y);
#elif CASE == 11
    xloom::scan_ragged_into(update, h, x, splits, x);
#elif CASE == 12
    xloom::scan_ragged_into(update, h, x, x, y);
#elif CASE == 13
    xloom::scan_ragged_into([](float& a, float b) { a += b; }, h, x, splits, y);
#elif CASE == 14
    xloom::scan_ragged_into([](float& a, float b, float& c) { return c = a += b; }, h, x, splits, y);
#elif CASE == 15
    xloom::scan_ragged_into([](float& a, float b, float c) { c = a += b; }, h, x, splits, y);
#endif
    static_cast<void>(add), static_cast<void>(update), static_cast<void>(y), static_cast<void>(h);
}
