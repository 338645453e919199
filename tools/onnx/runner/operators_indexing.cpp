// ScatterND, GatherND, ScatterElements, GatherElements and TensorScatter: xloom's. Gather, OneHot,
// NonZero and TopK beside them.

#include <cmath>

#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/indexing/tensor_scatter.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/tensor_scatter.hpp>
#include <xloom_onnx/gather.hpp>
#include <xloom_onnx/nonzero.hpp>
#include <xloom_onnx/one_hot.hpp>
#include <xloom_onnx/top_k.hpp>

#include "axis.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

xloom::reduction reduction_of(node_view const& node)
{
    std::string const name = node.text("reduction", "none");
    if (name == name_of(xloom::reduction::none))
        return xloom::reduction::none;
    for (auto const kind :
        {xloom::reduction::add, xloom::reduction::mul, xloom::reduction::max, xloom::reduction::min})
        if (name == name_of(kind)) {
            if (!xloom::has_reduction(node.opset(), kind))
                throw runner_error(
                    fmt::format("the reduction {} does not exist at opset {}", name, node.opset()));
            return kind;
        }
    throw runner_error("the reduction " + in_quotes(name) + " does not exist");
}

/// The element types that can be scattered.
template <class F>
std::vector<value> with_scattered_type(element_type type, F const& f)
{
    return with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int16_t,
        std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool,
        std::complex<float>, std::complex<double>, std::string>(type, f);
}

std::vector<value> scatter_nd(call const& node)
{
    tensor const &data = node.tensor_at(0), &indices = node.tensor_at(1), &updates = node.tensor_at(2);
    if (updates.type() != data.type())
        throw runner_error("data and updates must have one element type");
    xloom::reduction const reduction = reduction_of(node);
    auto const run = [&]<class T>(std::type_identity<T>) -> std::vector<value> {
        tensor result = node.own_tensor_at(0);
        xloom::scatter_nd_into(
            reduction, writable_view_of<T>(result), view_of<std::int64_t>(indices), view_of<T>(updates));
        return {result};
    };
    return with_scattered_type(data.type(), run);
}

/// True if data, input 0, is known to be a tensor of known item type. Throws if the opset does not allow that
/// type.
bool has_known_data(typing const& node, xloom::onnx_operator op, std::int64_t opset)
{
    partial_type const& data = node.at(0);
    if (!data.is_tensor() || data.element() == element_type::undefined)
        return false;
    if (!xloom::is_allowed(op, opset, data.element()))
        throw runner_error(
            fmt::format("{} does not take {} at opset {}", name_of(op), name_of(data.element()), opset));
    return true;
}

types scatter_nd_type(typing const& node)
{
    if (!has_known_data(node, xloom::onnx_operator::scatter_nd, node.opset()))
        return {};
    return {xloom::infer_scatter_nd(node.at(0), node.at(1), node.at(2), node.declared_at(0),
        {.opset = node.opset(), .reduction = reduction_of(node)})};
}

std::vector<value> gather_nd(call const& node)
{
    tensor const& data = node.tensor_at(0);
    std::vector<std::int64_t> const indices = node.integers_at(1);
    xloom::element_view<std::int64_t const> const index_view(indices.data(), node.tensor_at(1).shape());
    return with_unit(data, [&]<class Unit>(std::type_identity<Unit>) -> std::vector<value> {
        view<Unit const> const items(units_of<Unit>(data), data.shape());
        xloom::gather_nd_options const options{.batch_dims = node.integer("batch_dims", 0)};
        tensor result =
            new_tensor_like(data, xloom::gather_nd_shape(data.shape(), node.tensor_at(1).shape(), options));
        xloom::gather_nd_into(items, index_view, view<Unit>(units_of<Unit>(result), result.shape()), options);
        return {result};
    });
}

types infer_gather_nd(typing const& node, std::int64_t opset)
{
    if (!has_known_data(node, xloom::onnx_operator::gather_nd, opset))
        return {};
    return {xloom::infer_gather_nd(node.at(0), node.at(1), node.declared_at(0),
        {.opset = opset, .batch_dims = node.integer("batch_dims", 0)})};
}

