// Prints a step of an LSTM, whose kernel xloom_dispatch holds, at the lowest level.

#include <cstdio>

#include <xloom/recurrent/lstm_cell.hpp>

int main()
{
    xloom::dispatch::force_level(xloom::dispatch::level::sse2);
    xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}, R = xt::zeros<float>({1, 4, 1});
    xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = W, .R = R}));
    xt::xtensor<float, 1> h = {0}, c = {0};
    cell(h, c, xt::xtensor<float, 1>{1});
    cell(h, c, xt::xtensor<float, 1>{3});
    std::printf("h = %.3f\n", static_cast<double>(h(0)));
}
