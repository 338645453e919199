#pragma once
// The family of LSTM: its names and kernels, and how its weights are packed.

#include <array>

#include <xloom/detail/kernel/lstm_backward.hpp>
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

/// The parts of an LSTM that are its own, for the engine of the recurrent operators.
struct lstm_family {
    static constexpr std::string_view weights_name = "xloom::lstm_weights";
    static constexpr std::string_view cell_name = "xloom::lstm_cell";
    static constexpr std::array<std::string_view, 3> default_activations{"Sigmoid", "Tanh", "Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> letters{"[D, 4H, I]", "[D, 4H, H]", "[D, 8H]"};
    static constexpr bool has_c = true;

    template <class Item>
    using constants = lstm_constants<Item>;
    template <class Item>
    using start = lstm_start<Item>;
    template <class Item>
    using outputs = lstm_outputs<Item>;
    template <class Item>
    using result = lstm_result<Item>;
    using options = lstm_options;
    template <class T>
    using attributes_type = kernel::lstm_attributes<T>;
    template <class T>
    using parameters = kernel::lstm_parameters<T>;
    template <class T>
    using backward_parameters = kernel::lstm_backward_parameters<T>;
    template <class T>
    using rows = kernel::lstm_rows<T>;
    template <class T>
    using recorded_rows = kernel::recorded_lstm_rows<T>;
    template <class T>
    using backward_rows = kernel::lstm_backward_rows<T>;

    template <class Constants, class Options>
    static checked_weights check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return check_cell<lstm_family>(op, in, options);
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
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, I, 4 * stride, memory),
                   R = take_panels(packing, H, 4 * stride, memory);
        T* const bias = memory.take(4 * stride);
        T* const P = in.P.is_given() ? memory.take(3 * stride) : nullptr;
        for (std::size_t gate = 0; gate < 4 && !memory.only_counts(); ++gate) {
            pack_columns(across(in.W, d, gate * H, 0), H, W, gate * stride);
            pack_columns(across(in.R, d, gate * H, 0), H, R, gate * stride);
            load_bias(in.B, d, gate * H, (4 + gate) * H, H, bias + gate * stride);
            if (P != nullptr && gate < 3)
                load_row(in.P, d, gate * H, H, P + gate * stride);
        }
        return {{.I = I, .H = H, .gate_stride = stride, .W = W.packed(), .R = R.packed(), .bias = bias}, P,
            attributes<T>(in, checked, options, d)};
    }

    /// Packs direction d for the products with transposes.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
        auto const W = take_panels(full_packing(), 4 * stride, I, memory),
                   R = take_panels(full_packing(), 4 * stride, H, memory);
        T* const P = in.P.is_given() ? memory.take(3 * stride) : nullptr;
        for (std::size_t gate = 0; gate < 4 && !memory.only_counts(); ++gate) {
            pack_panels(along(in.W, d, gate * H), H, I, W, gate * stride);
            pack_panels(along(in.R, d, gate * H), H, H, R, gate * stride);
            if (P != nullptr && gate < 3)
                load_row(in.P, d, gate * H, H, P + gate * stride);
        }
        return {{.I = I,
                    .H = H,
                    .gate_stride = stride,
                    .W = W.packed(),
                    .R = R.packed(),
                    .how = attributes<T>(in, checked, options, d)},
            P};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
