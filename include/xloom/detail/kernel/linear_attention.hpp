#pragma once
// Linear attention of one head of a sequence. Columns of the state are independent: a panel of some of them
// stays in registers and in the L1 cache while a block of tokens passes.
//
// Why all sums over keys have one order, and one function updates an item of the state: the bits of a token
// then depend neither on the panel nor on how many tokens pass together.

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/item_rows.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The decays of a token: none, which is 1, one for the head, or one for each key.
enum class decay_kind : unsigned char { none, of_head, of_keys };

/// The operands of one head of keys and values of one sequence, and of the query heads that read its state.
/// Rows are tokens; those of a state are keys. An omitted beta says that the rule is no delta rule.
template <class Item, class State>
struct attention_head {
    std::size_t tokens, keys, values, queries;
    xloom::detail::compute_t<Item> scale;
    decay_kind decays;
    std::ptrdiff_t next_query, next_output; ///< the strides from query head to query head
    item_rows<Item const> query, key, value, decay, beta;
    item_rows<State const> past_state;
    item_rows<Item> output;
    item_rows<State> present_state;
};

/// The numbers of a token that all panels read: one for each key, padded to whole batches, or a head's decay.
template <class T>
struct attention_token {
    T *key, *decay;
    T *read_key, *queries; ///< with the decay, by which the state before the token is read; of a delta rule
    T* products;           ///< of the key with each query
    T beta;
};

/// The tokens of a block.
template <class T>
class attention_tokens {
public:
    attention_tokens(std::size_t keys, std::size_t queries, std::size_t capacity, arena<T>& memory)
        : width_(whole_batches<T>(keys)),
          queries_(queries),
          stride_(stride_of(width_, queries)),
          numbers_(memory.take(capacity, stride_))
    {}

    std::size_t width() const { return width_; }

    /// Returns token i of the block.
    attention_token<T> operator[](std::size_t i) const
    {
        T* const key = numbers_ + i * stride_;
        T* const products = key + (3 + queries_) * width_;
        return {key, key + width_, key + 2 * width_, key + 3 * width_, products, products[queries_]};
    }

    /// Reads a number for each key, padded with zeros to whole batches.
    template <class Item>
    static void read_keys(item_rows<Item> const& from, std::size_t t, std::size_t count, T* to)
    {
        for (std::size_t d = 0; d < count; d += step)
            store_batch(to + d, load_channels<T>(from, t, d, (std::min)(step, count - d)));
    }

    /// Reads a token of a head.
    template <class Item, class State>
    void read(std::size_t i, attention_head<Item, State> const& head, std::size_t t) const
    {
        attention_token<T> const token = (*this)[i];
        read_keys(head.key, t, head.keys, token.key);
        std::size_t const decays = head.decays == decay_kind::of_keys ? head.keys : 1;
        if (head.decays != decay_kind::none)
            read_decay(head.decay, t, decays, token.decay);
        for (std::size_t q = 0; q < queries_; ++q) {
            T* const query = token.queries + q * width_;
            auto const rows = head.query.moved(static_cast<std::ptrdiff_t>(q) * head.next_query);
            read_keys(rows, t, head.keys, query);
            if (head.beta.first == nullptr)
                continue;
            token.products[q] = product(token.key, query);
            multiply(head.decays, token.decay, query, query);
        }
        if (head.beta.first == nullptr)
            return;
        token.products[queries_] = static_cast<T>(*head.beta.at(t, 0));
        multiply(head.decays, token.decay, token.key, token.read_key);
    }

private:
    static constexpr std::size_t step = batch_size<T>;

    static std::size_t stride_of(std::size_t width, std::size_t queries)
    {
        using xloom::detail::saturating_mul, xloom::detail::saturating_add;
        return saturating_add(
            saturating_mul(saturating_add(3, queries), width), whole_batches<T>(queries + 1));
    }

    template <class Item>
    static void read_decay(item_rows<Item> const& from, std::size_t t, std::size_t count, T* to)
    {
        read_keys(from, t, count, to);
        for (std::size_t d = 0; d < count; d += step)
            store_batch(to + d, kernel::exp_of(load_batch(to + d)));
    }

