#pragma once
// The run of linear attention's vector-Jacobian product: heads of each sequence, divided among threads, and
// then the sums over heads that share a beta.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/kernel/linear_attention_vjp.hpp>
#include <xloom/detail/recurrent/linear_attention_run.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item, class State>
struct linear_attention_gradients;

namespace detail {

/// The function that runs the vector-Jacobian product.
template <class Item, class State>
struct attention_vjp_functions {
    using item = attention_item<Item, State>;
    using T = compute_t<Item>;
    using call_type = attention_call<Item, State>;
    using cotangents_type = linear_attention_outputs<Item const, State const>;
    using gradients_type = linear_attention_gradients<Item, State>;

    void (*run)(call_type const&, cotangents_type const&, gradients_type const&, recurrent_workspace<Item>&,
        policy_ref const&);

    static constexpr attention_vjp_functions compiled() noexcept { return {&run_heads}; }

private:
    static void run_heads(call_type const& call, cotangents_type const& from, gradients_type const& to,
        recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        if (call.heads() == 0)
            return;
        std::size_t const betas = to.beta.is_given() ? saturating_mul(call.heads(), call.sizes.T) : 0;
        kernel::arena<T> size;
        with_backward(call.longest_head({}), {}, size, [](auto const&) {});
        unit_run<Item> const units({call.heads(), call.elements(), size.used(), betas}, workspace, policy);
        T* const ct_betas = units.shared();
        call.for_each_head(units, {}, [&](std::size_t i, auto const& head, auto& memory) {
            T* const ct_beta = betas == 0 ? nullptr : ct_betas + i * call.sizes.T;
            with_backward(
                head, cotangents_of(call, i, from, to, ct_beta), memory, [](auto const& go) { go(); });
        });
        flush_subnormals const flushing;
        if (betas != 0)
            add_betas(call, ct_betas, to);
    }

    /// Calls f(attention_backward) of the rule of a head.
    template <class F>
    static void with_backward(kernel::attention_head<Item, State> const& head,
        kernel::attention_cotangents<Item, State> const& of, kernel::arena<T>& memory, F const& f)
    {
        kernel::with_attention_rule(head, [&](auto decays, auto is_delta) {
            f(kernel::attention_backward<Item, State, decays(), is_delta()>(head, of, memory));
        });
    }

    static kernel::attention_cotangents<Item, State> cotangents_of(call_type const& call, std::size_t i,
        cotangents_type const& from, gradients_type const& to, T* ct_beta)
    {
        attention_sizes const& sizes = call.sizes;
        std::size_t const b = i / sizes.Hkv, head = i % sizes.Hkv, first_query = head * call.heads_per_kv();
        return {call.head_stride(from.output, sizes.values), call.head_stride(to.query, sizes.keys),
            call.head_of(from.output, b, first_query, sizes.values),
            call.state_of(from.present_state, b, head), call.head_of(to.query, b, first_query, sizes.keys),
            call.head_of(to.key, b, head, sizes.keys), call.head_of(to.value, b, head, sizes.values),
            call.head_of(to.decay, b, head, call.decay_width()), call.state_of(to.past_state, b, head),
            ct_beta};
    }

    /// Adds to the gradient of beta: of a beta that heads share, the sums over heads in order.
    static void add_betas(call_type const& call, T const* ct_betas, gradients_type const& to)
    {
        std::size_t const heads = call.sizes.Hkv, betas = to.beta.shape()[2], heads_per_beta = heads / betas;
        for (std::size_t i = 0; i < call.sizes.B * betas; ++i) {
            auto const ct_beta = call.head_of(to.beta, i / betas, i % betas, 1);
            for (std::size_t t = 0; t < call.tokens(i / betas); ++t) {
                T sum = static_cast<T>(*ct_beta.at(t, 0));
                for (std::size_t head = 0; head < heads_per_beta; ++head)
                    sum = sum + ct_betas[(i * heads_per_beta + head) * call.sizes.T + t];
                *ct_beta.at(t, 0) = static_cast<Item>(sum);
            }
        }
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
