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

/// Packs P [D, 3H]; null if it is omitted.
template <class T, class Item>
T const* pack_peepholes(
    tensor_ref<Item const> const& P, std::size_t d, std::size_t H, kernel::arena<T>& memory)
{
    if (!P.is_given())
        return nullptr;
    std::size_t const stride = kernel::whole_batches<T>(H);
    T* const packed = memory.take(3 * stride);
    for (std::size_t gate = 0; gate < 3 && !memory.only_counts(); ++gate)
        load_row(P, d, gate * H, H, packed + gate * stride);
    return packed;
}

/// The parts of an LSTM that are its own, for the engine of the recurrent operators.
struct lstm_family : cell_family<lstm_family, lstm_options, kernel::lstm_rows, kernel::recorded_lstm_rows,
                         kernel::lstm_backward_rows> {
    static constexpr std::string_view weights_name = "xloom::lstm_weights";
    static constexpr std::string_view cell_name = "xloom::lstm_cell";
    static constexpr std::array<std::string_view, 3> default_activations{"Sigmoid", "Tanh", "Tanh"};
    /// The shapes of W, R and B in errors.
    static constexpr std::array<std::string_view, 3> symbolic_shapes{"[D, 4H, I]", "[D, 4H, H]", "[D, 8H]"};
    static constexpr std::array<std::size_t, 4> gates{0, 1, 2, 3}; ///< i, o, f, g
    static constexpr bool has_c = true;

    template <class Item>
    using constants = lstm_constants<Item>;
    template <class Item>
    using start = lstm_start<Item>;
    template <class Item>
    using outputs = lstm_outputs<Item>;
    template <class Item>
    using result = lstm_result<Item>;

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
        std::size_t const H = checked.sizes.H, K = checked.sizes.K;
        T* const bias = memory.take(4 * kernel::whole_batches<T>(H));
        parameters<T> p{pack_gates<4>(in, checked.sizes, d, packing, bias, memory),
            pack_peepholes(in.P, d, H, memory), {}, nullptr, attributes<T>(in, checked, options, d)};
        if (auto const projection = projection_of(in); projection.is_given()) {
            p.projection =
                pack_matrix(packing, kernel::matrix_parts(across(projection, d, 0, 0), H, K), memory);
            p.zeros = memory.take(kernel::whole_batches<T>(K));
        }
        return p;
    }

    /// Packs direction d for the products with transposes.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        std::size_t const I = checked.sizes.I, H = checked.sizes.H, K = checked.sizes.K;
        backward_parameters<T> p{{.I = I,
                                     .H = H,
                                     .gate_stride = kernel::whole_batches<T>(H),
                                     .h_stride = kernel::whole_batches<T>(K),
                                     .W = pack_transposed<T>(in.W, d, H, gates, I, memory),
                                     .R = pack_transposed<T>(in.R, d, H, gates, K, memory),
                                     .how = attributes<T>(in, checked, options, d)},
            pack_peepholes(in.P, d, H, memory), {}};
        if (auto const projection = projection_of(in); projection.is_given())
            p.projection =
                kernel::pack_matrix(kernel::matrix_parts(along(projection, d, 0), K, H), memory).as();
        return p;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
