#pragma once
// A graph that is ready to run: operators and names are resolved, types are inferred as far as possible.

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "frame.hpp"
#include "inference.hpp"
#include "node.hpp"
#include "value.hpp"

namespace runner {

/// The opset of each domain that a model imports; "" is ONNX's own.
using opsets = std::map<std::string, std::int64_t>;
/// Returns those of a list. Throws if a domain has two, or if the runner does not know one of ONNX's or
/// com.microsoft's.
opsets opsets_of(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> const& imports);

struct operation;
class call;
/// The function of an operator: computes the outputs from the inputs and attributes.
using run_function = std::function<std::vector<value>(call const&)>;

/// The values of a running graph; null if not computed yet.
using scope = frame<value const*>;

class function_table;
struct function;

/// Warnings, each once and as one printable line: the first 1,000 of a model.
class warning_list {
public:
    static constexpr std::size_t most = 1000;

    std::set<std::string> const& all() const { return all_; }
    bool is_full() const { return all_.size() == most; }
    /// Requires that the list is not full.
    void add(std::string const& text);
    /// Keeps the first `count` that were added.
    void shrink(std::size_t count);

private:
    std::set<std::string> all_{};
    std::vector<std::set<std::string>::const_iterator> in_order_{};
};

/// What a model's graphs share while they are prepared.
struct preparation {
    std::size_t model_bytes = 0;         ///< what the model itself takes
    function_table* functions = nullptr; ///< the model's own; none if null
    warning_list* warnings = nullptr;    ///< where declared dimensions contradict inferred ones
};

class graph {
public:
    /// A node that a run evaluates.
    struct step {
        onnx::NodeProto const* node;
        operation const* what;
        std::int64_t opset;
        graphs bodies{};
        std::vector<std::optional<slot>> inputs{};
        std::vector<std::optional<std::size_t>> outputs{}; ///< places
        types output_types{};
        types expected_types{};  ///< with declared dimensions, for an output that no iteration makes
        run_function prepared{}; ///< instead of what->run
        std::string failure{};   ///< why it was not evaluated, although its inputs are constants
        /// For each input: true if nothing reads the value after this node.
        std::vector<bool> last_uses{};
    };

    /// Prepares a graph; `outer` has the names of the enclosing graphs. Throws if an operator, a name or an
    /// initializer is invalid.
    graph(onnx::GraphProto const& proto, opsets const& versions, preparation const& shared,
        name_table const* outer = nullptr);

    onnx::GraphProto const& proto() const { return proto_; }

    /// Infers the types of all values, of bodies too, from the given input types (untyped where unknown) and
    /// the graph's declarations; every run is then checked against them. Declared dimensions count for the
    /// model's inputs only, others are often those of the exporter's own run. Nodes with constant inputs are
    /// evaluated now, once. Returns the outputs' types in order. Throws if types contradict each other.
    ///
    /// While the types are tentative, nothing is evaluated that depends on them: another call follows.
    types infer(types const& inputs, facts const* outer = nullptr, certainty of_types = certainty::final);

    /// Makes later calls of infer() complete a value's type by this one, unless they contradict each other.
    /// Returns false if they do already.
    bool assume(std::size_t place, xloom::partial_type const& type);

    /// Infers the types of a branch of If in the same way. Returns std::nullopt for one that is impossible,
    /// which fails where it runs.
    std::optional<types> infer_branch(facts const* outer, certainty of_types);

    /// Returns why the types around a branch exclude that it runs; empty for a graph that can run.
    std::string const& impossible() const { return impossible_; }

    /// Returns the inferred types of the outputs, completed by declared dimensions, which a run may
    /// contradict.
    types const& output_types() const { return output_types_; }

    /// Runs the graph on inputs in order and returns the outputs in order. Missing inputs must have
    /// initializers. A value is freed after its last use, and its memory may become that of a result.
    std::vector<value> run(std::vector<value> inputs, scope const* outer = nullptr) const;

