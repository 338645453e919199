#pragma once
// The backward pass of AttnLSTM, in the form that recurrent_gradients.hpp compares with derivatives.

#include <xloom/gradients/attn_lstm_vjp.hpp>

#include "attn_lstm_calls.hpp"
#include "random_recurrent.hpp"
#include "recurrent_gradients.hpp"

struct attn_lstm_vjp_family {
    using options = textbook::attn_lstm_options;
    template <class T>
    using operands = textbook::attn_lstm_operands<T>;

    /// X, W, R, B, initial_h, initial_c, P, QW, MW, V, M, AW, initial_attention, initial_alignment.
    template <class Operands>
    static auto parts(Operands& o)
    {
        return std::array{&o.X, &o.W, &o.R, &o.B, &o.initial_h, &o.initial_c, &o.P, &o.QW, &o.MW, &o.V, &o.M,
            &o.AW, &o.initial_attention, &o.initial_alignment};
    }

    template <class T>
    static attn_lstm_arrays<T> call(operands<T> const& in, options const& how)
    {
        return call_attn_lstm<T>(in, how);
    }

    /// The shapes of all gradients, in the order of parts.
    template <class T>
    static std::array<textbook::dims, 14> shapes(operands<T> const& in)
    {
        std::size_t const D = in.R.shape[0], H = in.R.shape[2], N = in.X.shape[1];
        bool const attends = !in.M.shape.empty();
        std::size_t const S = attends ? in.M.shape[1] : 0, E = attends ? in.M.shape[2] : 0,
                          A = attends ? in.QW.shape[2] : 0, C = in.W.shape[2] - in.X.shape[2],
                          L = in.AW.shape.empty() ? 0 : C;
        return {in.X.shape, in.W.shape, in.R.shape, {D, 8 * H}, {D, N, H}, {D, N, H}, {D, 3 * H}, {D, H, A},
            {D, E, A}, {D, A}, {N, S, E}, {D, H + E, L}, {D, N, C}, {D, N, S}};
    }

    /// Runs both passes, and returns the gradients that are wanted.
    template <class T, class Policy = xloom::serial_policy>
    static operands<T> vjp(operands<T> const& in, options const& how, attn_lstm_arrays<T> const& ct,
        vjp_call const& as = {}, Policy const& policy = {})
    {
        attn_lstm_tensors<T> const given(in, as.from);
        xloom::attn_lstm_weights<T> const weights(given.constants(), options_of(how));
        xloom::attn_lstm_residuals<T> residuals;
        xloom::attention_workspace<T> workspace;
        xloom::attn_lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace, policy);
        return backward(given, shapes(in), how, residuals, ct, workspace, as, policy);
    }

    /// Runs the backward pass.
    template <class T, class Policy>
    static operands<T> backward(attn_lstm_tensors<T> const& given,
        std::array<textbook::dims, 14> const& shapes, options const& how,
        xloom::attn_lstm_residuals<T> const& residuals, attn_lstm_arrays<T> const& ct,
        xloom::attention_workspace<T>& workspace, vjp_call const& as, Policy const& policy)
    {
        xloom::attn_lstm_weights<T> const weights(given.constants(), options_of(how), xloom::for_training);
        std::array<placed_tensor<T>, 14> out;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = gradient_like<T>(shapes[i], as, i);
        std::array<placed_tensor<T>, 6> placed;
        for (std::size_t i = 0; i < placed.size(); ++i)
            placed[i] = place_if_given(*ct.each()[i], as.from);
        auto const& from = placed;
        xloom::attn_lstm_vjp_into(given.X, ref_of(given.M), weights, residuals,
            {ref_of(from[0]), ref_of(from[1]), ref_of(from[2]), ref_of(from[3]), ref_of(from[4]),
                ref_of(from[5])},
            {ref_of(out[0]), ref_of(out[1]), ref_of(out[2]), ref_of(out[3]), ref_of(out[4]), ref_of(out[5]),
                ref_of(out[6]), ref_of(out[7]), ref_of(out[8]), ref_of(out[9]), ref_of(out[10]),
                ref_of(out[11]), ref_of(out[12]), ref_of(out[13])},
            workspace, policy);
        operands<T> result;
        for (std::size_t i = 0; i < out.size(); ++i)
            *parts(result)[i] = array_if_given(out[i]);
        return result;
    }
};

/// Random cotangents of all outputs.
template <class T>
attn_lstm_arrays<T> random_attn_lstm_cotangents(
    std::mt19937& random, textbook::attn_lstm_operands<T> const& in)
{
    attn_lstm_arrays<T> ct;
    auto const shapes = shapes_of_outputs(in);
    for (std::size_t i = 0; i < ct.each().size(); ++i)
        *ct.each()[i] = random_array<T>(random, shapes.each()[i]->shape, 1);
    return ct;
}
