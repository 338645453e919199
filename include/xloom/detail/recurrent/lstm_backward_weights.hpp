#pragma once
// The constants of an LSTM's backward pass: packed for the products with their transposes.

#include <xloom/detail/kernel/lstm_backward.hpp>
#include <xloom/detail/recurrent/lstm_weights.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The weights of an LSTM's backward pass, checked as those of the forward
/// pass.
struct lstm_backward_family : lstm_family {
    static constexpr std::string_view weights_name = "xloom::lstm_backward_weights";
    static constexpr bool has_narrow_storage = false;

    template <class T>
    using parameters = kernel::lstm_backward_parameters<T>;

    /// Packs direction d.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, full_packing packing, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, 4 * step, I, memory),
                   R = take_panels(packing, 4 * step, H, memory);
        T* const P = in.P.is_given() ? memory.take(3 * step) : nullptr;
        for (std::size_t gate = 0; gate < 4 && !memory.only_counts(); ++gate) {
            pack_panels(along(in.W, d, gate * H), H, I, W, gate * step);
            pack_panels(along(in.R, d, gate * H), H, H, R, gate * step);
            if (P != nullptr && gate < 3)
                load_row(in.P, d, gate * H, H, P + gate * step);
        }
        return {{.I = I,
                    .H = H,
                    .gate_stride = step,
                    .W = W.packed(),
                    .R = R.packed(),
                    .how = attributes<T>(in, checked, options, d)},
            P};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