types gather_nd_type(typing const& node) { return infer_gather_nd(node, node.opset()); }

/// com.microsoft's counts opsets of its own.
types contributed_gather_nd_type(typing const& node) { return infer_gather_nd(node, xloom::latest_opset); }

std::vector<value> gather(call const& node)
{
    tensor const& data = node.tensor_at(0);
    xloom_onnx::gather_options const options{.axis = node.integer("axis", 0)};
    std::vector<std::int64_t> const indices = node.integers_at(1);
    xloom_onnx::tensor_view<std::int64_t const> const at(indices.data(), node.tensor_at(1).shape());
    tensor result = new_tensor_like(data, xloom_onnx::gather_shape(data.shape(), at.shape(), options));
    with_unit(data, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::gather_into(unit_items_of<Unit>(data), at, writable_unit_items_of<Unit>(result), options);
    });
    return {result};
}

types gather_type(typing const& node)
{
    partial_shape const &data = node.shape_at(0), &indices = node.shape_at(1);
    if (!data.has_rank() || !indices.has_rank())
        return type_like_first(node, xloom::unknown_rank);
    std::size_t const axis = axis_of(node.integer("axis", 0), data.rank());
    partial_shape dims = data;
    dims.erase(axis);
    for (std::size_t i = 0; i < indices.rank(); ++i)
        dims.insert(axis + i, indices[i]);
    return type_like_first(node, dims);
}

std::vector<value> gather_elements(call const& node)
{
    tensor const &data = node.tensor_at(0), &indices = node.tensor_at(1);
    std::vector<std::int64_t> const items = node.integers_at(1);
    xloom::element_view<std::int64_t const> const index_view(items.data(), indices.shape());
    return with_unit(data, [&]<class Unit>(std::type_identity<Unit>) -> std::vector<value> {
        view<Unit const> const source(units_of<Unit>(data), data.shape());
        tensor result = new_tensor_like(data, indices.shape());
        xloom::gather_elements_into(source, index_view, view<Unit>(units_of<Unit>(result), result.shape()),
            {.axis = node.integer("axis", 0)});
        return {result};
    });
}

types gather_elements_type(typing const& node)
{
    if (!has_known_data(node, xloom::onnx_operator::gather_elements, node.opset()))
        return {};
    return {xloom::infer_gather_elements(node.at(0), node.at(1), node.declared_at(0),
        {.opset = node.opset(), .axis = node.integer("axis", 0)})};
}

std::vector<value> scatter_elements(call const& node)
{
    tensor const &data = node.tensor_at(0), &indices = node.tensor_at(1), &updates = node.tensor_at(2);
    if (updates.type() != data.type())
        throw runner_error("data and updates must have one element type");
    std::vector<std::int64_t> const items = node.integers_at(1);
    xloom::element_view<std::int64_t const> const index_view(items.data(), indices.shape());
    xloom::reduction const reduction = reduction_of(node);
    xloom::scatter_elements_options const options{.axis = node.integer("axis", 0)};
    auto const run = [&]<class T>(std::type_identity<T>) -> std::vector<value> {
        tensor result = node.own_tensor_at(0);
        xloom::scatter_elements_into(
            reduction, writable_view_of<T>(result), index_view, view_of<T>(updates), options);
        return {result};
    };
    return with_scattered_type(data.type(), run);
}

types scatter_elements_type(typing const& node)
{
    if (!has_known_data(node, xloom::onnx_operator::scatter_elements, node.opset()))
        return {};
    return {xloom::infer_scatter_elements(node.at(0), node.at(1), node.at(2), node.declared_at(0),
        {.opset = node.opset(), .axis = node.integer("axis", 0), .reduction = reduction_of(node)})};
}

