#pragma once
// The families of GRU and RNN, whose only state is h: their names and kernels, and how their weights are
// packed.

#include <array>
#include <span>

#include <xloom/detail/kernel/gru_backward.hpp>
#include <xloom/detail/kernel/rnn_backward.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI {

struct gru_options;
struct rnn_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

template <class Item>
struct single_state_result;

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

/// The cotangents of the outputs.
template <class Item>
using single_state_cotangents = single_state_outputs<Item const>;

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
struct gru_family : single_state_family,
                    cell_family<gru_family, gru_options, kernel::gru_rows, kernel::recorded_gru_rows,
                        kernel::gru_backward_rows> {
    static constexpr std::string_view weights_name = "xloom::gru_weights";
    static constexpr std::string_view cell_name = "xloom::gru_cell";
    static constexpr std::array<std::string_view, 2> default_activations{"Sigmoid", "Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> symbolic_shapes{"[D, 3H, I]", "[D, 3H, H]", "[D, 6H]"};

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
        std::size_t const H = checked.sizes.H, stride = kernel::whole_batches<T>(H);
        T *const bias = memory.take(3 * stride), *const Rb_h = memory.take(stride);
        auto const gates = pack_gates<3>(in, checked.sizes, d, packing, bias, memory, 2);
        auto const R_h =
            pack_matrix(packing, kernel::matrix_parts(across(in.R, d, h * H, 0), H, H, 1, stride), memory);
        if (!memory.only_counts() && in.B.is_given() && options.linear_before_reset) {
            load_row(in.B, d, h * H, H, bias + h * stride);
            load_row(in.B, d, (3 + h) * H, H, Rb_h);
        }
        return {gates, R_h, Rb_h, attributes<T>(checked, options, d)};
    }

    /// Packs direction d for the products with transposes.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        std::size_t const I = checked.sizes.I, H = checked.sizes.H;
        std::array<std::size_t, 3> const in_W{h, z, r}, in_R{z, r, h};
        bool const is_linear = options.linear_before_reset;
        auto const of_zr = std::span(in_R).first(is_linear ? 3 : 2), of_h = std::span(in_W).first(1);
        return {{.I = I,
                    .H = H,
                    .gate_stride = kernel::whole_batches<T>(H),
                    .h_stride = kernel::whole_batches<T>(H),
                    .W = pack_transposed<T>(in.W, d, H, in_W, I, memory),
                    .R = pack_transposed<T>(in.R, d, H, of_zr, H, memory),
                    .how = attributes<T>(checked, options, d)},
            is_linear ? kernel::panels<T>() : pack_transposed<T>(in.R, d, H, of_h, H, memory)};
    }

private:
    static constexpr std::size_t z = 0, r = 1, h = 2; // the gates
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
struct rnn_family : single_state_family,
                    cell_family<rnn_family, rnn_options, kernel::rnn_rows, kernel::recorded_rnn_rows,
                        kernel::rnn_backward_rows> {
    static constexpr std::string_view weights_name = "xloom::rnn_weights";
    static constexpr std::string_view cell_name = "xloom::rnn_cell";
    static constexpr std::array<std::string_view, 1> default_activations{"Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> symbolic_shapes{"[D, H, I]", "[D, H, H]", "[D, 2H]"};

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
        T* const bias = memory.take(kernel::whole_batches<T>(checked.sizes.H));
        return {pack_gates<1>(in, checked.sizes, d, packing, bias, memory),
            {gate_of<T>(checked.functions[d], options.clip)}};
    }

    /// Packs direction d for the products with transposes. The functions are f of each direction.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        std::size_t const I = checked.sizes.I, H = checked.sizes.H;
        std::array<std::size_t, 1> const gate{0};
        return {.I = I,
            .H = H,
            .gate_stride = kernel::whole_batches<T>(H),
            .h_stride = kernel::whole_batches<T>(H),
            .W = pack_transposed<T>(in.W, d, H, gate, I, memory),
            .R = pack_transposed<T>(in.R, d, H, gate, H, memory),
            .how = {gate_of<T>(checked.functions[d], options.clip)}};
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
