#pragma once
// The backward pass of LSTM for tests that are written once for all recurrent operators.

#include <xloom/gradients/lstm_vjp.hpp>

#include "lstm_calls.hpp"
#include "recurrent_gradients.hpp"

struct lstm_vjp_family : lstm_family {
    /// X, W, R, B, initial_h, initial_c, P, projection.
    template <class T>
    static std::array<textbook::array<T>*, 8> parts(operands<T>& o)
    {
        return {&o.X, &o.W, &o.R, &o.B, &o.initial_h, &o.initial_c, &o.P, &o.projection};
    }
    template <class T>
    static std::array<textbook::array<T> const*, 8> parts(operands<T> const& o)
    {
        return {&o.X, &o.W, &o.R, &o.B, &o.initial_h, &o.initial_c, &o.P, &o.projection};
    }

    /// The shapes of the gradients, in the order of parts, all of them; the states' are [D, N, ..].
    template <class T>
    static std::array<textbook::dims, 8> shapes(operands<T> const& in, std::size_t N, int layout)
    {
        std::size_t const D = in.R.shape[0], K = in.R.shape[2], H = in.R.shape[1] / 4;
        auto const state = [&](std::size_t length) {
            return layout == 1 ? textbook::dims{N, D, length} : textbook::dims{D, N, length};
        };
        return {in.X.shape, in.W.shape, in.R.shape, {D, 8 * H}, state(K), state(H), {D, 3 * H},
            in.projection.shape};
    }

    /// Runs both passes, and returns the gradients that are wanted.
    template <class T, class Policy = xloom::serial_policy>
    static operands<T> vjp(operands<T> const& in, options const& how, recurrent_arrays<T> const& ct,
        vjp_call const& as = {}, Policy const& policy = {})
    {
        tensors<T> const given(in, as.from);
        auto const options = options_of(how);
        xloom::lstm_weights<T> const weights(given.constants(), options, xloom::for_training);
        xloom::lstm_residuals<T> residuals;
        xloom::recurrent_workspace<T> workspace;
        xloom::lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace, policy);

        auto const shape = shapes(in, in.X.shape[how.layout == 1 ? 0 : 1], how.layout);
        std::array<placed_tensor<T>, 8> out;
        for (std::size_t i = 0; i < out.size(); ++i)
            if (!shape[i].empty())
                out[i] = gradient_like<T>(shape[i], as, i);
        placed_tensor<T> const Y = place_if_given(ct.Y, as.from), Y_h = place_if_given(ct.Y_h, as.from),
                               Y_c = place_if_given(ct.Y_c, as.from);
        xloom::lstm_vjp_into(given.X, weights, residuals, {ref_of(Y), ref_of(Y_h), ref_of(Y_c)},
            {ref_of(out[0]), ref_of(out[1]), ref_of(out[2]), ref_of(out[3]), ref_of(out[6]), ref_of(out[4]),
                ref_of(out[5]), ref_of(out[7])},
            workspace, policy);
        operands<T> result;
        for (std::size_t i = 0; i < out.size(); ++i)
            *parts(result)[i] = array_if_given(out[i]);
        return result;
    }
};
