#pragma once
// The run of linear attention: heads of each sequence, divided among threads.

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <xloom/detail/check/linear_attention.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/kernel/linear_attention.hpp>
#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/units.hpp>
#include <xloom/detail/recurrent/workspace.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item, class State>
struct linear_attention_inputs;
template <class Item, class State>
struct linear_attention_outputs;

namespace detail {

/// Requires a state whose numbers are computed in the type of the other operands.
template <class Item, class State>
struct state_of_items {
    static consteval bool holds()
    {
        constexpr bool is_right = std::is_same_v<compute_t<State>, compute_t<Item>>;
        static_assert(is_right, "the state of linear attention must have the element type of the other "
                                "operands, or both must be float or storage floats such as float16");
        return is_right;
    }
};

/// Linear attention whose operands are checked.
template <class Item, class State>
struct attention_call {
    tensor_ref<Item const> const &query, &key, &value;
    linear_attention_inputs<Item, State> const& in;
    attention_sizes sizes;
    compute_t<Item> scale;

    /// Returns the number of heads of keys and values of all sequences.
    std::size_t heads() const { return sizes.B * sizes.Hkv; }
    std::size_t heads_per_kv() const { return sizes.Hq / sizes.Hkv; }

    /// Returns the number of tokens of sequence b.
    std::size_t tokens(std::size_t b) const
    {
        return in.sequence_lens.is_given() ? static_cast<std::size_t>(in.sequence_lens[b]) : sizes.T;
    }

    /// Returns the tokens of a head of sequence b, `width` numbers each.
    template <class T>
    kernel::item_rows<T> head_of(
        tensor_ref<T> const& of, std::size_t b, std::size_t head, std::size_t width) const
    {
        if (!of.is_given())
            return {};
        std::size_t const last = of.rank() - 1;
        return kernel::item_rows<T>{of.data(), of.stride(1), of.stride(last)}.moved(
            static_cast<std::ptrdiff_t>(b) * of.stride(0) +
            static_cast<std::ptrdiff_t>(head) * head_stride(of, width));
    }
    template <class T>
    std::ptrdiff_t head_stride(tensor_ref<T> const& of, std::size_t width) const
    {
        if (!of.is_given())
            return 0;
        return of.rank() == 4 ? of.stride(2) : static_cast<std::ptrdiff_t>(width) * of.stride(2);
    }
    template <class T>
    kernel::item_rows<T> state_of(tensor_ref<T> const& of, std::size_t b, std::size_t head) const
    {
        if (!of.is_given())
            return {};
        return kernel::item_rows<T>{of.data(), of.stride(2), of.stride(3)}.moved(
            static_cast<std::ptrdiff_t>(b) * of.stride(0) + static_cast<std::ptrdiff_t>(head) * of.stride(1));
    }

    kernel::decay_kind decays() const
    {
        if (!in.decay.is_given())
            return kernel::decay_kind::none;
        bool const is_of_keys = in.decay.rank() == 4 || in.decay.shape()[2] != sizes.Hkv;
        return is_of_keys ? kernel::decay_kind::of_keys : kernel::decay_kind::of_head;
    }
    /// Returns the number of decays of a head.
    std::size_t decay_width() const { return decays() == kernel::decay_kind::of_keys ? sizes.keys : 1; }

    /// Returns the number of elements of the states of all tokens and heads of queries.
    std::size_t elements() const
    {
        return saturating_mul(sizes.B * sizes.T * sizes.Hq, saturating_mul(sizes.keys, sizes.values));
    }

    /// Calls f(number of a head, its operands, memory) for each head, which is a unit.
    template <class F>
    void for_each_head(
        unit_run<Item> const& units, linear_attention_outputs<Item, State> const& out, F const& f) const
    {
        units.for_each([&](std::size_t i, auto& memory) {
            f(i, head(i / sizes.Hkv, i % sizes.Hkv, tokens(i / sizes.Hkv), out), memory);
        });
    }

