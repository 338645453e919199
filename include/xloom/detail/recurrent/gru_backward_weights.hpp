#pragma once
// The constants of a GRU's backward pass: packed for the products with their transposes.

#include <array>

#include <xloom/detail/kernel/gru_backward.hpp>
#include <xloom/detail/recurrent/gru_weights.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The weights of a GRU's backward pass, checked as those of the forward pass.
struct gru_backward_family : gru_family {
    static constexpr std::string_view weights_name = "xloom::gru_backward_weights";
    static constexpr bool has_narrow_storage = false;

    template <class T>
    using parameters = kernel::gru_backward_parameters<T>;

    /// Packs direction d.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, full_packing packing, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H), z = 0, r = 1, h = 2;
        bool const is_linear = options.linear_before_reset;
        auto const W = take_panels(packing, 3 * step, I, memory),
                   R_zr = take_panels(packing, (is_linear ? 3 : 2) * step, H, memory),
                   R_h = take_panels(packing, step, H, memory);
        if (!memory.only_counts()) {
            std::array<std::size_t, 3> const order{h, z, r};
            for (std::size_t i = 0; i < 3; ++i)
                pack_panels(along(in.W, d, order[i] * H), H, I, W, i * step);
            for (std::size_t const gate : {z, r})
                pack_panels(along(in.R, d, gate * H), H, H, R_zr, gate * step);
            pack_panels(along(in.R, d, h * H), H, H, is_linear ? R_zr : R_h, is_linear ? h * step : 0);
        }
        return {{.I = I,
                    .H = H,
                    .gate_stride = step,
                    .W = W.packed(),
                    .R = R_zr.packed(),
                    .how = attributes<T>(checked, options, d)},
            R_h.packed()};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
