#include "proto.hpp"

#include <fstream>

#include <onnx/onnx-data_pb.h>

#include "external_data.hpp"
#include "graph.hpp"
#include "text.hpp"

namespace runner {

namespace {

std::ifstream opened(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw runner_error("the file " + path + " cannot be opened");
    return file;
}

/// What Protobuf can make of a file, within its own limits on size and depth.
template <class Message>
Message parse(std::istream& file, std::string const& path, char const* what)
{
    google::protobuf::SetLogHandler(nullptr); // the sentence below is enough
    Message message;
    if (!message.ParseFromIstream(&file))
        throw runner_error(fmt::format("the file {} is no {} of ONNX, or a damaged one", path, what));
    return message;
}

value read(onnx::TensorProto const& proto) { return read_tensor(proto); }
value read(onnx::SequenceProto const& proto);

value read(onnx::OptionalProto const& proto)
{
    if (proto.has_sparse_tensor_value() || proto.has_map_value())
        throw not_implemented("sparse tensors and maps are not implemented");
    auto const holding = [](value v) {
        return value(value::optional_value{std::make_shared<value const>(std::move(v))});
    };
    if (proto.has_tensor_value())
        return holding(read_tensor(proto.tensor_value()));
    if (proto.has_sequence_value())
        return holding(read(proto.sequence_value()));
    if (proto.has_optional_value())
        return holding(read(proto.optional_value()));
    return value(value::optional_value{});
}

value read(onnx::SequenceProto const& proto)
{
    if (proto.sparse_tensor_values_size() != 0 || proto.map_values_size() != 0)
        throw not_implemented("sparse tensors and maps are not implemented");
    bool const of_tensors = proto.tensor_values_size() != 0;
    bool const of_sequences = proto.sequence_values_size() != 0;
    bool const of_optionals = proto.optional_values_size() != 0;
    if (of_tensors + of_sequences + of_optionals > 1)
        throw runner_error("the sequence " + in_quotes(proto.name()) + " has elements of several kinds");
    sequence elements;
    for (auto const& element : proto.tensor_values())
        elements.push_back(read_tensor(element));
    for (auto const& element : proto.sequence_values())
        elements.push_back(read(element));
    for (auto const& element : proto.optional_values())
        elements.push_back(read(element));
    return elements;
}

} // namespace

recorded_value read_recorded(std::istream& file, std::string const& path, onnx::TypeProto const& type)
try {
    auto const read_as = [&](auto const& message) { return recorded_value{message.name(), read(message)}; };
    switch (type.value_case()) {
    case onnx::TypeProto::VALUE_NOT_SET:
    case onnx::TypeProto::kTensorType:
        return read_as(parse<onnx::TensorProto>(file, path, "tensor"));
    case onnx::TypeProto::kSequenceType:
        return read_as(parse<onnx::SequenceProto>(file, path, "sequence"));
    case onnx::TypeProto::kOptionalType:
        return read_as(parse<onnx::OptionalProto>(file, path, "optional"));
    default:
        throw not_implemented("sparse tensors, maps and opaque types are not implemented");
    }
} catch (not_implemented const&) {
    throw;
} catch (runner_error const& error) {
    std::string const what = error.what();
    throw runner_error(what.find(path) == std::string::npos ? path + ": " + what : what);
}

recorded_value read_recorded(std::string const& path, onnx::TypeProto const& type)
{
    std::ifstream file = opened(path);
    return read_recorded(file, path, type);
}

value read_value(std::string const& path, onnx::TypeProto const& type)
{
    return read_recorded(path, type).held;
}

onnx::ModelProto read_model(std::istream& file, std::string const& path)
{
    auto model = parse<onnx::ModelProto>(file, path, "model");
    if (!model.has_graph())
        throw runner_error("the file " + path + " is no model of ONNX: it has no graph");
    return model;
}

onnx::ModelProto read_model(std::string const& path)
{
    std::ifstream file = opened(path);
    onnx::ModelProto model = read_model(file, path);
    read_external_data(model, std::filesystem::path(path).parent_path());
    return model;
}

} // namespace runner
