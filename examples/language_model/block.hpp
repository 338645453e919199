#pragma once
// A block of Gated DeltaNet.
//
//     sums = normalise(x) @ in
//     q, k, v, gate = silu(causal_conv(sums[channels]))
//     o = linear_attention(normalise(q), normalise(k), v, decay=log(logistic(sums[decays] + gates[decays])),
//         beta=logistic(sums[betas] + gates[betas]), update_rule="gated_delta")
//     x = x + (normalise(o) * gate) @ out
//
// q, k and o are normalised head by head.
//
// Source    S. Yang, J. Kautz, A. Hatamizadeh, "Gated Delta Networks" (2024), where the output gates are not
//           convolved, and decays have one more parameter.

#include <cmath>
#include <cstddef>

#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>

#include "layers.hpp"
#include "parameters.hpp"

/// A block for B sequences of T symbols at a time. Holds the memory of its calls, which allocate nothing
/// after the first.
template <class Item>
class delta_block {
    using weights_type = typename parameters<Item>::block;
    using state_type = typename model_state<Item>::block;

public:
    delta_block(model_sizes const& of, std::size_t B, std::size_t T)
        : D_(of.width()),
          H_(of.heads),
          d_(of.head),
          B_(B),
          T_(T),
          input_(xt::zeros<Item>({B * T, D_})),
          change_(input_),
          input_scales_(xt::zeros<Item>({B * T})),
          key_scales_(xt::zeros<Item>({B * T, 2 * H_})),
          read_scales_(xt::zeros<Item>({B * T * H_})),
          at_(of, B, T),
          ct_(of, B, T)
    {}

    /// Packs the matrices.
    void assign(weights_type const& weights)
    {
        in_.assign(weights.in);
        out_.assign(weights.out);
    }

    /// Changes x [B T, width] after a past state, and writes the present state, in place if it is the same.
    void forward(weights_type const& weights, state_type const& past, state_type& present, tensor<Item, 2>& x)
    {
        input_ = x;
        normalise_rows(input_, D_, std::sqrt(Item(D_)), input_scales_);
        in_(rows(), input_.data(), at_.sums.data());

        auto const sums = channels_of(at_.sums);
        auto const convolved = channels_of(at_.convolved);
        xloom::causal_conv_into(sums, weights.kernel, {.past_state = past.inputs},
            {.output = convolved, .present_state = present.inputs}, convolution, workspace_);
        for (std::size_t n = 0; n < rows(); ++n) {
            for (std::size_t h = 0; h < 2 * H_; ++h)
                key_scales_(n, h) = normalise(&at_.convolved(n, h * d_), d_, Item(1));
            for (std::size_t h = 0; h < H_; ++h) {
                at_.decay.data()[n * H_ + h] = log_logistic(at_.sums(n, 4 * D_ + h) + weights.gates(h));
                at_.beta.data()[n * H_ + h] = logistic(at_.sums(n, 4 * D_ + H_ + h) + weights.gates(H_ + h));
            }
        }

        auto const q = heads_of(at_.convolved, 0), k = heads_of(at_.convolved, 1),
                   v = heads_of(at_.convolved, 2);
        xloom::linear_attention_into(q, k, v,
            {.past_state = past.attention, .decay = at_.decay, .beta = at_.beta},
            {.output = at_.read, .present_state = present.attention}, attention, workspace_);
        normalise_rows(at_.read, d_, std::sqrt(Item(d_)), read_scales_);
        for (std::size_t n = 0; n < rows(); ++n) {
            Item const *const read = at_.read.data() + n * D_, *const gate = &at_.convolved(n, 3 * D_);
            for (std::size_t i = 0; i < D_; ++i)
                at_.gated(n, i) = read[i] * gate[i];
        }
        out_(rows(), at_.gated.data(), change_.data());
        x += change_;
    }

