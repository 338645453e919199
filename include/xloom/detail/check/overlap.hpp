#pragma once
// Aliasing requirements: no two operands share memory, except an output with the input that is the same
// tensor on the same axis and in the same direction.

#include <span>
#include <string_view>

#include <xloom/detail/core/overlap.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The memory of an operand and, for inputs and outputs, its time axis and direction.
struct placed_operand {
    memory_block memory{};
    std::size_t axis = 0;
    bool reverse = false;
};

/// True if both are the same tensor, or views of the same items in the same order.
constexpr bool is_same_memory(memory_block const& a, memory_block const& b)
{
    return a.address == b.address && a.item_bytes == b.item_bytes && a.layout.dims == b.layout.dims &&
           a.layout.strides == b.layout.strides;
}

constexpr bool is_same_traversal(placed_operand const& a, placed_operand const& b)
{
    return is_same_memory(a.memory, b.memory) && a.axis == b.axis && a.reverse == b.reverse;
}

/// Requires that no two items of an operand that is written share memory.
constexpr void check_unique(
    std::string_view op, std::string_view operand, strided_layout const& layout, std::string_view advice)
{
    if (!is_unique(layout))
        fail<overlap_error>(op, ": every item of ", operand, " must have memory of its own, but ", operand,
            " has the shape ", layout.dims, " and the strides ", layout.strides, ". ", advice);
}

/// Two operands, a[i] and b[j], that share a byte.
struct shared_memory {
    std::string_view a;
    std::size_t i;
    std::string_view b;
    std::size_t j;
};

/// Calls found(shared_memory) for every pair that shares a byte but must not.
template <class Found>
constexpr void find_shared_memory(std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs, Found&& found)
{
    for (std::size_t i = 0; i < states.size(); ++i) {
        for (std::size_t j = i + 1; j < states.size(); ++j)
            if (overlap(states[i].memory, states[j].memory))
                found(shared_memory{"states", i, "states", j});
        for (std::size_t j = 0; j < inputs.size(); ++j)
            if (overlap(states[i].memory, inputs[j].memory))
                found(shared_memory{"states", i, "scan_inputs", j});
        for (std::size_t j = 0; j < outputs.size(); ++j)
            if (overlap(states[i].memory, outputs[j].memory))
                found(shared_memory{"states", i, "scan_outputs", j});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t j = i + 1; j < outputs.size(); ++j)
            if (overlap(outputs[i].memory, outputs[j].memory))
                found(shared_memory{"scan_outputs", i, "scan_outputs", j});
        for (std::size_t j = 0; j < inputs.size(); ++j)
            if (overlap(outputs[i].memory, inputs[j].memory) && !is_same_traversal(outputs[i], inputs[j]))
                found(shared_memory{"scan_outputs", i, "scan_inputs", j});
    }
}

inline fact_list describe_shared_memory(std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs)
{
    fact_list pairs;
    find_shared_memory(states, inputs, outputs, [&](shared_memory const& pair) {
        pairs.add(pair.a, "[", pair.i, "] overlaps ", pair.b, "[", pair.j, "]");
    });
    return pairs;
}

/// Requires that no state or output shares memory with another operand. An output may be the same tensor as
/// an input, on the same axis and in the same direction.
///
/// Errors    overlap_error: a state or output shares a byte with another operand.
[[gnu::noinline]] constexpr void check_overlap(std::string_view op, std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs)
{
    bool is_shared = false;
    find_shared_memory(states, inputs, outputs, [&](shared_memory const&) { is_shared = true; });
    if (is_shared)
        fail<overlap_error>(op,
            ": a state or output must have exclusive memory, or be the tensor of an input, along the same "
            "axis in the same direction, but ",
            describe_shared_memory(states, inputs, outputs), ". Copy one of the two.");
}

/// The names of a call in error texts: of the operator, of the tensor that is indexed, and of the values that
/// are written to it.
struct indexed_names {
    std::string_view op;
    std::string_view data = "data";
    std::string_view updates = "updates";

    constexpr indexed_names(std::string_view op_name) : op(op_name) {}
    constexpr indexed_names(
        std::string_view op_name, std::string_view data_name, std::string_view updates_name = "updates")
        : op(op_name), data(data_name), updates(updates_name)
    {}

    constexpr operator std::string_view() const noexcept { return op; }
};

/// An operand and its memory.
struct overlap_operand {
    std::string_view name;
    memory_block const& memory;
};

/// Requires that an operand that is written shares no memory with two that are read, and that no two of its
/// items do. `remedy` says what to do about the former, `advice` about the latter.
///
/// Errors    overlap_error.
[[gnu::noinline]] constexpr void check_written_memory(std::string_view op, overlap_operand const& written,
    overlap_operand const& a, overlap_operand const& b, std::string_view remedy, std::string_view advice)
{
    bool const overlaps_a = overlap(written.memory, a.memory), overlaps_b = overlap(written.memory, b.memory);
    if (overlaps_a || overlaps_b)
        fail<overlap_error>(op, ": ", written.name, " is written while ", a.name, " and ", b.name,
            " are read, but ", written.name, " overlaps ", overlaps_a ? a.name : b.name,
            overlaps_a && overlaps_b ? " and " : "", overlaps_a && overlaps_b ? b.name : "", ". ", remedy);
    check_unique(op, written.name, written.memory.layout, advice);
}

/// Requires that the output of a gather shares no memory with what is read, and that no two of its items do.
///
/// Errors    overlap_error.
constexpr void check_gather_memory(
    std::string_view op, overlap_operand const& output, overlap_operand const& a, overlap_operand const& b)
{
    check_written_memory(op, output, a, b, "Give it memory of its own.", "Write to a container.");
}

} // namespace xloom::inline XLOOM_ABI::detail
