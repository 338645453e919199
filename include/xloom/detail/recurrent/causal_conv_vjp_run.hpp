#pragma once
// The run of a causal convolution's vector-Jacobian product: blocks of channels, divided among threads, each
// for one sequence after the other.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/kernel/causal_conv_vjp.hpp>
#include <xloom/detail/recurrent/causal_conv_run.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct causal_conv_gradients;

namespace detail {

/// The function that runs the vector-Jacobian product.
template <class Item>
struct conv_vjp_functions {
    using item = Item;

    void (*run)(conv_call<Item> const&, causal_conv_outputs<Item const> const&,
        causal_conv_gradients<Item> const&, recurrent_workspace<Item>&, policy_ref const&);

    static constexpr conv_vjp_functions compiled() noexcept { return {&run_blocks}; }

private:
    using T = compute_t<Item>;
    using backward = kernel::conv_backward<T>;

    static void run_blocks(conv_call<Item> const& call, causal_conv_outputs<Item const> const& from,
        causal_conv_gradients<Item> const& to, recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        conv_sizes const& sizes = call.sizes;
        std::size_t const width = backward::channels, blocks = ceil_div(sizes.C, width);
        kernel::arena<T> size;
        backward(sizes.L, sizes.k, width, size);
        unit_run<Item> const units({blocks, call.elements(), size.used()}, workspace, policy);
        units.for_each([&](std::size_t block, kernel::arena<T>& memory) {
            std::size_t const first = block * width;
            backward block_of(sizes.L, sizes.k, (std::min)(width, sizes.C - first), memory);
            block_of.begin(
                taps_of(call.weight).from_column(first), vector_row(call.in.bias).from_column(first));
            for (std::size_t b = 0; b < sizes.B; ++b)
                block_of.add(call.sequence(b), first,
                    {steps_of_sequence(from.output, b), steps_of_sequence(from.present_state, b),
                        steps_of_sequence(to.input, b), steps_of_sequence(to.past_state, b)});
            block_of.finish(taps_of(to.weight).from_column(first), vector_row(to.bias).from_column(first));
        });
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
