// The backward pass of AttnLSTM: gradients against derivatives of the forward pass, in every option.

#include <doctest/doctest.h>

#include "support/attn_lstm_vjp_calls.hpp"

namespace attn_lstm_vjp_test {

using namespace xloom;
using family = attn_lstm_vjp_family;

namespace {

/// Rounding of the sum over all memory steps of the cotangents of scores, which is 0.
constexpr double noise = 1e-15;

/// A call by chance: sizes, operands, every option and memory.
template <class Set>
void check_any_attn_lstm_gradient(unsigned seed, Set const& set)
{
    std::mt19937 random(seed);
    std::size_t const some_H[] = {1, 3, 4, 5, 9};
    family::options options;
    options.direction = any_of(random, direction_names);
    recurrent_sizes const sizes{random() % 6, random() % 5, random() % 5, any_of(random, some_H),
        options.direction == "bidirectional" ? 2u : 1u};
    attention_sizes const attention{random() % 6, random() % 6, random() % 9, random() % 6};
    unsigned const which = random_choice(random);
    set(options, sizes, random);
    auto const in = random_attn_lstm<double>(random, sizes, attention, which);
    vjp_call const call{any_of(random, every_placement), any_of(random, every_placement)};
    std::string const text = text_of(sizes, which, options.direction, 0, call.from);
    CAPTURE(seed);
    CAPTURE(text);
    CAPTURE(attention.S);
    CAPTURE(attention.Md);
    CAPTURE(attention.A);
    CAPTURE(attention.Aw);
    auto const ct = random_attn_lstm_cotangents(random, in);
    check_gradients<family>(
        random, in, options, family::vjp<double>(in, options, ct, call), ct, 1e-12, noise);
}

} // namespace

TEST_CASE("attn_lstm_vjp_into: the derivatives of scalars that carry them")
{
    for (unsigned seed = 0; seed < 30; ++seed)
        check_any_attn_lstm_gradient(seed, [](auto& options, recurrent_sizes const&, std::mt19937& random) {
            options.input_forget = random() % 4 == 0;
            if (random() % 4 == 0)
                options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
        });
}

TEST_CASE("attn_lstm_vjp_into: any activations, clipped and not")
{
    for (unsigned seed = 100; seed < 115; ++seed)
        check_any_attn_lstm_gradient(
            seed, [](auto& options, recurrent_sizes const& sizes, std::mt19937& random) {
                options.input_forget = random() % 2 == 0;
                options.activations = random_activations(random, sizes.D, 3);
                if (random() % 2 == 0)
                    options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
            });
}

TEST_CASE("attn_lstm_vjp_into: scores with and without exponentials, of small and of large operands")
{
    // V above 64 in sum and keys above 150 rule out exponentials; queries of 400 overflow theirs.
    struct scales {
        double V, memory, weights;
    };
    for (scales const& scale :
        {scales{0.5, 1.0, 0.5}, {30.0, 1.0, 0.01}, {0.1, 400.0, 1.0}, {0.1, 1.0, 400.0}}) {
        std::mt19937 random(3);
        auto in = random_attn_lstm<double>(random, {4, 3, 2, 5, 2}, {7, 4, 9, 3});
        for (double& item : in.V.items)
            item *= 2 * scale.V;
        for (double& item : in.M.items)
            item *= scale.memory;
        for (double& item : in.QW.items)
            item *= 2 * scale.weights;
        auto const ct = random_attn_lstm_cotangents(random, in);
        family::options options;
        options.direction = "bidirectional";
        CAPTURE(scale.V);
        CAPTURE(scale.memory);
        CAPTURE(scale.weights);
        check_gradients<family>(
            random, in, options, family::vjp<double>(in, options, ct), ct, 1e-11, 1e-13 * scale.memory);
    }
}

TEST_CASE("attn_lstm_vjp_into: blocks of steps and of memories, with rows of any length")
{
    std::mt19937 random(6);
    for (recurrent_sizes const sizes : {recurrent_sizes{24, 23, 2, 3, 1}, {2, 300, 1, 2, 2}}) {
        family::options options;
        options.direction = sizes.D == 1 ? "forward" : "bidirectional";
        auto const in = random_attn_lstm<double>(random, sizes, {sizes.D == 1 ? 40u : 2u, 3, 4, 2});
        auto const ct = random_attn_lstm_cotangents(random, in);
        check_gradients<family>(random, in, options, family::vjp<double>(in, options, ct), ct, 1e-11, noise);
    }
}

TEST_CASE("attn_lstm_vjp_into: central differences of the textbook")
{
    std::mt19937 random(7);
    family::options options;
    options.direction = "bidirectional";
    auto const in = random_attn_lstm<double>(random, {4, 3, 2, 3, 2}, {3, 2, 2, 2});
    auto const ct = random_attn_lstm_cotangents(random, in);
    auto const gradients = family::vjp<double>(in, options, ct);
    for (std::size_t i = 0; i < 14; ++i)
        for (std::size_t k = 0; k < family::parts(in)[i]->items.size(); ++k) {
            double const step = 1e-6;
            double values[2];
            for (int const side : {0, 1}) {
                auto moved = in;
                family::parts(moved)[i]->items[k] += side == 0 ? -step : step;
                auto const outputs = textbook_attn_lstm(moved, options);
                inner_product product;
                for (std::size_t j = 0; j < 6; ++j)
                    product.add(*ct.each()[j], *outputs.each()[j]);
                values[side] = product.value;
            }
            CAPTURE(i);
            CAPTURE(k);
            CHECK(family::parts(gradients)[i]->items[k] ==
                  doctest::Approx((values[1] - values[0]) / (2 * step)).epsilon(1e-7).scale(1));
        }
}

} // namespace attn_lstm_vjp_test
