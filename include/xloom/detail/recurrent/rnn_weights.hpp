#pragma once
// The constants of an RNN: checked, and packed for its kernel.

#include <array>

#include <xloom/detail/kernel/rnn.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct rnn_constants;
template <class Item>
struct rnn_start;
template <class Item>
struct rnn_outputs;
template <class Item>
struct rnn_result;
struct rnn_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

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

/// Returns the options with one Tanh in place of [Tanh, Tanh] if there is one direction: ONNX's schema has
/// that default for one direction too.
template <class Options>
Options without_schema_default(Options options)
{
    auto& names = options.activations;
    if (options.direction != direction::bidirectional && names.size() == 2 &&
        is_same_name(names[0], "Tanh") && is_same_name(names[1], "Tanh"))
        names.resize(1);
    return options;
}

/// The parts of an RNN that are its own, for the engine of the recurrent operators.
struct rnn_family {
    static constexpr std::string_view weights_name = "xloom::rnn_weights";
    static constexpr std::string_view cell_name = "xloom::rnn_cell";
    static constexpr bool has_c = false, has_narrow_storage = true;

    template <class Item>
    using constants = rnn_constants<Item>;
    template <class Item>
    using start = rnn_start<Item>;
    template <class Item>
    using outputs = rnn_outputs<Item>;
    template <class Item>
    using result = rnn_result<Item>;
    using options = rnn_options;
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::rnn_parameters<T>;
    template <class T>
    using rows = kernel::rnn_rows<T>;

    template <class Constants, class Options>
    static checked check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_rnn_constants(op, in, options), check_activations(op, without_schema_default(options),
                                                          rnn_activations, activation_dialect::onnx)};
    }

    /// Packs direction d. The functions are f of each direction.
    template <class T, class Constants, class Options, class Packing>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, I, step, memory), R = take_panels(packing, H, step, memory);
        T* const bias = memory.take(step);
        if (!memory.only_counts()) {
            pack_columns(across(in.W, d, 0, 0), H, W);
            pack_columns(across(in.R, d, 0, 0), H, R);
            load_bias(in.B, d, 0, H, H, bias);
        }
        return {{.I = I, .H = H, .gate_stride = step, .W = W.packed(), .R = R.packed(), .bias = bias},
            {gate_of<T>(functions[d], options.clip)}};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
