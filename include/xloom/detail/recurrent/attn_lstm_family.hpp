#pragma once
// The family of AttnLSTM: its names and kernels, and how its weights are checked and packed.

#include <algorithm>

#include <xloom/detail/check/attn_lstm.hpp>
#include <xloom/detail/kernel/attn_lstm_backward.hpp>
#include <xloom/detail/recurrent/lstm_family.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct attn_lstm_constants;
template <class Item>
struct attn_lstm_start;
template <class Item>
struct attn_lstm_outputs;
template <class Item>
struct attn_lstm_result;
struct attn_lstm_options;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

template <class Constants>
recurrent_widths check_attention_constants(std::string_view op, Constants const& in)
{
    check_ranks(op, std::array{named("R", in.R), named("QW", in.QW), named("MW", in.MW), named("V", in.V),
                        named("AW", in.AW)});
    return check_attention(op, shape_if_given(in.R), shape_if_given(in.QW), shape_if_given(in.MW),
        shape_if_given(in.V), shape_if_given(in.AW));
}

/// Packs V for the score.
template <class T, class Item>
kernel::score_weights<T> pack_score_weights(
    tensor_ref<Item const> const& V, std::size_t d, std::size_t A, kernel::arena<T>& memory)
{
    std::size_t const padded = kernel::whole_batches<T>(A);
    T *const plain = memory.take(padded), *const minus_twice = memory.take(padded);
    T sum(0), size(0);
    if (!memory.only_counts()) {
        load_row(V, d, 0, A, plain);
        for (std::size_t a = 0; a < A; ++a) {
            minus_twice[a] = T(-2) * plain[a];
            sum = sum + plain[a];
            size = size + (plain[a] < T(0) ? -plain[a] : plain[a]);
        }
    }
    return {plain, size <= T(kernel::largest_weights) ? minus_twice : nullptr, sum};
}

/// The parts of an AttnLSTM that are its own, for the engine of the recurrent operators.
struct attn_lstm_family {
    static constexpr std::string_view weights_name = "xloom::attn_lstm_weights";
    static constexpr std::string_view cell_name = "xloom::attn_lstm_cell";
    static constexpr bool has_c = true;

    template <class Item>
    using constants = attn_lstm_constants<Item>;
    template <class Item>
    using start = attn_lstm_start<Item>;
    template <class Item>
    using outputs = attn_lstm_outputs<Item>;
    template <class Item>
    using result = attn_lstm_result<Item>;
    using options = attn_lstm_options;
    template <class T>
    using parameters = kernel::attn_lstm_parameters<T>;
    template <class T>
    using backward_parameters = kernel::attn_lstm_backward_parameters<T>;

    template <class Constants, class Options>
    static checked_weights check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return check_cell<lstm_family>(
            op, in, options, check_attention_constants(op, in), activation_dialect::microsoft);
    }

    /// Sets the sizes of an attention.
    template <class Parameters>
    static void set_attention(Parameters& p, recurrent_widths const& sizes)
    {
        p.attends = true;
        p.has_layer = sizes.has_layer;
        p.A = sizes.A;
        p.E = sizes.E;
        p.C = sizes.C;
    }

    /// Packs direction d.
    template <class T, class Constants, class Options, class Packing>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        auto const& [D, I, H, K, A, E, C, attends, has_layer, projects] = checked.sizes;
        kernel::attn_lstm_parameters<T> p{};
        p.lstm = lstm_family::pack<T>(in, checked, options, d, packing, memory);
        if (!attends)
            return p;
        set_attention(p, checked.sizes);
        p.W_attention = pack_matrix(
            packing, kernel::matrix_parts(across(in.W, d, 0, I), C, H, 4, p.lstm.gate_stride), memory);
        auto const pack_rows = [&](auto const& from, std::size_t first, std::size_t depth,
                                   std::size_t columns) {
            return pack_matrix(packing, kernel::matrix_parts(along(from, d, first), depth, columns), memory);
        };
        p.QW = pack_rows(in.QW, 0, H, A);
        p.MW = pack_rows(in.MW, 0, E, A);
        if (has_layer) {
            p.AW_h = pack_rows(in.AW, 0, H, C);
            p.AW_context = pack_rows(in.AW, H, E, C);
        }
        p.V = pack_score_weights<T>(in.V, d, A, memory);
        p.zeros = memory.take(kernel::whole_batches<T>((std::max)({A, E, C})));
        return p;
    }

    /// Packs direction d for the products with transposes.
    template <class T, class Constants, class Options>
    static backward_parameters<T> pack_backward(Constants const& in, checked_weights const& checked,
        Options const& options, std::size_t d, kernel::arena<T>& memory)
    {
        auto const& [D, I, H, K, A, E, C, attends, has_layer, projects] = checked.sizes;
        backward_parameters<T> p{lstm_family::pack_backward<T>(in, checked, options, d, memory)};
        if (!attends)
            return p;
        set_attention(p, checked.sizes);
        p.W_attention = pack_transposed<T>(in.W, d, H, lstm_family::gates, C, memory, I);
        auto const pack_transpose = [&](auto const& from, std::size_t first, std::size_t depth,
                                        std::size_t columns) {
            return kernel::pack_matrix(
                kernel::matrix_parts(across(from, d, first, 0), depth, columns), memory)
                .as();
        };
        p.QW = pack_transpose(in.QW, 0, A, H);
        p.MW = pack_transpose(in.MW, 0, A, E);
        T* const V = memory.take(kernel::whole_batches<T>(A));
        if (!memory.only_counts())
            load_row(in.V, d, 0, A, V);
        p.V = V;
        if (has_layer) {
            p.AW_h = pack_transpose(in.AW, 0, C, H);
            p.AW_context = pack_transpose(in.AW, H, C, E);
        }
        return p;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
