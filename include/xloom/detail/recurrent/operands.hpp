#pragma once
// The operands of a call by their names, and the checks of outputs: their shapes, and memory of their own.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/recurrent.hpp>
#include <xloom/detail/kernel/item_rows.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the memory of an operand, a tensor_ref or lengths_ref.
template <class Ref>
operand_memory named(std::string_view name, Ref const& operand)
{
    return {name, block_if_given(operand), {}, operand.rank()};
}

/// Returns a vector as the only row of a matrix.
template <class Item>
kernel::item_rows<Item> vector_row(tensor_ref<Item> const& from)
{
    return from.is_given() ? kernel::item_rows<Item>{from.data(), 0, from.stride(0)}
                           : kernel::item_rows<Item>{};
}

/// Requires that every operand has a rank of at most max_rank.
constexpr void check_ranks(std::string_view op, std::span<operand_memory const> operands)
{
    for (operand_memory const& each : operands)
        check_rank(op, each.name(), each.rank());
}

/// Returns the address of the item at these indices of the first axes, and at 0 of the others.
template <class Item, class... Indices>
Item* item_at(tensor_ref<Item> const& from, Indices... indices) noexcept
{
    Item* item = from.data();
    std::size_t axis = 0;
    ((item += static_cast<std::ptrdiff_t>(indices) * from.stride(axis++)), ...);
    return item;
}

/// An output, its required shape, and the name of the input that may be the same tensor.
template <class Item>
struct output_requirement {
    std::string_view operand;
    std::string_view symbolic_shape;
    shape const& expected;
    tensor_ref<Item> const& ref;
    std::string_view may_alias{};
};

/// Requires outputs of the expected shapes that overlap neither each other nor an input, except as may_alias
/// allows. `describe` returns the sizes that an error cites.
template <class Item, class Describe, std::size_t Outputs>
void check_outputs(std::string_view op, Describe const& describe,
    std::array<output_requirement<Item>, Outputs> const& outputs, std::span<operand_memory const> inputs)
{
    bool are_right = true;
    for (output_requirement<Item> const& output : outputs) {
        check_rank(op, output.operand, output.ref.rank());
        are_right &= !output.ref.is_given() || output.ref.shape() == output.expected;
    }
    std::apply(
        [&](auto const&... output) {
            if (!are_right)
                check_shapes(op,
                    std::array{shape_requirement{output.operand, output.symbolic_shape, output.expected,
                        shape_if_given(output.ref)}...},
                    describe);
            check_written(op,
                std::array{operand_memory(output.operand, block_if_given(output.ref), output.may_alias)...},
                inputs);
        },
        outputs);
}

} // namespace xloom::inline XLOOM_ABI::detail
