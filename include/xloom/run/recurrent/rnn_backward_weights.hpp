#pragma once
// The constants of an RNN's backward pass: packed for the products with their transposes.

#include <xloom/kernel/rnn_backward.hpp>
#include <xloom/run/recurrent/rnn_weights.hpp>

namespace xloom::detail {

/// Packs direction d. `functions` are f of each direction.
template <class T, class Constants, class Options>
kernel::rnn_backward_parameters<T> pack_rnn_backward(Constants const& in, recurrent_widths const& sizes,
    Options const& options, activation_list const& functions, std::size_t d, kernel::arena<T>& memory)
{
    std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
    auto const W = take_panels(step, I, memory), R = take_panels(step, H, memory);
    if (!memory.only_counts()) {
        pack_panels(along(in.W, d, 0), H, I, W);
        pack_panels(along(in.R, d, 0), H, H, R);
    }
    return {.I = I,
        .H = H,
        .gate_step = step,
        .W = W.packed(),
        .R = R.packed(),
        .how = {gate_of<T>(functions[d], options.clip)}};
}

} // namespace xloom::detail
