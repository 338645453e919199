#pragma once
// The vector-Jacobian product of linear attention of one head of a sequence.
//
// The states before each of about sqrt(T) blocks of tokens are kept. From the last block to the first, the
// states of its tokens are computed again, and then its tokens go backwards. A state is kept transposed, a
// row for each value: of the sums, those over values are then sums of rows, and rows do not depend on each
// other.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/checkpoint.hpp>
#include <xloom/detail/kernel/linear_attention.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The cotangents of one head, and its gradients, which are added to; each may be omitted.
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
          tokens_(head.keys, head.queries, memory),
          row_(tokens_.width()),
          state_size_(saturated_product(head.values, row_)),
          kept_(memory.take(head.tokens / block_ + 1, state_size_)),
          states_(memory.take(block_ + 1, state_size_)),
          errors_(memory.take(block_, head.values)),
          ct_state_(memory.take(state_size_)),
          queries_(memory.take(head.queries, row_)),
          ct_outputs_(memory.take(head.queries, whole_batches<T>(head.values))),
          ct_values_(memory.take(whole_batches<T>(head.values))),
          ct_keys_(memory.take(head.queries + 3, row_))
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
                advance(begin + i, states_ + i * state_size_, states_ + (i + 1) * state_size_, i);
            for (std::size_t i = count; i-- > 0;)
                go_back(begin + i, i);
        }
        for (std::size_t j = 0; j < head_.values; ++j)
            add_row(ct_state_ + j * row_, of_.ct_past_state.transposed(), j, head_.keys);
    }

