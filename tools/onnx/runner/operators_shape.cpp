// Operators that look at shapes or change them, and those that repeat items.

#include <algorithm>
#include <numeric>

#include <xloom_onnx/expand.hpp>
#include <xloom_onnx/reshape.hpp>
#include <xloom_onnx/trilu.hpp>

#include "axis.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

/// From opset 15 on `start` and `end` choose some dimensions.
xloom_onnx::shape_options part_of(node_view const& c)
{
    xloom_onnx::shape_options options;
    if (c.opset() >= 15)
        options = {.start = c.integer("start", options.start), .end = c.integer("end", options.end)};
    return options;
}

std::vector<value> run_shape(call const& c)
{
    xloom::shape const dims = xloom_onnx::dims_in(c.tensor_at(0).shape(), part_of(c));
    std::vector<std::int64_t> const part(dims.begin(), dims.end());
    return {tensor::of<std::int64_t>({part.size()}, part)};
}

/// Returns the numbers of the axes whose dimensions are given out.
xloom::shape axes_in(typing const& node)
{
    xloom::shape axes(node.shape_at(0).rank(), 0);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return xloom_onnx::dims_in(axes, part_of(node));
}

types shape_type(typing const& node)
{
    xloom::dim length;
    if (node.shape_at(0).has_rank())
        length = axes_in(node).size();
    return {xloom::tensor_type(element_type::int64, {length})};
}

std::optional<value> evaluate_shape(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    if (!x.has_rank())
        return std::nullopt;
    std::vector<std::int64_t> dims;
    for (std::size_t const axis : axes_in(node)) {
        if (!x[axis].has_value())
            return std::nullopt;
        dims.push_back(x[axis].value());
    }
    return tensor::of<std::int64_t>({dims.size()}, dims);
}

std::vector<value> run_size(call const& c)
{
    return {tensor::scalar(static_cast<std::int64_t>(c.tensor_at(0).size()))};
}

std::optional<value> evaluate_size(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    if (!x.has_rank())
        return std::nullopt;
    xloom::shape dims;
    for (xloom::dim const& each : x) {
        if (!each.has_value())
            return std::nullopt;
        dims.push_back(static_cast<std::size_t>(each.value()));
    }
    if (!xloom::is_countable(dims))
        return std::nullopt;
    return tensor::scalar(static_cast<std::int64_t>(xloom::element_count(dims)));
}

std::vector<value> run_reshape(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {x.reshaped(
        xloom_onnx::reshape_shape(x.shape(), c.opset() < 5 ? c.integers("shape") : c.integers_at(1),
            {.allowzero = c.integer("allowzero", 0) != 0}))};
}

types reshape_type(typing const& node)
{
    bool const is_attribute = node.opset() < 5;
    if (!is_attribute && !node.integers_at(1))
        return type_like_first(node, shape_in(node, 1));
    bool const keeps = node.integer("allowzero", 0) == 0;
    partial_shape const& x = node.shape_at(0);
    partial_shape dims, left = x, given; // left, given: without the dimensions that are kept
    std::optional<std::size_t> inferred;
    for (std::int64_t const wanted : is_attribute ? node.integers("shape") : *node.integers_at(1)) {
        std::size_t const axis = dims.rank();
        bool const is_kept = wanted == 0 && keeps;
        if (wanted < 0)
            inferred = axis;
        else if (!is_kept)
            given.insert(given.rank(), wanted);
        else if (axis < x.rank())
            left[axis] = 1;
        dims.insert(axis, wanted > 0 || (wanted == 0 && !keeps) ? xloom::dim(wanted)
                          : is_kept && axis < x.rank()          ? x[axis]
                                                                : xloom::unknown);
    }
    xloom::dim const all = dim_product(left), others = dim_product(given);
    if (inferred && all.has_value() && others.has_value() && others.value() != 0 &&
        all.value() % others.value() == 0)
        dims[*inferred] = all.value() / others.value();
    return type_like_first(node, dims);
}

std::vector<value> run_squeeze(call const& c)
{
    tensor const& x = c.tensor_at(0);
    auto const axes = named_axes(c, 13);
    return {x.reshaped(
        axes ? xloom_onnx::squeeze_shape(x.shape(), *axes) : xloom_onnx::squeeze_shape(x.shape()))};
}

types squeeze_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    known_axes const axes = axes_of(node, 13);
    auto const is_open = [](xloom::dim const& each) { return !each.has_value(); };
    if (!x.has_rank() || (axes.are_given ? !axes.list : std::any_of(x.begin(), x.end(), is_open)))
        return type_like_first(node, xloom::unknown_rank);
    std::vector<bool> const marks = marked_axes(axes.list.value_or(std::vector<std::int64_t>{}), x.rank());
    partial_shape left;
    for (std::size_t a = 0; a < x.rank(); ++a)
        if (axes.are_given ? !marks[a] : x[a] != xloom::dim(1))
            left.insert(left.rank(), x[a]);
    return type_like_first(node, left);
}

std::vector<value> run_unsqueeze(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {x.reshaped(xloom_onnx::unsqueeze_shape(x.shape(), named_axes(c, 13).value()))};
}