    /// Computes to = decay * x.
    void multiply(decay_kind decays, T const* decay, T const* x, T* to) const
    {
        batch_t<T> factor(decays == decay_kind::of_head ? decay[0] : T(1));
        for (std::size_t d = 0; d < width_; d += step) {
            if (decays == decay_kind::of_keys)
                factor = load_batch(decay + d);
            store_batch(to + d, factor * load_batch(x + d));
        }
    }

    T product(T const* x, T const* y) const
    {
        batch_t<T> sum(T(0));
        for (std::size_t d = 0; d < width_; d += step)
            sum = multiply_add(load_batch(x + d), load_batch(y + d), sum);
        return sum_of<T>(sum);
    }

    std::size_t width_, queries_, stride_;
    T* numbers_;
};

/// The rows of a state from one column on.
template <class T>
struct state_rows {
    T* first;
    std::ptrdiff_t stride;

    operator state_rows<T const>() const
        requires(!std::is_const_v<T>)
    {
        return {first, stride};
    }

    T* operator[](std::size_t key) const { return first + static_cast<std::ptrdiff_t>(key) * stride; }
};

/// Stores numbers in the type of a state.
template <class T>
void store_state(T* to, std::type_identity_t<batch_t<T>> const& numbers)
{
    store_batch(to, numbers);
}
template <class State>
    requires has_narrow_vectors<State>
void store_state(State* to, batch_t<float> const& numbers)
{
    store_narrowed(to, numbers);
}

/// A block of tokens, and a panel of `count` columns.
struct attention_work {
    std::size_t begin, tokens, column, count;
};

/// The columns of a panel, `Batches` batches of them.
template <class T, std::size_t Batches>
using panel_columns = std::array<batch_t<T>, Batches>;

template <class T, std::size_t Batches>
panel_columns<T, Batches> load_columns(T const* from)
{
    panel_columns<T, Batches> columns;
    for (std::size_t j = 0; j < Batches; ++j)
        columns[j] = load_batch(from + j * batch_size<T>);
    return columns;
}
/// Loads `count` items of a row from a column on, all of them if there are several batches; zeros if the rows
/// are omitted.
template <class T, std::size_t Batches, class Item>
panel_columns<T, Batches> load_columns(
    item_rows<Item> const& from, std::size_t row, std::size_t column, std::size_t count)
{
    constexpr std::size_t width = batch_size<T>;
    panel_columns<T, Batches> columns;
    for (std::size_t j = 0; j < Batches; ++j)
        columns[j] = from.first == nullptr
                         ? batch_t<T>(T(0))
                         : load_channels<T>(from, row, column + j * width, (std::min)(width, count));
    return columns;
}

template <class T, std::size_t Batches>
void store_columns(panel_columns<T, Batches> const& columns, T* to)
{
    for (std::size_t j = 0; j < Batches; ++j)
        store_batch(to + j * batch_size<T>, columns[j]);
}
template <class T, std::size_t Batches, class Item>
void store_columns(panel_columns<T, Batches> const& columns, item_rows<Item> const& to, std::size_t row,
    std::size_t column, std::size_t count)
{
    constexpr std::size_t width = batch_size<T>;
    for (std::size_t j = 0; j < Batches; ++j)
        store_channels<T>(columns[j], to, row, column + j * width, (std::min)(width, count));
}

/// The passes over a panel of `Batches` batches of columns, which are stored as States.
template <class T, class State, std::size_t Batches, decay_kind Decays>
struct attention_panel {
    using V = batch_t<T>;
    using columns = panel_columns<T, Batches>;

    static constexpr std::size_t width = batch_size<T>;

    std::size_t keys;
    state_rows<State const> from; ///< the state before a pass
    state_rows<State> to;         ///< after it

    XLOOM_ALWAYS_INLINE static V updated(V const& state, V const& decay, V const& key, V const& value)
    {
        if constexpr (Decays != decay_kind::none)
            return multiply_add(decay, state, key * value);
        else
            return multiply_add(key, value, state);
    }

