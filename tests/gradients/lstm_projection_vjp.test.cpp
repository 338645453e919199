// The backward pass of an LSTM whose h is projected.

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "support/projected_lstm.hpp"
#include "support/threads_or_backwards.hpp"

namespace lstm_projection_vjp_test {

using family = projected_lstm_family;

TEST_CASE("a projected LSTM's backward pass: the derivatives of scalars that carry them")
{
    auto const set = [](family::options& options, recurrent_sizes& sizes, std::mt19937& random) {
        family::set_own(options, random() % 4 == 0);
        if (random() % 2 == 0)
            options.clip = 0.7;
        if (random() % 4 == 0)
            options.activations = random_activations(random, sizes.D, 3);
    };
    for (unsigned seed = 0; seed < 40; ++seed)
        check_any_gradient<family>(seed, set);
}

TEST_CASE("a projected LSTM's backward pass: blocks of steps, with rows of any length, on threads")
{
    std::mt19937 random(2);
    auto in = random_lstm<double>(random, {90, 9, 3, 5});
    project(random, in, 3, {});
    auto const ct = random_cotangents<double>(random, family::textbook<double>(in, {}));
    auto const gradients = family::vjp<double>(in, {}, ct);
    check_gradients<family>(random, in, {}, gradients, ct, 1e-11);
    CHECK(have_same_gradients<family, double>(
        gradients, family::vjp<double>(in, {}, ct, {}, threads_or_backwards{3, true})));
}

TEST_CASE("a projected LSTM's backward pass: central differences of the textbook")
{
    std::mt19937 random(7);
    family::options options;
    options.direction = "bidirectional";
    check_central_differences<family>(family::draw<double>(random, {4, 3, 2, 3, 2}), options);
}

TEST_CASE("a projected LSTM's backward pass: gradients that do not have their shapes")
{
    using namespace xloom;
    xt::xtensor<double, 3> const X = xt::zeros<double>({2, 1, 3}), W = xt::zeros<double>({1, 16, 3}),
                                 R = xt::zeros<double>({1, 16, 2}), projection = xt::zeros<double>({1, 2, 4}),
                                 square = xt::zeros<double>({1, 16, 4});
    auto ct_projection = xt::xtensor<double, 3>::from_shape({1, 4, 2});
    recurrent_workspace<double> workspace;
    auto const error_of = [&](lstm_constants<double> const& constants) {
        lstm_weights<double> const weights(constants, {}, for_training);
        lstm_residuals<double> residuals;
        lstm_forward_into(X, weights, {}, {}, residuals, workspace);
        try {
            lstm_vjp_into(X, weights, residuals, {}, {.projection = ct_projection}, workspace);
        } catch (shape_error const& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(error_of({.W = W, .R = R, .projection = projection}) ==
          "xloom::lstm_vjp_into: the operands must have the shapes that T = 2, N = 1, D = 1, H = 4 and K = 2 "
          "give them, but ct_projection is [1, 4, 2] instead of [D, K, H] = [1, 2, 4]. Transpose it.");
    CHECK(
        error_of({.W = W, .R = square}) ==
        "xloom::lstm_vjp_into: ct_projection must be omitted, because the weights have no projection, but it "
        "is given. Omit it.");
}

TEST_CASE("residuals of an LSTM without a projection, for one with a projection to as many numbers")
{
    using namespace xloom;
    xt::xtensor<float, 3> const X = xt::ones<float>({2, 1, 1}), W = xt::ones<float>({1, 4, 1}), R = W,
                                projection = xt::ones<float>({1, 1, 1});
    xt::xtensor<float, 3> ct_R = R;
    lstm_weights<float> const plain({.W = W, .R = R}, {}, for_training),
        projected({.W = W, .R = R, .projection = projection}, {}, for_training);
    recurrent_workspace<float> workspace;
    lstm_residuals<float> residuals;
    for (auto const& [first, second] : {std::pair(&plain, &projected), std::pair(&projected, &plain)}) {
        lstm_forward_into(X, *first, {}, {}, residuals, workspace);
        CHECK_THROWS_AS(
            lstm_vjp_into(X, *second, residuals, {.Y_h = projection}, {.R = ct_R}, workspace), shape_error);
    }
}

} // namespace lstm_projection_vjp_test
