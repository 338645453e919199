#include "check_types.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <onnx/defs/schema.h>

#include "node.hpp"
#include "text.hpp"

namespace compiler {

namespace {

[[noreturn]] void fail(node const& at, variable const& value, std::string const& must)
{
    throw runner::runner_error(
        fmt::format("{}: {} must be {}, but it is {}", runner::describe(*at.step->node),
            runner::in_quotes(value.onnx_name), must, name_of(value.type.element())));
}

/// The element types that a node's inputs have bound to the names of type parameters.
class bindings {
public:
    explicit bindings(node const& at) : at_(at) {}

    void bind(std::string const& parameter, variable const& input)
    {
        if (!input.type.is_tensor())
            return;
        auto const [found, is_new] = first_.emplace(parameter, &input);
        if (!is_new && found->second->type.element() != input.type.element())
            fail(at_, input,
                fmt::format("{}, as {}", name_of(found->second->type.element()),
                    runner::in_quotes(found->second->onnx_name)));
    }

private:
    node const& at_;
    std::map<std::string, variable const*> first_{};
};

/// Checks the inputs of an operator of ONNX by its schema. A newer version than the schema's may have more.
void check_inputs(node const& at, onnx::OpSchema const& schema)
{
    bindings types(at);
    auto const& formals = schema.inputs();
    bool const repeats_last = !formals.empty() && formals.back().GetOption() == onnx::OpSchema::Variadic;
    std::size_t const known = repeats_last ? at.inputs.size() : std::min(at.inputs.size(), formals.size());
    for (std::size_t i = 0; i < known; ++i) {
        auto const& formal = formals[std::min(i, formals.size() - 1)];
        if (!at.has(i) || !formal.GetIsHomogeneous())
            continue;
        variable const& input = at.input(i);
        if (formal.GetTypes().size() == 1 && input.type.is_tensor()) {
            std::string const& only = **formal.GetTypes().begin();
            if (only != fmt::format("tensor({})", name_of(input.type.element())))
                fail(at, input, only);
        } else {
            types.bind(formal.GetTypeStr(), input);
        }
    }
}

/// Checks the inputs of a recurrent operator, all of which but the lengths are of one type.
void check_recurrent(node const& at)
{
    constexpr std::size_t sequence_lens = 4, memory_seq_lens = 12; // the latter of AttnLSTM
    bindings types(at);
    for (std::size_t i = 0; i < at.inputs.size(); ++i)
        if (at.has(i) && i != sequence_lens && i != memory_seq_lens)
            types.bind("T", at.input(i));
}

} // namespace

void check_types(block const& of)
{
    for (node const& each : of.nodes) {
        onnx::NodeProto const& proto = *each.step->node;
        onnx::OpSchema const* const schema = onnx::OpSchemaRegistry::Schema(proto.op_type(),
            static_cast<int>(each.opset()), proto.domain() == "ai.onnx" ? "" : proto.domain());
        if (each.name == "com.microsoft.AttnLSTM" || each.name == "xloom.QuantizedLSTM")
            check_recurrent(each);
        else if (schema != nullptr)
            check_inputs(each, *schema);
        for (auto const& [attribute, body] : each.bodies) {
            if (each.name == "Loop" && !body->outputs.empty() &&
                body->outputs[0]->type.element() != element_type::bool_)
                fail(each, *body->outputs[0], "bool, as the condition of the next iteration");
            check_types(*body);
        }
    }
}

} // namespace compiler
