// Sequences and optionals; SequenceMap, whose body is a loop in place.

#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

constexpr char const* sequence_header = "xloom_onnx/sequence.hpp";

bool is_optional(variable const& value) { return value.type.kind() == xloom::type_kind::optional; }

/// The expression of a value that is converted to the C++ type of its kind: a view becomes a container.
std::string owned(emission& out, variable& value)
{
    return fmt::format("{}({})", cpp_type(value.type), out.operand(value));
}

void sequence_empty(emission& out, node& each) { out.line("{}.clear();", out.target(each.output())); }

void sequence_construct(emission& out, node& each)
{
    std::string const target = out.target(each.output());
    out.line("{}.resize({});", target, each.inputs.size());
    for (std::size_t i = 0; i < each.inputs.size(); ++i)
        assign(out, fmt::format("{}[{}]", target, i), each.input(i));
}

void sequence_at(emission& out, node& each)
{
    out.include(sequence_header);
    out.define(each.output(), fmt::format("xloom_onnx::sequence_at({}, {})", out.operand(each.input(0)),
                                  only_item(out, each.input(1))));
}

/// Returns the output of a node that changes a sequence, which has its values already: those of a carried
/// state in place.
std::string changed(emission& out, node& each)
{
    out.include(sequence_header);
    take_state(out, each, 0, 0);
    std::string const target = out.target(each.output());
    assign(out, target, each.input(0));
    return target;
}

void sequence_insert(emission& out, node& each)
{
    std::string const item = owned(out, each.input(1));
    std::string const position = each.has(2) ? ", " + only_item(out, each.input(2)) : "";
    out.line("xloom_onnx::sequence_insert({}, {}{});", changed(out, each), item, position);
}

void sequence_erase(emission& out, node& each)
{
    std::string const position = each.has(1) ? ", " + only_item(out, each.input(1)) : "";
    out.line("xloom_onnx::sequence_erase({}{});", changed(out, each), position);
}

void sequence_length(emission& out, node& each)
{
    out.define(
        each.output(), fmt::format("static_cast<std::int64_t>({}.size())", out.operand(each.input(0))));
}

void concat_from_sequence(emission& out, node& each)
{
    out.include(sequence_header);
    auto const view = each.view();
    std::string const sequence = out.operand(each.input(0));
    out.line("xloom_onnx::concat_from_sequence_into({}, {}, {{.axis = {}{}}});", sequence,
        out.target(each.output()), number_literal(view.integer("axis", 0)),
        view.integer("new_axis", 0) != 0 ? ", .new_axis = true" : "");
}

void split_to_sequence(emission& out, node& each)
{
    out.include(sequence_header);
    auto const view = each.view();
    std::string const x = out.operand(each.input(0));
    std::string lengths;
    if (each.has(1)) {
        lengths = ", " + out.operand(each.input(1));
        if (each.input(1).is_scalar())
            lengths = fmt::format(", std::int64_t{{{}}}", out.operand(each.input(1)));
    }
    out.line("xloom_onnx::split_to_sequence_into({}{}, {}, {{.axis = {}{}}});", x, lengths,
        out.target(each.output()), number_literal(view.integer("axis", 0)),
        !each.has(1) && view.integer("keepdims", 1) == 0 ? ", .keepdims = false" : "");
}

// An Optional without an input is a constant, and so is what OptionalHasElement says of none.

void optional(emission& out, node& each)
{
    if (is_optional(each.input(0)))
        throw runner::runner_error("an optional holds a tensor or a sequence, but this one an optional");
    out.define(each.output(), owned(out, each.input(0)));
}

void optional_has_element(emission& out, node& each)
{
    variable& input = each.input(0);
    out.define(each.output(), is_optional(input) ? out.operand(input) + ".has_value()" : "true");
}

void optional_get_element(emission& out, node& each)
{
    std::string value = out.operand(each.input(0));
    if (is_optional(each.input(0))) {
        out.include(sequence_header);
        value = fmt::format("xloom_onnx::optional_get_element({})", value);
    }
    out.define(each.output(), value);
}

void sequence_map(emission& out, node& each)
{
    block& body = each.body("body");
    if (body.outputs.size() < each.outputs.size())
        throw runner::runner_error(fmt::format(
            "its body gives {} outputs, but it has {}", body.outputs.size(), each.outputs.size()));
    std::string const sequence = out.operand(each.input(0));
    std::vector<std::string> targets;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        targets.push_back(each.wants(k) ? out.target(each.output(k)) : "");
    for (std::size_t i = 1; i < each.inputs.size(); ++i)
        if (each.input(i).type.kind() == xloom::type_kind::sequence) {
            out.include("xloom_onnx/model/require_length.hpp");
            out.line("xloom_onnx::require_length({}, {}.size());", out.operand(each.input(i)), sequence);
        }
    for (std::string const& target : targets)
        if (!target.empty())
            out.line("{}.resize({}.size());", target, sequence);
    std::string const position = out.unique("position");
    out.line("for (std::size_t {0} = 0; {0} < {1}.size(); ++{0}) {{", position, sequence);
    out.indent();
    out.begin_block();
    for (std::size_t i = 0; i < each.inputs.size(); ++i) {
        bool const is_sequence = each.input(i).type.kind() == xloom::type_kind::sequence;
        std::string const code = out.operand(each.input(i));
        variable& element = *body.inputs[i];
        if (!is_sequence)
            out.bind(element, code);
        else if (!element.is_scalar())
            out.bind(element, fmt::format("{}[{}]", code, position));
        else if (element.uses != 0)
            out.define(
                element, fmt::format("{}[{}]", code, position)); // that of std::vector<bool> is a proxy
    }
    emit_nodes(out, body);
    for (std::size_t k = 0; k < targets.size(); ++k)
        if (!targets[k].empty())
            assign(out, fmt::format("{}[{}]", targets[k], position), *body.outputs[k]);
    out.end_block();
    out.outdent();
    out.line("}}");
}

} // namespace

void add_sequence_emitters(emitter_table& table)
{
    table["SequenceEmpty"] = sequence_empty;
    table["SequenceConstruct"] = sequence_construct;
    table["SequenceAt"] = sequence_at;
    table["SequenceInsert"] = sequence_insert;
    table["SequenceErase"] = sequence_erase;
    table["SequenceLength"] = sequence_length;
    table["ConcatFromSequence"] = concat_from_sequence;
    table["SplitToSequence"] = split_to_sequence;
    table["SequenceMap"] = sequence_map;
    table["Optional"] = optional;
    table["OptionalHasElement"] = optional_has_element;
    table["OptionalGetElement"] = optional_get_element;
}

} // namespace compiler
