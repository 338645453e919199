// If: its branches in place.

#include "body.hpp"
#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// Says why a branch cannot run; empty if it can. The rank of a result may be declared, which a branch of
/// another rank contradicts.
std::string why_impossible(block const& branch, std::vector<std::pair<std::string, variable*>> const& results)
{
    if (!branch.impossible.empty())
        return branch.impossible;
    for (std::size_t k = 0; k < results.size(); ++k) {
        auto const& [name, result] = results[k];
        variable const& output = *branch.outputs.at(k);
        if (!name.empty() && cpp_type(output.type) != cpp_type(result->type))
            return fmt::format("its output {} is {}, but {} is {}", runner::in_quotes(output.onnx_name),
                output.type, runner::in_quotes(result->onnx_name), result->type);
    }
    return "";
}

void emit_branch(emission& out, node const& each, block& branch,
    std::vector<std::pair<std::string, variable*>> const& results)
{
    if (std::string const why = why_impossible(branch, results); !why.empty()) {
        out.include("xloom_onnx/model/impossible_branch.hpp");
        out.line("xloom_onnx::fail_in_impossible_branch({}, {}, {});", string_literal(out.chosen().name),
            string_literal(runner::describe(*each.step->node)), string_literal(why));
        return;
    }
    out.begin_block();
    std::vector<bool> is_bound(results.size(), false);
    for (std::size_t k = 0; k < results.size(); ++k) {
        variable& output = *branch.outputs.at(k);
        is_bound[k] = is_made_in(branch, output) && output.code.empty() && !results[k].first.empty();
        if (!is_bound[k])
            continue;
        out.bind(output, results[k].first);
        output.is_row = results[k].second->is_row;
    }
    emit_nodes(out, branch);
    for (std::size_t k = 0; k < results.size(); ++k)
        if (!is_bound[k] && !results[k].first.empty())
            assign(out, results[k].first, *branch.outputs[k]);
    out.end_block();
}

void emit_if(emission& out, node& each)
{
    std::vector<std::pair<std::string, variable*>> results;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        results.emplace_back(each.wants(k) ? out.target(each.output(k)) : "", each.outputs[k]);
    out.line("if ({}) {{", only_item(out, each.input(0)));
    out.indent();
    emit_branch(out, each, each.body("then_branch"), results);
    out.outdent();
    out.line("}} else {{");
    out.indent();
    emit_branch(out, each, each.body("else_branch"), results);
    out.outdent();
    out.line("}}");
}

} // namespace

void add_if_emitters(emitter_table& table) { table["If"] = emit_if; }

} // namespace compiler
