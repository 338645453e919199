#pragma once
// The constants of an RNN: checked, and packed for its kernel.

#include <array>

#include <xloom/kernel/rnn.hpp>
#include <xloom/run/recurrent/packed_weights.hpp>

namespace xloom::detail {

inline constexpr std::array<std::string_view, 1> rnn_activations{"Tanh"};

/// Checks W [D, H, I], R [D, H, H] and B [D, 2H], and returns their sizes.
template <class Constants, class Options>
recurrent_widths check_rnn_constants(std::string_view op, Constants const& in, Options const& options)
{
    check_ranks(op, in.W, in.R, in.B);
    check_options(op, options);
    check_not_transposed(op, 1, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R));
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", "[D, H, I]", {D, H, I}, in.W.shape()},
            shape_requirement{"R", "[D, H, H]", {D, H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 2H]", {D, 2 * H}, shape_if_given(in.B)},
        },
        [&] { return describe(sizes); });
    return sizes;
}

/// Packs direction d. `functions` are f of each direction.
template <class T, class Constants, class Options>
kernel::rnn_parameters<T> pack_rnn(Constants const& in, recurrent_widths const& sizes, Options const& options,
    activation_list const& functions, std::size_t d, kernel::arena<T>& memory)
{
    std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
    auto const W = take_panels(I, step, memory), R = take_panels(H, step, memory);
    T* const bias = memory.take(step);
    if (!memory.only_counts()) {
        pack_panels(across(in.W, d, 0, 0), I, H, W);
        pack_panels(across(in.R, d, 0, 0), H, H, R);
        load_bias(in.B, d, 0, H, H, bias);
    }
    return {.I = I,
        .H = H,
        .gate_step = step,
        .W = W.packed(),
        .R = R.packed(),
        .bias = bias,
        .f = gate_of<T>(functions[d], options.clip)};
}

} // namespace xloom::detail
