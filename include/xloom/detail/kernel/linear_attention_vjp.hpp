#pragma once
// The vector-Jacobian product of linear attention of one head of a sequence.
//
// The states before each of about sqrt(T) blocks of tokens are kept. From the last block to the first, the
// states of its tokens are computed again, and then its tokens go backwards.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/checkpoint.hpp>
#include <xloom/detail/kernel/linear_attention.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The cotangents of one head, and its gradients, which are added to; each may be omitted. Of heads that share
/// a beta, ct_beta has a row for each token.
template <class Item, class State>
struct attention_cotangents {
    std::ptrdiff_t next_ct_output, next_ct_query; ///< the strides from query head to query head
    item_rows<Item const> ct_output;
    item_rows<State const> ct_present_state;
    item_rows<Item> ct_query, ct_key, ct_value, ct_decay;
    item_rows<State> ct_past_state;
    xloom::detail::compute_t<Item>* ct_beta; ///< a number for each token, which is set; null if omitted
};

/// The backward pass of a head.
template <class Item, class State, decay_kind Decays, bool IsDelta>
class attention_backward {
public:
    using T = xloom::detail::compute_t<Item>;
    using V = batch_t<T>;

    attention_backward(attention_head<Item, State> const& head,
        attention_cotangents<Item, State> const& cotangents, arena<T>& memory)
        : head_(head),
          of_(cotangents),
          block_((std::max)(xloom::detail::ceil_sqrt(head.tokens), std::size_t{1})),
          row_(whole_batches<T>(head.values)),
          state_size_(saturated_product(head.keys, row_)),
          tokens_(head.keys, head.queries, memory),
          kept_(memory.take(head.tokens / block_ + 1, state_size_)),
          states_(memory.take(block_ + 1, state_size_)),
          errors_(memory.take(block_, row_)),
          ct_state_(memory.take(state_size_)),
          queries_(memory.take(head.queries, tokens_.width())),
          ct_outputs_(memory.take(head.queries, row_)),
          ct_value_(memory.take(row_)),
          ct_keys_(memory.take(head.queries + 2, tokens_.width()))
    {}

    [[gnu::flatten]] void operator()() const
    {
        keep_states();
        load_state(of_.ct_present_state, ct_state_);
        for (std::size_t begin = (head_.tokens + block_ - 1) / block_ * block_; begin > 0;) {
            begin -= block_;
            std::size_t const count = (std::min)(block_, head_.tokens - begin);
            std::copy_n(kept_ + begin / block_ * state_size_, state_size_, states_);
            for (std::size_t i = 0; i < count; ++i)
                advance(begin + i, states_ + i * state_size_, states_ + (i + 1) * state_size_,
                    errors_ + i * row_);
            for (std::size_t i = count; i-- > 0;)
                go_back(begin + i, i);
        }
        for (std::size_t d = 0; d < head_.keys && of_.ct_past_state.first != nullptr; ++d)
            add_row(ct_state_ + d * row_, of_.ct_past_state, d, head_.values);
    }

private:
    static constexpr std::size_t width = batch_size<T>;

    void load_state(item_rows<State const> const& from, T* to) const
    {
        for (std::size_t d = 0; d < head_.keys; ++d)
            load_row(from, d, head_.values, to + d * row_);
    }

    /// Loads a row, padded with zeros; zeros if it is omitted.
    template <class Any>
    static void load_row(item_rows<Any> const& from, std::size_t row, std::size_t count, T* to)
    {
        for (std::size_t j = 0; j < count; j += width)
            store_batch(to + j, from.first == nullptr
                                    ? V(T(0))
                                    : load_channels<T>(from, row, j, (std::min)(width, count - j)));
    }

    /// Adds a row to a gradient, unless it is omitted.
    template <class Any>
    static void add_row(T const* from, item_rows<Any> const& to, std::size_t row, std::size_t count)
    {
        for (std::size_t j = 0; j < count && to.first != nullptr; j += width) {
            std::size_t const some = (std::min)(width, count - j);
            store_channels<T>(load_channels<T>(to, row, j, some) + load_batch(from + j), to, row, j, some);
        }
    }

    /// Keeps the state before each block.
    void keep_states() const
    {
        T* const state = states_;
        load_state(head_.past_state, state);
        for (std::size_t t = 0; t < head_.tokens; ++t) {
            if (t % block_ == 0)
                std::copy_n(state, state_size_, kept_ + t / block_ * state_size_);
            advance(t, state, state, errors_);
        }
    }

    /// Computes the state after a token, and error = value - state^T key of a delta rule, else the value.
    void advance(std::size_t t, T const* from, T* to, T* error) const
    {
        tokens_.read(0, head_, t);
        attention_token<T> const token = tokens_[0];
        load_row(head_.value, t, head_.values, error);
        for (std::size_t j = 0; j < row_; j += width) {
            auto const stride = static_cast<std::ptrdiff_t>(row_);
            attention_panel<T, 1, Decays> const panel{head_.keys, {from + j, stride}, {to + j, stride}};
            V value = load_batch(error + j);
            if constexpr (IsDelta) {
                value = value - panel.read(token.read_key)[0];
                store_batch(error + j, value);
                value = V(token.beta) * value;
            }
            panel.update(token, {value});
        }
    }

