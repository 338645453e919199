// BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization.

#include <xloom_onnx/batch_normalization.hpp>
#include <xloom_onnx/layer_normalization.hpp>

#include "axis.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

std::vector<value> run_batch_normalization(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::vector<tensor> parameters;
    reservation const room(3 * sizeof(double) * c.tensor_at(1).size());
    for (std::size_t i = 1; i < 5; ++i) {
        with_float(c.tensor_at(i).type(), []<class T>(std::type_identity<T>) {}); // no others
        parameters.push_back(convert(c.tensor_at(i), element_type::double_));
    }
    xloom_onnx::batch_normalization_options const options{
        .epsilon = c.number("epsilon", 1e-5), .spatial = c.integer("spatial", 1) != 0};
    return {with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        tensor result = c.result_over({0}, x.type(), x.shape());
        auto const of = [&](std::size_t i) { return items_of<double>(parameters[i]); };
        xloom_onnx::workspace memory;
        xloom_onnx::batch_normalization_into(
            items_of<T>(x), of(0), of(1), of(2), of(3), writable_items_of<T>(result), options, memory);
        return result;
    })};
}

/// Refuses training, also where no run would.
types batch_normalization_type(typing const& node)
{
    auto const refuse = [](char const* what) {
        throw not_implemented(fmt::format("BatchNormalization in training ({}) is not implemented", what));
    };
    if (node.opset() < 7 && node.integer("is_test", 0) == 0)
        refuse("is_test = 0");
    if (node.integer("training_mode", 0) != 0)
        refuse("training_mode = 1");
    for (std::size_t k = 1; k < node.output_count(); ++k)
        if (node.wants_output(k))
            refuse("more outputs than Y");
    return same_type(node);
}

std::vector<value> run_instance_normalization(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        tensor result = new_tensor(x.type(), x.shape());
        xloom_onnx::instance_normalization_into(items_of<T>(x), items_of<T>(c.tensor_at(1)),
            items_of<T>(c.tensor_at(2)), writable_items_of<T>(result),
            {.epsilon = c.number("epsilon", 1e-5)});
        return result;
    })};
}

/// Refuses another type of the moments, also where no run would.
void require_stash_type(node_view const& node, char const* name)
{
    if (std::int64_t const type = node.integer("stash_type", 1); type != 1)
        throw not_implemented(fmt::format("{} with stash_type = {} is not implemented", name, type));
}

std::vector<value> run_layer_normalization(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom_onnx::layer_normalization_options const options{
        .axis = c.integer("axis", -1), .epsilon = c.number("epsilon", 1e-5)};
    tensor result = new_tensor(x.type(), x.shape());
    xloom::shape const dims = xloom_onnx::layer_moments_shape(x.shape(), options);
    tensor mean = new_tensor(element_type::float_, dims), inverse = new_tensor(element_type::float_, dims);
    with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        auto const run = [&](auto const& bias) {
            xloom_onnx::layer_normalization_with_moments_into(items_of<T>(x), items_of<T>(c.tensor_at(1)),
                bias, writable_items_of<T>(result), writable_items_of<float>(mean),
                writable_items_of<float>(inverse), options);
        };
        if (c.has(2))
            run(items_of<T>(c.tensor_at(2)));
        else
            run(std::nullopt);
    });
    std::vector<value> results{result, mean, inverse};
    results.resize(std::min(results.size(), c.output_count()));
    return results;
}

std::vector<value> run_rms_normalization(call const& c)
{
    tensor const &x = c.tensor_at(0), &scale = c.tensor_at(1);
    tensor result = new_tensor(scale.type(), x.shape());
    with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        with_float(scale.type(), [&]<class R>(std::type_identity<R>) {
            xloom_onnx::rms_normalization_into(items_of<T>(x), items_of<R>(scale),
                writable_items_of<R>(result),
                {.axis = c.integer("axis", -1), .epsilon = c.number("epsilon", 1e-5)});
        });
    });
    return {result};
}

types rms_normalization_type(typing const& node)
{
    require_stash_type(node, "RMSNormalization");
    return {xloom::tensor_type(node.at(1).element(), node.shape_at(0))};
}

types layer_normalization_type(typing const& node)
{
    require_stash_type(node, "LayerNormalization");
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank())
        for (std::size_t a = axis_of(node.integer("axis", -1), dims.rank()); a < dims.rank(); ++a)
            dims[a] = 1;
    partial_type const moments = xloom::tensor_type(element_type::float_, dims);
    types result{node.at(0), moments, moments};
    result.resize(std::min(result.size(), node.output_count()));
    return result;
}

} // namespace

void add_normalization_operators(operator_table& table)
{
    std::string const first = "epsilon:float is_test:flag momentum:float spatial:flag";
    table["BatchNormalization"] = {
        {{1, "rrrrr", "roooo", first + " consumed_inputs:ints!"}, {6, "rrrrr", "roooo", first},
            {7, "rrrrr", "roooo", "epsilon:float momentum:float spatial:flag"},
            {9, "rrrrr", "roooo", "epsilon:float momentum:float"},
            {14, "rrrrr", "roo", "epsilon:float momentum:float training_mode:flag"}},
        run_batch_normalization, batch_normalization_type};
    table["InstanceNormalization"] = {
        {{1, "rrr", "r", "consumed_inputs:ints epsilon:float"}, {6, "rrr", "r", "epsilon:float"}},
        run_instance_normalization, same_type};
    table["LayerNormalization"] = {{{17, "rro", "roo", "axis:int epsilon:float stash_type:int"}},
        run_layer_normalization, layer_normalization_type};
    table["RMSNormalization"] = {{{23, "rr", "r", "axis:int epsilon:float stash_type:int"}},
        run_rms_normalization, rms_normalization_type};
}

} // namespace runner
