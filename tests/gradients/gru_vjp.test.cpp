// The backward passes of GRU and RNN: gradients against derivatives of the forward pass, in every option;
// threads, errors.

#include <doctest/doctest.h>

#include <type_traits>

#include <xloom/interop/threads.hpp>

#include "support/single_state_vjp_calls.hpp"

namespace gru_vjp_test {

using namespace xloom;

TEST_CASE_TEMPLATE("gru_vjp_into, rnn_vjp_into: the derivatives of scalars that carry them", family,
    gru_vjp_family, rnn_vjp_family)
{
    for (unsigned seed = 0; seed < 60; ++seed)
        check_any_gradient<family>(seed, [&](auto& options, recurrent_sizes& sizes, std::mt19937& random) {
            family::set_own(options, random() % 2 == 0);
            if (seed % 2 == 0)
                draw_activations<family>(options, sizes, random);
            else if (random() % 3 == 0)
                options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
        });
}

TEST_CASE_TEMPLATE(
    "gru_vjp_into, rnn_vjp_into: each activation in each place", family, gru_vjp_family, rnn_vjp_family)
{
    std::mt19937 random(5);
    for (std::size_t place = 0; place < family::default_activations.size(); ++place)
        for (std::size_t kind = 0; kind < activation_count; ++kind) {
            typename family::options options;
            family::set_own(options, kind % 2 == 0);
            for (activation const each : family::default_activations)
                options.activations.push_back({each});
            options.activations[place] = {static_cast<activation>(kind), 0.3, 0.2};
            auto const in = family::template draw<double>(random, {3, 2, 2, 5, 1});
            CAPTURE(place);
            CAPTURE(kind);
            auto const ct = random_cotangents<double>(random, family::template textbook<double>(in, options));
            check_gradients<family>(random, in, options, family::template vjp<double>(in, options, ct), ct);
        }
}

TEST_CASE_TEMPLATE(
    "gru_vjp_into, rnn_vjp_into: blocks of steps, with rows of any length; any number of threads", family,
    gru_vjp_family, rnn_vjp_family)
{
    std::mt19937 random(6);
    for (bool const own : {false, true}) {
        typename family::options options;
        options.direction = "bidirectional";
        family::set_own(options, own);
        auto const in = family::template draw<double>(random, {24, 23, 9, 21, 2}, with_all, {.weights = 0.2});
        auto const ct = random_cotangents<double>(random, family::template textbook<double>(in, options));
        auto const expected = family::template vjp<double>(in, options, ct);
        for (std::size_t const threads : {2u, 3u})
            CHECK(have_same_gradients<family, double>(
                family::template vjp<double>(in, options, ct, {}, thread_policy{threads}), expected));
        auto const small = family::template draw<double>(random, {24, 23, 2, 3, 2});
        auto const small_ct =
            random_cotangents<double>(random, family::template textbook<double>(small, options));
        check_gradients<family>(
            random, small, options, family::template vjp<double>(small, options, small_ct), small_ct, 1e-11);
    }
}

TEST_CASE_TEMPLATE("gru_forward_into, rnn_forward_into: the bits of gru_into and rnn_into; a gradient does "
                   "not depend on the "
                   "others",
    family, gru_vjp_family, rnn_vjp_family)
{
    for (bool const own : {false, true}) {
        std::mt19937 random(7);
        typename family::options options;
        family::set_own(options, own);
        auto const in = family::template draw<float>(random, {7, 5, 3, 17, 1});
        auto const expected = family::template call<float>(in, options);
        typename family::template tensors<float> const given(in);
        output_tensors<float> out(arrays_of(family::template textbook<float>(in, options)),
            placement::row_major, {true, true, false});
        typename family::template residuals<float> residuals;
        recurrent_workspace<float> workspace;
        typename family::template weights<float> const weights(
            given.constants(), family::options_of(options));
        detail::single_state_outputs<float> const outputs{out.Y, out.Y_h};
        family::forward_into(given.X, weights, given.start(), outputs, residuals, workspace);
        CHECK(have_same_bits(to_array(out.Y), expected.Y));
        CHECK(have_same_bits(to_array(out.Y_h), expected.Y_h));

        auto const ct = random_cotangents<float>(random, family::template textbook<float>(in, options));
        auto const all = family::template vjp<float>(in, options, ct);
        for (unsigned wanted = 0; wanted < 32; ++wanted) {
            auto const some = family::template vjp<float>(in, options, ct, {.wanted = wanted});
            for (std::size_t i = 0; i < 5; ++i)
                if (wanted >> i & 1)
                    CHECK(have_same_bits(*family::parts(some)[i], *family::parts(all)[i]));
        }
    }
}

TEST_CASE_TEMPLATE(
    "gru_vjp_into, rnn_vjp_into: errors, before anything is written", family, gru_vjp_family, rnn_vjp_family)
{
    using weights_type = typename family::template weights<float>;
    using cotangents_type = detail::single_state_cotangents<float>;
    std::mt19937 random(1);
    auto const in = family::template draw<float>(random, {3, 2, 4, 5, 1}, with_B);
    typename family::template tensors<float> const given(in);
    weights_type const weights(given.constants(), {}, for_training);
    typename family::template residuals<float> residuals;
    recurrent_workspace<float> workspace;
    xt::xtensor<float, 3> X = xt::ones<float>({3, 2, 4}), ct_X = 7 * X, wrong = xt::ones<float>({1, 5, 2});
    auto const vjp_into = [&](weights_type const& packed, cotangents_type const& ct, auto& gradient) {
        family::vjp_into(
            X, packed, residuals, ct, detail::single_state_gradients<float>{.X = gradient}, workspace);
    };
    std::string const begin = std::string("xloom::") + family::name;
    std::string const unfinished =
        begin +
        "_vjp_into: the residuals must be those of a forward pass, but none has finished with them. Call " +
        begin + "_forward_into first.";
    CHECK_THROWS_WITH_AS(vjp_into(weights, {}, ct_X), unfinished.c_str(), option_error);
    family::forward_into(X, weights, detail::single_state_start<float>(),
        detail::single_state_outputs<float>(), residuals, workspace);
    std::string const text =
        begin + "_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1 and H = 5 give "
                "them, but ct_Y_h is [1, 5, 2] instead of [D, N, H] = [1, 2, 5]. Transpose it.";
    CHECK_THROWS_WITH_AS(vjp_into(weights, {.Y_h = wrong}, ct_X), text.c_str(), shape_error);
    CHECK_THROWS_AS(vjp_into(weights, {}, X), overlap_error);
    weights_type const other(given.constants(), {.clip = 1}, for_training);
    CHECK_THROWS_AS(vjp_into(other, {}, ct_X), option_error);
    CHECK(ct_X == 7 * X);
    vjp_into(weights, {}, ct_X); // without cotangents, nothing
    CHECK(ct_X == 7 * X);
    if constexpr (std::is_same_v<family, gru_vjp_family>) {
        weights_type const linear(given.constants(), {.linear_before_reset = true}, for_training);
        CHECK_THROWS_AS(vjp_into(linear, {}, ct_X), option_error);
    }
}

} // namespace gru_vjp_test