private:
    static constexpr std::size_t width = batch_size<T>;

    void load_state(item_rows<State const> const& from, T* to) const
    {
        for (std::size_t j = 0; j < head_.values; ++j)
            load_row(from.transposed(), j, head_.keys, to + j * row_);
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
        load_state(head_.past_state, states_);
        for (std::size_t t = 0; t < head_.tokens; ++t) {
            if (t % block_ == 0)
                std::copy_n(states_, state_size_, kept_ + t / block_ * state_size_);
            advance(t, states_, states_, 0);
        }
    }

    /// Returns the decays of a batch of keys.
    static V decay_of(attention_token<T> const& token, std::size_t d)
    {
        return Decays == decay_kind::of_keys ? load_batch(token.decay + d) : V(token.decay[0]);
    }

    /// Computes the state after a token, and its errors: value - state^T key of a delta rule, else its value.
    void advance(std::size_t t, T const* from, T* to, std::size_t i) const
    {
        tokens_.read(0, head_, t);
        attention_token<T> const token = tokens_[0];
        std::size_t const row = row_;
        for (std::size_t j = 0; j < head_.values; ++j) {
            T const* const before = from + j * row;
            T* const after = to + j * row;
            T value = static_cast<T>(*head_.value.at(t, j));
            if constexpr (IsDelta)
                value = value - product(before, token.read_key, row);
            errors_[i * head_.values + j] = value;
            V const factor(IsDelta ? token.beta * value : value);
            for (std::size_t d = 0; d < row; d += width)
                store_batch(after + d, attention_panel<T, T, 1, Decays>::updated(load_batch(before + d),
                                           decay_of(token, d), load_batch(token.key + d), factor));
        }
    }

    /// Adds a token's part to all gradients, and takes ct_state from after the token to before it.
    void go_back(std::size_t t, std::size_t i) const
    {
        tokens_.read(0, head_, t);
        attention_token<T> const token = tokens_[0];
        std::size_t const values = whole_batches<T>(head_.values);
        for (std::size_t q = 0; q < head_.queries; ++q) {
            load_row(head_.query.moved(static_cast<std::ptrdiff_t>(q) * head_.next_query), t, head_.keys,
                queries_ + q * row_);
            load_row(of_.ct_output.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_output), t,
                head_.values, ct_outputs_ + q * values);
        }
        std::fill_n(ct_keys_, (head_.queries + 3) * row_, T(0));
        T ct_beta(0);
        for (std::size_t j = 0; j < head_.values; ++j) {
            T const error = errors_[i * head_.values + j];
            read_back(
                token, j, states_ + (i + 1) * state_size_ + j * row_, IsDelta ? token.beta * error : error);
            if constexpr (IsDelta) {
                ct_beta = ct_beta + ct_values_[j] * error;
                ct_values_[j] = token.beta * ct_values_[j];
            }
            update_back(token, j, states_ + i * state_size_ + j * row_);
        }
        if (of_.ct_beta != nullptr)
            of_.ct_beta[t] = ct_beta;
        add_gradients(token, t);
    }

    /// Goes back, in a row of the state, over what queries read after the token and over its outer product.
    void read_back(attention_token<T> const& token, std::size_t j, T const* state, T value) const
    {
        std::size_t const row = row_; // and other copies: stores may alias members
        T *const ct_state = ct_state_ + j * row, *const ct_key = ct_keys_;
        T const* const key = token.key;
        for (std::size_t q = 0; q < head_.queries; ++q) {
            V const ct(head_.scale * ct_outputs_[q * whole_batches<T>(head_.values) + j]);
            T *const query = queries_ + q * row, *const ct_query = ct_key + (q + 3) * row;
            for (std::size_t d = 0; d < row; d += width) {
                add(ct, load_batch(state + d), ct_query + d);
                add(ct, load_batch(query + d), ct_state + d);
            }
        }
        V read(T(0));
        for (std::size_t d = 0; d < row; d += width) {
            V const ct = load_batch(ct_state + d);
            read = multiply_add(ct, load_batch(key + d), read);
            add(V(value), ct, ct_key + d);
        }
        ct_values_[j] = sum_of<T>(read);
    }

    /// Goes back, in a row of the state, over what a delta rule's key reads before the token and the decay.
    void update_back(attention_token<T> const& token, std::size_t j, T const* before) const
    {
        if constexpr (!IsDelta && Decays == decay_kind::none)
            return;
        std::size_t const row = row_;
        T *const ct_state = ct_state_ + j * row, *const ct_read_key = ct_keys_ + row,
                 *const ct_decay = ct_keys_ + 2 * row;
        T const* const key = token.key;
        V const ct_read(-ct_values_[j]);
        for (std::size_t d = 0; d < row; d += width) {
            V const state = load_batch(before + d);
            V ct = load_batch(ct_state + d);
            if constexpr (IsDelta) {
                add(ct_read, state, ct_read_key + d);
                ct = multiply_add(ct_read, load_batch(key + d), ct);
            }
            if constexpr (Decays != decay_kind::none) {
                add(ct, state, ct_decay + d);
                ct = decay_of(token, d) * ct;
            }
            store_batch(ct_state + d, ct);
        }
    }

    void add_gradients(attention_token<T> const& token, std::size_t t) const
    {
        T *const ct_read_key = ct_keys_ + row_, *const ct_decay = ct_keys_ + 2 * row_;
        for (std::size_t d = 0; d < row_; d += width) {
            V const decay = Decays == decay_kind::none ? V(T(1)) : decay_of(token, d);
            add(decay, load_batch(ct_read_key + d), ct_keys_ + d);
            store_batch(ct_decay + d, decay * load_batch(ct_decay + d));
        }
        add_row(ct_keys_, of_.ct_key, t, head_.keys);
        add_row(ct_values_, of_.ct_value, t, head_.values);
        for (std::size_t q = 0; q < head_.queries; ++q)
            add_row(ct_keys_ + (q + 3) * row_,
                of_.ct_query.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_query), t, head_.keys);
        if constexpr (Decays == decay_kind::of_head)
            ct_decay[0] = sum(ct_decay);
        add_row(ct_decay, of_.ct_decay, t, Decays == decay_kind::of_head ? 1 : head_.keys);
    }

    /// Computes to = x y + to.
    static void add(V const& x, V const& y, T* to) { store_batch(to, multiply_add(x, y, load_batch(to))); }

    static T product(T const* x, T const* y, std::size_t count)
    {
        V total(T(0));
        for (std::size_t d = 0; d < count; d += width)
            total = multiply_add(load_batch(x + d), load_batch(y + d), total);
        return sum_of<T>(total);
    }
    T sum(T const* x) const
    {
        V total(T(0));
        for (std::size_t d = 0; d < row_; d += width)
            total = total + load_batch(x + d);
        return sum_of<T>(total);
    }

    attention_head<Item, State> const& head_;
    attention_cotangents<Item, State> const& of_;
    std::size_t block_;
    attention_tokens<T> tokens_;
    std::size_t row_, state_size_;
    T *kept_, *states_; ///< the states before each block, and before and after each token of a block
    T* errors_;         ///< of each token of a block
    T* ct_state_;
    T *queries_, *ct_outputs_, *ct_values_; ///< of a token
    T* ct_keys_; ///< of a token: of its key after and before its update, of its decays, and of each query
};

} // namespace xloom::inline XLOOM_ABI::kernel
