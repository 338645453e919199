#pragma once
// The backward pass of RNN for tests that are written once for all recurrent operators.

#include <xloom/gradients/rnn_vjp.hpp>

#include "recurrent_gradients.hpp"
#include "rnn_calls.hpp"

struct rnn_vjp_family : rnn_family {
    /// X, W, R, B, initial_h.
    template <class T>
    static std::array<textbook::array<T>*, 5> parts(operands<T>& o)
    {
        return {&o.X, &o.W, &o.R, &o.B, &o.initial_h};
    }
    template <class T>
    static std::array<textbook::array<T> const*, 5> parts(operands<T> const& o)
    {
        return {&o.X, &o.W, &o.R, &o.B, &o.initial_h};
    }

    /// The shapes of the gradients, in the order of parts, all of them.
    static std::array<textbook::dims, 5> shapes(textbook::dims const& X, textbook::dims const& W,
        textbook::dims const& R, textbook::dims const& state)
    {
        return {X, W, R, {R[0], 2 * R[1]}, state};
    }

    /// Runs both passes, and returns the gradients that are wanted.
    template <class T, class Policy = xloom::serial_policy>
    static operands<T> vjp(operands<T> const& in, options const& how, recurrent_arrays<T> const& ct,
        vjp_call const& as = {}, Policy const& policy = {})
    {
        tensors<T> const given(in, as.from);
        auto const options = options_of(how);
        xloom::rnn_weights<T> const weights(given.constants(), options, xloom::for_training);
        xloom::rnn_residuals<T> residuals;
        xloom::recurrent_workspace<T> workspace;
        xloom::rnn_forward_into(given.X, weights, given.start(), {}, residuals, workspace, policy);

        std::size_t const D = in.R.shape[0], H = in.R.shape[2], N = in.X.shape[how.layout == 1 ? 0 : 1];
        auto const shape = shapes(in.X.shape, in.W.shape, in.R.shape,
            how.layout == 1 ? textbook::dims{N, D, H} : textbook::dims{D, N, H});
        std::array<placed_tensor<T>, 5> out;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = gradient_like<T>(shape[i], as, i);
        placed_tensor<T> const Y = place_if_given(ct.Y, as.from), Y_h = place_if_given(ct.Y_h, as.from);
        xloom::rnn_vjp_into(given.X, weights, residuals, {ref_of(Y), ref_of(Y_h)},
            {ref_of(out[0]), ref_of(out[1]), ref_of(out[2]), ref_of(out[3]), ref_of(out[4])}, workspace,
            policy);
        operands<T> result;
        for (std::size_t i = 0; i < out.size(); ++i)
            *parts(result)[i] = array_if_given(out[i]);
        return result;
    }
};
