#include "rewrite_quantized.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>

#include "check_node.hpp"
#include "functions.hpp"
#include "model.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "unused_names.hpp"

namespace runner {

namespace {

bool is_quantized(onnx::NodeProto const& node)
{
    return node.domain() == "com.microsoft" && node.op_type() == "DynamicQuantizeLSTM";
}

/// The element types that a graph tells of its values; 0 for others than tensors.
using known_types = std::unordered_map<std::string, int>;

known_types types_in(onnx::GraphProto const& graph)
{
    known_types types;
    for (auto const& each : graph.initializer())
        types.emplace(each.name(), each.data_type());
    for (auto const* const list : {&graph.input(), &graph.value_info()})
        for (auto const& each : *list)
            types.emplace(each.name(), each.type().tensor_type().elem_type());
    return types;
}

/// Throws if the node is not valid, or the type of an 8-bit input is known and is another.
void check(known_types const& types, onnx::NodeProto const& node)
try {
    check_node(node, 1);
    for (int const i : {1, 2, 9, 11})
        if (auto const found = types.find(node.input(i)); found != types.end() && found->second != 0 &&
                                                          found->second != onnx::TensorProto::INT8 &&
                                                          found->second != onnx::TensorProto::UINT8)
            throw runner_error(fmt::format("its input {} must be int8 or uint8", in_quotes(node.input(i))));
} catch (runner_error const& error) {
    throw runner_error(describe(node) + ": " + error.what());
}

/// Appends the nodes of one DynamicQuantizeLSTM to a graph.
class rewriter {
public:
    rewriter(onnx::GraphProto& graph, unused_names& names, onnx::NodeProto const& node)
        : graph_(graph), names_(names), node_(node)
    {}

    void run()
    {
        std::string const W = weights(1, 8), R = weights(2, 10);
        onnx::NodeProto& lstm = *graph_.add_node();
        lstm = node_;
        lstm.set_domain(own_domain);
        lstm.set_op_type("xloom.QuantizedLSTM");
        lstm.set_input(1, W);
        lstm.set_input(2, R);
        lstm.mutable_input()->DeleteSubrange(8, 4);
    }

private:
    /// Dequantizes [D, I, 4H], whose scale and zero point are [D] or [D, 4H], and transposes it.
    std::string weights(int quantized, int scale)
    {
        std::string const difference =
            add("Sub", {as_float(node_.input(quantized)), for_columns(as_float(node_.input(scale + 1)))});
        std::string const product = add("Mul", {difference, for_columns(node_.input(scale))});
        std::string const transposed = add("Transpose", {product});
        auto& perm = attribute("perm", onnx::AttributeProto::INTS);
        for (int const axis : {0, 2, 1})
            perm.add_ints(axis);
        return transposed;
    }

    std::string as_float(std::string const& name)
    {
        std::string const cast = add("Cast", {name});
        attribute("to", onnx::AttributeProto::INT).set_i(onnx::TensorProto::FLOAT);
        return cast;
    }

    /// Reshapes [D] or [D, 4H] to [D, 1, 1 or 4H].
    std::string for_columns(std::string const& name)
    {
        bool const is_bidirectional = std::any_of(node_.attribute().begin(), node_.attribute().end(),
            [](auto const& each) { return each.name() == "direction" && each.s() == "bidirectional"; });
        onnx::TensorProto& shape = *graph_.add_initializer();
        shape.set_name(names_.make(name + "_shape"));
        shape.set_data_type(onnx::TensorProto::INT64);
        shape.add_dims(3);
        for (int const dim : {is_bidirectional ? 2 : 1, 1, -1})
            shape.add_int64_data(dim);
        return add("Reshape", {name, shape.name()});
    }

    std::string add(char const* type, std::initializer_list<std::string> inputs)
    {
        onnx::NodeProto& added = *graph_.add_node();
        added.set_domain(own_domain);
        added.set_op_type(type);
        for (std::string const& input : inputs)
            added.add_input(input);
        added.add_output(names_.make(*inputs.begin() + "_" + type));
        return added.output(0);
    }

    /// Adds an attribute to the last node.
    onnx::AttributeProto& attribute(char const* name, onnx::AttributeProto::AttributeType type)
    {
        onnx::AttributeProto& added = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
        added.set_name(name);
        added.set_type(type);
        return added;
    }

    onnx::GraphProto& graph_;
    unused_names& names_;
    onnx::NodeProto const& node_;
};

bool has_quantized(onnx::GraphProto const& graph)
{
    return std::any_of(graph.node().begin(), graph.node().end(), [](onnx::NodeProto const& node) {
        return is_quantized(node) ||
               std::any_of(node.attribute().begin(), node.attribute().end(),
                   [](auto const& each) { return holds_body(each) && has_quantized(each.g()); });
    });
}

void rewrite(onnx::GraphProto& graph, unused_names& names)
{
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    std::optional<known_types> types; // once for all nodes, and for none
    for (onnx::NodeProto& node : nodes)
        if (is_quantized(node)) {
            if (!types)
                types = types_in(graph);
            check(*types, node);
            rewriter(graph, names, node).run();
        } else {
            for_each_body(node, [&](onnx::GraphProto& body) { rewrite(body, names); });
            graph.add_node()->Swap(&node);
        }
}

} // namespace

void rewrite_quantized(onnx::ModelProto& model)
{
    if (!opsets_of(model).contains("com.microsoft") || !has_quantized(model.graph()) ||
        has_function(model, "com.microsoft", "DynamicQuantizeLSTM"))
        return;
    unused_names names(model.graph());
    rewrite(*model.mutable_graph(), names);
}

version_list const& quantized_versions()
{
    static version_list const all{{1, "rrrooooorrrr", "ooo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag"}};
    return all;
}

} // namespace runner