    /// Returns the decay of a key.
    XLOOM_ALWAYS_INLINE static V decay_of(attention_token<T> const& token, std::size_t d)
    {
        return V(Decays == decay_kind::none ? T(1) : token.decay[Decays == decay_kind::of_keys ? d : 0]);
    }

    /// Updates the state by `Tokens` tokens, and adds up what the first query of each reads after it.
    template <std::size_t Tokens>
    XLOOM_ALWAYS_INLINE std::array<columns, Tokens> update_and_read(
        std::array<attention_token<T>, Tokens> const& tokens, std::array<columns, Tokens> const& values) const
    {
        std::array<columns, Tokens> sums;
        for (columns& each : sums)
            each.fill(V(T(0)));
        for (std::size_t d = 0; d < keys; ++d) {
            std::array<V, Tokens> key, decay, query;
            for (std::size_t i = 0; i < Tokens; ++i) {
                key[i] = V(tokens[i].key[d]);
                decay[i] = decay_of(tokens[i], d);
                query[i] = V(tokens[i].queries[d]);
            }
            XLOOM_UNROLL(16)
            for (std::size_t j = 0; j < Batches; ++j) {
                V state = load_widened(from[d] + j * width);
                XLOOM_UNROLL(4)
                for (std::size_t i = 0; i < Tokens; ++i) {
                    state = updated(state, decay[i], key[i], values[i][j]);
                    sums[i][j] = multiply_add(state, query[i], sums[i][j]);
                }
                store_state(to[d] + j * width, state);
            }
        }
        return sums;
    }

    /// Adds up what keys or queries read of the state.
    XLOOM_ALWAYS_INLINE columns read(T const* by) const
    {
        columns sums;
        sums.fill(V(T(0)));
        for (std::size_t d = 0; d < keys; ++d) {
            V const factor(by[d]);
            XLOOM_UNROLL(16)
            for (std::size_t j = 0; j < Batches; ++j)
                sums[j] = multiply_add(load_widened(from[d] + j * width), factor, sums[j]);
        }
        return sums;
    }

    /// The sums that a delta rule reads: by the key, and by the first query.
    struct read_sums {
        columns by_key, by_query;
    };

    /// Updates the state by the token before, if there is one, and adds up what a token reads.
    template <bool HasUpdate, bool HasQuery = true>
    XLOOM_ALWAYS_INLINE read_sums update_before_read(
        attention_token<T> const& before, columns const& value, attention_token<T> const& token) const
    {
        read_sums sums;
        sums.by_key.fill(V(T(0)));
        sums.by_query.fill(V(T(0)));
        for (std::size_t d = 0; d < keys; ++d) {
            V const key(HasUpdate ? before.key[d] : T(0)), decay = decay_of(before, d);
            V const read_key(token.read_key[d]), query(token.queries[d]);
            XLOOM_UNROLL(16)
            for (std::size_t j = 0; j < Batches; ++j) {
                V state = load_widened(from[d] + j * width);
                if constexpr (HasUpdate) {
                    state = updated(state, decay, key, value[j]);
                    store_state(to[d] + j * width, state);
                } else {
                    state = in_register<T>(state);
                }
                sums.by_key[j] = multiply_add(state, read_key, sums.by_key[j]);
                if constexpr (HasQuery)
                    sums.by_query[j] = multiply_add(state, query, sums.by_query[j]);
            }
        }
        return sums;
    }

    /// Updates the state by a token; backwards, because the rows that were read last are in the L1 cache.
    XLOOM_ALWAYS_INLINE void update(attention_token<T> const& token, columns const& value) const
    {
        for (std::size_t d = keys; d-- > 0;) {
            V const key(token.key[d]), decay = decay_of(token, d);
            XLOOM_UNROLL(16)
            for (std::size_t j = 0; j < Batches; ++j)
                store_state(
                    to[d] + j * width, updated(load_widened(from[d] + j * width), decay, key, value[j]));
        }
    }
};

/// The run of a head: its tokens block by block, and of each block panel by panel.
template <class Item, class State, decay_kind Decays, bool IsDelta>
class attention_run {
public:
    using T = xloom::detail::compute_t<Item>;
    using V = batch_t<T>;

