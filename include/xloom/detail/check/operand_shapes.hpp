#pragma once
// The shapes of all operands of a scan over rows or over lanes, whose sizes must agree.

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <xloom/detail/check/scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The shapes of the operands of a call, and their names in errors.
struct operand_shapes {
    std::string_view states_name;
    std::span<shape const> states, inputs, outputs;
    std::string_view inputs_name = "scan_inputs", outputs_name = "scan_outputs";
};

/// Calls f(name, i, dims) for every operand.
template <class F>
constexpr void for_each_operand(operand_shapes const& of, F const& f)
{
    auto const each = [&](std::string_view name, std::span<shape const> operands) {
        for (std::size_t i = 0; i < operands.size(); ++i)
            f(name, i, operands[i]);
    };
    each(of.states_name, of.states);
    each(of.inputs_name, of.inputs);
    each(of.outputs_name, of.outputs);
}

/// Returns `facts`, followed by the shape of every operand for which is_right(i) does not hold.
template <class IsRight>
fact_list facts_of_shapes(
    std::string_view name, std::span<shape const> operands, IsRight const& is_right, fact_list facts = {})
{
    auto const add = [&](fact_list& wrong, std::size_t i) {
        wrong.add(name, "[", i, "] has the shape ", operands[i]);
    };
    return facts_of_wrong(operands.size(), is_right, add, std::move(facts));
}

/// Lists the sizes of operands along axis_of(name, dims), if they have one: all of them, or of more than an
/// error text lists the first one and those that differ from it.
template <class AxisOf>
fact_list describe_sizes(operand_shapes const& of, AxisOf const& axis_of)
{
    bool const is_each_listed = are_all_listed(of.states.size() + of.inputs.size() + of.outputs.size());
    std::optional<std::size_t> first;
    fact_list sizes;
    for_each_operand(of, [&](std::string_view name, std::size_t i, shape const& dims) {
        std::optional<std::size_t> const axis = axis_of(name, dims);
        if (axis && (is_each_listed || !first || dims[*axis] != *first))
            sizes.add(name, "[", i, "] has ", dims[*axis], " (axis ", *axis, " of ", dims, ")");
        if (axis && !first)
            first = dims[*axis];
    });
    return sizes;
}

/// Returns the common size of all operands along axis_of(name, dims), without those for which it is
/// std::nullopt.
///
/// Errors    shape_error: the sizes are not equal; `rule` says that they must be.
template <class AxisOf>
constexpr std::optional<std::size_t> common_size(std::string_view op, operand_shapes const& of,
    std::string_view rule, std::string_view remedy, AxisOf const& axis_of)
{
    std::optional<std::size_t> common;
    bool agree = true;
    for_each_operand(of, [&](std::string_view name, std::size_t, shape const& dims) {
        if (std::optional<std::size_t> const axis = axis_of(name, dims)) {
            agree = agree && dims[*axis] == common.value_or(dims[*axis]);
            common = dims[*axis];
        }
    });
    if (!agree)
        fail<shape_error>(op, rule, describe_sizes(of, axis_of), remedy);
    return common;
}

} // namespace xloom::inline XLOOM_ABI::detail
