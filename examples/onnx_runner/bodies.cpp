#include "bodies.hpp"

#include "graph.hpp"

namespace runner {

void require_outputs(graph const& body, std::size_t least)
{
    if (static_cast<std::size_t>(body.proto().output_size()) < least)
        throw runner_error(
            xloom::detail::concat("its body must have at least ", least, " outputs, but it has ", body.proto().output_size()));
}

declared_type::declared_type(onnx::ValueInfoProto const& info)
{
    type = static_cast<element_type>(info.type().tensor_type().elem_type());
    for (auto const& dim : info.type().tensor_type().shape().dim())
        dims.push_back(dim.dim_value() > 0 ? static_cast<std::size_t>(dim.dim_value()) : 0);
}

tensor declared_type::of_no_elements(std::int64_t axis) const
{
    if (type == element_type::undefined)
        throw runner_error("a scan output of no iterations has the element type that the body declares, but it declares none");
    std::size_t const rank = dims.size() + 1;
    if (!xloom::is_axis(axis, rank))
        throw runner_error(xloom::detail::concat("scan_output_axes has ", axis, " for an output of rank ", rank));
    return {type, xloom::insert_axis(dims, xloom::wrap_axis(axis, rank), 0)};
}

typed_outputs::typed_outputs(graph const& body, std::size_t first)
{
    for (auto k = static_cast<int>(first); k < body.proto().output_size(); ++k)
        declared_.emplace_back(body.proto().output(k));
}

tensor typed_outputs::stackable(std::size_t k, tensor const& element)
{
    types_.resize(count());
    kept_.grow(sizeof(tensor));
    if (types_[k] == element_type::undefined)
        types_[k] = element.type();
    if (types_[k] != element.type())
        throw runner_error(xloom::detail::concat("scan output ", k, " must keep its element type, but it was ", name_of(types_[k]),
            " and the body made it ", name_of(element.type())));
    return element.type() == element_type::string ? table_.numbers_of(element) : element;
}

tensor typed_outputs::typed(std::size_t k, tensor const& stacked, std::int64_t axis) const
{
    if (types_.empty())
        return declared_[k].of_no_elements(axis);
    return types_[k] == element_type::string ? table_.strings_of(stacked.as_type(element_type::uint64)) : stacked.as_type(types_[k]);
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
            throw runner_error(xloom::detail::concat(name_of(op), " does not take ", type, " at opset ", opset));
}

xloom::type_list infer_body(typing const& node, xloom::type_list const& given)
{
    return known_list(node.body_types("body", {given.begin(), given.end()})).value_or(xloom::type_list{});
}

types types_of_unknown(typing const& node)
{
    (void)node.body_types("body", types(static_cast<std::size_t>(node.body("body").proto().input_size())));
    return {};
}

} // namespace runner
