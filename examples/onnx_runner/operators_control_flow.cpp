// If, Loop and Scan: xloom's operators with graphs as their bodies.

#include "moves.hpp"
#include "operators.hpp"
#include "strings.hpp"
#include "type_rules.hpp"

#include <xloom/if.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/scan.hpp>
#include <xloom/loop_list.hpp>
#include <xloom/scan_list.hpp>

namespace runner {

namespace {

using values = std::vector<value>;
using tensors = std::vector<tensor>;

template <class T>
T item_of(tensor const& t, std::string_view name)
{
    if (t.size() != 1)
        throw runner_error(xloom::detail::concat(name, " must have one element, but its shape is ", t.shape()));
    return t.items<T>()[0];
}

values if_(call const& node)
{
    tensor const& cond = node.tensor_at(0);
    graph const& then_branch = node.body("then_branch");
    graph const& else_branch = node.body("else_branch");
    return xloom::if_(
        item_of<bool>(cond, "cond"), [&] { return then_branch.run({}, &node.around()); },
        [&] { return else_branch.run({}, &node.around()); });
}

/// As many as xloom's inference takes; none: there are more, or of one it is not known what it holds.
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

types if_types(typing const& node)
{
    auto const then_types = known_list(node.body_types("then_branch", {})), else_types = known_list(node.body_types("else_branch", {}));
    if (!then_types || !else_types || node.output_count() > xloom::max_operands)
        return {};
    require_allowed(xloom::control_flow::if_, node.opset(), *then_types);
    auto const branch = [](xloom::type_list const& result) { return [&result](xloom::type_list const&) { return result; }; };
    xloom::type_list const declared(node.declared().begin(), node.declared().end());
    auto const result = xloom::infer_if(branch(*then_types), branch(*else_types), declared, {.opset = node.opset()});
    return {result.begin(), result.end()};
}

/// The type that a graph declares of a value: its element type and, as far as they are known, its dimensions (unknown: 0).
struct declared_type {
    element_type type = element_type::undefined;
    xloom::shape dims{};

    explicit declared_type(onnx::ValueInfoProto const& info)
    {
        type = static_cast<element_type>(info.type().tensor_type().elem_type());
        for (auto const& dim : info.type().tensor_type().shape().dim())
            dims.push_back(dim.dim_value() > 0 ? static_cast<std::size_t>(dim.dim_value()) : 0);
    }

    /// An output that stacks no elements of this type.
    tensor of_no_elements(std::int64_t axis) const
    {
        if (type == element_type::undefined)
            throw runner_error("a scan output of no iterations has the element type that the body declares, but it declares none");
        std::size_t const rank = dims.size() + 1;
        if (!xloom::is_axis(axis, rank))
            throw runner_error(xloom::detail::concat("scan_output_axes has ", axis, " for an output of rank ", rank));
        return {type, xloom::insert_axis(dims, xloom::wrap_axis(axis, rank), 0)};
    }
};

/// What a body declares of its outputs from number `first` on.
std::vector<declared_type> declared_outputs(graph const& body, std::size_t first)
{
    std::vector<declared_type> all;
    for (auto k = static_cast<int>(first); k < body.proto().output_size(); ++k)
        all.emplace_back(body.proto().output(k));
    return all;
}

/// Stacked rows of bytes get the types of the elements that they are made of.
class typed_outputs {
public:
    typed_outputs(graph const& body, std::size_t first) : declared_(declared_outputs(body, first)) {}

    std::size_t count() const { return declared_.size(); }

    /// An iteration's output, as what is stacked of it.
    tensor stackable(std::size_t k, tensor const& element)
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