    attention_run(attention_head<Item, State> const& head, arena<T>& memory)
        : head_(head),
          tokens_(head.keys, head.queries, block, memory),
          state_(memory.take(head.keys, whole_batches<T>(head.values)))
    {}

    XLOOM_FLATTEN void operator()() const
    {
        std::size_t begin = 0;
        do {
            std::size_t const count = (std::min)(block, head_.tokens - begin);
            for (std::size_t i = 0; i < count; ++i)
                tokens_.read(i, head_, begin + i);
            run_block(begin, count);
            begin += count;
        } while (begin < head_.tokens);
    }

private:
    static constexpr std::size_t width = batch_size<T>;
    static constexpr std::size_t block = 32; ///< the maximum number of tokens in a block
    static constexpr bool has_32_registers = sizeof(V) == 64;

    void run_block(std::size_t begin, std::size_t count) const
    {
        constexpr std::size_t widest = has_32_registers ? 8 : 4;
        std::size_t column = 0;
        auto const run = [&]<std::size_t Batches>(std::integral_constant<std::size_t, Batches>) {
            std::size_t const columns = (std::min)(Batches * width, head_.values - column);
            run_panel<Batches>({begin, count, column, columns});
            column += columns;
        };
        while (column < head_.values) {
            std::size_t const left = head_.values - column;
            if (head_.tokens == 1 && left >= widest * width)
                run(std::integral_constant<std::size_t, widest>());
            else if (head_.tokens == 1 && left >= 4 * width)
                run(std::integral_constant<std::size_t, 4>());
            else if (left >= 2 * width)
                run(std::integral_constant<std::size_t, 2>());
            else
                run(std::integral_constant<std::size_t, 1>());
        }
    }

    /// Runs a block of tokens on a panel. A single token reads and writes the states where they are, if it
    /// can; else a copy of the panel is loaded before the first token and stored after the last.
    template <std::size_t Batches>
    void run_panel(attention_work const& of) const
    {
        if constexpr (std::is_same_v<State, T> || has_narrow_vectors<State>)
            if (head_.tokens == 1 && is_in_place(of))
                return run_tokens<Batches, State>(
                    of, {head_.keys, {head_.past_state.at(0, of.column), head_.past_state.row},
                            {head_.present_state.at(0, of.column), head_.present_state.row}});
        state_rows<T> const panel{state_ + of.column * head_.keys, Batches * width};
        if (of.begin == 0)
            for (std::size_t d = 0; d < head_.keys; ++d)
                store_columns<T, Batches>(
                    load_columns<T, Batches>(head_.past_state, d, of.column, of.count), panel[d]);
        run_tokens<Batches, T>(of, {head_.keys, panel, panel});
        if (of.begin + of.tokens == head_.tokens && head_.present_state.first != nullptr)
            for (std::size_t d = 0; d < head_.keys; ++d)
                store_columns<T, Batches>(
                    load_columns<T, Batches>(panel[d]), head_.present_state, d, of.column, of.count);
    }

    /// True if a token's panel need not be copied: its batches are whole, its columns contiguous, which those
    /// of omitted states are not. Other queries than the first read a state after its update, which must not
    /// be rounded then.
    bool is_in_place(attention_work const& of) const
    {
        bool const is_read_before_rounding = std::is_same_v<State, T> || IsDelta || head_.queries == 1;
        return is_read_before_rounding && of.count >= width && head_.past_state.column == 1 &&
               head_.present_state.column == 1;
    }

    template <std::size_t Batches, class Stored>
    void run_tokens(attention_work const& of, attention_panel<T, Stored, Batches, Decays> const& panel) const
    {
        if constexpr (IsDelta) {
            run_delta_rule(of, panel);
        } else {
            constexpr std::size_t together = has_32_registers ? 4 : 2;
            std::size_t i = 0;
            if constexpr (Batches <= 2)
                for (; head_.queries == 1 && i + together <= of.tokens; i += together)
                    run_together<together>(of, panel, i);
            for (; i < of.tokens; ++i)
                run_together<1>(of, panel, i);
        }
    }

