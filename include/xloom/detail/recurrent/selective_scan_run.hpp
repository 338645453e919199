#pragma once
// The run of a selective scan: batches of channels of each sequence, divided among threads.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <xloom/detail/check/selective_scan.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/selective_scan.hpp>
#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/units.hpp>
#include <xloom/detail/recurrent/workspace.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct selective_scan_inputs;
template <class Item>
struct selective_scan_outputs;

namespace detail {

/// Returns the rows of sequence n of an operand; omitted if the operand is.
template <class Item>
kernel::item_rows<Item> rows_of_sequence(
    tensor_ref<Item> const& from, selective_sizes const& sizes, std::size_t n)
{
    if (!from.is_given())
        return {};
    std::size_t const rows = sizes.has_batch ? 1 : 0;
    std::ptrdiff_t const begin = sizes.has_batch ? static_cast<std::ptrdiff_t>(n) * from.stride(0) : 0;
    return {from.data() + begin, from.stride(rows), from.stride(rows + 1)};
}

template <class Item>
kernel::item_rows<Item> matrix_rows(tensor_ref<Item> const& from)
{
    return from.is_given() ? kernel::item_rows<Item>{from.data(), from.stride(0), from.stride(1)}
                           : kernel::item_rows<Item>{};
}

/// Returns the operands of a call that are read, with their names.
template <class Item>
auto named_selective_inputs(tensor_ref<Item const> const& u, selective_scan_inputs<Item> const& in)
{
    return std::array{named("u", u), named("delta", in.delta), named("A", in.A), named("B", in.B),
        named("C", in.C), named("D", in.D), named("z", in.z), named("delta_bias", in.delta_bias),
        named("initial_state", in.initial_state)};
}

/// Checks the inputs and returns the sizes.
template <class Item>
selective_sizes check_selective_inputs(
    std::string_view op, tensor_ref<Item const> const& u, selective_scan_inputs<Item> const& in)
{
    check_ranks(op, named_selective_inputs(u, in));
    return check_selective_scan(op,
        {u.shape(), shape_if_given(in.delta), shape_if_given(in.A), shape_if_given(in.B),
            shape_if_given(in.C), shape_if_given(in.D), shape_if_given(in.z), shape_if_given(in.delta_bias),
            shape_if_given(in.initial_state)},
        sizeof(Item));
}

/// A selective scan whose operands are checked.
template <class Item>
struct selective_call {
    tensor_ref<Item const> const& u;
    selective_scan_inputs<Item> const& in;
    selective_sizes sizes;
    bool delta_softplus;

    kernel::selective_inputs<Item> sequence(std::size_t n) const
    {
        auto const rows = [&](auto const& from) { return rows_of_sequence<Item const>(from, sizes, n); };
        return {sizes.T, sizes.S, delta_softplus, rows(u), rows(in.delta), matrix_rows<Item const>(in.A),
            rows(in.B), rows(in.C), vector_row<Item const>(in.D), rows(in.z),
            vector_row<Item const>(in.delta_bias)};
    }

    /// Returns the number of elements of the states of all steps.
    std::size_t elements() const { return saturating_mul(sizes.N * sizes.T * sizes.K, sizes.S); }
};

/// The function that runs a selective scan. Each output is omitted if its reference is.
template <class Item>
struct selective_functions {
    using item = Item;

    void (*run)(selective_call<Item> const&, selective_scan_outputs<Item> const&, recurrent_workspace<Item>&,
        policy_ref const&);

    static constexpr selective_functions compiled() noexcept { return {&scan}; }

private:
    static void scan(selective_call<Item> const& call, selective_scan_outputs<Item> const& to,
        recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        using T = compute_t<Item>;
        using channels = kernel::selective_channels<Item>;
        selective_sizes const& sizes = call.sizes;
        std::size_t const blocks = ceil_div(sizes.K, channels::width);
        kernel::arena<T> size;
        channels(call.sequence(0), 0, 0, size);
        unit_run<Item> const units({sizes.N * blocks, call.elements(), size.used()}, workspace, policy);
        units.for_each([&](std::size_t unit, kernel::arena<T>& memory) {
            std::size_t const n = unit / blocks, first = unit % blocks * channels::width;
            auto const in = call.sequence(n);
            kernel::selective_scan(channels(in, first, (std::min)(channels::width, sizes.K - first), memory),
                {rows_of_sequence<Item const>(call.in.initial_state, sizes, n),
                    rows_of_sequence<Item>(to.y, sizes, n),
                    rows_of_sequence<Item>(to.final_state, sizes, n)});
        });
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