    tensor typed(std::size_t k, tensor const& stacked, std::int64_t axis) const
    {
        if (types_.empty())
            return declared_[k].of_no_elements(axis);
        return types_[k] == element_type::string ? table_.strings_of(stacked.as_type(element_type::uint64)) : stacked.as_type(types_[k]);
    }

private:
    std::vector<declared_type> declared_;
    std::vector<element_type> types_{};
    reservation kept_{}; ///< of tensors that share their items
    string_table table_{};
};

/// An iteration number or condition in the rank that the body declares of its input, [] or [1].
template <class T>
tensor declared_scalar(graph const& body, int input, T item)
{
    if (input >= body.proto().input_size())
        return tensor::scalar(item);
    bool const is_row = body.proto().input(input).type().tensor_type().shape().dim_size() == 1;
    return is_row ? tensor::scalar(item).reshaped({1}) : tensor::scalar(item);
}

void require_outputs(graph const& body, std::size_t least)
{
    if (static_cast<std::size_t>(body.proto().output_size()) < least)
        throw runner_error(
            xloom::detail::concat("its body must have at least ", least, " outputs, but it has ", body.proto().output_size()));
}

values loop(call const& node)
{
    graph const& body = node.body("body");
    values carried;
    for (std::size_t i = 2; i < node.input_count(); ++i)
        carried.push_back(node.at(i));
    require_outputs(body, 1 + carried.size());
    typed_outputs outputs(body, 1 + carried.size());

    xloom::loop_options options;
    if (node.has(0))
        options.max_trip_count = item_of<std::int64_t>(node.tensor_at(0), "M");
    options.cond = std::nullopt;
    if (node.has(1))
        options.cond = item_of<bool>(node.tensor_at(1), "cond");
    std::stop_source never;
    options.stop = never.get_token(); // without M and cond the text has it run forever

    auto const iterate = [&](std::int64_t iteration, bool cond, std::span<value const> states) {
        values arguments{declared_scalar(body, 0, iteration), declared_scalar(body, 1, cond)};
        arguments.insert(arguments.end(), states.begin(), states.end());
        values results = body.run(arguments, &node.around());
        auto const first = results.begin() + 1, end_of_states = first + static_cast<std::ptrdiff_t>(states.size());
        tensors stacked;
        for (auto each = end_of_states; each != results.end(); ++each)
            stacked.push_back(outputs.stackable(stacked.size(), each->as_tensor()));
        return xloom::loop_step{item_of<bool>(results[0].as_tensor(), "the body's cond"), values(first, end_of_states), stacked};
    };
    auto result = xloom::loop_list(iterate, carried, outputs.count(), options);

    values all = std::move(result.final_state);
    for (std::size_t k = 0; k < outputs.count(); ++k)
        all.emplace_back(outputs.typed(k, result.scan_outputs[k], 0));
    return all;
}

/// The body as xloom's inference calls it. What it does not know of one output it says of none.
auto body_of(typing const& node)
{
    return [&node](xloom::type_list const& given) {
        return known_list(node.body_types("body", {given.begin(), given.end()})).value_or(xloom::type_list{});
    };
}

/// What is left where the inputs tell too little, or are too many: the body by what it declares itself.
types types_of_unknown(typing const& node)
{
    (void)node.body_types("body", types(static_cast<std::size_t>(node.body("body").proto().input_size())));
    return {};
}

types loop_types(typing const& node)
{
    types inputs = node.inputs();
    inputs.resize(std::max<std::size_t>(inputs.size(), 2));
    auto const carried = known_list({inputs.begin() + 2, inputs.end()});
    if (!carried || inputs.size() > xloom::max_operands || node.output_count() > xloom::max_operands)
        return types_of_unknown(node);
    require_allowed(xloom::control_flow::loop, node.opset(), *carried);
    inputs[1] = xloom::tensor_type(element_type::bool_); // in the body, of the rank that it declares
    auto const result = xloom::infer_loop(xloom::type_list(inputs.begin(), inputs.end()), body_of(node),
        xloom::type_list(node.declared().begin(), node.declared().end()), {.opset = node.opset()});
    return {result.begin(), result.end()};
}

/// One of Scan's lists of axes: as many as there are operands, 0 where there is no list. A tensor's last axis, its bytes, is no axis of
/// the model's: those that count from the back skip it.
xloom::axes axes_of(call const& node, std::string_view name, std::size_t count)
{
    std::vector<std::int64_t> const given = node.integers(name);
    xloom::axes axes;
    for (std::int64_t const axis : given.empty() ? std::vector<std::int64_t>(count) : given)
        axes.push_back(axis < 0 && axis != std::numeric_limits<std::int64_t>::min() ? axis - 1 : axis);
    return axes;
}

xloom::scan_directions directions_of(call const& node, std::string_view name)
{
    xloom::scan_directions directions;
    for (std::int64_t const direction : node.integers(name))
        directions.push_back(static_cast<xloom::scan_direction>(direction));
    return directions;
}

/// States, then scan inputs; the rest says how they are walked.
struct scan_operands {
    tensors states, inputs;
    xloom::scan_options options{};
};

void require_axes(xloom::axes const& axes, std::size_t k, std::size_t rank, std::string_view name)
{
    if (k < axes.size() && axes[k] >= static_cast<std::int64_t>(rank))
        throw runner_error(xloom::detail::concat(name, "[", k, "] is ", axes[k], " for a tensor of rank ", rank));
}

/// Scan of version 9 on: final states, then outputs.
values scan(graph const& body, scope const& around, scan_operands const& operands)
{
    std::size_t const N = operands.states.size();
    require_outputs(body, N);
    typed_outputs outputs(body, N);
    string_table table;
    auto const as_bytes = [&table](tensor const& t) { return t.type() == element_type::string ? table.numbers_of(t) : t; };
    tensors inputs;
    for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
        require_axes(operands.options.input_axes, i, operands.inputs[i].shape().size(), "scan_input_axes");
        inputs.push_back(as_bytes(operands.inputs[i]));
    }

