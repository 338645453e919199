#pragma once
// Calls of selective_scan_into with random operands, in memory of any layout.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <xloom/recurrent/selective_scan.hpp>

#include "placed_items.hpp"
#include "random_recurrent.hpp"
#include "textbook_selective_scan.hpp"

/// N sequences of T steps, K channels of S states.
struct selective_dims {
    std::size_t N = 1, T = 1, K = 1, S = 1;
};

/// The operands that may be omitted: any sum of these.
enum optional_selective : unsigned { with_D = 1, with_z = 2, with_delta_bias = 4, with_initial_state = 8 };

/// As Mamba starts its training: A is negative, the step sizes are small after the softplus.
inline textbook::selective_operands<double> random_selective(
    selective_dims const& of, unsigned given, unsigned seed)
{
    std::mt19937 random(seed);
    auto const draw = [&](textbook::dims const& shape, double lowest, double highest, bool is_given = true) {
        auto result = random_array<double>(random, shape, lowest, highest);
        return is_given ? result : textbook::array<double>{};
    };
    auto const [N, T, K, S] = of;
    return {draw({N, T, K}, -1, 1), draw({N, T, K}, 0.01, 0.5), draw({K, S}, -4, 0.2), draw({N, T, S}, -1, 1),
        draw({N, T, S}, -1, 1), draw({K}, -1, 1, (given & with_D) != 0),
        draw({N, T, K}, -2, 2, (given & with_z) != 0), draw({K}, -1, 1, (given & with_delta_bias) != 0),
        draw({N, K, S}, -1, 1, (given & with_initial_state) != 0)};
}

/// Drops the batch axis of each operand, whose length is 1.
template <class T>
placed_tensor<T> without_batch(placed_tensor<T> tensor)
{
    if (tensor.layout.dims.size() == 3) {
        tensor.layout.dims.erase(0);
        tensor.layout.strides.erase(0);
    }
    return tensor;
}

/// The operands in memory.
template <class Item>
struct placed_selective {
    placed_tensor<Item> u, delta, A, B, C, D, z, delta_bias, initial_state;

    template <class Real>
    placed_selective(textbook::selective_operands<Real> const& of, placement how = placement::row_major)
        : u(place<Item>(of.u, how)),
          delta(place<Item>(of.delta, how)),
          A(place<Item>(of.A, how)),
          B(place<Item>(of.B, how)),
          C(place<Item>(of.C, how)),
          D(place<Item>(of.D, how)),
          z(place<Item>(of.z, how)),
          delta_bias(place<Item>(of.delta_bias, how)),
          initial_state(place<Item>(of.initial_state, how))
    {}

    xloom::selective_scan_inputs<Item> inputs() const
    {
        return {ref_of(delta), ref_of(A), ref_of(B), ref_of(C), ref_of(D), ref_of(z), ref_of(delta_bias),
            ref_of(initial_state)};
    }
};

/// The outputs of a call, in memory that holds NaN before.
template <class Item>
struct placed_selective_outputs {
    placed_tensor<Item> y, final_state;

    placed_selective_outputs(selective_dims const& of, placement how)
        : y({of.N, of.T, of.K}, how), final_state({of.N, of.K, of.S}, how)
    {}
};

template <class Item, class Policy = xloom::serial_policy>
placed_selective_outputs<Item> call_selective_scan(placed_selective<Item> const& of,
    selective_dims const& dims, bool delta_softplus, placement how = placement::row_major,
    Policy const& policy = {})
{
    placed_selective_outputs<Item> out(dims, how);
    xloom::recurrent_workspace<Item> workspace;
    xloom::selective_scan_into(of.u, of.inputs(), {.y = out.y, .final_state = out.final_state},
        {.delta_softplus = delta_softplus}, workspace, policy);
    return out;
}