    /// Tokens whose values are added to the state as they are.
    template <std::size_t Tokens, class Stored, std::size_t Batches>
    void run_together(attention_work const& of, attention_panel<T, Stored, Batches, Decays> const& panel,
        std::size_t first) const
    {
        std::array<attention_token<T>, Tokens> tokens;
        std::array<panel_columns<T, Batches>, Tokens> values;
        for (std::size_t i = 0; i < Tokens; ++i) {
            tokens[i] = tokens_[first + i];
            values[i] = load_columns<T, Batches>(head_.value, of.begin + first + i, of.column, of.count);
        }
        auto const sums = panel.update_and_read(tokens, values);
        for (std::size_t i = 0; i < Tokens; ++i)
            write(of, first + i, 0, sums[i]);
        attention_panel<T, Stored, Batches, Decays> const after{panel.keys, panel.to, panel.to};
        for (std::size_t q = 1; q < head_.queries; ++q)
            write(of, first, q, after.read(tokens[0].queries + q * tokens_.width()));
    }

    /// The delta rule: value = beta (value - state^T key), by which the state is updated when the next token
    /// reads it. A query reads state^T query + (key . query) value.
    template <std::size_t Batches, class Stored>
    void run_delta_rule(attention_work const& of, attention_panel<T, Stored, Batches, Decays> panel) const
    {
        panel_columns<T, Batches> value{};
        for (std::size_t i = 0; i < of.tokens; ++i) {
            attention_token<T> const token = tokens_[i];
            auto const sums = i == 0 ? panel.template update_before_read<false>(token, value, token)
                                     : panel.template update_before_read<true>(tokens_[i - 1], value, token);
            if (i != 0)
                panel.from = panel.to;
            auto const given = load_columns<T, Batches>(head_.value, of.begin + i, of.column, of.count);
            for (std::size_t j = 0; j < Batches; ++j)
                value[j] = V(token.beta) * (given[j] - sums.by_key[j]);
            write_delta(of, i, 0, sums.by_query, value);
            for (std::size_t q = 1; q < head_.queries; ++q)
                write_delta(of, i, q, panel.read(token.queries + q * tokens_.width()), value);
        }
        if (of.tokens != 0)
            panel.update(tokens_[of.tokens - 1], value);
    }

    template <std::size_t Batches>
    void write_delta(attention_work const& of, std::size_t i, std::size_t query,
        panel_columns<T, Batches> sums, panel_columns<T, Batches> const& value) const
    {
        V const product(tokens_[i].products[query]);
        for (std::size_t j = 0; j < Batches; ++j)
            sums[j] = multiply_add(product, value[j], sums[j]);
        write(of, i, query, sums);
    }

    /// Writes the output of a query.
    template <std::size_t Batches>
    void write(
        attention_work const& of, std::size_t i, std::size_t query, panel_columns<T, Batches> sums) const
    {
        if (head_.output.first == nullptr)
            return;
        for (V& each : sums)
            each = V(head_.scale) * each;
        store_columns<T, Batches>(sums,
            head_.output.moved(static_cast<std::ptrdiff_t>(query) * head_.next_output), of.begin + i,
            of.column, of.count);
    }

    attention_head<Item, State> const& head_;
    attention_tokens<T> tokens_;
    T* state_;
};

/// Calls f(decays, is_delta), integral constants: the decays of a head, and whether its rule is a delta rule.
template <class Item, class State, class F>
void with_attention_rule(attention_head<Item, State> const& head, F const& f)
{
    auto const with_decays = [&]<decay_kind Decays>(std::integral_constant<decay_kind, Decays> decays) {
        if (head.beta.first == nullptr)
            f(decays, std::false_type());
        else
            f(decays, std::true_type());
    };
    switch (head.decays) {
    case decay_kind::none:
        return with_decays(std::integral_constant<decay_kind, decay_kind::none>());
    case decay_kind::of_head:
        return with_decays(std::integral_constant<decay_kind, decay_kind::of_head>());
    case decay_kind::of_keys:
        return with_decays(std::integral_constant<decay_kind, decay_kind::of_keys>());
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