types unsqueeze_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    known_axes const axes = axes_of(node, 13);
    if (!x.has_rank() || !axes.list)
        return type_like_first(node, xloom::unknown_rank);
    partial_shape dims;
    std::size_t next = 0;
    for (bool const is_new : marked_axes(*axes.list, x.rank() + axes.list->size()))
        dims.insert(dims.rank(), is_new ? xloom::dim(1) : x[next++]);
    return type_like_first(node, dims);
}

std::vector<value> run_flatten(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {x.reshaped(xloom_onnx::flatten_shape(x.shape(), c.integer("axis", 1)))};
}

types flatten_type(typing const& node) { return type_like_first(node, unknown_dims(2)); }

/// Axis i of the result is axis order[i].
std::vector<std::size_t> order_of(node_view const& c, std::size_t rank)
{
    std::vector<std::int64_t> perm = c.integers("perm");
    if (!c.has_attribute("perm")) {
        perm.resize(rank);
        std::iota(perm.rbegin(), perm.rend(), 0);
    }
    if (perm.size() != rank)
        throw runner_error(
            fmt::format("perm {} does not order the axes of a tensor of rank {}", listed(perm), rank));
    (void)marked_axes(perm, rank); // each once
    std::vector<std::size_t> order;
    for (std::int64_t const axis : perm)
        order.push_back(axis_of(axis, rank));
    return order;
}

std::vector<value> run_transpose(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {transposed(x, order_of(c, x.shape().size()))};
}

types transpose_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    if (!x.has_rank())
        return same_type(node);
    partial_shape dims;
    for (std::size_t const axis : order_of(node, x.rank()))
        dims.insert(dims.rank(), x[axis]);
    return type_like_first(node, dims);
}

std::vector<value> run_expand(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom_onnx::integers const shape(c.integers_at(1));
    tensor result = new_tensor_like(x, xloom_onnx::expand_shape(x.shape(), shape));
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::expand_into(unit_items_of<Unit>(x), shape, writable_unit_items_of<Unit>(result));
    });
    return {result};
}

types expand_type(typing const& node)
{
    return type_like_first(node, broadcast(node.shape_at(0), shape_in(node, 1)));
}

/// A number for each axis; in opset 1 inputs 1 and 2 are one number and its axis.
std::vector<value> run_tile(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const rank = x.shape().size();
    xloom_onnx::integers repeats;
    if (c.opset() < 6) {
        tensor const count = convert(c.tensor_at(1), element_type::int64),
                     axis = convert(c.tensor_at(2), element_type::int64);
        if (count.size() != 1 || axis.size() != 1)
            throw runner_error("the number of copies and the axis must be one number each");
        repeats.resize(rank, 1);
        repeats[axis_of(axis.items<std::int64_t>()[0], rank)] = count.items<std::int64_t>()[0];
    } else {
        repeats = c.integers_at(1);
    }
    tensor result = new_tensor_like(x, xloom_onnx::tile_shape(x.shape(), repeats));
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::tile_into(unit_items_of<Unit>(x), repeats, writable_unit_items_of<Unit>(result));
    });
    return {result};
}

types tile_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    partial_shape const repeats = node.opset() < 6 ? partial_shape(xloom::unknown_rank) : shape_in(node, 1);
    for (std::size_t a = 0; a < dims.rank(); ++a)
        dims[a] = a < repeats.rank() ? dim_product({dims[a], repeats[a]}) : xloom::unknown;
    return type_like_first(node, dims);
}

std::vector<value> run_trilu(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::int64_t k = 0;
    if (c.has(1)) {
        std::vector<std::int64_t> const given = c.integers_at(1);
        if (given.size() != 1)
            throw runner_error(
                fmt::format("k must be one number, but has the shape {}", c.tensor_at(1).shape()));
        k = given[0];
    }
    tensor result = new_tensor_like(x, x.shape());
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::trilu_into(unit_items_of<Unit>(x), k, writable_unit_items_of<Unit>(result),
            {.upper = c.integer("upper", 1) != 0});
    });
    return {result};
}

} // namespace

void add_shape_operators(operator_table& table)
{
    table["Shape"] = {
        {{1, "r", "r", ""}, {15, "r", "r", "end:int start:int"}}, run_shape, shape_type, {}, evaluate_shape};
    table["Size"] = {{{1, "r", "r", ""}}, run_size, count_type, {}, evaluate_size};
    table["Reshape"] = {{{1, "r", "r", "consumed_inputs:ints shape:ints"}, {5, "rr", "r", ""},
                            {14, "rr", "r", "allowzero:flag"}},
        run_reshape, reshape_type};
    table["Squeeze"] = {{{1, "r", "r", "axes:ints"}, {13, "ro", "r", ""}}, run_squeeze, squeeze_type};
    table["Unsqueeze"] = {{{1, "r", "r", "axes:ints!"}, {13, "rr", "r", ""}}, run_unsqueeze, unsqueeze_type};
    table["Flatten"] = {{{1, "r", "r", "axis:int"}}, run_flatten, flatten_type};
    table["Transpose"] = {{{1, "r", "r", "perm:ints"}}, run_transpose, transpose_type};
    table["Expand"] = {{{8, "rr", "r", ""}}, run_expand, expand_type};
    table["Trilu"] = {{{14, "ro", "r", "upper:flag"}}, run_trilu, same_type};
    table["Tile"] = {{{1, "rrr", "r", ""}, {6, "rr", "r", ""}}, run_tile, tile_type};
}

} // namespace runner
