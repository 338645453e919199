#include "onnx_model.hpp"

#include <type_traits>

#include <onnx/onnx_pb.h>

namespace bench {
namespace {

void add_attribute(onnx::NodeProto& node, onnx_attribute const& attribute)
{
    onnx::AttributeProto& proto = *node.add_attribute();
    proto.set_name(attribute.name);
    std::visit(
        [&proto](auto const& value) {
            using type = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<type, std::int64_t>) {
                proto.set_type(onnx::AttributeProto::INT);
                proto.set_i(value);
            } else if constexpr (std::is_same_v<type, float>) {
                proto.set_type(onnx::AttributeProto::FLOAT);
                proto.set_f(value);
            } else if constexpr (std::is_same_v<type, std::string>) {
                proto.set_type(onnx::AttributeProto::STRING);
                proto.set_s(value);
            } else {
                proto.set_type(onnx::AttributeProto::INTS);
                proto.mutable_ints()->Assign(value.begin(), value.end());
            }
        },
        attribute.value);
}

void add_weight(onnx::GraphProto& graph, onnx_operand const& operand)
{
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(operand.name);
    tensor.set_data_type(operand.type);
    tensor.mutable_dims()->Assign(operand.shape.begin(), operand.shape.end());
    tensor.set_raw_data(operand.data, operand.bytes);
}

void describe(onnx::ValueInfoProto& value, onnx_operand const& operand)
{
    value.set_name(operand.name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(operand.type);
    auto& shape = *type.mutable_shape(); // also of a scalar, which has no axes
    for (std::int64_t const length : operand.shape)
        shape.add_dim()->set_dim_value(length);
}

} // namespace

std::string serialized(onnx_model const& model)
{
    onnx::ModelProto proto;
    proto.set_ir_version(8);
    auto& opset = *proto.add_opset_import();
    opset.set_domain(model.domain);
    opset.set_version(model.opset);

    onnx::GraphProto& graph = *proto.mutable_graph();
    graph.set_name(model.op);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(model.op);
    node.set_domain(model.domain);
    for (onnx_attribute const& attribute : model.attributes)
        add_attribute(node, attribute);
    for (onnx_operand const& input : model.inputs) {
        node.add_input(input.name);
        if (input.is_weight)
            add_weight(graph, input);
        else if (!input.name.empty())
            describe(*graph.add_input(), input);
    }
    for (onnx_operand const& output : model.outputs) {
        node.add_output(output.name);
        if (!output.name.empty())
            describe(*graph.add_output(), output);
    }
    return proto.SerializeAsString();
}

} // namespace bench
