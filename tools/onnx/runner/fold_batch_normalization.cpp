#include "fold_batch_normalization.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "budget.hpp"
#include "check_node.hpp"
#include "convert.hpp"
#include "functions.hpp"
#include "model.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "proto.hpp"
#include "unused_names.hpp"

namespace runner {

namespace {

using numbers = std::vector<double>;

/// The names that nodes, bodies and the graph's outputs read, each as often.
std::unordered_map<std::string, int> uses_of(onnx::GraphProto const& graph)
{
    std::unordered_map<std::string, int> uses;
    for (auto const& output : graph.output())
        ++uses[output.name()];
    for (auto const& node : graph.node()) {
        for (auto const& input : node.input())
            ++uses[input];
        for_each_body(node, [&](onnx::GraphProto const& body) {
            for (auto const& [name, count] : uses_of(body))
                uses[name] += count;
        });
    }
    return uses;
}

bool is_onnx(onnx::NodeProto const& node, std::string_view type)
{
    return node.op_type() == type && plain_domain(node.domain()).empty();
}

bool is_constant(onnx::NodeProto const& node)
{
    return is_onnx(node, "Constant") && node.output_size() == 1 && node.attribute_size() == 1 &&
           node.attribute(0).name() == "value";
}

/// The tensors of a graph that no run changes, by name; not those whose name is given twice.
std::unordered_map<std::string, onnx::TensorProto const*> constants_of(onnx::GraphProto const& graph)
{
    std::unordered_map<std::string, onnx::TensorProto const*> all;
    std::unordered_set<std::string> others;
    auto const add = [&](std::string const& name, onnx::TensorProto const& tensor) {
        if (!all.emplace(name, &tensor).second)
            others.insert(name);
    };
    for (auto const& each : graph.initializer())
        add(each.name(), each);
    for (auto const& input : graph.input())
        others.insert(input.name());
    for (auto const& node : graph.node())
        if (is_constant(node))
            add(node.output(0), node.attribute(0).t());
        else
            others.insert(node.output().begin(), node.output().end());
    for (std::string const& name : others)
        all.erase(name);
    return all;
}

onnx::AttributeProto const* find(onnx::NodeProto const& node, char const* name)
{
    auto const found = std::find_if(node.attribute().begin(), node.attribute().end(),
        [&](auto const& each) { return each.name() == name; });
    return found == node.attribute().end() ? nullptr : &*found;
}

/// True for a BatchNormalization that has a channel's factor and addend, and no output but Y. Those before
/// opset 7, which train unless is_test is 1, are left as they are.
bool is_inference(onnx::NodeProto const& node, std::int64_t opset)
{
    auto const integer = [&](char const* name, std::int64_t otherwise) {
        auto const* const found = find(node, name);
        return found == nullptr ? otherwise : found->i();
    };
    return is_onnx(node, "BatchNormalization") && node.input_size() == 5 && node.output_size() == 1 &&
           integer("training_mode", 0) == 0 && integer("spatial", 1) == 1 &&
           find(node, "is_test") == nullptr && opset >= 7;
}

class folder {
public:
    folder(onnx::GraphProto& graph, std::int64_t opset)
        : graph_(graph), opset_(opset), names_(graph), uses_(uses_of(graph)), constants_(constants_of(graph))
    {}

    void run()
    {
        std::unordered_map<std::string, onnx::NodeProto*> convs; // by output
        std::unordered_set<onnx::NodeProto const*> folded;
        for (onnx::NodeProto& node : *graph_.mutable_node()) {
            if (is_onnx(node, "Conv") && node.output_size() == 1 && has_one_reader(node.output(0)))
                convs.emplace(node.output(0), &node);
            auto const found = is_inference(node, opset_) ? convs.find(node.input(0)) : convs.end();
            if (found != convs.end() && fold(*found->second, node)) {
                found->second->set_output(0, node.output(0));
                folded.insert(&node);
            }
            for_each_body(node, [&](onnx::GraphProto& body) { folder(body, opset_).run(); });
        }
        google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
        nodes.Swap(graph_.mutable_node());
        for (onnx::NodeProto& node : nodes)
            if (!folded.contains(&node) && !(is_constant(node) && unread_.contains(node.output(0))))
                graph_.add_node()->Swap(&node);
        erase_names(*graph_.mutable_initializer(), unread_);
    }

private:
    bool has_one_reader(std::string const& name) const
    {
        auto const found = uses_.find(name);
        return found != uses_.end() && found->second == 1;
    }