    /// Turns the derivatives by the last call's x into those by x as it was before, and adds those by the
    /// weights to `ct`. The past state is a constant.
    void backward(
        weights_type const& weights, state_type const& past, tensor<Item, 2>& ct_x, weights_type& ct)
    {
        out_.vjp(rows(), at_.gated.data(), ct_x.data(), ct_.gated.data(), ct.out);
        ct_.convolved.fill(0); // gradients of xloom are added to
        ct_.decay.fill(0);
        ct_.beta.fill(0);
        ct_.sums.fill(0);
        for (std::size_t n = 0; n < rows(); ++n) {
            Item const *const read = at_.read.data() + n * D_, *const gate = &at_.convolved(n, 3 * D_);
            Item *const ct_read = ct_.read.data() + n * D_, *const ct_gate = &ct_.convolved(n, 3 * D_);
            for (std::size_t i = 0; i < D_; ++i) {
                ct_gate[i] = ct_.gated(n, i) * read[i];
                ct_read[i] = ct_.gated(n, i) * gate[i];
            }
        }
        normalise_rows_vjp(at_.read, d_, std::sqrt(Item(d_)), read_scales_, ct_.read);

        auto const q = heads_of(at_.convolved, 0), k = heads_of(at_.convolved, 1),
                   v = heads_of(at_.convolved, 2);
        auto const ct_q = heads_of(ct_.convolved, 0), ct_k = heads_of(ct_.convolved, 1),
                   ct_v = heads_of(ct_.convolved, 2);
        xloom::linear_attention_vjp_into(q, k, v,
            {.past_state = past.attention, .decay = at_.decay, .beta = at_.beta}, {.output = ct_.read},
            {.query = ct_q, .key = ct_k, .value = ct_v, .decay = ct_.decay, .beta = ct_.beta}, attention,
            workspace_);
        for (std::size_t n = 0; n < rows(); ++n) {
            for (std::size_t h = 0; h < 2 * H_; ++h)
                normalise_vjp(
                    &at_.convolved(n, h * d_), d_, Item(1), key_scales_(n, h), &ct_.convolved(n, h * d_));
            for (std::size_t h = 0; h < H_; ++h) {
                Item const beta = at_.beta.data()[n * H_ + h];
                ct_.sums(n, 4 * D_ + h) =
                    ct_.decay.data()[n * H_ + h] * (1 - std::exp(at_.decay.data()[n * H_ + h]));
                ct_.sums(n, 4 * D_ + H_ + h) = ct_.beta.data()[n * H_ + h] * beta * (1 - beta);
            }
            for (std::size_t h = 0; h < 2 * H_; ++h)
                ct.gates(h) += ct_.sums(n, 4 * D_ + h);
        }

        auto const sums = channels_of(at_.sums);
        auto const ct_convolved = channels_of(ct_.convolved), ct_sums = channels_of(ct_.sums);
        xloom::causal_conv_vjp_into(sums, weights.kernel, {.past_state = past.inputs},
            {.output = ct_convolved}, {.input = ct_sums, .weight = ct.kernel}, convolution, workspace_);
        in_.vjp(rows(), input_.data(), ct_.sums.data(), change_.data(), ct.in);
        normalise_rows_vjp(input_, D_, std::sqrt(Item(D_)), input_scales_, change_);
        ct_x += change_;
    }

private:
    /// What is computed for each symbol, or the derivatives by it.
    struct values {
        tensor<Item, 2> sums;        ///< [B T, sums]
        tensor<Item, 2> convolved;   ///< [B T, channels], queries and keys normalised
        tensor<Item, 3> decay, beta; ///< [B, T, heads]
        tensor<Item, 4> read;        ///< [B, T, heads, head], normalised
        tensor<Item, 2> gated;       ///< [B T, width]

        values(model_sizes const& of, std::size_t B, std::size_t T)
            : sums(xt::zeros<Item>({B * T, of.sums()})),
              convolved(xt::zeros<Item>({B * T, of.channels()})),
              decay(xt::zeros<Item>({B, T, of.heads})),
              beta(decay),
              read(xt::zeros<Item>({B, T, of.heads, of.head})),
              gated(xt::zeros<Item>({B * T, of.width()}))
        {}
    };

    static constexpr xloom::causal_conv_options convolution{xloom::conv_activation::silu};
    static constexpr xloom::linear_attention_options attention{
        .update_rule = xloom::update_rule::gated_delta, .scale = 1};

    std::size_t rows() const { return B_ * T_; }

    /// The channels of rows [B T, stride], their first items, as [B, channels, T].
    slice<Item, 3> channels_of(tensor<Item, 2>& rows) const
    {
        auto const stride = static_cast<std::ptrdiff_t>(rows.shape()[1]);
        return {rows.data(), {B_, 4 * D_, T_}, {std::ptrdiff_t(T_) * stride, 1, stride}};
    }
    /// The queries (0), keys (1) or values (2) of channels [B T, channels], as [B, T, heads, head].
    slice<Item, 4> heads_of(tensor<Item, 2>& channels, std::size_t kind) const
    {
        auto const stride = static_cast<std::ptrdiff_t>(4 * D_);
        return {&channels(0, kind * D_), {B_, T_, H_, d_},
            {std::ptrdiff_t(T_) * stride, stride, std::ptrdiff_t(d_), 1}};
    }

    std::size_t D_, H_, d_, B_, T_;
    product<Item> in_, out_;
    tensor<Item, 2> input_;  ///< [B T, width], normalised
    tensor<Item, 2> change_; ///< [B T, width], of x or of its derivatives
    tensor<Item, 1> input_scales_;
    tensor<Item, 2> key_scales_; ///< [B T, 2 heads], of queries and keys
    tensor<Item, 1> read_scales_;
    values at_, ct_;
    xloom::recurrent_workspace<Item> workspace_;
};
