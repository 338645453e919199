// The backward pass of GRU: gradients against derivatives of the forward pass, in every option; threads,
// errors.

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>

#include "support/gru_vjp_calls.hpp"

namespace gru_vjp_test {

using namespace xloom;
using family = gru_vjp_family;

TEST_CASE("gru_vjp_into: the derivatives of scalars that carry them")
{
    for (unsigned seed = 0; seed < 60; ++seed)
        check_any_gradient<family>(seed, [&](auto& options, recurrent_sizes& sizes, std::mt19937& random) {
            options.linear_before_reset = random() % 2 == 0;
            if (seed % 2 == 0)
                draw_activations<family>(options, sizes, random);
            else if (random() % 3 == 0)
                options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
        });
}

TEST_CASE("gru_vjp_into: each activation in each place")
{
    std::mt19937 random(5);
    for (std::size_t place = 0; place < 2; ++place)
        for (std::size_t kind = 0; kind < activation_count; ++kind) {
            family::options options;
            options.linear_before_reset = kind % 2 == 0;
            options.activations = {{activation::sigmoid}, {activation::tanh}};
            options.activations[place] = {static_cast<activation>(kind), 0.3, 0.2};
            auto const in = family::draw<double>(random, {3, 2, 2, 5, 1});
            CAPTURE(place);
            CAPTURE(kind);
            auto const ct = random_cotangents<double>(random, family::textbook<double>(in, options));
            check_gradients<family>(random, in, options, family::vjp<double>(in, options, ct), ct);
        }
}

TEST_CASE("gru_vjp_into: blocks of steps, with rows of any length; any number of threads")
{
    std::mt19937 random(6);
    for (bool const is_linear : {false, true}) {
        family::options options;
        options.direction = "bidirectional";
        options.linear_before_reset = is_linear;
        auto const in = family::draw<double>(random, {60, 23, 9, 21, 2}, with_all, {.weights = 0.2});
        auto const ct = random_cotangents<double>(random, family::textbook<double>(in, options));
        auto const expected = family::vjp<double>(in, options, ct);
        for (std::size_t const threads : {2u, 3u})
            CHECK(have_same_gradients<family, double>(
                family::vjp<double>(in, options, ct, {}, thread_policy{threads}), expected));
        auto const small = family::draw<double>(random, {60, 23, 2, 3, 2});
        auto const small_ct = random_cotangents<double>(random, family::textbook<double>(small, options));
        check_gradients<family>(
            random, small, options, family::vjp<double>(small, options, small_ct), small_ct, 1e-11);
    }
}

TEST_CASE("gru_forward_into has the bits of gru_into; a gradient does not depend on the others")
{
    for (bool const is_linear : {false, true}) {
        std::mt19937 random(7);
        family::options options;
        options.linear_before_reset = is_linear;
        auto const in = family::draw<float>(random, {7, 5, 3, 17, 1});
        auto const expected = family::call<float>(in, options);
        gru_tensors<float> const given(in);
        output_tensors<float> out(
            arrays_of(family::textbook<float>(in, options)), placement::row_major, {true, true, false});
        gru_residuals<float> residuals;
        recurrent_workspace<float> workspace;
        gru_weights<float> const weights(given.constants(), family::options_of(options));
        gru_forward_into(given.X, weights, given.start(), {out.Y, out.Y_h}, residuals, workspace);
        CHECK(have_same_bits(to_array(out.Y), expected.Y));
        CHECK(have_same_bits(to_array(out.Y_h), expected.Y_h));

        auto const ct = random_cotangents<float>(random, family::textbook<float>(in, options));
        auto const all = family::vjp<float>(in, options, ct);
        for (unsigned wanted = 0; wanted < 32; ++wanted) {
            auto const some = family::vjp<float>(in, options, ct, {.wanted = wanted});
            for (std::size_t i = 0; i < 5; ++i)
                if (wanted >> i & 1)
                    CHECK(have_same_bits(*family::parts(some)[i], *family::parts(all)[i]));
        }
    }
}

TEST_CASE("gru_vjp_into: errors, before anything is written")
{
    std::mt19937 random(1);
    auto const in = family::draw<float>(random, {3, 2, 4, 5, 1}, with_B);
    gru_tensors<float> const given(in);
    gru_weights<float> const weights(given.constants(), {}, for_training);
    gru_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    xt::xtensor<float, 3> X = xt::ones<float>({3, 2, 4}), ct_X = 7 * X, wrong = xt::ones<float>({1, 5, 2});
    CHECK_THROWS_AS(gru_vjp_into(X, weights, residuals, {}, {.X = ct_X}, workspace), shape_error);
    gru_forward_into(X, weights, {}, {}, residuals, workspace);
    CHECK_THROWS_WITH_AS(gru_vjp_into(X, weights, residuals, {.Y_h = wrong}, {.X = ct_X}, workspace),
        "xloom::gru_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1 and H = 5 give "
        "them, but ct_Y_h is [1, 5, 2] instead of [D, N, H] = [1, 2, 5]. Transpose it.",
        shape_error);
    CHECK_THROWS_AS(gru_vjp_into(X, weights, residuals, {}, {.X = X}, workspace), overlap_error);
    gru_weights<float> const other(given.constants(), {.linear_before_reset = true}, for_training);
    CHECK_THROWS_AS(gru_vjp_into(X, other, residuals, {}, {.X = ct_X}, workspace), option_error);
    CHECK(ct_X == 7 * X);
    gru_vjp_into(X, weights, residuals, {}, {.X = ct_X}, workspace); // without cotangents, nothing
    CHECK(ct_X == 7 * X);
}

} // namespace gru_vjp_test