xloom::tensor_scatter_options cache_options_of(node_view const& node)
{
    std::string const mode = node.text("mode", "linear");
    if (mode != "linear" && mode != "circular")
        throw runner_error("its mode is " + in_quotes(mode));
    return {.axis = node.integer("axis", -2),
        .mode = mode == "linear" ? xloom::tensor_scatter_mode::linear : xloom::tensor_scatter_mode::circular};
}

std::vector<value> tensor_scatter(call const& node)
{
    tensor const &cache = node.tensor_at(0), &update = node.tensor_at(1);
    if (update.type() != cache.type())
        throw runner_error("past_cache and update must have one element type");
    xloom::tensor_scatter_options const options = cache_options_of(node);
    tensor result = node.own_tensor_at(0);
    xloom::tensor_scatter_inputs inputs;
    if (node.has(2))
        inputs.write_indices = view_of<std::int64_t>(node.tensor_at(2));
    with_unit(cache, [&]<class Unit>(std::type_identity<Unit>) {
        view<Unit const> const items(units_of<Unit>(update), update.shape());
        xloom::tensor_scatter_into(
            view<Unit>(units_of<Unit>(result), result.shape()), items, inputs, options);
    });
    return {result};
}

types tensor_scatter_type(typing const& node)
{
    xloom::tensor_scatter_options const options = cache_options_of(node);
    if (!has_known_data(node, xloom::onnx_operator::tensor_scatter, node.opset()))
        return {};
    return {xloom::infer_tensor_scatter(node.at(0), node.at(1), node.declared_at(0), {.axis = options.axis})};
}

/// Calls f with the indices of a OneHot as one of three types that hold all of them.
template <class F>
void with_indices(tensor const& given, F const& f)
{
    bool const is_whole =
        with_number(given.type(), []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
    element_type const type = !is_whole                              ? element_type::double_
                              : given.type() == element_type::uint64 ? element_type::uint64
                                                                     : element_type::int64;
    tensor const indices = convert(given, type);
    with_type_of<double, std::int64_t, std::uint64_t>(
        type, [&]<class T>(std::type_identity<T>) { f(items_of<T>(indices)); });
}

std::vector<value> one_hot(call const& node)
{
    tensor const &indices = node.tensor_at(0), &depth = node.tensor_at(1), &items = node.tensor_at(2);
    if (depth.size() != 1)
        throw runner_error(fmt::format("its depth must be one number, but has the shape {}", depth.shape()));
    with_number(depth.type(), []<class T>(std::type_identity<T>) {}); // no others
    xloom_onnx::one_hot_options const options{
        .axis = node.integer("axis", -1), .wraps_negative = node.opset() >= 11};
    std::int64_t const length = convert(depth, element_type::int64).items<std::int64_t>()[0];
    tensor result = new_tensor_like(items, xloom_onnx::one_hot_shape(indices.shape(), length, options));
    with_indices(indices, [&](auto const& at) {
        with_unit(items, [&]<class Unit>(std::type_identity<Unit>) {
            xloom_onnx::one_hot_into(
                at, length, unit_items_of<Unit>(items), writable_unit_items_of<Unit>(result), options);
        });
    });
    return {result};
}

types one_hot_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (!dims.has_rank() || dims.rank() >= xloom::max_rank)
        return {xloom::tensor_type(node.at(2).element(), xloom::unknown_rank)};
    xloom::dim length = xloom::unknown;
    tensor const* const depth = node.constant_at(1);
    if (depth != nullptr && depth->size() == 1 && depth->type() == element_type::int64)
        length = depth->items<std::int64_t>()[0];
    dims.insert(axis_of(node.integer("axis", -1), dims.rank() + 1), length);
    return {xloom::tensor_type(node.at(2).element(), dims)};
}

std::vector<value> nonzero(call const& node)
{
    tensor const& x = node.tensor_at(0);
    return with_scattered_type(x.type(), [&]<class T>(std::type_identity<T>) -> std::vector<value> {
        tensor result = new_tensor(element_type::int64, xloom_onnx::nonzero_shape(items_of<T>(x)));
        xloom_onnx::nonzero_into(items_of<T>(x), writable_items_of<std::int64_t>(result));
        return {result};
    });
}

