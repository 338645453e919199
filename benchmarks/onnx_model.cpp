#include "onnx_model.hpp"

#include <onnx/onnx_pb.h>

namespace bench {
namespace {

void fill(onnx::GraphProto& proto, onnx_graph const& graph, std::string const& name);

/// Writes the value of an attribute to the field of its type.
struct attribute_writer {
    onnx::AttributeProto& proto;

    void operator()(std::int64_t value) const
    {
        proto.set_type(onnx::AttributeProto::INT);
        proto.set_i(value);
    }
    void operator()(float value) const
    {
        proto.set_type(onnx::AttributeProto::FLOAT);
        proto.set_f(value);
    }
    void operator()(std::string const& value) const
    {
        proto.set_type(onnx::AttributeProto::STRING);
        proto.set_s(value);
    }
    void operator()(std::vector<std::int64_t> const& values) const
    {
        proto.set_type(onnx::AttributeProto::INTS);
        proto.mutable_ints()->Assign(values.begin(), values.end());
    }
    void operator()(std::vector<onnx_graph> const& graph) const
    {
        proto.set_type(onnx::AttributeProto::GRAPH);
        fill(*proto.mutable_g(), graph.front(), proto.name());
    }
};

void fill(onnx::NodeProto& proto, onnx_node const& node)
{
    proto.set_op_type(node.op);
    proto.set_domain(node.domain);
    proto.mutable_input()->Assign(node.inputs.begin(), node.inputs.end());
    proto.mutable_output()->Assign(node.outputs.begin(), node.outputs.end());
    for (onnx_attribute const& attribute : node.attributes) {
        onnx::AttributeProto& added = *proto.add_attribute();
        added.set_name(attribute.name);
        std::visit(attribute_writer{added}, attribute.value);
    }
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
    for (std::int64_t const length : operand.shape) {
        auto& dim = *shape.add_dim();
        if (length >= 0)
            dim.set_dim_value(length);
        else if (length < -1)
            dim.set_dim_param("d" + std::to_string(-length));
    }
}

void fill(onnx::GraphProto& proto, onnx_graph const& graph, std::string const& name)
{
    proto.set_name(name);
    for (onnx_operand const& input : graph.inputs) {
        if (input.is_weight)
            add_weight(proto, input);
        else if (!input.name.empty())
            describe(*proto.add_input(), input);
    }
    for (onnx_node const& node : graph.nodes)
        fill(*proto.add_node(), node);
    for (onnx_operand const& output : graph.outputs)
        if (!output.name.empty())
            describe(*proto.add_output(), output);
}

void import_opset(onnx::ModelProto& model, std::string const& domain, std::int64_t version)
{
    auto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
}

} // namespace

std::string serialized(onnx_graph const& model)
{
    onnx::ModelProto proto;
    proto.set_ir_version(8);
    import_opset(proto, "", model.opset);
    import_opset(proto, "com.microsoft", 1);
    fill(*proto.mutable_graph(), model, "benchmark");
    return proto.SerializeAsString();
}

} // namespace bench
