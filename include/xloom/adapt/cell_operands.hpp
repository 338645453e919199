#pragma once
// The operands of a cell: contiguous rows of items, as spans, containers and a scan's elements have them.

#include <concepts>
#include <string>
#include <string_view>

#include <xloom/core/error.hpp>

namespace xloom::detail {

/// Contiguous items: std::vector, std::span, a row-major xtensor.
template <class Range, class Item>
concept items_of = std::convertible_to<decltype(std::declval<Range const&>().data()), Item const*> &&
    std::convertible_to<decltype(std::declval<Range const&>().size()), std::size_t>;

template <class Range, class Item>
concept mutable_items_of = items_of<Range, Item> && std::convertible_to<decltype(std::declval<Range&>().data()), Item*>;

/// An operand of a step, and how many items it must have.
struct sized_operand {
    std::string_view operand;
    std::string_view letters;
    std::size_t expected;
    std::size_t actual;
};

template <std::size_t Count>
void check_step(std::string_view op, sized_operand const (&operands)[Count])
{
    bool is_right = true;
    for (sized_operand const& each : operands)
        is_right &= each.actual == each.expected;
    if (is_right) [[likely]]
        return;
    std::vector<std::string> facts;
    for (sized_operand const& each : operands)
        if (each.actual != each.expected)
            facts.push_back(concat(each.operand, " has ", each.actual, " items instead of ", each.letters, " = ", each.expected));
    fail<shape_error>(op, ": the operands of a step must have the sizes that the cell was made for, but ", join(facts), ". Resize it.");
}

} // namespace xloom::detail