types nonzero_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    xloom::dim const rank = x.has_rank() ? xloom::dim(static_cast<std::int64_t>(x.rank())) : xloom::unknown;
    return {xloom::tensor_type(element_type::int64, {rank, xloom::unknown})};
}

/// K is an attribute up to opset 9.
std::vector<value> top_k(call const& node)
{
    tensor const& x = node.tensor_at(0);
    std::vector<std::int64_t> const given =
        node.opset() < 10 ? std::vector{node.integer("k", 0)} : node.integers_at(1);
    if (given.size() != 1)
        throw runner_error(fmt::format("its K must be one number, but has {} items", given.size()));
    xloom_onnx::top_k_options const options{
        .axis = node.integer("axis", -1), .largest = node.integer("largest", 1) != 0};
    xloom::shape const dims = xloom_onnx::top_k_shape(x.shape(), given[0], options);
    std::size_t const length = x.shape()[axis_of(options.axis, x.shape().size())];
    spend_products(static_cast<double>(x.size()) * std::log2(2.0 + static_cast<double>(length)));
    reservation const room(length * sizeof(std::size_t));
    tensor items = new_tensor(x.type(), dims), indices = new_tensor(element_type::int64, dims);
    with_number(x.type(), [&]<class T>(std::type_identity<T>) {
        xloom_onnx::workspace memory;
        xloom_onnx::top_k_into(items_of<T>(x), given[0], writable_items_of<T>(items),
            writable_items_of<std::int64_t>(indices), options, memory);
    });
    return {items, indices};
}

types top_k_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank()) {
        xloom::dim& length = dims[axis_of(node.integer("axis", -1), dims.rank())];
        length = xloom::unknown;
        if (node.opset() < 10)
            length = node.integer("k", 0);
        else if (tensor const* const k = node.constant_at(1);
                 k != nullptr && k->size() == 1 && k->type() == element_type::int64)
            length = k->items<std::int64_t>()[0];
    }
    return {type_like_first(node, dims).at(0), xloom::tensor_type(element_type::int64, dims)};
}

} // namespace

void add_indexing_operators(operator_table& table)
{
    table["ScatterND"] = {
        {{11, "rrr", "r", ""}, {16, "rrr", "r", "reduction:string"}}, scatter_nd, scatter_nd_type};
    table["GatherND"] = {{{11, "rr", "r", ""}, {12, "rr", "r", "batch_dims:int"}}, gather_nd, gather_nd_type};
    table["com.microsoft.GatherND"] = {{{1, "rr", "r", ""}}, gather_nd, contributed_gather_nd_type};
    table["Gather"] = {{{1, "rr", "r", "axis:int"}}, gather, gather_type};
    table["GatherElements"] = {{{11, "rr", "r", "axis:int"}}, gather_elements, gather_elements_type};
    table["ScatterElements"] = {{{11, "rrr", "r", "axis:int"}, {16, "rrr", "r", "axis:int reduction:string"}},
        scatter_elements, scatter_elements_type};
    table["OneHot"] = {{{9, "rrr", "r", "axis:int"}}, one_hot, one_hot_type};
    table["NonZero"] = {{{9, "r", "r", ""}}, nonzero, nonzero_type};
    table["TopK"] = {{{1, "r", "rr", "axis:int k:int!"}, {10, "rr", "rr", "axis:int"},
                         {11, "rr", "rr", "axis:int largest:flag sorted:flag"}},
        top_k, top_k_type};
    table["TensorScatter"] = {
        {{24, "rro", "r", "axis:int mode:string"}}, tensor_scatter, tensor_scatter_type};
    table["Scatter"] = {{{9, "rrr", "r", "axis:int"}, {11, "-", "-", ""}}, scatter_elements,
        same_type}; // its name before opset 11
}

} // namespace runner
