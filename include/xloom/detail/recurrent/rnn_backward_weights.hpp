#pragma once
// The constants of an RNN's backward pass: packed for the products with their transposes.

#include <xloom/detail/kernel/rnn_backward.hpp>
#include <xloom/detail/recurrent/rnn_weights.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The weights of an RNN's backward pass, checked as those of the forward pass.
struct rnn_backward_family : rnn_family {
    static constexpr std::string_view weights_name = "xloom::rnn_backward_weights";
    static constexpr bool has_narrow_storage = false;

    template <class T>
    using parameters = kernel::rnn_backward_parameters<T>;

    /// Packs direction d. The functions are f of each direction.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, full_packing packing, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, step, I, memory), R = take_panels(packing, step, H, memory);
        if (!memory.only_counts()) {
            pack_panels(along(in.W, d, 0), H, I, W);
            pack_panels(along(in.R, d, 0), H, H, R);
        }
        return {.I = I,
            .H = H,
            .gate_stride = step,
            .W = W.packed(),
            .R = R.packed(),
            .how = {gate_of<T>(functions[d], options.clip)}};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
