#pragma once
// ONNX models for the peer to run, described in a few lines.

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

/// ONNX's number of an element type.
template <class T>
inline constexpr int onnx_type = 0;
template <>
inline constexpr int onnx_type<float> = 1;
template <>
inline constexpr int onnx_type<std::int8_t> = 3;
template <>
inline constexpr int onnx_type<std::int32_t> = 6;
template <>
inline constexpr int onnx_type<std::int64_t> = 7;
template <>
inline constexpr int onnx_type<bool> = 9;
template <>
inline constexpr int onnx_type<double> = 11;

/// An operand of a graph and its row-major items in memory. An operand without a name is omitted.
struct onnx_operand {
    std::string name;
    bool is_weight = false; ///< its items stand in the model
    int type = 0;
    std::vector<std::int64_t> shape; ///< -1: a length that only a run knows; -2, ..: one with a name
    void* data = nullptr;
    std::size_t bytes = 0;
};

/// A plain number.
template <class T>
onnx_operand scalar(std::string name)
{
    static_assert(onnx_type<T> != 0);
    return {std::move(name), false, onnx_type<T>, {}};
}

/// An input or an output, bound to a row-major tensor or to a plain number.
template <class Tensor>
onnx_operand bound(std::string name, Tensor& tensor)
{
    if constexpr (std::is_arithmetic_v<Tensor>) {
        onnx_operand operand = scalar<Tensor>(std::move(name));
        operand.data = &tensor;
        operand.bytes = sizeof(Tensor);
        return operand;
    } else {
        using item = typename Tensor::value_type;
        onnx_operand operand = scalar<item>(std::move(name));
        operand.shape.assign(tensor.shape().begin(), tensor.shape().end());
        operand.data = tensor.data();
        operand.bytes = tensor.size() * sizeof(item);
        return operand;
    }
}

/// An input that never changes.
template <class Tensor>
onnx_operand weight(std::string name, Tensor& tensor)
{
    onnx_operand operand = bound(std::move(name), tensor);
    operand.is_weight = true;
    return operand;
}

/// The element that a body receives of a tensor scanned along an axis: its type and its other dimensions.
template <class Tensor>
onnx_operand element(std::string name, Tensor& tensor, std::ptrdiff_t axis = 0)
{
    onnx_operand operand = bound(std::move(name), tensor);
    operand.shape.erase(operand.shape.begin() + axis);
    return operand;
}

struct onnx_graph;

struct onnx_attribute {
    std::string name;
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<onnx_graph>>
        value; ///< a graph is one of one
};

struct onnx_node {
    std::string op;
    std::vector<std::string> inputs{}, outputs{};
    std::vector<onnx_attribute> attributes{};
    std::string domain{}; ///< ONNX's own has no name
};

/// A model, or the body or branch of a node, which may use the names of the graphs around it.
struct onnx_graph {
    std::vector<onnx_operand> inputs{}, outputs{}; ///< weights are among the inputs
    std::vector<onnx_node> nodes{};
    std::int64_t opset = 18; ///< of a model: the version of ONNX's operators
};

inline onnx_attribute subgraph(std::string name, onnx_graph graph)
{
    return {std::move(name), std::vector<onnx_graph>{std::move(graph)}};
}

/// A plain number, named for the nodes after it.
inline onnx_node constant(std::string name, float number)
{
    return {"Constant", {}, {std::move(name)}, {{"value_float", number}}};
}
inline onnx_node constant(std::string name, std::int64_t number)
{
    return {"Constant", {}, {std::move(name)}, {{"value_int", number}}};
}

/// A model of one node, which gets the operands in their order.
inline onnx_graph model_of(
    onnx_node node, std::vector<onnx_operand> inputs, std::vector<onnx_operand> outputs)
{
    for (onnx_operand const& input : inputs)
        node.inputs.push_back(input.name);
    for (onnx_operand const& output : outputs)
        node.outputs.push_back(output.name);
    return {std::move(inputs), std::move(outputs), {std::move(node)}};
}

/// The model as a file has it.
std::string serialized(onnx_graph const& model);

} // namespace bench