    /// Returns a constant tensor of float or double; std::nullopt if the value is none.
    std::optional<tensor> constant(std::string const& name) const
    {
        auto const found = constants_.find(name);
        if (found == constants_.end() || (found->second->data_type() != onnx::TensorProto::FLOAT &&
                                             found->second->data_type() != onnx::TensorProto::DOUBLE))
            return std::nullopt;
        try {
            return read_tensor(*found->second);
        } catch (std::exception const&) { // the graph reports it
            return std::nullopt;
        }
    }

    /// Returns a constant vector with an item of W's element type for each kernel.
    std::optional<numbers> vector(std::string const& name, tensor const& W) const
    {
        auto const made = constant(name);
        if (!made || made->type() != W.type() || made->shape() != xloom::shape{W.shape()[0]})
            return std::nullopt;
        tensor const wide = convert(*made, element_type::double_);
        auto const items = wide.items<double>();
        return numbers(items.begin(), items.end());
    }

    bool fold(onnx::NodeProto& conv, onnx::NodeProto const& normalization)
    {
        require_time(); // many may read one long parameter
        try {
            check_node(normalization, opset_);
        } catch (runner_error const&) { // the graph reports it
            return false;
        }
        bool const has_own_weights = conv.input_size() > 1 && has_one_reader(conv.input(1));
        auto const W = has_own_weights ? constant(conv.input(1)) : std::nullopt;
        if (!W || W->shape().size() < 3 || W->size() == 0)
            return false;
        std::size_t const kernels = W->shape()[0];
        bool const has_bias = conv.input_size() > 2 && !conv.input(2).empty();
        auto const bias = has_bias ? vector(conv.input(2), *W) : numbers(kernels, 0.0);
        auto const scale = vector(normalization.input(1), *W), shift = vector(normalization.input(2), *W),
                   mean = vector(normalization.input(3), *W), variance = vector(normalization.input(4), *W);
        if (!bias || !scale || !shift || !mean || !variance)
            return false;
        auto const* const epsilon = find(normalization, "epsilon");
        tensor const weights = convert(*W, element_type::double_);
        numbers items(weights.items<double>().begin(), weights.items<double>().end()), added;
        for (std::size_t m = 0; m < kernels; ++m) {
            double const factor =
                (*scale)[m] /
                std::sqrt((*variance)[m] + static_cast<double>(epsilon == nullptr ? 1e-5F : epsilon->f()));
            added.push_back(((*bias)[m] - (*mean)[m]) * factor + (*shift)[m]);
            std::size_t const depth = items.size() / kernels;
            for (double& item : std::span(items).subspan(m * depth, depth))
                item *= factor;
        }
        auto const is_finite = [](double item) { return std::isfinite(static_cast<float>(item)); };
        if (!std::ranges::all_of(items, is_finite) || !std::ranges::all_of(added, is_finite))
            return false;
        std::string const weights_name = add(conv.input(1), W->type(), W->shape(), items),
                          bias_name = add(normalization.input(2), W->type(), {kernels}, added);
        while (conv.input_size() < 3)
            conv.add_input();
        for (std::string const* const read : {&conv.input(1), &conv.input(2), &normalization.input(1),
                 &normalization.input(2), &normalization.input(3), &normalization.input(4)})
            if (!read->empty() && --uses_[*read] == 0)
                unread_.insert(*read);
        conv.set_input(1, weights_name);
        conv.set_input(2, bias_name);
        return true;
    }

    /// Adds an initializer. Returns its name.
    std::string add(
        std::string const& base, element_type type, xloom::shape const& dims, numbers const& items)
    {
        onnx::TensorProto& made = *graph_.add_initializer();
        made.set_name(names_.make(base + "_folded"));
        made.set_data_type(static_cast<int>(type));
        for (std::size_t const dim : dims)
            made.add_dims(static_cast<std::int64_t>(dim));
        for (double const item : items)
            if (type == element_type::float_)
                made.add_float_data(static_cast<float>(item));
            else
                made.add_double_data(item);
        return made.name();
    }

    onnx::GraphProto& graph_;
    std::int64_t opset_;
    unused_names names_;
    std::unordered_map<std::string, int> uses_;
    std::unordered_map<std::string, onnx::TensorProto const*> constants_;
    std::unordered_set<std::string> unread_{}; ///< constants that only folded nodes read
};

} // namespace

void fold_batch_normalization(onnx::ModelProto& model)
{
    for (char const* const type : {"Conv", "BatchNormalization", "Constant"})
        if (has_function(model, "", type))
            return;
    opsets const versions = opsets_of(model);
    if (auto const own = versions.find(""); own != versions.end())
        folder(*model.mutable_graph(), own->second).run();
}

} // namespace runner
