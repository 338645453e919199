#include "weights.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <onnx/onnx_pb.h>

namespace {

std::string to_text(std::vector<std::size_t> const& shape)
{
    std::string text = "[";
    for (std::size_t const dim : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    return text + "]";
}

onnx::ModelProto read_model(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("the model " + path + " cannot be opened");
    google::protobuf::SetLogHandler(nullptr); // the sentence below is enough
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&file) || model.graph().node_size() == 0)
        throw std::runtime_error("the model " + path + " is no ONNX file, or a damaged one");
    return model;
}

/// The numbers of a float32 initializer, in whichever of ONNX's two forms they are written.
std::vector<float> values_of(onnx::TensorProto const& initializer)
{
    if (!initializer.has_raw_data())
        return {initializer.float_data().begin(), initializer.float_data().end()};
    std::string const& bytes =
        initializer.raw_data(); // little-endian, as is every machine this program is built for
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

} // namespace

weights::weights(std::string path) : path_(std::move(path))
{
    onnx::ModelProto const model = read_model(path_);
    for (onnx::TensorProto const& initializer : model.graph().initializer())
        if (initializer.data_type() == onnx::TensorProto::FLOAT)
            tensors_[initializer.name()] = {
                {initializer.dims().begin(), initializer.dims().end()}, values_of(initializer)};
}

std::vector<float> const& weights::find(std::string const& name, std::vector<std::size_t> const& shape) const
{
    auto const found = tensors_.find(name);
    if (found == tensors_.end())
        throw std::runtime_error("the model " + path_ + " has no float32 weight " + name);
    tensor const& weight = found->second;
    if (weight.shape != shape)
        throw std::runtime_error("the model " + path_ + " must have the weight " + name + " as " +
                                 to_text(shape) + ", but has it as " + to_text(weight.shape));
    std::size_t count = 1;
    for (std::size_t const dim : shape)
        count *= dim;
    if (weight.values.size() != count)
        throw std::runtime_error("the model " + path_ + " must have " + std::to_string(count) +
                                 " numbers in the weight " + name + ", but has " +
                                 std::to_string(weight.values.size()));
    return weight.values;
}
