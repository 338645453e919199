#pragma once
// The constants of an AttnLSTM's backward pass: packed for the products with their transposes.

#include <xloom/detail/kernel/attn_lstm_backward.hpp>
#include <xloom/detail/recurrent/attn_lstm_weights.hpp>
#include <xloom/detail/recurrent/lstm_backward_weights.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The weights of an AttnLSTM's backward pass, checked as those of the forward
/// pass.
struct attn_lstm_backward_family : attn_lstm_family {
    static constexpr std::string_view weights_name = "xloom::attn_lstm_backward_weights";
    static constexpr bool has_narrow_storage = false;

    template <class T>
    using parameters = kernel::attn_lstm_backward_parameters<T>;

    /// Packs direction d.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_attention const& checked, Options const& options,
        std::size_t d, full_packing packing, kernel::arena<T>& memory)
    {
        auto const& [A, E, C, attends, has_layer] = checked.attention;
        parameters<T> p{lstm_backward_family::pack<T>(in, checked, options, d, packing, memory)};
        p.attends = attends;
        if (!attends)
            return p;
        p.has_layer = has_layer;
        p.A = A;
        p.E = E;
        p.C = C;
        std::size_t const I = p.I, H = p.H, step = p.gate_stride;
        auto const W = take_panels(packing, 4 * step, C, memory), QW = take_panels(packing, A, H, memory),
                   MW = take_panels(packing, A, E, memory);
        T* const V = memory.take(kernel::whole_batches<T>(A));
        if (!memory.only_counts()) {
            for (std::size_t gate = 0; gate < 4; ++gate)
                pack_panels(along(in.W, d, gate * H, I), H, C, W, gate * step);
            pack_panels(across(in.QW, d, 0, 0), A, H, QW);
            pack_panels(across(in.MW, d, 0, 0), A, E, MW);
            load_row(in.V, d, 0, A, V);
        }
        if (has_layer) {
            auto const AW_h = take_panels(packing, C, H, memory),
                       AW_context = take_panels(packing, C, E, memory);
            if (!memory.only_counts()) {
                pack_panels(across(in.AW, d, 0, 0), C, H, AW_h);
                pack_panels(across(in.AW, d, H, 0), C, E, AW_context);
            }
            p.AW_h = AW_h.packed();
            p.AW_context = AW_context.packed();
        }
        p.W_attention = W.packed();
        p.QW = QW.packed();
        p.MW = MW.packed();
        p.V = V;
        return p;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
