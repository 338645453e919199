#pragma once
// Calls of linear_attention_into with random operands, in memory of any layout.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <xloom/recurrent/linear_attention.hpp>

#include "placed_tensor.hpp"
#include "random_recurrent.hpp"
#include "textbook_linear_attention.hpp"

/// B sequences of T tokens, Hq query heads, Hkv heads of K keys and V values.
struct attention_dims {
    std::size_t B = 1, T = 1, Hq = 1, Hkv = 1, K = 1, V = 1;
};

/// What a call has besides: any sum of these.
enum optional_attention : unsigned {
    with_past_state = 1,
    with_decay_of_keys = 2, ///< of gated rules: a number for each key
    with_one_beta = 4,      ///< of delta rules: one for all heads
    with_packed_heads = 8,  ///< operands without an axis of heads
    with_lengths = 16
};

/// Keys have a length of about 1, so that states stay small.
inline textbook::attention_operands<double> random_attention(
    attention_dims const& of, xloom::update_rule rule, unsigned given, unsigned seed)
{
    std::mt19937 random(seed);
    auto const [B, T, Hq, Hkv, K, V] = of;
    double const bound = std::sqrt(3 / static_cast<double>(K));
    auto const draw = [&](textbook::dims const& shape, double lowest, double highest, bool is_given = true) {
        auto result = random_array<double>(random, shape, lowest, highest);
        return is_given ? result : textbook::array<double>{};
    };
    textbook::dims decay{B, T, Hkv}, beta{B, T, (given & with_one_beta) != 0 ? 1 : Hkv};
    if ((given & with_decay_of_keys) != 0)
        decay.push_back(K);
    textbook::attention_operands<double> operands{draw({B, T, Hq, K}, -1, 1),
        draw({B, T, Hkv, K}, -bound, bound), draw({B, T, Hkv, V}, -1, 1),
        draw({B, Hkv, K, V}, -1, 1, (given & with_past_state) != 0),
        draw(decay, -0.5, 0, xloom::detail::has_decay(rule)), draw(beta, 0, 1, xloom::detail::has_beta(rule)),
        {}};
    if ((given & with_lengths) != 0)
        for (std::int32_t const length : random_lengths(random, B, T))
            operands.lengths.push_back(static_cast<std::size_t>(length));
    return operands;
}

/// Joins the axis of heads with the last one.
template <class Real>
textbook::array<Real> packed(textbook::array<Real> array)
{
    if (array.shape.size() == 4)
        array.shape = {array.shape[0], array.shape[1], array.shape[2] * array.shape[3]};
    return array;
}

/// The operands in memory.
template <class Item, class State = Item>
struct placed_attention {
    placed_tensor<Item> query, key, value, decay, beta;
    placed_tensor<State> past_state;
    std::vector<std::int64_t> lengths;
    xt::xtensor<std::int64_t, 1> sequence_lens;

    template <class Real>
    placed_attention(
        textbook::attention_operands<Real> const& of, unsigned given, placement how = placement::row_major)
    {
        auto const tokens = [&](auto const& array) {
            return place<Item>((given & with_packed_heads) != 0 ? packed(array) : array, how);
        };
        query = tokens(of.query), key = tokens(of.key), value = tokens(of.value), decay = tokens(of.decay);
        beta = place<Item>(of.beta, how), past_state = place<State>(of.past_state, how);
        sequence_lens = xt::zeros<std::int64_t>({of.lengths.size()});
        std::copy(of.lengths.begin(), of.lengths.end(), sequence_lens.begin());
    }

    xloom::linear_attention_inputs<Item, State> inputs() const
    {
        return {ref_of(past_state), ref_of(decay), ref_of(beta),
            sequence_lens.size() == 0 ? xloom::lengths_ref() : xloom::lengths_ref(sequence_lens)};
    }
};

inline xloom::linear_attention_options attention_options(
    attention_dims const& of, xloom::update_rule rule, unsigned given, double scale = 0)
{
    bool const is_packed = (given & with_packed_heads) != 0;
    return {is_packed ? static_cast<std::int64_t>(of.Hq) : 0,
        is_packed ? static_cast<std::int64_t>(of.Hkv) : 0, rule, scale};
}

/// The outputs of a call, in memory that holds NaN before.
template <class Item, class State = Item>
struct placed_attention_outputs {
    placed_tensor<Item> output;
    placed_tensor<State> present_state;

    placed_attention_outputs(attention_dims const& of, unsigned given, placement how)
        : output((given & with_packed_heads) != 0 ? textbook::dims{of.B, of.T, of.Hq * of.V}
                                                  : textbook::dims{of.B, of.T, of.Hq, of.V},
              how),
          present_state({of.B, of.Hkv, of.K, of.V}, how)
    {}
};

template <class Item, class State, class Policy = xloom::serial_policy>
placed_attention_outputs<Item, State> call_linear_attention(placed_attention<Item, State> const& of,
    attention_dims const& dims, xloom::linear_attention_options const& options, unsigned given,
    placement how = placement::row_major, Policy const& policy = {})
{
    placed_attention_outputs<Item, State> out(dims, given, how);
    xloom::recurrent_workspace<Item> workspace;
    xloom::linear_attention_into<State>(of.query, of.key, of.value, of.inputs(),
        {.output = out.output, .present_state = out.present_state}, options, workspace, policy);
    return out;
}
