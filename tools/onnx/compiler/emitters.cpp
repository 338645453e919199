#include "emitters.hpp"

#include "custom_operators.hpp"
#include "elementwise.hpp"
#include "text.hpp"

namespace compiler {

emitter_table const& all_emitters()
{
    static emitter_table const all = [] {
        emitter_table table;
        add_if_emitters(table);
        add_loop_emitters(table);
        add_scan_emitters(table);
        add_recurrent_emitters(table);
        add_shape_emitters(table);
        add_view_emitters(table);
        add_piece_emitters(table);
        add_indexing_emitters(table);
        add_reduction_emitters(table);
        add_product_emitters(table);
        add_normalization_emitters(table);
        add_quantization_emitters(table);
        add_sequence_emitters(table);
        return table;
    }();
    return all;
}

emitter const* find_emitter(std::string const& name)
{
    auto const found = all_emitters().find(name);
    return found == all_emitters().end() ? nullptr : &found->second;
}

void comment_on(emission& out, node const& each)
{
    std::string const& name = each.step->node->name();
    if (name.empty())
        out.line("// {}", each.name);
    else
        out.line("// {} {}", each.name, comment_text(name));
}

void emit_nodes(emission& out, block& of)
{
    std::set<node const*> const fused = find_fused(of);
    for (node& each : of.nodes) {
        if (fused.contains(&each))
            continue;
        try {
            if (is_elementwise(each)) {
                emit_elementwise(out, each, fused);
                continue;
            }
            comment_on(out, each);
            emitter const* const found = find_emitter(each.name);
            if (found != nullptr)
                (*found)(out, each);
            else
                emit_custom(out, each, out.chosen().operators.at(each.name));
        } catch (runner::not_implemented const& error) {
            throw runner::not_implemented(runner::describe(*each.step->node) + ": " + error.what());
        } catch (std::exception const& error) {
            throw runner::runner_error(runner::describe(*each.step->node) + ": " + error.what());
        }
        for (variable* const input : each.inputs)
            if (input != nullptr)
                out.use(*input);
        out.release_unused();
    }
}

void take_state(emission& out, node& each, std::size_t i, std::size_t k)
{
    if (each.has(i) && each.wants(k) && each.input(i).uses == 1 &&
        (static_shape(each.output(k).type) || !each.output(k).type.is_tensor()))
        out.take_state(each.output(k), each.input(i), {&each});
}

void assign(emission& out, std::string_view to, variable& from)
{
    std::string const code = out.operand(from);
    if (code == to)
        return;
    if (from.type.is_tensor() && !from.is_scalar())
        out.line("xt::noalias({}) = {};", to, code);
    else
        out.line("{} = {};", to, code);
}

std::string only_item(emission& out, variable& value)
{
    if (value.is_scalar())
        return out.operand(value);
    out.include("xloom_onnx/model/only_item.hpp");
    return fmt::format("xloom_onnx::only_item({})", out.operand(value));
}

} // namespace compiler
