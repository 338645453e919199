// The backward pass of LSTM: gradients against derivatives of the forward pass, in every option.

#include <doctest/doctest.h>

#include "support/lstm_vjp_calls.hpp"

namespace lstm_vjp_test {

using namespace xloom;
using family = lstm_vjp_family;

TEST_CASE("lstm_vjp_into: the derivatives of scalars that carry them, with the default activations")
{
    for (unsigned seed = 0; seed < 40; ++seed)
        check_any_gradient<family>(seed, [](auto& options, recurrent_sizes&, std::mt19937& random) {
            options.input_forget = random() % 4 == 0;
            if (random() % 4 == 0)
                options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
        });
}

TEST_CASE("lstm_vjp_into: any activations, clipped and not")
{
    for (unsigned seed = 100; seed < 140; ++seed)
        check_any_gradient<family>(seed, [](auto& options, recurrent_sizes& sizes, std::mt19937& random) {
            options.input_forget = random() % 2 == 0;
            draw_activations<family>(options, sizes, random);
        });
}

TEST_CASE("lstm_vjp_into: each activation in each place")
{
    std::mt19937 random(5);
    for (std::size_t place = 0; place < 3; ++place)
        for (std::size_t kind = 0; kind < activation_count; ++kind) {
            family::options options;
            options.activations = {{activation::sigmoid}, {activation::tanh}, {activation::tanh}};
            options.activations[place] = {static_cast<activation>(kind), 0.3, 0.2};
            auto const in = family::draw<double>(random, {3, 2, 2, 5, 1});
            CAPTURE(place);
            CAPTURE(kind);
            auto const ct = random_cotangents<double>(random, family::textbook<double>(in, options));
            check_gradients<family>(random, in, options, family::vjp<double>(in, options, ct), ct);
        }
}

TEST_CASE("lstm_vjp_into: blocks of steps, with rows of any length")
{
    std::mt19937 random(6);
    for (std::string const direction : {"forward", "bidirectional"})
        for (recurrent_sizes sizes : {recurrent_sizes{24, 23, 2, 3, 1}, {3, 600, 1, 2, 1}}) {
            family::options options;
            options.direction = direction;
            sizes.D = direction == "forward" ? 1 : 2;
            auto const in = family::draw<double>(random, sizes);
            auto const ct = random_cotangents<double>(random, family::textbook<double>(in, options));
            check_gradients<family>(random, in, options, family::vjp<double>(in, options, ct), ct, 1e-11);
        }
}

TEST_CASE("lstm_vjp_into: central differences of the textbook")
{
    std::mt19937 random(7);
    family::options options;
    options.direction = "bidirectional";
    options.clip = 0.9;
    check_central_differences<family>(family::draw<double>(random, {4, 3, 2, 3, 2}), options);
}

TEST_CASE("lstm_vjp_into: a sum that is clipped has no cotangent, one at the limit has")
{
    // H = 1, one step: the sums are W, whose gate g is 0.75 beyond, at and within the limit.
    for (auto const& [limit, expected] : {std::pair(0.5, 0.0), std::pair(0.75, 1.0), std::pair(1.0, 1.0)}) {
        textbook::lstm_operands<double> in;
        in.X = {{1, 1, 1}, {1}};
        in.W = {{1, 4, 1}, {0, 0, 0, 0.75}};
        in.R = {{1, 4, 1}, {0, 0, 0, 0}};
        textbook::lstm_options options;
        options.clip = limit;
        options.activations = {
            {activation::affine, 1, 1}, {activation::affine, 1, 0}, {activation::affine, 1, 0}};
        auto const gradients = family::vjp<double>(in, options, {{}, {}, {{1, 1, 1}, {1}}});
        CHECK(gradients.W.items[3] == expected);
    }
}

} // namespace lstm_vjp_test
