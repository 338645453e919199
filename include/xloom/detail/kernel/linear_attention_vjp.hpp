#pragma once
// The vector-Jacobian product of linear attention of one head of a sequence.
//
// The states before each of about sqrt(T) blocks of tokens are kept. From the last block to the first, a
// panel of columns of the states of its tokens is computed again, and then its tokens go backwards. Columns
// do not depend on each other; sums over them are added up in batches first, whose numbers are then added.

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
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
          tokens_(head.keys, head.queries, block_, memory),
          row_(tokens_.width()),
          values_(whole_batches<T>(head.values)),
          kept_(memory.take(
              (std::max)(xloom::detail::ceil_div(head.tokens, block_), std::size_t{1}), state_size())),
          ct_state_(memory.take(state_size())),
          states_(memory.take(block_ + 1, saturating_mul(head.keys, widest * width))),
          partial_(memory.take(4 * width, row_)),
          errors_(memory.take(block_, values_)),
          ct_values_(memory.take(block_, values_)),
          queries_(memory.take(block_, saturating_mul(head.queries, row_))),
          ct_keys_(memory.take(block_, saturating_mul(head.queries + 3, row_)))
    {}

    XLOOM_FLATTEN void operator()() const
    {
        std::fill_n(partial_, 4 * width * row_, T(0)); // also past the last key
        keep_states();
        load_state(of_.ct_present_state, ct_state_);
        for (std::size_t begin = xloom::detail::ceil_div(head_.tokens, block_) * block_; begin > 0;) {
            begin -= block_;
            std::size_t const count = (std::min)(block_, head_.tokens - begin);
            read_tokens(begin, count);
            read_queries(begin, count);
            for_each_panel(
                begin, count, [&](auto batches, attention_work const& of) { go_back<batches()>(of); });
            for (std::size_t i = 0; i < count; ++i)
                add_gradients(begin + i, i);
        }
        add_ct_state();
    }