    using bytes = xloom::element_view<std::byte const>;
    auto const iterate = [&](std::span<tensor const> states, std::span<bytes const> elements) {
        values arguments(states.begin(), states.end());
        for (std::size_t i = 0; i < elements.size(); ++i) {
            tensor element(inputs[i].type(), xloom::shape(elements[i].shape().begin(), elements[i].shape().end() - 1));
            std::copy_n(elements[i].data(), elements[i].size(), element.bytes());
            arguments.emplace_back(operands.inputs[i].type() == element_type::string ? table.strings_of(element) : element);
        }
        values const results = body.run(arguments, &around);
        tensors next, stacked;
        for (std::size_t i = 0; i < N; ++i) {
            next.push_back(results[i].as_tensor());
            if (next[i].type() != states[i].type())
                throw runner_error(xloom::detail::concat("state ", i, " must keep its element type, but it was ", name_of(states[i].type()),
                    " and the body made it ", name_of(next[i].type())));
        }
        for (std::size_t k = 0; k < outputs.count(); ++k) {
            tensor const& element = results[N + k].as_tensor();
            require_axes(operands.options.output_axes, k, element.shape().size() + 1, "scan_output_axes");
            stacked.push_back(outputs.stackable(k, element));
        }
        return xloom::scan_step{next, stacked};
    };
    auto const result = xloom::scan_list(iterate, operands.states, inputs, outputs.count(), operands.options);

