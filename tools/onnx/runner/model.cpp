#include "model.hpp"

#include <unordered_set>
#include <utility>

#include "fold_batch_normalization.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "proto.hpp"
#include "rewrite_quantized.hpp"
#include "sort_nodes.hpp"
#include "text.hpp"

namespace runner {

namespace {

/// The newest opset that is known of a domain; 0: whatever the model says.
std::int64_t newest_opset_of(std::string const& domain)
{
    return domain.empty() ? newest_opset : domain == "com.microsoft" ? 1 : 0;
}

onnx::ModelProto runnable(onnx::ModelProto proto)
{
    if (!proto.has_graph())
        throw runner_error("the model has no graph");
    sort_nodes(*proto.mutable_graph()->mutable_node());
    rewrite_quantized(proto);
    fold_batch_normalization(proto);
    return proto;
}

/// Frees the items of the initializers that are no inputs, of which a graph that is ready has its own.
void free_initializers(onnx::GraphProto& graph)
{
    std::unordered_set<std::string> inputs;
    for (auto const& input : graph.input())
        inputs.insert(input.name());
    for (onnx::TensorProto& each : *graph.mutable_initializer())
        if (!inputs.contains(each.name())) {
            onnx::TensorProto freed; // to clear a field would keep its memory
            freed.set_name(each.name());
            each.Swap(&freed);
        }
    for (onnx::NodeProto& node : *graph.mutable_node())
        for_each_body(node, free_initializers);
}

} // namespace

opsets opsets_of(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> const& imports)
{
    opsets versions;
    for (auto const& import : imports) {
        std::string const domain = plain_domain(import.domain());
        std::string const name = domain.empty() ? "ai.onnx" : printable(domain, 64);
        std::int64_t const version = import.version();
        if (std::int64_t const newest = newest_opset_of(domain);
            version < 1 || (newest != 0 && version > newest))
            throw runner_error(
                fmt::format("the model imports opset {} of {}, which is not known", version, name));
        auto const [place, is_new] = versions.emplace(domain, version);
        if (!is_new && place->second != version)
            throw runner_error(
                fmt::format("the model imports two opsets of {}: {} and {}", name, place->second, version));
    }
    return versions;
}

opsets opsets_of(onnx::ModelProto const& proto)
{
    opsets versions = opsets_of(proto.opset_import());
    if (versions.empty()) {
        if (proto.ir_version() >= 3)
            throw runner_error("the model imports no opset");
        versions.emplace("", 1); // models were older than opsets once
    }
    return versions;
}

model::model(std::string const& path) : model(read_model(path)) {}

model::model(onnx::ModelProto proto)
    : proto_(runnable(std::move(proto))),
      functions_(proto_),
      shared_{proto_.ByteSizeLong(), &functions_, &warnings_},
      graph_(proto_.graph(), opsets_of(proto_), shared_)
{
    free_initializers(*proto_.mutable_graph());
    infer();
}

void model::infer() { graph_.infer(types(static_cast<std::size_t>(proto_.graph().input_size()))); }

std::vector<std::string> model::warnings_of(std::vector<value> const& outputs) const
{
    std::vector<std::string> warnings;
    for (std::size_t k = 0; k < outputs.size(); ++k)
        if (auto const& declared = graph_.output_types()[k];
            warnings.size() < warning_list::most && !agrees(outputs[k], declared))
            warnings.push_back(printable(
                fmt::format("the output {} is declared as {}, but is {}",
                    in_quotes(proto().output(static_cast<int>(k)).name()), declared, describe(outputs[k])),
                longest_message));
    return warnings;
}

} // namespace runner
