#include "moves.hpp"

#include <algorithm>

#include <xloom/kernels.hpp>
#include <xloom_onnx/concat.hpp>
#include <xloom_onnx/transpose.hpp>

#include "axis.hpp"
#include "text.hpp"

namespace runner {

namespace {

void require_room(std::size_t item_size, xloom::shape const& dims)
{
    std::size_t const most = current_budget().tensor_bytes;
    if (!xloom::is_countable(dims) || xloom::element_count(dims) > most / item_size)
        throw runner_error(fmt::format("a tensor of the shape {} would take more than {} bytes", dims, most));
}

} // namespace

tensor new_tensor(element_type type, xloom::shape const& dims)
{
    require_room(type == element_type::string ? sizeof(std::string) : item_bytes(type), dims);
    return tensor(type, dims);
}

tensor zeros(element_type type, xloom::shape const& dims)
{
    tensor result(type, dims);
    if (type != element_type::string)
        std::fill_n(result.bytes(), result.size() * result.item_size(), std::byte{0});
    return result;
}

void require_room_for(tensor const& source, xloom::shape const& dims)
{
    std::size_t largest = source.item_size();
    if (source.type() == element_type::string) {
        largest = sizeof(std::string);
        for (std::string const& each : source.items<std::string>())
            largest = std::max(largest, each.size());
    }
    require_room(largest, dims);
}

tensor new_tensor_like(tensor const& source, xloom::shape const& dims)
{
    require_room_for(source, dims);
    return tensor(source.type(), dims);
}

void copy_items(tensor const& from, std::size_t at, tensor& to, std::size_t where, std::size_t count)
{
    if (count == 0)
        return;
    if (from.type() == element_type::string)
        std::copy_n(from.items<std::string>().data() + at, count, to.items<std::string>().data() + where);
    else
        std::memcpy(to.bytes() + where * to.item_size(), from.bytes() + at * from.item_size(),
            count * from.item_size());
}

tensor strided(
    tensor const& from, std::ptrdiff_t start, xloom::shape const& dims, xloom::strides const& steps)
{
    tensor result = new_tensor_like(from, dims);
    with_unit(from, [&]<class Unit>(std::type_identity<Unit>) {
        xloom::kernels::strided_copy(dims, steps, xloom::row_major_strides(dims))(
            units_of<Unit>(from) + start, units_of<Unit>(result));
    });
    return result;
}

tensor transposed(tensor const& from, std::vector<std::size_t> const& order)
{
    xloom_onnx::integers const perm(order);
    tensor result = new_tensor_like(from, xloom_onnx::transpose_shape(from.shape(), perm));
    with_unit(from, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::transpose_into(unit_items_of<Unit>(from), perm, writable_unit_items_of<Unit>(result));
    });
    return result;
}

tensor concatenated(std::vector<tensor> const& parts, std::int64_t given_axis)
{
    std::vector<xloom::shape> shapes;
    shapes.reserve(parts.size());
    for (tensor const& part : parts)
        shapes.push_back(part.shape());
    xloom::shape const dims = xloom_onnx::concat_shape(shapes, given_axis);
    for (tensor const& part : parts) {
        if (part.type() != parts[0].type())
            throw runner_error("it cannot join " + describe(parts[0]) + " and " + describe(part));
        require_room_for(part, dims);
    }
    tensor result = new_tensor(parts[0].type(), dims);
    std::size_t const axis = axis_of(given_axis, dims.size());
    with_unit(result, [&]<class Unit>(std::type_identity<Unit>) {
        auto const to = writable_unit_items_of<Unit>(result);
        std::size_t begin = 0;
        for (tensor const& part : parts) {
            xloom_onnx::join_part(unit_items_of<Unit>(part), begin, to, axis);
            begin += part.shape()[axis];
        }
    });
    return result;
}

std::vector<tensor> split_along(
    tensor const& from, std::size_t axis, std::vector<std::int64_t> const& lengths)
{
    xloom_onnx::check_split(from.shape()[axis], lengths);
    std::vector<tensor> parts;
    std::size_t begin = 0;
    for (std::int64_t const each : lengths) {
        xloom::shape dims = from.shape();
        dims[axis] = static_cast<std::size_t>(each);
        tensor part(from.type(), dims);
        with_unit(from, [&]<class Unit>(std::type_identity<Unit>) {
            xloom_onnx::take_part(unit_items_of<Unit>(from), begin, writable_unit_items_of<Unit>(part), axis);
        });
        begin += dims[axis];
        parts.push_back(std::move(part));
    }
    return parts;
}

std::size_t leading_dim(tensor const& t)
{
    if (t.shape().empty())
        throw runner_error("a tensor with an axis is needed, but it is a scalar");
    return t.shape()[0];
}

tensor drop_leading(tensor const& t, std::size_t i)
{
    if (i >= leading_dim(t))
        throw runner_error(fmt::format("a tensor of the shape {} has no slice {}", t.shape(), i));
    tensor result(t.type(), xloom::drop_axis(t.shape(), 0));
    copy_items(t, i * result.size(), result, 0, result.size());
    return result;
}

tensor take_leading(tensor const& t, std::size_t count)
{
    if (count > leading_dim(t))
        throw runner_error(fmt::format("a tensor of the shape {} has no {} slices", t.shape(), count));
    xloom::shape dims = t.shape();
    dims[0] = count;
    tensor result(t.type(), dims);
    copy_items(t, 0, result, 0, result.size());
    return result;
}

tensor pad_leading(tensor const& t, std::size_t count)
{
    xloom::shape dims = t.shape();
    dims[0] = std::max(leading_dim(t), count);
    tensor result = zeros(t.type(), dims);
    copy_items(t, 0, result, 0, t.size());
    return result;
}

tensor stack(std::vector<tensor> slices, std::size_t axis)
{
    for (tensor& slice : slices)
        slice = slice.reshaped(xloom::insert_axis(slice.shape(), axis, 1));
    return concatenated(slices, static_cast<std::int64_t>(axis));
}

} // namespace runner