    values all(result.final_state.begin(), result.final_state.end());
    for (std::size_t k = 0; k < outputs.count(); ++k) {
        std::int64_t const axis = operands.options.output_axes.empty() ? 0 : operands.options.output_axes[k];
        all.emplace_back(outputs.typed(k, result.scan_outputs[k], axis < 0 ? axis + 1 : axis));
    }
    return all;
}

/// Scan of version 8: every row of the batch by itself; the rows' results side by side again, padded with zeros.
values scan_batched(call const& node, std::size_t M)
{
    graph const& body = node.body("body");
    std::size_t const N = node.input_count() - 1 - M;
    tensors operands;
    for (std::size_t i = 1; i < node.input_count(); ++i)
        operands.push_back(node.tensor_at(i));
    if (operands.empty())
        throw runner_error("it has no inputs");
    std::size_t const batch = leading_dim(operands[0]), T = M == 0 ? 0 : leading_dim(drop_leading(operands[N], 0));
    reservation const enough(batch * sizeof(tensors));
    std::vector<std::int64_t> lengths(batch, static_cast<std::int64_t>(T));
    if (node.has(0))
        lengths = node.integers_at(0);
    if (lengths.size() != batch)
        throw runner_error("sequence_lens must have a length for each row of the batch");

    std::vector<tensors> rows;
    for (std::size_t b = 0; b < batch; ++b) {
        if (lengths[b] < 0 || static_cast<std::size_t>(lengths[b]) > T)
            throw runner_error(xloom::detail::concat("sequence_lens[", b, "] is ", lengths[b], " for sequences of ", T));
        scan_operands row;
        row.options.input_directions = directions_of(node, "directions");
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (leading_dim(operands[i]) != batch)
                throw runner_error("all inputs must have the same batch size");
            tensor const own = drop_leading(operands[i], b);
            if (i < N)
                row.states.push_back(own);
            else
                row.inputs.push_back(take_leading(own, static_cast<std::size_t>(lengths[b])));
        }
        tensors results;
        for (value const& each : scan(body, node.around(), row))
            results.push_back(each.as_tensor());
        for (std::size_t k = N; k < results.size(); ++k)
            results[k] = pad_leading(results[k], T);
        rows.push_back(results);
    }
    if (batch == 0)
        throw runner_error("a batch of no rows tells no shapes");
    values all;
    for (std::size_t k = 0; k < rows[0].size(); ++k) {
        tensors column;
        for (tensors const& row : rows)
            column.push_back(row[k]);
        all.emplace_back(stack_leading(column));
    }
    return all;
}

values scan(call const& node)
{
    auto const M = static_cast<std::size_t>(std::max<std::int64_t>(node.integer("num_scan_inputs", -1), 0));
    if (node.integer("num_scan_inputs", -1) < 0 || M > node.input_count() - (node.opset() < 9 ? 1 : 0))
        throw runner_error("num_scan_inputs must be given, and no larger than the number of its inputs");
    if (node.opset() < 9)
        return scan_batched(node, M);
    graph const& body = node.body("body");
    scan_operands operands;
    std::size_t const N = node.input_count() - M;
    for (std::size_t i = 0; i < node.input_count(); ++i)
        (i < N ? operands.states : operands.inputs).push_back(node.tensor_at(i));
    std::size_t const K = static_cast<std::size_t>(body.proto().output_size()) -
                          std::min<std::size_t>(N, static_cast<std::size_t>(body.proto().output_size()));
    operands.options.input_axes = axes_of(node, "scan_input_axes", M);
    operands.options.output_axes = axes_of(node, "scan_output_axes", K);
    operands.options.input_directions = directions_of(node, "scan_input_directions");
    operands.options.output_directions = directions_of(node, "scan_output_directions");
    return scan(body, node.around(), operands);
}

types scan_types(typing const& node)
{
    types inputs = node.inputs();
    bool const is_batched = node.opset() < 9;
    auto const operands = known_list({inputs.begin() + (is_batched && !inputs.empty() ? 1 : 0), inputs.end()});
    if (!operands || inputs.size() > xloom::max_operands || node.output_count() > xloom::max_operands)
        return types_of_unknown(node);
    require_allowed(xloom::control_flow::scan, node.opset(), *operands);
    auto const axes = [&](char const* name) {
        auto const given = node.integers(name);
        return given.empty() ? std::nullopt : std::optional(xloom::axes(given.begin(), given.end()));
    };
    xloom::scan_attributes attributes{.opset = node.opset()};
    if (node.has_attribute("num_scan_inputs"))
        attributes.num_scan_inputs = node.integer("num_scan_inputs", 0);
    attributes.scan_input_axes = axes("scan_input_axes");
    attributes.scan_output_axes = axes("scan_output_axes");
    auto const result = xloom::infer_scan(xloom::type_list(inputs.begin(), inputs.end()), body_of(node),
        xloom::type_list(node.declared().begin(), node.declared().end()), attributes);
    return {result.begin(), result.end()};
}

} // namespace

void add_control_flow_operators(operator_table& table)
{
    table["If"] = {if_, if_types};
    table["Loop"] = {loop, loop_types};
    table["Scan"] = {static_cast<values (*)(call const&)>(scan), scan_types};
}

} // namespace runner
