#pragma once
// Which operands of an operator may share memory: none, but for an output that is one of the inputs, walked the same way.

#include <span>
#include <string_view>

#include <xloom/core/overlap.hpp>

namespace xloom {

/// Where an operand lies, and, of inputs and outputs, how it is walked.
struct placed_operand {
    memory_block memory{};
    std::size_t axis = 0;
    bool reverse = false;
};

namespace detail {

constexpr bool is_walked_alike(placed_operand const& a, placed_operand const& b)
{
    return a.memory.address == b.memory.address && a.memory.item_bytes == b.memory.item_bytes &&
           a.memory.layout.dims == b.memory.layout.dims && a.memory.layout.steps == b.memory.layout.steps && a.axis == b.axis &&
           a.reverse == b.reverse;
}

constexpr void check_apart(std::string_view op, std::span<placed_operand const> a, std::string_view a_name,
    std::span<placed_operand const> b, std::string_view b_name)
{
    bool const same_list = a.data() == b.data();
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = same_list ? i + 1 : 0; j < b.size(); ++j)
            if (overlap(a[i].memory, b[j].memory))
                fail<overlap_error>(op, ": what a body writes must not lie in the memory of another operand, but ", a_name, "[", i,
                    "] overlaps ", b_name, "[", j, "].");
}

} // namespace detail

/// Errors    overlap_error: a state or output shares a byte with another operand. Allowed: an output that is an input's own tensor on the
///           same axis and in the same direction.
constexpr void check_overlap(std::string_view op, std::span<placed_operand const> states, std::span<placed_operand const> inputs,
    std::span<placed_operand const> outputs)
{
    detail::check_apart(op, states, "states", states, "states");
    detail::check_apart(op, states, "states", inputs, "scan_inputs");
    detail::check_apart(op, states, "states", outputs, "scan_outputs");
    detail::check_apart(op, outputs, "scan_outputs", outputs, "scan_outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i)
        for (std::size_t j = 0; j < inputs.size(); ++j)
            if (overlap(outputs[i].memory, inputs[j].memory) && !detail::is_walked_alike(outputs[i], inputs[j]))
                detail::fail<overlap_error>(op,
                    ": an output may lie in the memory of an input only if it is the same tensor, walked along the same axis in the same "
                    "direction, "
                    "but scan_outputs[",
                    i, "] overlaps scan_inputs[", j, "]. Give it memory of its own.");
}

} // namespace xloom
