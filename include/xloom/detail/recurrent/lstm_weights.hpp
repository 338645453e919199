#pragma once
// The constants of an LSTM: checked, and packed for its kernel.

#include <array>

#include <xloom/detail/kernel/lstm.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct lstm_constants;
template <class Item>
struct lstm_start;
template <class Item>
struct lstm_outputs;
template <class Item>
struct lstm_result;
struct lstm_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

inline constexpr std::array<std::string_view, 3> lstm_activations{"Sigmoid", "Tanh", "Tanh"};

/// Checks W [D, 4H, I + C], R [D, 4H, H], B [D, 8H] and P [D, 3H], and returns their sizes; C is 0 in a plain
/// LSTM.
template <class Constants, class Options>
recurrent_widths check_lstm_constants(
    std::string_view op, Constants const& in, Options const& options, std::size_t C = 0)
{
    check_ranks(op, in.W, in.R, in.B, in.P);
    check_options(op, options);
    check_not_transposed(op, 4, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R), C);
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", C == 0 ? "[D, 4H, I]" : "[D, 4H, I + C]", {D, 4 * H, I + C}, in.W.shape()},
            shape_requirement{"R", "[D, 4H, H]", {D, 4 * H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 8H]", {D, 8 * H}, shape_if_given(in.B)},
            shape_requirement{"P", "[D, 3H]", {D, 3 * H}, shape_if_given(in.P)},
        },
        [&] {
            return C == 0 ? describe(sizes) : concat("D = ", D, ", I = ", I, ", H = ", H, " and C = ", C);
        });
    return sizes;
}

/// The parts of an LSTM that are its own, for the engine of the recurrent operators.
struct lstm_family {
    static constexpr std::string_view weights_name = "xloom::lstm_weights";
    static constexpr std::string_view cell_name = "xloom::lstm_cell";
    static constexpr bool has_c = true, has_narrow_storage = true;

    template <class Item>
    using constants = lstm_constants<Item>;
    template <class Item>
    using start = lstm_start<Item>;
    template <class Item>
    using outputs = lstm_outputs<Item>;
    template <class Item>
    using result = lstm_result<Item>;
    using options = lstm_options;
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::lstm_parameters<T>;
    template <class T>
    using rows = kernel::lstm_rows<T>;

    template <class Constants, class Options>
    static checked check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_lstm_constants(op, in, options),
            check_activations(op, options, lstm_activations, activation_dialect::onnx)};
    }

    /// Returns the attributes of direction d. The functions are f, g and h of each direction.
    template <class T, class Constants, class Options>
    static kernel::lstm_attributes<T> attributes(
        Constants const& in, checked_weights const& checked, Options const& options, std::size_t d)
    {
        auto const& functions = checked.functions;
        return {gate_of<T>(functions[3 * d], options.clip), gate_of<T>(functions[3 * d + 1], options.clip),
            functions[3 * d + 2], options.input_forget, in.P.is_given()};
    }

    /// Packs direction d, with the first I columns of W.
    template <class T, class Constants, class Options, class Packing>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, I, 4 * step, memory),
                   R = take_panels(packing, H, 4 * step, memory);
        T* const bias = memory.take(4 * step);
        T* const P = in.P.is_given() ? memory.take(3 * step) : nullptr;
        for (std::size_t gate = 0; gate < 4 && !memory.only_counts(); ++gate) {
            pack_columns(across(in.W, d, gate * H, 0), H, W, gate * step);
            pack_columns(across(in.R, d, gate * H, 0), H, R, gate * step);
            load_bias(in.B, d, gate * H, (4 + gate) * H, H, bias + gate * step);
            if (P != nullptr && gate < 3)
                load_row(in.P, d, gate * H, H, P + gate * step);
        }
        return {{.I = I, .H = H, .gate_stride = step, .W = W.packed(), .R = R.packed(), .bias = bias}, P,
            attributes<T>(in, checked, options, d)};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