    /// Returns the nodes in order, after infer() without those that it evaluated.
    std::vector<step> const& steps() const { return steps_; }
    std::vector<std::size_t> const& input_places() const { return input_places_; }
    types const& input_types() const { return input_types_; }
    std::vector<slot> const& output_slots() const { return outputs_; }
    /// Returns an initializer or the result of an evaluated node by its place; null if a run makes the value.
    value const* constant_at(std::size_t place) const { return initial_[place]; }
    std::size_t place_count() const { return initial_.size(); }

private:
    void add_step(onnx::NodeProto const& node, opsets const& versions, name_table& names);
    /// Adds the nodes of a function in place of a call.
    void add_call(
        function const& called, onnx::NodeProto const& call, opsets const& versions, name_table& names);
    void keep_constant(std::size_t place, value v);
    xloom::partial_type completed(xloom::partial_type const& type, std::size_t place) const;
    /// Warns if declared dimensions contradict an inferred type.
    void compare(std::string const& what, std::string const& name, xloom::partial_type const& inferred,
        xloom::partial_type const& declared, certainty of_types) const;
    /// Evaluates a node whose inputs are constants. Returns false if they are not, if it fails, or if the
    /// results are too large to be kept; a run then fails or computes them where it reaches the node.
    bool fold(step& each, std::vector<fact const*> const& inputs, facts& known);
    /// Keeps the results of a node as constants. Returns false if they are not those that were inferred.
    bool keep_results(step const& each, std::vector<value> results, facts& known);
    void find_last_uses();
    /// Marks the places of the graph `outward` graphs around this one that this one reads.
    void mark_read(std::size_t outward, std::vector<bool>& is_read) const;

    onnx::GraphProto const& proto_;
    preparation const& shared_;
    std::deque<google::protobuf::RepeatedPtrField<onnx::NodeProto>> calls_{}; // the nodes of functions
    std::deque<value> constants_{};       // initializers, and what folded nodes made
    std::vector<value const*> initial_{}; // by place: a constant, or nothing yet
    std::vector<std::size_t> input_places_{};
    std::vector<step> steps_{};
    std::vector<slot> outputs_{};
    types input_types_{}, output_types_{};
    types assumed_{}; // by place
    std::string impossible_{};
};

inline types const untyped_outputs{};
inline std::vector<bool> const no_last_uses{};

/// A node that is being run.
class call : public node_view {
public:
    call(node_view const& node, std::vector<value const*> const& inputs, scope const& around,
        types const& expected = untyped_outputs, std::vector<bool> const& last_uses = no_last_uses)
        : node_view(node), inputs_(inputs), around_(around), expected_(expected), last_uses_(last_uses)
    {}

    scope const& around() const { return around_; }

    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
    value const& at(std::size_t i) const;
    tensor const& tensor_at(std::size_t i) const { return at(i).as_tensor(); }
    std::vector<std::int64_t> integers_at(std::size_t i) const { return integers_of(tensor_at(i)); }

    /// Returns a tensor of input i's items that may be written: in their place if nothing else reads them,
    /// else a copy.
    tensor own_tensor_at(std::size_t i) const;
    /// Returns a sequence of input i's values that may be written, in the same way.
    sequence own_sequence_at(std::size_t i) const;
    /// Returns a tensor to be written: in place of the first of these inputs that has this type and shape and
    /// that nothing else reads, else a new one. Requires that the operator reads items before it writes
    /// there.
    tensor result_over(
        std::initializer_list<std::size_t> inputs, element_type type, xloom::shape const& dims) const;

    /// Returns the inferred and declared type of output k.
    xloom::partial_type const& expected_at(std::size_t k) const
    {
        return k < expected_.size() ? expected_[k] : xloom::untyped;
    }

private:
    bool is_expiring(std::size_t i) const;

    std::vector<value const*> const& inputs_;
    scope const& around_;
    types const& expected_;
    std::vector<bool> const& last_uses_;
};

} // namespace runner
