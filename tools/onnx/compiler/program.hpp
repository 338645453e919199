#pragma once
// A model as code is made of it: values with inferred types, nodes in order, bodies.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph.hpp"
#include "spelling.hpp"

namespace compiler {

struct node;
struct block;

/// A value of a graph: an input, a constant or what a node makes.
struct variable {
    std::string onnx_name{};
    partial_type type{};
    runner::value const* constant = nullptr; ///< the value itself, where no run changes it
    node* maker = nullptr;                   ///< null for inputs and constants
    block const* home = nullptr;             ///< the graph that the value belongs to
    runner::graph* graph = nullptr;          ///< where inference knows it, by its place
    std::size_t place = 0;
    bool is_completed = false;  ///< the type has more than inference found
    std::size_t uses = 0;       ///< by nodes and as outputs of graphs, bodies included
    bool is_view = false;       ///< the code is a view, not a container
    bool is_row = false;        ///< the code is a row of a container, which keeps its shape
    bool is_in_state = false;   ///< the code is the container of a carried state
    variable* viewed = nullptr; ///< the value whose items this one views
    std::string code{};         ///< the C++ expression, once it is known

    bool is_scalar() const { return type.is_tensor() && type.shape().has_rank() && type.shape().rank() == 0; }
    runner::tensor const* tensor() const
    {
        return constant != nullptr && constant->is_tensor() ? &constant->as_tensor() : nullptr;
    }
    /// Returns the items of a constant tensor of integers; std::nullopt for any other value.
    std::optional<std::vector<std::int64_t>> integers() const;
};

/// The dimensions, if all of them are known.
std::optional<xloom::shape> static_shape(partial_type const& type);

using blocks = std::map<std::string, std::unique_ptr<block>>;

struct node {
    runner::graph::step const* step;
    std::string name{};               ///< "Add", "com.microsoft.AttnLSTM"
    std::vector<variable*> inputs{};  ///< null: omitted
    std::vector<variable*> outputs{}; ///< null: omitted, or used by nothing
    blocks bodies{};

    runner::node_view view() const { return {*step->node, step->opset, step->bodies}; }
    std::int64_t opset() const { return step->opset; }
    bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
    bool wants(std::size_t k) const { return k < outputs.size() && outputs[k] != nullptr; }
    variable& input(std::size_t i) const { return *inputs.at(i); }
    variable& output(std::size_t k = 0) const { return *outputs.at(k); }
    block& body(std::string const& attribute) const { return *bodies.at(attribute); }
};

/// A graph: the model's, or the body of a node.
struct block {
    block const* outer = nullptr;
    std::vector<variable*> inputs{};
    std::deque<node> nodes{};
    std::vector<variable*> outputs{};
    std::vector<variable*> by_place{};
    std::string impossible{}; ///< why this branch of If cannot run; it has neither nodes nor outputs then
};

/// True if the shape of every value is known before a run, bodies included, and every value is a tensor of
/// numbers.
bool has_static_shapes(block const& of);

/// The program of a model, which must outlive it.
class program {
public:
    /// Throws a runner_error that names the node, if a sequence has tensors of several ranks.
    explicit program(runner::graph& graph);
    program(program const&) = delete;
    program& operator=(program const&) = delete;

    block& main() { return main_; }
    block const& main() const { return main_; }

    /// Tells inference the types of sequences that it left open. Returns false if it knows them already;
    /// else the model must infer() its types again, for another program.
    bool tell_types();
    /// Throws a runner_error that names the node, if a value has an unknown type or rank, or one that an
    /// operator does not take.
    void require_types() const;

private:
    /// Fills the model's graph, or the body of a node.
    void fill(block& into, runner::graph& graph, node const* of = nullptr);
    void add_node(block& into, runner::graph& graph, runner::graph::step const& step);
    void splice(block& into, runner::graph::step const& step, block const& taken);
    void make_true(variable& value);
    variable& add_variable(block& home, runner::graph& graph, std::size_t at);
    variable* find(block const& from, runner::slot at) const;
    variable*& place(block& at, std::size_t place);

    std::deque<runner::value> trues_{};
    variable true_{};
    std::deque<variable> variables_{};
    block main_{};
};

} // namespace compiler
