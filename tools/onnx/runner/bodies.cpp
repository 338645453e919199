#include "bodies.hpp"

#include <algorithm>
#include <utility>

#include "moves.hpp"
#include "text.hpp"

namespace runner {

void require_outputs(graph const& body, std::size_t least)
{
    if (static_cast<std::size_t>(body.proto().output_size()) < least)
        throw runner_error(fmt::format(
            "its body must have at least {} outputs, but it has {}", least, body.proto().output_size()));
}

namespace {

/// Dimensions that are not known are 0.
xloom::shape least(partial_shape const& known)
{
    xloom::shape dims;
    for (xloom::dim const& each : known)
        dims.push_back(each.has_value() ? static_cast<std::size_t>(each.value()) : 0);
    return dims;
}

std::size_t stacked_axis(std::int64_t axis, std::size_t rank)
{
    if (!xloom::is_axis(axis, rank))
        throw runner_error(fmt::format("scan_output_axes has {} for an output of rank {}", axis, rank));
    return xloom::wrap_axis(axis, rank);
}

} // namespace

types expected_from(call const& node, std::size_t first)
{
    types expected;
    for (std::size_t k = first; k < node.output_count(); ++k)
        expected.push_back(node.expected_at(k));
    return expected;
}

scan_outputs::scan_outputs(graph const& body, std::size_t first, types const& wholes)
    : elements_(body.output_types().begin() + static_cast<std::ptrdiff_t>(first), body.output_types().end()),
      wholes_(wholes),
      made_(elements_.size())
{
    wholes_.resize(count());
}

tensor scan_outputs::of_no_elements(std::size_t k, std::int64_t axis) const
{
    partial_type const &element = elements_[k], &whole = wholes_[k];
    element_type const type =
        element.element() == element_type::undefined ? whole.element() : element.element();
    if (type == element_type::undefined)
        throw runner_error(
            fmt::format("it makes no element of scan output {}, and nothing tells its element type", k));
    bool const is_whole_known = !element.shape().has_rank() && whole.shape().has_rank();
    std::size_t const rank = is_whole_known ? whole.shape().rank() : element.shape().rank() + 1;
    std::size_t const stacked = stacked_axis(axis, rank);
    xloom::shape dims =
        is_whole_known ? least(whole.shape()) : xloom::insert_axis(least(element.shape()), stacked, 0);
    dims[stacked] = 0;
    return {type, dims};
}

void scan_outputs::push(std::size_t k, tensor const& element)
{
    kept_.grow(2 * sizeof(tensor) + sizeof(xloom::shape)); // a list may have twice the capacity it needs
    if (!made_[k].empty()) {
        tensor const& first = made_[k][0];
        if (first.type() != element.type())
            throw runner_error(fmt::format(
                "scan output {} must keep its element type, but it was {} and the body made it {}", k,
                name_of(first.type()), name_of(element.type())));
        if (first.shape() != element.shape())
            throw runner_error(
                fmt::format("scan output {} must keep its shape, but it was {} and the body made it {}", k,
                    first.shape(), element.shape()));
    }
    made_[k].push_back(element);
}

tensor scan_outputs::stacked(std::size_t k, std::int64_t axis, bool is_reverse)
{
    if (made_[k].empty())
        return of_no_elements(k, axis);
    std::vector<tensor> slices = std::move(made_[k]);
    if (is_reverse)
        std::reverse(slices.begin(), slices.end());
    std::size_t const along = stacked_axis(axis, slices[0].shape().size() + 1);
    return stack(std::move(slices), along);
}

std::optional<xloom::type_list> known_list(types const& all)
{
    auto const is_known = [](partial_type const& type) { return type.element() != element_type::undefined; };
    if (all.size() > xloom::max_operands || !std::all_of(all.begin(), all.end(), is_known))
        return std::nullopt;
    return xloom::type_list(all.begin(), all.end());
}

void require_allowed(xloom::onnx_operator op, std::int64_t opset, xloom::type_list const& all)
{
    for (partial_type const& type : all)
        if (!xloom::is_allowed(op, opset, type))
            throw runner_error(fmt::format("{} does not take {} at opset {}", name_of(op), type, opset));
}

xloom::type_list infer_body(typing const& node, xloom::type_list const& given, certainty of_types)
{
    return known_list(node.body_types("body", {given.begin(), given.end()}, of_types))
        .value_or(xloom::type_list{});
}

types types_of_unknown(typing const& node)
{
    (void)node.body_types("body", types(static_cast<std::size_t>(node.body("body").proto().input_size())));
    return {};
}

} // namespace runner
