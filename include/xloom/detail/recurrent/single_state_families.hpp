#pragma once
// The families of GRU and RNN, whose only state is h: their names and kernels, and how their weights are
// packed.

#include <array>

#include <xloom/detail/kernel/gru_backward.hpp>
#include <xloom/detail/kernel/rnn_backward.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI {

struct gru_options;
struct rnn_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The inputs of a cell whose only state is h, under ONNX's names, in ONNX's order.
template <class Item>
struct single_state_inputs {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
};

/// The inputs that are constant over calls.
template <class Item>
struct single_state_constants {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
};

/// The inputs, except X, that vary from call to call.
template <class Item>
struct single_state_start {
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
};

/// The outputs.
template <class Item>
struct single_state_outputs {
    tensor_ref<Item> Y{};
    tensor_ref<Item> Y_h{};
};

/// The outputs in tensors of their own.
template <class Item>
struct single_state_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// The cotangents of the outputs.
template <class Item>
struct single_state_cotangents {
    tensor_ref<Item const> Y{};
    tensor_ref<Item const> Y_h{};
};

/// The cotangents of the inputs, which are added to.
template <class Item>
struct single_state_gradients {
    tensor_ref<Item> X{};
    tensor_ref<Item> W{};
    tensor_ref<Item> R{};
    tensor_ref<Item> B{};
    tensor_ref<Item> initial_h{};
};

/// The operands of a family whose only state is h.
struct single_state_family {
    static constexpr bool has_c = false;

    template <class Item>
    using constants = single_state_constants<Item>;
    template <class Item>
    using start = single_state_start<Item>;
    template <class Item>
    using outputs = single_state_outputs<Item>;
    template <class Item>
    using result = single_state_result<Item>;
};

/// The parts of a GRU that are its own, for the engine of the recurrent operators.
struct gru_family : single_state_family {
    static constexpr std::string_view weights_name = "xloom::gru_weights";
    static constexpr std::string_view cell_name = "xloom::gru_cell";
    static constexpr std::array<std::string_view, 2> default_activations{"Sigmoid", "Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> letters{"[D, 3H, I]", "[D, 3H, H]", "[D, 6H]"};

    using options = gru_options;
    template <class T>
    using attributes_type = kernel::gru_attributes<T>;
    template <class T>
    using parameters = kernel::gru_parameters<T>;
    template <class T>
    using backward_parameters = kernel::gru_backward_parameters<T>;
    template <class T>
    using rows = kernel::gru_rows<T>;
    template <class T>
    using recorded_rows = kernel::recorded_gru_rows<T>;
    template <class T>
    using backward_rows = kernel::gru_backward_rows<T>;

    template <class Constants, class Options>
    static checked_weights check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return check_cell<gru_family>(op, in, options);
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
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
        kernel::gru_parameters<T> p{};
        p.I = I;
        p.H = H;
        p.gate_stride = stride;
        std::size_t const z = 0, r = 1, h = 2;
        auto const W = take_panels(packing, I, 3 * stride, memory),
                   R_zr = take_panels(packing, H, 2 * stride, memory),
                   R_h = take_panels(packing, H, stride, memory);
        T *const bias = memory.take(3 * stride), *const Rb_h = memory.take(stride);
        if (!memory.only_counts()) {
            for (std::size_t const gate : {z, r, h})
                pack_columns(across(in.W, d, gate * H, 0), H, W, gate * stride);
            for (std::size_t const gate : {z, r}) {
                pack_columns(across(in.R, d, gate * H, 0), H, R_zr, gate * stride);
                load_bias(in.B, d, gate * H, (3 + gate) * H, H, bias + gate * stride);
            }
            pack_columns(across(in.R, d, h * H, 0), H, R_h);
            if (in.B.is_given() && options.linear_before_reset) {
                load_row(in.B, d, h * H, H, bias + h * stride);
                load_row(in.B, d, (3 + h) * H, H, Rb_h);
            } else {
                load_bias(in.B, d, h * H, (3 + h) * H, H, bias + h * stride);
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

    /// Packs direction d for the products with transposes.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        auto const& sizes = checked.sizes;
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H), z = 0, r = 1, h = 2;
        bool const is_linear = options.linear_before_reset;
        auto const W = take_panels(full_packing(), 3 * stride, I, memory),
                   R_zr = take_panels(full_packing(), (is_linear ? 3 : 2) * stride, H, memory),
                   R_h = take_panels(full_packing(), stride, H, memory);
        if (!memory.only_counts()) {
            std::array<std::size_t, 3> const order{h, z, r};
            for (std::size_t i = 0; i < 3; ++i)
                pack_panels(along(in.W, d, order[i] * H), H, I, W, i * stride);
            for (std::size_t const gate : {z, r})
                pack_panels(along(in.R, d, gate * H), H, H, R_zr, gate * stride);
            pack_panels(along(in.R, d, h * H), H, H, is_linear ? R_zr : R_h, is_linear ? h * stride : 0);
        }
        return {{.I = I,
                    .H = H,
                    .gate_stride = stride,
                    .W = W.packed(),
                    .R = R_zr.packed(),
                    .how = attributes<T>(checked, options, d)},
            R_h.packed()};
    }
};

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
struct rnn_family : single_state_family {
    static constexpr std::string_view weights_name = "xloom::rnn_weights";
    static constexpr std::string_view cell_name = "xloom::rnn_cell";
    static constexpr std::array<std::string_view, 1> default_activations{"Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> letters{"[D, H, I]", "[D, H, H]", "[D, 2H]"};

    using options = rnn_options;
    template <class T>
    using attributes_type = kernel::rnn_attributes<T>;
    template <class T>
    using parameters = kernel::rnn_parameters<T>;
    template <class T>
    using backward_parameters = kernel::rnn_backward_parameters<T>;
    template <class T>
    using rows = kernel::rnn_rows<T>;
    template <class T>
    using recorded_rows = kernel::recorded_rnn_rows<T>;
    template <class T>
    using backward_rows = kernel::rnn_backward_rows<T>;

    template <class Constants, class Options>
    static checked_weights check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return check_cell<rnn_family>(op, in, without_schema_default(options));
    }

    /// Packs direction d. The functions are f of each direction.
    template <class T, class Constants, class Options, class Packing>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
        auto const W = take_panels(packing, I, stride, memory), R = take_panels(packing, H, stride, memory);
        T* const bias = memory.take(stride);
        if (!memory.only_counts()) {
            pack_columns(across(in.W, d, 0, 0), H, W);
            pack_columns(across(in.R, d, 0, 0), H, R);
            load_bias(in.B, d, 0, H, H, bias);
        }
        return {{.I = I, .H = H, .gate_stride = stride, .W = W.packed(), .R = R.packed(), .bias = bias},
            {gate_of<T>(functions[d], options.clip)}};
    }

    /// Packs direction d for the products with transposes. The functions are f of each direction.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
        auto const W = take_panels(full_packing(), stride, I, memory),
                   R = take_panels(full_packing(), stride, H, memory);
        if (!memory.only_counts()) {
            pack_panels(along(in.W, d, 0), H, I, W);
            pack_panels(along(in.R, d, 0), H, H, R);
        }
        return {.I = I,
            .H = H,
            .gate_stride = stride,
            .W = W.packed(),
            .R = R.packed(),
            .how = {gate_of<T>(functions[d], options.clip)}};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
