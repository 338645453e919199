#pragma once
// Calls of causal_conv_into with random operands, in memory of any layout.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <xloom/recurrent/causal_conv.hpp>

#include "placed_items.hpp"
#include "random_recurrent.hpp"
#include "textbook_causal_conv.hpp"

/// B sequences of C channels of L steps, and k taps.
struct conv_dims {
    std::size_t B = 1, C = 1, L = 1, k = 1;
};

/// The operands that may be omitted: any sum of these.
enum optional_conv : unsigned { with_bias = 1, with_conv_state = 2 };

inline textbook::conv_operands<double> random_conv(conv_dims const& of, unsigned given, unsigned seed)
{
    std::mt19937 random(seed);
    auto const draw = [&](textbook::dims const& shape, bool is_given = true) {
        auto result = random_array<double>(random, shape, -1, 1);
        return is_given ? result : textbook::array<double>{};
    };
    auto const [B, C, L, k] = of;
    return {draw({B, C, L}), draw({C, 1, k}), draw({C}, (given & with_bias) != 0),
        draw({B, C, k - 1}, (given & with_conv_state) != 0)};
}

/// The operands in memory.
template <class Item>
struct placed_conv {
    placed_tensor<Item> input, weight, bias, past_state;

    template <class Real>
    placed_conv(textbook::conv_operands<Real> const& of, placement how = placement::row_major)
        : input(place<Item>(of.input, how)),
          weight(place<Item>(of.weight, how)),
          bias(place<Item>(of.bias, how)),
          past_state(place<Item>(of.past_state, how))
    {}

    xloom::causal_conv_inputs<Item> inputs() const { return {ref_of(bias), ref_of(past_state)}; }
};

/// The outputs of a call, in memory that holds NaN before.
template <class Item>
struct placed_conv_outputs {
    placed_tensor<Item> output, present_state;

    placed_conv_outputs(conv_dims const& of, placement how)
        : output({of.B, of.C, of.L}, how), present_state({of.B, of.C, of.k - 1}, how)
    {}
};

inline xloom::causal_conv_options conv_options(bool silu)
{
    return {.activation = silu ? xloom::conv_activation::silu : xloom::conv_activation::none};
}

template <class Item, class Policy = xloom::serial_policy>
placed_conv_outputs<Item> call_causal_conv(placed_conv<Item> const& of, conv_dims const& dims, bool silu,
    placement how = placement::row_major, Policy const& policy = {})
{
    placed_conv_outputs<Item> out(dims, how);
    xloom::recurrent_workspace<Item> workspace;
    xloom::causal_conv_into(of.input, of.weight, of.inputs(),
        {.output = out.output, .present_state = out.present_state}, conv_options(silu), workspace, policy);
    return out;
}
