// Prints the error of residuals of another level than that of the weights of the backward pass. Includes all
// headers, as programs may.

#include <cstdio>

#include <xloom/xloom.hpp>

int main()
{
    using xloom::dispatch::level;
    xt::xtensor<float, 3> const X = xt::ones<float>({1, 1, 1}), W = xt::ones<float>({1, 4, 1}), R = W;
    xt::xtensor<float, 3> ct_X = X;
    xloom::lstm_constants<float> const constants{.W = W, .R = R};
    xloom::lstm_residuals<float> residuals;
    xloom::recurrent_workspace<float> workspace;
    xloom::dispatch::force_level(level::sse2);
    xloom::lstm_forward_into(X, xloom::lstm_weights<float>(constants), {}, {}, residuals, workspace);
    if (!xloom::dispatch::is_supported(level::avx2)) {
        std::puts("not run: this processor has one level");
        return 0;
    }
    xloom::dispatch::force_level(level::avx2);
    try {
        xloom::lstm_vjp_into(X, xloom::lstm_weights<float>(constants, {}, xloom::for_training), residuals, {},
            {.X = ct_X}, workspace);
    } catch (xloom::option_error const& error) {
        std::puts(error.what());
    }
}