private:
    static constexpr std::size_t width = batch_size<T>;
    static constexpr std::size_t widest = sizeof(V) == 64 ? 4 : 2; ///< batches of a panel

    /// The cotangents of a token: of its key after and before its update, of its decays, and of each query.
    struct token_cotangents {
        T *key, *read_key, *decay, *queries;
    };

    std::size_t state_size() const { return saturating_mul(head_.keys, values_); }
    T* kept(std::size_t begin) const { return kept_ + begin / block_ * state_size(); }

    token_cotangents cotangents_of(std::size_t i) const
    {
        T* const key = ct_keys_ + i * (head_.queries + 3) * row_;
        return {key, key + row_, key + 2 * row_, key + 3 * row_};
    }

    /// Calls f(number of batches, attention_work) for all panels; the number is a constant.
    template <class F>
    void for_each_panel(std::size_t begin, std::size_t tokens, F const& f) const
    {
        std::size_t column = 0;
        for (; column + widest * width <= head_.values; column += widest * width)
            f(std::integral_constant<std::size_t, widest>(),
                attention_work{begin, tokens, column, widest * width});
        for (; column < head_.values; column += width)
            f(std::integral_constant<std::size_t, 1>(),
                attention_work{begin, tokens, column, (std::min)(width, head_.values - column)});
    }

    /// Returns the rows of a panel of a state.
    template <std::size_t Batches, class Number>
    state_rows<Number> panel_of(Number* state, attention_work const& of) const
    {
        return {state + of.column * head_.keys, Batches * width};
    }

    void load_state(item_rows<State const> const& from, T* to) const
    {
        for_each_panel(0, 0, [&](auto batches, attention_work const& of) {
            auto const panel = panel_of<batches()>(to, of);
            for (std::size_t d = 0; d < head_.keys; ++d)
                store_columns<T, batches()>(
                    load_columns<T, batches()>(from, d, of.column, of.count), panel[d]);
        });
    }

    /// Adds the cotangent of the state before the first token to the gradient, unless this is omitted.
    void add_ct_state() const
    {
        for_each_panel(0, 0, [&](auto batches, attention_work const& of) {
            auto const panel = panel_of<batches()>(ct_state_, of);
            for (std::size_t d = 0; d < head_.keys; ++d)
                add_row(panel[d], of_.ct_past_state.from_column(of.column), d, of.count);
        });
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
        load_state(head_.past_state, kept_);
        for (std::size_t begin = 0; begin + block_ < head_.tokens; begin += block_) {
            std::copy_n(kept(begin), state_size(), kept(begin + block_));
            read_tokens(begin, block_);
            for_each_panel(begin, block_, [&](auto batches, attention_work const& of) {
                go_forward<batches()>(of, panel_of<batches()>(kept(begin + block_), of), 0);
            });
        }
    }

    void read_tokens(std::size_t begin, std::size_t count) const
    {
        for (std::size_t i = 0; i < count; ++i)
            tokens_.read(i, head_, begin + i);
    }

    /// Reads the queries of a block, without decays, and sets its tokens' cotangents to 0.
    void read_queries(std::size_t begin, std::size_t count) const
    {
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t q = 0; q < head_.queries; ++q)
                attention_tokens<T>::read_keys(
                    head_.query.moved(static_cast<std::ptrdiff_t>(q) * head_.next_query), begin + i,
                    head_.keys, queries_ + (i * head_.queries + q) * row_);
        std::fill_n(ct_keys_, count * (head_.queries + 3) * row_, T(0));
    }

    /// Computes a panel of the state after each token of a block, `next` numbers after the previous one, and
    /// the errors of the tokens: value - state^T key of a delta rule, else the value.
    template <std::size_t Batches>
    void go_forward(attention_work const& of, state_rows<T> const& state, std::size_t next) const
    {
        attention_panel<T, T, Batches, Decays> panel{head_.keys, state, state};
        panel_columns<T, Batches> added{};
        for (std::size_t i = 0; i < of.tokens; ++i) {
            attention_token<T> const token = tokens_[i];
            auto error = load_columns<T, Batches>(head_.value, of.begin + i, of.column, of.count);
            if constexpr (IsDelta) {
                panel.from.first = state.first + (i == 0 ? 0 : i - 1) * next;
                panel.to.first = state.first + i * next;
                auto const read =
                    i == 0
                        ? panel.template update_before_read<false, false>(token, added, token).by_key
                        : panel.template update_before_read<true, false>(tokens_[i - 1], added, token).by_key;
                for (std::size_t j = 0; j < Batches; ++j)
                    error[j] = error[j] - read[j];
            }
            store_columns<T, Batches>(error, errors_ + i * values_ + of.column);
            added = added_by<Batches>(of, i);
            if constexpr (!IsDelta) {
                panel.from.first = state.first + i * next;
                panel.to.first = state.first + (i + 1) * next;
                panel.update(token, added);
            }
        }
        if constexpr (IsDelta) {
            panel.from.first = state.first + (of.tokens - 1) * next;
            panel.to.first = state.first + of.tokens * next;
            panel.update(tokens_[of.tokens - 1], added);
        }
    }

    /// Returns what token i of a block adds to the state, for each key.
    template <std::size_t Batches>
    panel_columns<T, Batches> added_by(attention_work const& of, std::size_t i) const
    {
        auto added = load_columns<T, Batches>(errors_ + i * values_ + of.column);
        for (std::size_t j = 0; IsDelta && j < Batches; ++j)
            added[j] = V(tokens_[i].beta) * added[j];
        return added;
    }

    /// Takes a panel of ct_state from after a block to before it, and adds its part to the block's
    /// cotangents.
    template <std::size_t Batches>
    void go_back(attention_work const& of) const
    {
        std::size_t const size = head_.keys * Batches * width;
        state_rows<T> state{states_, Batches * width};
        std::copy_n(panel_of<Batches>(kept(of.begin), of).first, size, states_);
        go_forward<Batches>(of, state, size);
        for (std::size_t i = of.tokens; i > 0; --i) {
            state.first = states_ + i * size;
            if (i < of.tokens && head_.queries == 1) {
                go_back<Batches, true, true>(of, i, state);
                continue;
            }
            if (i < of.tokens)
                go_back<Batches, true, false>(of, i, state);
            for (std::size_t q = 1; q < head_.queries; ++q)
                read_back<Batches>(of, i - 1, q, state);
            go_back<Batches, false, true>(of, i, state);
        }
        state.first = states_;
        go_back<Batches, true, false>(of, 0, state);
    }

    /// Goes back from after the update by token i of a block to before the first query of the token before
    /// it: over the decay and what the key reads, and over the query and the outer product that was added.
    template <std::size_t Batches, bool HasUpdate, bool HasRead>
    void go_back(attention_work const& of, std::size_t i, state_rows<T> const& states) const
    {
        std::size_t const reader = HasRead ? i - 1 : i;
        attention_token<T> const token = tokens_[HasUpdate ? i : reader], before = tokens_[reader];
        T const* const query = queries_ + reader * head_.queries * row_;
        T *const ct_query = partial_, *const ct_key = ct_query + row_ * width,
                 *const ct_read_key = ct_key + row_ * width, *const ct_decay = ct_read_key + row_ * width;
        auto const ct_states = panel_of<Batches>(ct_state_, of);
        panel_columns<T, Batches> ct_read{}, ct_output{}, added{}, sums{};
        if constexpr (HasUpdate && IsDelta) {
            ct_read = load_columns<T, Batches>(ct_values_ + i * values_ + of.column);
            for (V& each : ct_read)
                each = V(-token.beta) * each;
        }
        if constexpr (HasRead) {
            ct_output = ct_output_of<Batches>(of, reader, 0);
            added = added_by<Batches>(of, reader);
        }
        std::size_t const keys = head_.keys; // a copy: stores may alias members
        for (std::size_t d = 0; d < keys; ++d) {
            auto const state = load_columns<T, Batches>(states[d]);
            auto ct = load_columns<T, Batches>(ct_states[d]);
            if constexpr (HasUpdate && IsDelta) {
                V const key(token.key[d]);
                V sum(T(0));
                for (std::size_t j = 0; j < Batches; ++j) {
                    sum = multiply_add(ct_read[j], state[j], sum);
                    ct[j] = multiply_add(ct_read[j], key, ct[j]);
                }
                store_batch(ct_read_key + d * width, sum);
            }
            if constexpr (HasUpdate && Decays != decay_kind::none) {
                V const decay(token.decay[Decays == decay_kind::of_keys ? d : 0]);
                V sum(T(0));
                for (std::size_t j = 0; j < Batches; ++j) {
                    sum = multiply_add(ct[j], state[j], sum);
                    ct[j] = decay * ct[j];
                }
                store_batch(ct_decay + d * width, sum);
            }
            if constexpr (HasRead) {
                V const of_query(query[d]), key(before.key[d]);
                V sum_of_query(T(0)), sum_of_key(T(0));
                for (std::size_t j = 0; j < Batches; ++j) {
                    sum_of_query = multiply_add(ct_output[j], state[j], sum_of_query);
                    ct[j] = multiply_add(ct_output[j], of_query, ct[j]);
                    sums[j] = multiply_add(ct[j], key, sums[j]);
                    sum_of_key = multiply_add(added[j], ct[j], sum_of_key);
                }
                store_batch(ct_query + d * width, sum_of_query);
                store_batch(ct_key + d * width, sum_of_key);
            }
            store_columns<T, Batches>(ct, ct_states[d]);
        }
        if constexpr (HasUpdate && IsDelta)
            add_sums(ct_read_key, cotangents_of(i).read_key);
        if constexpr (HasUpdate && Decays != decay_kind::none)
            add_sums(ct_decay, cotangents_of(i).decay);
        if constexpr (HasRead) {
            add_sums(ct_query, cotangents_of(reader).queries);
            add_sums(ct_key, cotangents_of(reader).key);
            store_columns<T, Batches>(sums, ct_values_ + reader * values_ + of.column);
        }
    }

    /// Goes back over what a further query of token i of a block reads.
    template <std::size_t Batches>
    void read_back(attention_work const& of, std::size_t i, std::size_t q, state_rows<T> const& states) const
    {
        T const* const query = queries_ + (i * head_.queries + q) * row_;
        auto const ct_states = panel_of<Batches>(ct_state_, of);
        auto const ct_output = ct_output_of<Batches>(of, i, q);
        for (std::size_t d = 0; d < head_.keys; ++d) {
            V const of_query(query[d]);
            V sum(T(0));
            auto ct = load_columns<T, Batches>(ct_states[d]);
            for (std::size_t j = 0; j < Batches; ++j) {
                sum = multiply_add(ct_output[j], load_batch(states[d] + j * width), sum);
                ct[j] = multiply_add(ct_output[j], of_query, ct[j]);
            }
            store_columns<T, Batches>(ct, ct_states[d]);
            store_batch(partial_ + d * width, sum);
        }
        add_sums(partial_, cotangents_of(i).queries + q * row_);
    }

    /// Returns the cotangent of what query q of token i of a block reads.
    template <std::size_t Batches>
    panel_columns<T, Batches> ct_output_of(attention_work const& of, std::size_t i, std::size_t q) const
    {
        auto ct =
            load_columns<T, Batches>(of_.ct_output.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_output),
                of.begin + i, of.column, of.count);
        for (V& each : ct)
            each = V(head_.scale) * each;
        return ct;
    }

    /// Adds the sum of each key's batch.
    void add_sums(T const* batches, T* to) const
    {
        for (std::size_t d = 0; d < row_; d += width)
            store_batch(to + d, load_batch(to + d) + sums_of(batches + d * width));
    }

    void add_gradients(std::size_t t, std::size_t i) const
    {
        attention_token<T> const token = tokens_[i];
        token_cotangents const ct = cotangents_of(i);
        for (std::size_t d = 0; d < row_; d += width) {
            V const decay = decay_of(token, d);
            store_batch(ct.key + d, multiply_add(decay, load_batch(ct.read_key + d), load_batch(ct.key + d)));
            store_batch(ct.decay + d, decay * load_batch(ct.decay + d));
        }
        add_row(ct.key, of_.ct_key, t, head_.keys);
        for (std::size_t q = 0; q < head_.queries; ++q)
            add_row(ct.queries + q * row_,
                of_.ct_query.moved(static_cast<std::ptrdiff_t>(q) * of_.next_ct_query), t, head_.keys);
        if constexpr (Decays == decay_kind::of_head)
            ct.decay[0] = sum(ct.decay, row_);
        add_row(ct.decay, of_.ct_decay, t, Decays == decay_kind::of_head ? 1 : head_.keys);
        add_gradient_of_value(t, i);
    }

    /// Adds to the gradient of a value, and of a delta rule sets that of beta.
    void add_gradient_of_value(std::size_t t, std::size_t i) const
    {
        T *const ct_value = ct_values_ + i * values_, *const error = errors_ + i * values_;
        for (std::size_t j = 0; IsDelta && j < values_; j += width) {
            V const ct = load_batch(ct_value + j);
            store_batch(error + j, ct * load_batch(error + j));
            store_batch(ct_value + j, V(tokens_[i].beta) * ct);
        }
        if (of_.ct_beta != nullptr)
            of_.ct_beta[t] = sum(error, values_);
        add_row(ct_value, of_.ct_value, t, head_.values);
    }

    /// Returns the decays of a batch of keys.
    static V decay_of(attention_token<T> const& token, std::size_t d)
    {
        if constexpr (Decays == decay_kind::none)
            return V(T(1));
        else
            return Decays == decay_kind::of_keys ? load_batch(token.decay + d) : V(token.decay[0]);
    }

    static T sum(T const* x, std::size_t count)
    {
        V total(T(0));
        for (std::size_t d = 0; d < count; d += width)
            total = total + load_batch(x + d);
        return sum_of<T>(total);
    }

    attention_head<Item, State> const& head_;
    attention_cotangents<Item, State> const& of_;
    std::size_t block_;
    attention_tokens<T> tokens_;
    std::size_t row_, values_;
    T *kept_, *ct_state_; ///< the states before each block, and the cotangent of a state, panel by panel
    T* states_;           ///< a panel of the states before and after each token of a block
    T* partial_;          ///< batches of numbers whose sums are a token's cotangents, for each key
    T *errors_, *ct_values_, *queries_, *ct_keys_; ///< of each token of a block
};

} // namespace xloom::inline XLOOM_ABI::kernel
