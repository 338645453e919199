#include "check_types.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/defs/schema.h>

#include "graph.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"

namespace compiler {

namespace {

[[noreturn]] void fail(node const& at, variable const& value, std::string const& must)
{
    bool const is_tensor = value.type.is_tensor();
    throw runner::runner_error(fmt::format("{}: {} must be {}, but it is {}",
        runner::describe(*at.step->node), runner::in_quotes(value.onnx_name), must,
        is_tensor ? std::string(name_of(value.type.element())) : fmt::format("{}", value.type)));
}

using type_names = std::vector<std::string>;

bool all_begin_with(type_names const& types, std::initializer_list<std::string_view> beginnings)
{
    return std::ranges::all_of(types, [&](std::string const& type) {
        return std::ranges::any_of(
            beginnings, [&](std::string_view beginning) { return type.starts_with(beginning); });
    });
}

/// Checks an input that may have these types. A newer version than the schema's may have more of them: but no
/// other kind, and, if the schema is the opset's own, only integers where all are integers.
void check_allowed(node const& at, variable const& input, type_names const& allowed, bool is_own = true)
{
    bool const is_tensor = input.type.is_tensor();
    if (input.type.is_untyped())
        return;
    if (!is_tensor && all_begin_with(allowed, {"tensor("}))
        fail(at, input, "a tensor");
    if (input.type.kind() != xloom::type_kind::sequence && all_begin_with(allowed, {"seq("}))
        fail(at, input, "a sequence");
    bool const is_complete =
        is_own && (allowed.size() == 1 || all_begin_with(allowed, {"tensor(int", "tensor(uint"}));
    std::string const own = fmt::format("tensor({})", name_of(input.type.element()));
    if (is_tensor && is_complete && std::ranges::find(allowed, own) == allowed.end())
        fail(at, input, fmt::format("{}", fmt::join(allowed, " or ")));
}

/// The element types that a node's inputs have bound to the names of type parameters.
class bindings {
public:
    explicit bindings(node const& at) : at_(at) {}

    void bind(std::string const& parameter, variable const& input)
    {
        if (!input.type.is_tensor() || input.type.element() == element_type::undefined)
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

/// Checks the inputs of an operator of ONNX by its schema. A newer version than the schema's may have more,
/// and other element types.
void check_inputs(node const& at, onnx::OpSchema const& schema, bool is_own)
{
    bindings types(at);
    auto const& formals = schema.inputs();
    bool const repeats_last = !formals.empty() && formals.back().GetOption() == onnx::OpSchema::Variadic;
    std::size_t const known = repeats_last ? at.inputs.size() : std::min(at.inputs.size(), formals.size());
    for (std::size_t i = 0; i < known; ++i) {
        auto const& formal = formals[std::min(i, formals.size() - 1)];
        if (!at.has(i) || !formal.GetIsHomogeneous())
            continue;
        type_names allowed;
        for (std::string const* const type : formal.GetTypes())
            allowed.push_back(*type);
        std::ranges::sort(allowed);
        check_allowed(at, at.input(i), allowed, is_own);
        if (is_own)
            types.bind(formal.GetTypeStr(), at.input(i));
    }
}

/// What a run of one item of each input tells of their element types.
struct trial {
    bool runs = false;
    std::string impossible{}; ///< why it never does; empty: it may
};

/// Tries the element types of an operator on tensors with the runner, which has the same functions.
trial try_items(node const& at)
{
    std::deque<runner::value> items;
    std::vector<runner::value const*> arguments;
    for (variable const* const input : at.inputs) {
        if (input != nullptr &&
            (!input->type.is_tensor() || input->type.element() == element_type::undefined))
            return {};
        arguments.push_back(nullptr);
        if (input != nullptr) {
            xloom::shape const dims(input->type.shape().rank(), 1);
            arguments.back() = &items.emplace_back(runner::zeros(input->type.element(), dims));
        }
    }
    try {
        at.step->what->run(runner::call(at.view(), arguments, {}));
        return {.runs = true};
    } catch (runner::impossible_type const& error) {
        return {.impossible = error.what()};
    } catch (std::exception const&) {
        return {}; // One item may be too few, or an index out of range: a run tells.
    }
}

/// True if the installed ONNX has the operators of a node's opset.
bool is_known_opset(node const& at, onnx::OpSchema const& schema)
{
    auto const& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    return at.opset() <= versions.at(schema.domain()).second;
}

/// Checks the inputs of a recurrent operator, all of which but the lengths are of one type.
void check_recurrent(node const& at)
{
    constexpr std::size_t sequence_lens = 4, memory_seq_lens = 12; // the latter of AttnLSTM
    bindings types(at);
    for (std::size_t i = 0; i < at.inputs.size(); ++i) {
        if (!at.has(i))
            continue;
        if (i == sequence_lens || i == memory_seq_lens)
            check_allowed(at, at.input(i), {"tensor(int32)", "tensor(int64)"});
        else
            types.bind("T", at.input(i));
    }
}

} // namespace

void check_types(block const& of)
{
    for (node const& each : of.nodes) {
        onnx::NodeProto const& proto = *each.step->node;
        onnx::OpSchema const* const schema =
            onnx::OpSchemaRegistry::Schema(proto.op_type(), static_cast<int>(each.opset()),
                proto.domain() == runner::own_domain ? "" : runner::plain_domain(proto.domain()));
        trial const tried = each.bodies.empty() ? try_items(each) : trial();
        if (each.name == "com.microsoft.AttnLSTM" || each.name == "xloom.QuantizedLSTM")
            check_recurrent(each);
        else if (schema != nullptr)
            check_inputs(each, *schema, is_known_opset(each, *schema) || !tried.runs);
        if (!tried.impossible.empty())
            throw runner::runner_error(runner::describe(proto) + ": " + tried.impossible);
        for (auto const& [attribute, body] : each.bodies) {
            if (each.name == "Loop" && !body->outputs.empty() &&
                body->outputs[0]->type.element() != element_type::bool_)
                fail(each, *body->outputs[0], "bool, as the condition of the next iteration");
            check_types(*body);
        }
    }
}

} // namespace compiler
