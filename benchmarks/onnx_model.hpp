#pragma once
// An ONNX model of one operator, for the peer to run.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace bench {

/// ONNX's number of an element type.
template <class T>
inline constexpr int onnx_type = 0;
template <>
inline constexpr int onnx_type<float> = 1;
template <>
inline constexpr int onnx_type<std::int32_t> = 6;
template <>
inline constexpr int onnx_type<std::int64_t> = 7;
template <>
inline constexpr int onnx_type<bool> = 9;
template <>
inline constexpr int onnx_type<double> = 11;

/// An operand of the operator, and where its items lie, in row-major order. One without a name is left out.
struct onnx_operand {
    std::string name;
    bool is_weight = false; ///< its items stand in the model
    int type = 0;
    std::vector<std::int64_t> shape;
    void* data = nullptr;
    std::size_t bytes = 0;
};

/// An input or an output, bound to a row-major tensor.
template <class Tensor>
onnx_operand bound(std::string name, Tensor& tensor)
{
    using item = typename Tensor::value_type;
    static_assert(onnx_type<item> != 0);
    return {std::move(name), false, onnx_type<item>, {tensor.shape().begin(), tensor.shape().end()}, tensor.data(),
        tensor.size() * sizeof(item)};
}

/// An input that never changes.
template <class Tensor>
onnx_operand weight(std::string name, Tensor& tensor)
{
    onnx_operand operand = bound(std::move(name), tensor);
    operand.is_weight = true;
    return operand;
}

struct onnx_attribute {
    std::string name;
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};

struct onnx_model {
    std::string op;
    std::string domain; ///< ONNX's own has no name
    std::int64_t opset;
    std::vector<onnx_attribute> attributes;
    std::vector<onnx_operand> inputs, outputs;
};

/// The model as a file has it.
std::string serialized(onnx_model const& model);

} // namespace bench
