#include "bodies.hpp"
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

} // namespace

types expected_from(call const& node, std::size_t first)
{
    types expected;
    for (std::size_t k = first; k < node.output_count(); ++k)
        expected.push_back(node.expected_at(k));
    return expected;
}

typed_outputs::typed_outputs(graph const& body, std::size_t first, types const& wholes)
    : elements_(body.output_types().begin() + static_cast<std::ptrdiff_t>(first), body.output_types().end()),
      wholes_(wholes)
{
    wholes_.resize(count());
}

tensor typed_outputs::of_no_elements(std::size_t k, std::int64_t axis) const
{
    partial_type const &element = elements_[k], &whole = wholes_[k];
    element_type const type =
        element.element() == element_type::undefined ? whole.element() : element.element();
    if (type == element_type::undefined)
        throw runner_error(
            fmt::format("it makes no element of scan output {}, and nothing tells its element type", k));
    bool const is_whole_known = !element.shape().has_rank() && whole.shape().has_rank();
    std::size_t const rank = is_whole_known ? whole.shape().rank() : element.shape().rank() + 1;
    if (!xloom::is_axis(axis, rank))
        throw runner_error(fmt::format("scan_output_axes has {} for an output of rank {}", axis, rank));
    std::size_t const stacked = xloom::wrap_axis(axis, rank);
    xloom::shape dims =
        is_whole_known ? least(whole.shape()) : xloom::insert_axis(least(element.shape()), stacked, 0);
    dims[stacked] = 0;
    return {type, dims};
}

tensor typed_outputs::stackable(std::size_t k, tensor const& element)
{
    types_.resize(count());
    kept_.grow(sizeof(tensor));
    if (types_[k] == element_type::undefined)
        types_[k] = element.type();
    if (types_[k] != element.type())
        throw runner_error(
            fmt::format("scan output {} must keep its element type, but it was {} and the body made it {}", k,
                name_of(types_[k]), name_of(element.type())));
    return element.type() == element_type::string ? table_.numbers_of(element) : element;
}

tensor typed_outputs::typed(std::size_t k, tensor const& stacked, std::int64_t axis) const
{
    if (types_.empty())
        return of_no_elements(k, axis);
    return types_[k] == element_type::string ? table_.strings_of(stacked.as_type(element_type::uint64))
                                             : stacked.as_type(types_[k]);
}

std::optional<xloom::type_list> known_list(types const& all)
{
    auto const is_known = [](partial_type const& type) { return type.element() != element_type::undefined; };
    if (all.size() > xloom::max_operands || !std::all_of(all.begin(), all.end(), is_known))
        return std::nullopt;
    return xloom::type_list(all.begin(), all.end());
}

void require_allowed(xloom::control_flow op, std::int64_t opset, xloom::type_list const& all)
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
