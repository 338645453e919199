#pragma once
// The constants of a GRU: checked, and packed for its kernel.

#include <array>

#include <xloom/detail/kernel/gru.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct gru_constants;
template <class Item>
struct gru_start;
template <class Item>
struct gru_outputs;
template <class Item>
struct gru_result;
struct gru_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

inline constexpr std::array<std::string_view, 2> gru_activations{"Sigmoid", "Tanh"};

/// Checks W [D, 3H, I], R [D, 3H, H] and B [D, 6H], and returns their sizes.
template <class Constants, class Options>
recurrent_widths check_gru_constants(std::string_view op, Constants const& in, Options const& options)
{
    check_ranks(op, in.W, in.R, in.B);
    check_options(op, options);
    check_not_transposed(op, 3, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R));
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", "[D, 3H, I]", {D, 3 * H, I}, in.W.shape()},
            shape_requirement{"R", "[D, 3H, H]", {D, 3 * H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 6H]", {D, 6 * H}, shape_if_given(in.B)},
        },
        [&] { return describe(sizes); });
    return sizes;
}

/// The parts of a GRU that are its own, for the engine of the recurrent operators.
struct gru_family {
    static constexpr std::string_view weights_name = "xloom::gru_weights";
    static constexpr std::string_view cell_name = "xloom::gru_cell";
    static constexpr bool has_c = false, has_narrow_storage = true;

    template <class Item>
    using constants = gru_constants<Item>;
    template <class Item>
    using start = gru_start<Item>;
    template <class Item>
    using outputs = gru_outputs<Item>;
    template <class Item>
    using result = gru_result<Item>;
    using options = gru_options;
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::gru_parameters<T>;
    template <class T>
    using rows = kernel::gru_rows<T>;

    template <class Constants, class Options>
    static checked check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_gru_constants(op, in, options),
            check_activations(op, options, gru_activations, activation_dialect::onnx)};
    }

    /// Returns the attributes of direction d. The functions are f and g of each direction.
    template <class T, class Options>
    static kernel::gru_attributes<T> attributes(
        checked_weights const& checked, Options const& options, std::size_t d)
    {
        auto const& functions = checked.functions;
        return {gate_of<T>(functions[2 * d], options.clip), gate_of<T>(functions[2 * d + 1], options.clip),
            options.linear_before_reset};
    }

    /// Packs direction d.
    template <class T, class Constants, class Options, class Packing>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        kernel::gru_parameters<T> p{};
        p.I = I;
        p.H = H;
        p.gate_stride = step;
        std::size_t const z = 0, r = 1, h = 2;
        auto const W = take_panels(packing, I, 3 * step, memory),
                   R_zr = take_panels(packing, H, 2 * step, memory),
                   R_h = take_panels(packing, H, step, memory);
        T *const bias = memory.take(3 * step), *const Rb_h = memory.take(step);
        if (!memory.only_counts()) {
            for (std::size_t const gate : {z, r, h})
                pack_columns(across(in.W, d, gate * H, 0), H, W, gate * step);
            for (std::size_t const gate : {z, r}) {
                pack_columns(across(in.R, d, gate * H, 0), H, R_zr, gate * step);
                load_bias(in.B, d, gate * H, (3 + gate) * H, H, bias + gate * step);
            }
            pack_columns(across(in.R, d, h * H, 0), H, R_h);
            if (in.B.is_given() && options.linear_before_reset) {
                load_row(in.B, d, h * H, H, bias + h * step);
                load_row(in.B, d, (3 + h) * H, H, Rb_h);
            } else {
                load_bias(in.B, d, h * H, (3 + h) * H, H, bias + h * step);
            }
        }
        p.W = W.packed();
        p.R = R_zr.packed();
        p.R_h = R_h.packed();
        p.bias = bias;
        p.Rb_h = Rb_h;
        p.how = attributes<T>(checked, options, d);
        return p;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
