// Operators that make tensors: Constant, ConstantOfShape, Range.

#include <algorithm>

#include <xloom_onnx/constant.hpp>

#include "axis.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "proto.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// Zeros (empty strings) but for the values at given places: numbers of items, or positions along the axes.
tensor read_sparse(onnx::SparseTensorProto const& sparse)
{
    tensor const values = read_tensor(sparse.values());
    tensor const places = read_tensor(sparse.indices());
    xloom::shape const dims = shape_of({sparse.dims().begin(), sparse.dims().end()});
    tensor result = new_tensor_like(values, dims);
    if (values.type() != element_type::string)
        std::fill_n(result.bytes(), result.size() * result.item_size(), std::byte{0});
    bool const is_flat = places.shape().size() == 1;
    xloom::shape const counts =
        is_flat ? xloom::shape{values.size()} : xloom::shape{values.size(), dims.size()};
    if (values.shape().size() != 1 || places.shape() != counts)
        throw runner_error(fmt::format(
            "a sparse tensor of the shape {} has values of the shape {} and indices of the shape {}", dims,
            values.shape(), places.shape()));
    xloom::shape const extents = is_flat ? xloom::shape{result.size()} : dims;
    std::int64_t const* next = places.items<std::int64_t>().data();
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::size_t at = 0;
        for (std::size_t const extent : extents) {
            std::int64_t const position = *next++;
            if (position < 0 || static_cast<std::size_t>(position) >= extent)
                throw runner_error(
                    fmt::format("a sparse tensor's index {} is outside 0 .. {} - 1", position, extent));
            at = at * extent + static_cast<std::size_t>(position);
        }
        copy_items(values, i, result, at, 1);
    }
    return result;
}

std::vector<value> run_constant(call const& c)
{
    if (auto const* const found = c.find("value", onnx::AttributeProto::TENSOR))
        return {read_tensor(found->t())};
    if (auto const* const found = c.find("sparse_value", onnx::AttributeProto::SPARSE_TENSOR))
        return {read_sparse(found->sparse_tensor())};
    if (c.has_attribute("value_float"))
        return {tensor::scalar(static_cast<float>(c.number("value_float", 0)))};
    if (c.has_attribute("value_int"))
        return {tensor::scalar(c.integer("value_int", 0))};
    if (c.has_attribute("value_string"))
        return {tensor::scalar(c.text("value_string", ""))};
    if (auto const* const found = c.find("value_floats", onnx::AttributeProto::FLOATS))
        return {tensor::of<float>({static_cast<std::size_t>(found->floats_size())},
            {found->floats().data(), found->floats().data() + found->floats_size()})};
    if (c.has_attribute("value_ints")) {
        std::vector<std::int64_t> const items = c.integers("value_ints");
        return {tensor::of<std::int64_t>({items.size()}, items)};
    }
    if (c.has_attribute("value_strings")) {
        std::vector<std::string> const items = c.texts("value_strings");
        return {tensor::of<std::string>({items.size()}, items)};
    }
    throw runner_error("none of its attributes gives a value");
}

std::vector<value> run_constant_of_shape(call const& c)
{
    auto const* const found = c.find("value", onnx::AttributeProto::TENSOR);
    tensor const item = found == nullptr ? tensor::scalar(0.0f) : read_tensor(found->t());
    if (item.size() != 1)
        throw runner_error(fmt::format("its value has {} items instead of 1", item.size()));
    tensor result = new_tensor_like(item, shape_of(c.integers_at(0)));
    with_unit(result, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::constant_of_shape_into(
            result.shape(), *units_of<Unit>(item), writable_unit_items_of<Unit>(result));
    });
    return {result};
}

types constant_of_shape_type(typing const& node)
{
    auto const* const found = node.find("value", onnx::AttributeProto::TENSOR);
    element_type const element = found == nullptr ? element_type::float_ : read_tensor(found->t()).type();
    return {xloom::tensor_type(element, shape_in(node, 0))};
}

/// Requires the stash type of 16-bit floats, which are stepped in float.
void require_stash_type(node_view const& node, element_type type)
{
    std::int64_t const stash = node.integer("stash_type", 1);
    if ((type != element_type::float16 && type != element_type::bfloat16) || stash == 1)
        return;
    if (stash != static_cast<std::int64_t>(element_type::double_))
        throw runner_error(fmt::format("stash_type is 1 or 11, but is {}", stash));
    throw not_implemented("Range with stash_type = 11 is not implemented");
}

std::vector<value> run_range(call const& c)
{
    require_stash_type(c, c.tensor_at(0).type());
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int16_t, std::int32_t,
        std::int64_t>(c.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        auto const scalar = [&](std::size_t i) {
            auto const items = c.tensor_at(i).template items<T>();
            if (items.size() != 1)
                throw runner_error(fmt::format("its input {} has {} items instead of 1", i, items.size()));
            return items[0];
        };
        T const start = scalar(0), limit = scalar(1), delta = scalar(2);
        tensor result =
            new_tensor(xloom::element_type_of<T>, {xloom_onnx::range_length(start, limit, delta)});
        xloom_onnx::range_into(start, limit, delta, writable_items_of<T>(result));
        return result;
    })};
}

types range_type(typing const& node)
{
    require_stash_type(node, node.at(0).element());
    return type_like_first(node, unknown_dims(1));
}

/// It is made before anything reads it.
types constant_type(typing const&) { return {}; }

} // namespace

void add_constant_operators(operator_table& table)
{
    table["Constant"] = {
        {{1, "", "r", "value:tensor!"}, {11, "", "r", "sparse_value:sparse_tensor value:tensor"},
            {12, "", "r",
                "sparse_value:sparse_tensor value:tensor value_float:float value_floats:floats "
                "value_int:int value_ints:ints value_string:string value_strings:strings"}},
        run_constant, constant_type};
    table["ConstantOfShape"] = {
        {{9, "r", "r", "value:tensor"}}, run_constant_of_shape, constant_of_shape_type};
    table["Range"] = {{{11, "rrr", "r", ""}, {27, "rrr", "r", "stash_type:element"}}, run_range, range_type};
}

} // namespace runner
