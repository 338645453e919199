// Gather and Scatter of all kinds.

#include <xloom/core/reduction.hpp>
#include <xloom/infer/scatter_nd.hpp>

#include "call.hpp"
#include "text.hpp"

namespace compiler {

namespace {

std::string reduction_of(node const& each)
{
    std::string const name = each.view().text("reduction", "none");
    for (auto const kind : {xloom::reduction::none, xloom::reduction::add, xloom::reduction::mul,
             xloom::reduction::max, xloom::reduction::min})
        if (name == name_of(kind)) {
            if (kind != xloom::reduction::none && !xloom::has_reduction(each.opset(), kind))
                throw runner::runner_error(
                    fmt::format("the reduction {} does not exist at opset {}", name, each.opset()));
            return "xloom::reduction::" + name;
        }
    throw runner::runner_error("the reduction " + runner::in_quotes(name) + " does not exist");
}

void gather(emission& out, node& each)
{
    call(out, each, "gather", "gather_into")
        .operand(0)
        .operand(1)
        .output()
        .option("axis", each.view().integer("axis", 0), 0)
        .emit();
}

void gather_elements(emission& out, node& each)
{
    call(out, each, "model/indexing", "gather_elements_into")
        .operand(0)
        .operand(1)
        .output()
        .option("axis", each.view().integer("axis", 0), 0)
        .emit();
}

void gather_nd(emission& out, node& each)
{
    call(out, each, "model/indexing", "gather_nd_into")
        .operand(0)
        .operand(1)
        .output()
        .option("batch_dims", each.view().integer("batch_dims", 0), 0)
        .emit();
}

void scatter_nd(emission& out, node& each)
{
    std::string const reduction = reduction_of(each);
    call c(out, each, "model/indexing", "scatter_nd_into");
    c.operand(0).operand(1).operand(2).output();
    if (reduction != "xloom::reduction::none")
        c.option("reduction", reduction);
    c.emit();
}

void scatter_elements(emission& out, node& each)
{
    std::string const reduction = reduction_of(each);
    call c(out, each, "model/indexing", "scatter_elements_into");
    c.operand(0).operand(1).operand(2).output().option("axis", each.view().integer("axis", 0), 0);
    if (reduction != "xloom::reduction::none")
        c.option("reduction", reduction);
    c.emit();
}

} // namespace

void add_indexing_emitters(emitter_table& table)
{
    table["Gather"] = gather;
    table["GatherElements"] = gather_elements;
    table["GatherND"] = gather_nd;
    table["com.microsoft.GatherND"] = gather_nd;
    table["ScatterND"] = scatter_nd;
    table["ScatterElements"] = scatter_elements;
    table["Scatter"] = scatter_elements;
}

} // namespace compiler