    /// Adds a token's part to all gradients, and takes ct_state from after the token to before it.
    void go_back(std::size_t t, std::size_t i) const
    {
        tokens_.read(0, head_, t);
        attention_token<T> const token = tokens_[0];
        for (std::size_t q = 0; q < head_.queries; ++q) {
            load_row(head_.query.moved(static_cast<std::ptrdiff_t>(q) * head_.next_query), t, head_.keys,
                queries_ + q * tokens_.width());
            load_row(of_.ct_output.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_output), t,
                head_.values, ct_outputs_ + q * row_);
            scale(ct_outputs_ + q * row_, head_.scale);
        }
        std::fill_n(ct_value_, row_, T(0));
        T const* const error = errors_ + i * row_;
        T const beta = IsDelta ? token.beta : T(1);
        for (std::size_t d = 0; d < head_.keys; ++d)
            read_back(token, d, states_ + (i + 1) * state_size_ + d * row_, error, beta);
        if constexpr (IsDelta) {
            if (of_.ct_beta != nullptr)
                of_.ct_beta[t] = product(ct_value_, error);
            scale(ct_value_, beta);
        }
        for (std::size_t d = 0; d < head_.keys; ++d)
            update_back(token, d, states_ + i * state_size_ + d * row_);
        add_gradients(t);
    }

    /// Of a row of the state: what queries read after the token, and the token's outer product.
    void read_back(
        attention_token<T> const& token, std::size_t d, T const* state, T const* error, T beta) const
    {
        T* const ct_state = ct_state_ + d * row_;
        V const key(token.key[d]);
        for (std::size_t q = 0; q < head_.queries; ++q) {
            T const* const ct_output = ct_outputs_ + q * row_;
            V const query(queries_[q * tokens_.width() + d]);
            for (std::size_t j = 0; j < row_; j += width)
                store_batch(
                    ct_state + j, multiply_add(query, load_batch(ct_output + j), load_batch(ct_state + j)));
            ct_keys_[(q + 2) * tokens_.width() + d] = product(state, ct_output);
        }
        ct_keys_[d] = beta * product(ct_state, error);
        for (std::size_t j = 0; j < row_; j += width)
            store_batch(
                ct_value_ + j, multiply_add(load_batch(ct_state + j), key, load_batch(ct_value_ + j)));
    }

    /// Of a row of the state: what a delta rule's key reads before the token, and the decay.
    void update_back(attention_token<T> const& token, std::size_t d, T const* before) const
    {
        T* const ct_state = ct_state_ + d * row_;
        T const decay =
            Decays == decay_kind::none ? T(1) : token.decay[Decays == decay_kind::of_keys ? d : 0];
        if constexpr (IsDelta) {
            ct_keys_[d] = ct_keys_[d] - decay * product(before, ct_value_);
            V const key(-token.key[d]);
            for (std::size_t j = 0; j < row_; j += width)
                store_batch(
                    ct_state + j, multiply_add(key, load_batch(ct_value_ + j), load_batch(ct_state + j)));
        }
        if constexpr (Decays != decay_kind::none) {
            ct_keys_[tokens_.width() + d] = decay * product(ct_state, before);
            scale(ct_state, decay);
        }
    }

    void add_gradients(std::size_t t) const
    {
        std::size_t const stride = tokens_.width();
        add_row(ct_keys_, of_.ct_key, t, head_.keys);
        add_row(ct_value_, of_.ct_value, t, head_.values);
        for (std::size_t q = 0; q < head_.queries; ++q)
            add_row(ct_keys_ + (q + 2) * stride,
                of_.ct_query.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_query), t, head_.keys);
        if constexpr (Decays == decay_kind::of_keys)
            add_row(ct_keys_ + stride, of_.ct_decay, t, head_.keys);
        if constexpr (Decays == decay_kind::of_head) {
            for (std::size_t d = 1; d < head_.keys; ++d)
                ct_keys_[stride] = ct_keys_[stride] + ct_keys_[stride + d];
            add_row(ct_keys_ + stride, of_.ct_decay, t, 1);
        }
    }

    void scale(T* row, T factor) const
    {
        for (std::size_t j = 0; j < row_; j += width)
            store_batch(row + j, V(factor) * load_batch(row + j));
    }
    T product(T const* x, T const* y) const
    {
        V sum(T(0));
        for (std::size_t j = 0; j < row_; j += width)
            sum = multiply_add(load_batch(x + j), load_batch(y + j), sum);
        return sum_of<T>(sum);
    }

    attention_head<Item, State> const& head_;
    attention_cotangents<Item, State> const& of_;
    std::size_t block_, row_, state_size_;
    attention_tokens<T> tokens_;
    T *kept_, *states_; ///< the states before each block, and before and after each token of a block
    T* errors_;         ///< of each token of a block
    T* ct_state_;
    T *queries_, *ct_outputs_, *ct_value_; ///< of a token; ct_outputs times the scale
    T* ct_keys_;                           ///< of a token: of its key, its decays, and each query
};

} // namespace xloom::inline XLOOM_ABI::kernel
