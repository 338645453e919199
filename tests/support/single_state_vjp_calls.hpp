#pragma once
// The backward passes of GRU and RNN for tests that are written once for all recurrent operators.

#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>

#include "gru_calls.hpp"
#include "recurrent_gradients.hpp"
#include "rnn_calls.hpp"
#include "used_workspace.hpp"

struct gru_vjp_names {
    static constexpr auto forward_into = [](auto&&... of) { xloom::gru_forward_into(of...); };
    static constexpr auto vjp_into = [](auto&&... of) { xloom::gru_vjp_into(of...); };

    template <class T>
    using residuals = xloom::gru_residuals<T>;
};

struct rnn_vjp_names {
    static constexpr auto forward_into = [](auto&&... of) { xloom::rnn_forward_into(of...); };
    static constexpr auto vjp_into = [](auto&&... of) { xloom::rnn_vjp_into(of...); };

    template <class T>
    using residuals = xloom::rnn_residuals<T>;
};

/// The backward pass of a family whose only state is h.
template <class Family, class Names>
struct single_state_vjp_family : Family, Names {
    template <class T>
    using operands = typename Family::template operands<T>;
    template <class T>
    using tensors = typename Family::template tensors<T>;
    template <class T>
    using weights = typename Family::template weights<T>;
    using options = typename Family::options;

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
        auto const options = Family::options_of(how);
        weights<T> const packed(given.constants(), options, xloom::for_training);
        typename Names::template residuals<T> residuals;
        auto workspace = as.content == 0 ? xloom::recurrent_workspace<T>() : used_workspace<T>();
        xloom::detail::single_state_outputs<T> const none{};
        Names::forward_into(given.X, packed, given.start(), none, residuals, workspace, policy);

        std::size_t const D = in.R.shape[0], H = in.R.shape[2], N = in.X.shape[how.layout == 1 ? 0 : 1];
        auto const shape = shapes(in.X.shape, in.W.shape, in.R.shape,
            how.layout == 1 ? textbook::dims{N, D, H} : textbook::dims{D, N, H});
        std::array<placed_tensor<T>, 5> out;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = gradient_like<T>(shape[i], as, i);
        placed_tensor<T> const Y = place_if_given(ct.Y, as.from), Y_h = place_if_given(ct.Y_h, as.from);
        xloom::detail::single_state_cotangents<T> const cts{ref_of(Y), ref_of(Y_h)};
        xloom::detail::single_state_gradients<T> const gradients{
            ref_of(out[0]), ref_of(out[1]), ref_of(out[2]), ref_of(out[3]), ref_of(out[4])};
        Names::vjp_into(given.X, packed, residuals, cts, gradients, workspace, policy);
        operands<T> result;
        for (std::size_t i = 0; i < out.size(); ++i)
            *parts(result)[i] = array_if_given(out[i]);
        return result;
    }
};

using gru_vjp_family = single_state_vjp_family<gru_family, gru_vjp_names>;
using rnn_vjp_family = single_state_vjp_family<rnn_family, rnn_vjp_names>;
