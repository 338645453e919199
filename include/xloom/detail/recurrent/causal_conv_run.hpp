#pragma once
// The run of a causal convolution: blocks of channels of each sequence, divided among threads.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <xloom/detail/check/causal_conv.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/causal_conv.hpp>
#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/units.hpp>
#include <xloom/detail/recurrent/workspace.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct causal_conv_inputs;
template <class Item>
struct causal_conv_outputs;

namespace detail {

/// Returns the operands of a call that are read, with their names.
template <class Item>
auto named_conv_inputs(tensor_ref<Item const> const& input, tensor_ref<Item const> const& weight,
    causal_conv_inputs<Item> const& in)
{
    return std::array{named("input", input), named("weight", weight), named("bias", in.bias),
        named("past_state", in.past_state)};
}

/// Checks the inputs and returns the sizes.
template <class Item>
conv_sizes check_conv_inputs(std::string_view op, tensor_ref<Item const> const& input,
    tensor_ref<Item const> const& weight, causal_conv_inputs<Item> const& in)
{
    check_ranks(op, named_conv_inputs(input, weight, in));
    return check_causal_conv(op,
        {input.shape(), weight.shape(), shape_if_given(in.bias), shape_if_given(in.past_state)},
        sizeof(Item));
}

/// Returns sequence b of an operand [B, C, time]: its rows are steps, its columns channels.
template <class Item>
kernel::item_rows<Item> steps_of_sequence(tensor_ref<Item> const& from, std::size_t b)
{
    if (!from.is_given())
        return {};
    return {from.data() + static_cast<std::ptrdiff_t>(b) * from.stride(0), from.stride(2), from.stride(1)};
}

/// Returns a weight: its rows are taps, its columns channels.
template <class Item>
kernel::item_rows<Item> taps_of(tensor_ref<Item> const& from)
{
    if (!from.is_given())
        return {};
    return {from.data(), from.stride(from.rank() - 1), from.stride(0)};
}

/// A causal convolution whose operands are checked.
template <class Item>
struct conv_call {
    tensor_ref<Item const> const& input;
    tensor_ref<Item const> const& weight;
    causal_conv_inputs<Item> const& in;
    conv_sizes sizes;
    bool silu;

    kernel::conv_inputs<Item> sequence(std::size_t b) const
    {
        return {sizes.L, sizes.k, silu, steps_of_sequence(input, b), taps_of(weight), vector_row(in.bias),
            steps_of_sequence(in.past_state, b)};
    }

    /// Returns the number of elements of input.
    std::size_t elements() const { return saturating_mul(sizes.B * sizes.C, sizes.L); }
};

/// The function that runs a causal convolution. Each output is omitted if its reference is.
template <class Item>
struct conv_functions {
    using item = Item;

    void (*run)(conv_call<Item> const&, causal_conv_outputs<Item> const&, recurrent_workspace<Item>&,
        policy_ref const&);

    static constexpr conv_functions compiled() noexcept { return {&convolve}; }

private:
    using T = compute_t<Item>;

    /// Few steps have too few lanes.
    static kernel::conv_tiling tiling_of(conv_call<Item> const& call)
    {
        std::size_t const L = call.sizes.L, C = call.sizes.C;
        bool const has_steps_in_lanes =
            L >= kernel::batch_size<T> && call.input.stride(2) == 1 && (call.input.stride(1) != 1 || C == 1);
        return {has_steps_in_lanes, (std::max)(L, std::size_t{1}), (std::max)(C, std::size_t{1})};
    }

    static void convolve(conv_call<Item> const& call, causal_conv_outputs<Item> const& to,
        recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        conv_sizes const& sizes = call.sizes;
        kernel::conv_tiling const tiling = tiling_of(call);
        std::size_t const width = tiling.channels(), blocks = ceil_div(sizes.C, width);
        kernel::arena<T> size;
        kernel::conv_tile<T>(tiling, width, sizes.k, size);
        unit_run<Item> const units({sizes.B * blocks, call.elements(), size.used()}, workspace, policy);
        units.for_each([&](std::size_t unit, kernel::arena<T>& memory) {
            std::size_t const b = unit / blocks, first = unit % blocks * width,
                              count = (std::min)(width, sizes.C - first);
            kernel::causal_conv(kernel::conv_tile<T>(tiling, count, sizes.k, memory), call.sequence(b),
                {steps_of_sequence(to.output, b), steps_of_sequence(to.present_state, b)}, first, count);
        });
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
