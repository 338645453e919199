// Operators that look at shapes or change them, and those that repeat items.

#include <algorithm>
#include <numeric>

#include "axis.hpp"
#include "broadcast.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

struct part_of_shape {
    std::int64_t start, end;
};

/// From opset 15 on `start` and `end` count from the back if they are negative, and are clamped.
part_of_shape part_of(node_view const& c, std::size_t rank_given)
{
    auto const rank = static_cast<std::int64_t>(rank_given);
    auto const bound = [&](char const* attribute, std::int64_t otherwise) {
        std::int64_t const at = c.opset() < 15 ? otherwise : c.integer(attribute, otherwise);
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    std::int64_t const start = bound("start", 0);
    return {start, std::max(start, bound("end", rank))};
}

std::vector<value> run_shape(call const& c)
{
    xloom::shape const& dims = c.tensor_at(0).shape();
    auto const [start, end] = part_of(c, dims.size());
    std::vector<std::int64_t> const part(dims.begin() + start, dims.begin() + end);
    return {tensor::of<std::int64_t>({part.size()}, part)};
}

types shape_type(typing const& node)
{
    xloom::dim length;
    if (node.shape_at(0).has_rank()) {
        auto const [start, end] = part_of(node, node.shape_at(0).rank());
        length = end - start;
    }
    return {xloom::tensor_type(element_type::int64, {length})};
}

std::vector<value> run_size(call const& c)
{
    return {tensor::scalar(static_cast<std::int64_t>(c.tensor_at(0).size()))};
}

/// 0 keeps the input's dimension (unless allowzero, from opset 14 on), -1 is what remains.
std::vector<value> run_reshape(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::vector<std::int64_t> wanted = c.opset() < 5 ? c.integers("shape") : c.integers_at(1);
    bool const keeps = c.integer("allowzero", 0) == 0;
    auto const fail = [&] {
        throw runner_error(
            fmt::format("a tensor of the shape {} cannot be reshaped to {}", x.shape(), wanted));
    };
    if (wanted.size() > xloom::max_rank)
        throw runner_error(fmt::format("a rank above {} is not possible", xloom::max_rank));
    std::size_t unknown = wanted.size();
    xloom::shape dims;
    for (std::size_t a = 0; a < wanted.size(); ++a) {
        if (wanted[a] < -1 || (wanted[a] == -1 && unknown != wanted.size()) ||
            (wanted[a] == 0 && keeps && a >= x.shape().size()))
            fail();
        if (wanted[a] == -1)
            unknown = a;
        dims.push_back(wanted[a] == -1           ? 1
                       : wanted[a] == 0 && keeps ? x.shape()[a]
                                                 : static_cast<std::size_t>(wanted[a]));
    }
    if (!xloom::is_countable(dims))
        fail();
    if (std::size_t const known = xloom::element_count(dims); unknown != wanted.size()) {
        if (known == 0 || x.size() % known != 0)
            fail();
        dims[unknown] = x.size() / known;
    }
    return {x.reshaped(dims)};
}

types reshape_type(typing const& node)
{
    bool const is_attribute = node.opset() < 5;
    if (!is_attribute && !node.integers_at(1))
        return type_like_first(node, shape_in(node, 1));
    bool const keeps = node.integer("allowzero", 0) == 0;
    partial_shape const& x = node.shape_at(0);
    partial_shape dims;
    for (std::int64_t const wanted : is_attribute ? node.integers("shape") : *node.integers_at(1)) {
        xloom::dim const kept = dims.rank() < x.rank() ? x[dims.rank()] : xloom::unknown;
        dims.insert(dims.rank(), wanted < 0             ? xloom::unknown
                                 : wanted == 0 && keeps ? kept
                                                        : xloom::dim(wanted));
    }
    return type_like_first(node, dims);
}

std::vector<value> run_squeeze(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom::shape const& dims = x.shape();
    auto const axes = named_axes(c, 13);
    std::vector<bool> const marks = marked_axes(axes.value_or(std::vector<std::int64_t>{}), dims.size());
    xloom::shape left;
    for (std::size_t a = 0; a < dims.size(); ++a) {
        if (marks[a] && dims[a] != 1)
            throw runner_error(fmt::format("the axis {} of the shape {} is not 1", a, dims));
        if (axes ? !marks[a] : dims[a] != 1)
            left.push_back(dims[a]);
    }
    return {x.reshaped(left)};
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
    auto const axes = named_axes(c, 13);
    if (!axes)
        throw runner_error("its axes are missing");
    if (x.shape().size() + axes->size() > xloom::max_rank)
        throw runner_error(fmt::format("a rank above {} is not possible", xloom::max_rank));
    xloom::shape dims;
    std::size_t next = 0;
    for (bool const is_new : marked_axes(*axes, x.shape().size() + axes->size()))
        dims.push_back(is_new ? 1 : x.shape()[next++]);
    return {x.reshaped(dims)};
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
    std::size_t const rank = x.shape().size();
    std::int64_t const axis = c.integer("axis", 1);
    std::size_t const split = axis == static_cast<std::int64_t>(rank) ? rank : axis_of(axis, rank);
    return {x.reshaped({items_between(x.shape(), 0, split), items_between(x.shape(), split, rank)})};
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
    xloom::shape const dims = broadcast(x.shape(), shape_of(c.integers_at(1)));
    return {strided(x, 0, dims, broadcast_steps(x.shape(), dims))};
}

types expand_type(typing const& node)
{
    return type_like_first(node, broadcast(node.shape_at(0), shape_in(node, 1)));
}

tensor repeated(tensor const& x, std::size_t axis, std::size_t times)
{
    if (times == 1)
        return x;
    xloom::shape dims = x.shape();
    dims[axis] *= times;
    tensor result = new_tensor_like(x, dims);
    auto const [outer, length, inner] = around(x.shape(), axis);
    std::size_t const block = length * inner;
    for (std::size_t o = 0; o < outer; ++o) {
        std::size_t const start = o * times * block, end = start + times * block;
        copy_items(x, o * block, result, start, block);
        // What is there is copied behind itself: twice as much each time.
        for (std::size_t at = start + block; at < end; at += at - start)
            copy_items(result, start, result, at, std::min(at - start, end - at));
    }
    return result;
}

/// A number for each axis; in opset 1 inputs 1 and 2 are one number and its axis.
std::vector<value> run_tile(call const& c)
{
    tensor result = c.tensor_at(0);
    std::size_t const rank = result.shape().size();
    xloom::shape repeats(rank, 1);
    if (c.opset() < 6) {
        tensor const count = convert(c.tensor_at(1), element_type::int64),
                     axis = convert(c.tensor_at(2), element_type::int64);
        if (count.size() != 1 || axis.size() != 1)
            throw runner_error("the number of copies and the axis must be one number each");
        repeats[axis_of(axis.items<std::int64_t>()[0], rank)] = shape_of({count.items<std::int64_t>()[0]})[0];
    } else {
        repeats = shape_of(c.integers_at(1));
    }
    if (repeats.size() != rank)
        throw runner_error(fmt::format("the repeats {} are not one for each of {} axes", repeats, rank));
    xloom::shape dims = result.shape();
    for (std::size_t a = 0; a < rank; ++a) {
        if (!xloom::is_countable({dims[a], repeats[a]}))
            throw runner_error(fmt::format("an axis of {} cannot be repeated {} times", dims[a], repeats[a]));
        dims[a] *= repeats[a];
    }
    require_room_for(result, dims);
    if (xloom::element_count(dims) == 0)
        return {new_tensor_like(result, dims)};
    for (std::size_t a = 0; a < rank; ++a)
        result = repeated(result, a, repeats[a]);
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

} // namespace

void add_shape_operators(operator_table& table)
{
    table["Shape"] = {run_shape, shape_type};
    table["Size"] = {run_size, count_type};
    table["Reshape"] = {run_reshape, reshape_type};
    table["Squeeze"] = {run_squeeze, squeeze_type};
    table["Unsqueeze"] = {run_unsqueeze, unsqueeze_type};
    table["Flatten"] = {run_flatten, flatten_type};
    table["Transpose"] = {run_transpose, transpose_type};
    table["Expand"] = {run_expand, expand_type};
    table["Tile"] = {run_tile, tile_type};
}

} // namespace runner
