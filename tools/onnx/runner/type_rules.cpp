#include "type_rules.hpp"

#include <algorithm>

namespace runner {

namespace {

xloom::dim broadcast(xloom::dim const& a, xloom::dim const& b)
{
    if (a == b || b == xloom::dim(1))
        return a;
    if (a == xloom::dim(1))
        return b;
    bool const says_a = a.has_value() && !b.has_value(), says_b = b.has_value() && !a.has_value();
    return says_a ? a : says_b ? b : xloom::unknown;
}

partial_shape dims_of_broadcast(typing const& node)
{
    return node.opset() < 7 ? node.shape_at(0) : broadcast_inputs(node, 0);
}

} // namespace

bool has_known_element(typing const& node)
{
    return node.at(0).is_tensor() && node.at(0).element() != element_type::undefined;
}

types same_type(typing const& node) { return {node.at(0)}; }

types broadcast_type(typing const& node) { return type_like_first(node, dims_of_broadcast(node)); }

types truth_type(typing const& node)
{
    return {xloom::tensor_type(element_type::bool_, dims_of_broadcast(node))};
}

types type_like_first(typing const& node, partial_shape const& dims)
{
    return {xloom::tensor_type(node.at(0).element(), dims)};
}

types count_type(typing const&) { return {xloom::tensor_type(element_type::int64, partial_shape{})}; }

types flag_type(typing const&) { return {xloom::tensor_type(element_type::bool_, partial_shape{})}; }

partial_shape broadcast(partial_shape const& a, partial_shape const& b)
{
    if (!a.has_rank() || !b.has_rank())
        return xloom::unknown_rank;
    partial_shape const &longer = a.rank() < b.rank() ? b : a, &shorter = a.rank() < b.rank() ? a : b;
    partial_shape result = longer;
    std::size_t const before = longer.rank() - shorter.rank();
    for (std::size_t axis = 0; axis < shorter.rank(); ++axis)
        result[before + axis] = broadcast(longer[before + axis], shorter[axis]);
    return result;
}

partial_shape broadcast_inputs(typing const& node, std::size_t first)
{
    partial_shape all;
    for (std::size_t i = first; i < node.input_count(); ++i)
        all = broadcast(all, node.shape_at(i));
    return all;
}

xloom::dim dim_sum(xloom::dim const& a, xloom::dim const& b)
{
    std::int64_t total = 0;
    bool const is_known =
        a.has_value() && b.has_value() && !__builtin_add_overflow(a.value(), b.value(), &total);
    return is_known ? xloom::dim(total) : xloom::unknown;
}

xloom::dim dim_product(partial_shape const& dims)
{
    std::int64_t total = 1;
    bool is_known = dims.has_rank();
    for (xloom::dim const& each : dims)
        is_known = is_known && each.has_value() && !__builtin_mul_overflow(total, each.value(), &total);
    return is_known ? xloom::dim(total) : xloom::unknown;
}

partial_shape unknown_dims(std::size_t rank)
{
    partial_shape dims;
    for (std::size_t axis = 0; axis < rank; ++axis)
        dims.insert(axis, xloom::unknown);
    return dims;
}

std::optional<xloom::shape> known_dims(partial_shape const& dims)
{
    xloom::shape known;
    for (xloom::dim const& each : dims) {
        if (!each.has_value() || each.value() < 0)
            return std::nullopt;
        known.push_back(static_cast<std::size_t>(each.value()));
    }
    return dims.has_rank() ? std::optional(known) : std::nullopt;
}

std::optional<std::size_t> spatial_items(partial_shape const& dims)
{
    if (dims.rank() < 2)
        return std::nullopt;
    partial_shape spatial;
    for (std::size_t axis = 2; axis < dims.rank(); ++axis)
        spatial.insert(axis - 2, dims[axis]);
    auto const known = known_dims(spatial);
    return known ? std::optional(xloom::element_count(*known)) : std::nullopt;
}

partial_shape shape_in(typing const& node, std::size_t i)
{
    if (auto const numbers = node.integers_at(i)) {
        partial_shape dims;
        for (std::int64_t const number : *numbers)
            dims.insert(dims.rank(), number);
        return dims;
    }
    partial_shape const& of_numbers = node.shape_at(i);
    bool const is_counted = of_numbers.has_rank() && of_numbers.rank() == 1 && of_numbers[0].has_value();
    return is_counted ? unknown_dims(static_cast<std::size_t>(of_numbers[0].value()))
                      : partial_shape(xloom::unknown_rank);
}

partial_shape without_dims(partial_shape dims, std::vector<bool> const& marks)
{
    for (std::size_t axis = 0; axis < marks.size(); ++axis)
        if (marks[axis])
            dims[axis] = xloom::unknown;
    return dims;
}

known_axes axes_of(typing const& node, std::int64_t input_since)
{
    if (node.opset() >= input_since)
        return {node.has(1), node.integers_at(1)};
    bool const are_given = node.has_attribute("axes");
    return {are_given, are_given ? std::optional(node.integers("axes")) : std::nullopt};
}

} // namespace runner