    /// Returns the operands of a head of T tokens, whose memory is enough for each.
    auto longest_head(linear_attention_outputs<Item, State> const& out) const
    {
        return head(0, 0, sizes.T, out);
    }

private:
    /// Returns the operands of a head of keys and values of sequence b.
    kernel::attention_head<Item, State> head(std::size_t b, std::size_t head, std::size_t count,
        linear_attention_outputs<Item, State> const& out) const
    {
        std::size_t const first_query = head * heads_per_kv();
        bool const one_beta = in.beta.is_given() && in.beta.shape()[2] == 1;
        return {count, sizes.keys, sizes.values, heads_per_kv(), scale, decays(),
            head_stride(query, sizes.keys), head_stride(out.output, sizes.values),
            head_of(query, b, first_query, sizes.keys), head_of(key, b, head, sizes.keys),
            head_of(value, b, head, sizes.values), head_of(in.decay, b, head, decay_width()),
            head_of(in.beta, b, one_beta ? 0 : head, 1), state_of(in.past_state, b, head),
            head_of(out.output, b, first_query, sizes.values), state_of(out.present_state, b, head)};
    }
};

/// Returns the factor of the outputs.
template <class Item>
compute_t<Item> scale_of(linear_attention_options const& options, attention_sizes const& sizes)
{
    double const chosen = options.scale;
    return static_cast<compute_t<Item>>(
        chosen != 0 ? chosen : 1 / std::sqrt(static_cast<double>(sizes.keys)));
}

/// Returns the operands of a call that are read, with their names.
template <class Item, class State>
auto named_attention_inputs(tensor_ref<Item const> const& query, tensor_ref<Item const> const& key,
    tensor_ref<Item const> const& value, linear_attention_inputs<Item, State> const& in)
{
    return std::array{named("query", query), named("key", key), named("value", value),
        named("past_state", in.past_state), named("decay", in.decay), named("beta", in.beta),
        named("sequence_lens", in.sequence_lens)};
}

/// Checks the inputs and returns the sizes.
template <class Item, class State>
attention_sizes check_attention_inputs(std::string_view op, tensor_ref<Item const> const& query,
    tensor_ref<Item const> const& key, tensor_ref<Item const> const& value,
    linear_attention_inputs<Item, State> const& in, linear_attention_options const& options)
{
    check_ranks(op, named_attention_inputs(query, key, value, in));
    attention_sizes const sizes = check_linear_attention(op, options,
        {query.shape(), key.shape(), value.shape(), shape_if_given(in.past_state), shape_if_given(in.decay),
            shape_if_given(in.beta)},
        (std::max)(sizeof(Item), sizeof(State)));
    check_lengths(op, "sequence_lens", in.sequence_lens, sizes.B, "T", sizes.T, "B");
    return sizes;
}

/// The element type of functions of linear attention: void for states that xloom_dispatch does not have.
template <class Item, class State>
using attention_item =
    std::conditional_t<std::same_as<State, Item> ||
                           (std::same_as<Item, float> &&
                               (std::same_as<State, float16> || std::same_as<State, bfloat16>)),
        Item, void>;

/// The function that runs linear attention. Each output is omitted if its reference is.
template <class Item, class State>
struct attention_functions {
    using item = attention_item<Item, State>;

    void (*run)(attention_call<Item, State> const&, linear_attention_outputs<Item, State> const&,
        recurrent_workspace<Item>&, policy_ref const&);

    static constexpr attention_functions compiled() noexcept { return {&run_heads}; }

private:
    static void run_heads(attention_call<Item, State> const& call,
        linear_attention_outputs<Item, State> const& out, recurrent_workspace<Item>& workspace,
        policy_ref const& policy)
    {
        using T = compute_t<Item>;
        if (call.heads() == 0)
            return;
        kernel::arena<T> size;
        kernel::with_attention_rule(call.longest_head(out), [&](auto decays, auto is_delta) {
            kernel::attention_run<Item, State, decays(), is_delta()>(call.longest_head(out), size);
        });
        unit_run<Item> const units({call.heads(), call.elements(), size.used()}, workspace, policy);
        call.for_each_head(units, out, [&](std::size_t, auto const& head, auto& memory) {
            kernel::with_attention_rule(head, [&](auto decays, auto is_delta) {
                kernel::attention_run<Item, State, decays(), is_delta()>(head, memory)();
            });
            fill_padding(head, call.sizes.T);
        });
    }

    /// Sets the outputs after the last token of a sequence to 0.
    static void fill_padding(kernel::attention_head<Item, State> const& head, std::size_t T)
    {
        if (head.output.first == nullptr)
            return;
        for (std::size_t q = 0; q < head.queries; ++q) {
            auto const rows = head.output.moved(static_cast<std::ptrdiff_t>(q) * head.next_output);
            for (std::size_t t = head.tokens; t < T; ++t)
                for (std::size_t j = 0; j < head.values; ++j)
                    *rows.at(t, j) = Item{};
        }
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
