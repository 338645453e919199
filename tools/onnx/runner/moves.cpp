#include "moves.hpp"

#include <algorithm>

#include "axis.hpp"
#include "broadcast.hpp"
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

void fill_items(tensor& to, std::size_t where, std::size_t count, tensor const& item)
{
    with_unit(to, [&]<class Unit>(std::type_identity<Unit>) {
        auto const& unit = unit_source<Unit>(item)[0];
        unit_target<Unit> const target(to);
        for (std::size_t i = 0; i < count; ++i)
            target.put(where + i, unit);
    });
}

tensor strided(
    tensor const& from, std::ptrdiff_t start, xloom::shape const& dims, xloom::strides const& steps)
{
    tensor result = new_tensor_like(from, dims);
    with_unit(from, [&]<class Unit>(std::type_identity<Unit>) {
        unit_source<Unit> const source(from);
        unit_target<Unit> const target(result);
        std::size_t at = 0;
        for (rows walk(dims, {steps}); !walk.done(); walk.next()) {
            std::ptrdiff_t const first = start + walk.offset(0), step = walk.step(0);
            if (step == 1) {
                copy_items(from, static_cast<std::size_t>(first), result, at, walk.length());
            } else {
                for (std::size_t i = 0; i < walk.length(); ++i)
                    target.put(at + i, source[first + static_cast<std::ptrdiff_t>(i) * step]);
            }
            at += walk.length();
        }
    });
    return result;
}

tensor transposed(tensor const& from, std::vector<std::size_t> const& order)
{
    xloom::strides const steps = broadcast_steps(from.shape(), from.shape());
    xloom::shape dims;
    xloom::strides order_steps;
    for (std::size_t const axis : order) {
        dims.push_back(from.shape()[axis]);
        order_steps.push_back(steps[axis]);
    }
    return strided(from, 0, dims, order_steps);
}

tensor concatenated(std::vector<tensor> const& parts, std::int64_t given_axis)
{
    if (parts.empty())
        throw runner_error("there is no tensor to join");
    tensor const& first = parts[0];
    std::size_t const axis = axis_of(given_axis, first.shape().size());
    xloom::shape dims = first.shape();
    dims[axis] = 0;
    for (tensor const& next : parts) {
        xloom::shape others = next.shape();
        if (others.size() == dims.size())
            others[axis] = dims[axis];
        if (next.type() != first.type() || others != dims)
            throw runner_error("it cannot join " + describe(first) + " and " + describe(next) +
                               fmt::format(" along axis {}", axis));
        dims[axis] += next.shape()[axis];
    }
    for (tensor const& each : parts)
        require_room_for(each, dims);
    tensor result = new_tensor(first.type(), dims);
    auto const [outer, length, inner] = around(dims, axis);
    std::size_t before = 0;
    for (tensor const& next : parts) {
        std::size_t const block = next.shape()[axis] * inner;
        for (std::size_t o = 0; o < outer; ++o)
            copy_items(next, o * block, result, o * length * inner + before, block);
        before += block;
    }
    return result;
}

std::vector<tensor> split_along(
    tensor const& from, std::size_t axis, std::vector<std::int64_t> const& lengths)
{
    auto const [outer, length, inner] = around(from.shape(), axis);
    std::size_t left = length;
    bool is_possible = true;
    for (std::int64_t const each : lengths) {
        is_possible = is_possible && each >= 0 && static_cast<std::size_t>(each) <= left;
        left -= static_cast<std::size_t>(each);
    }
    if (!is_possible || left != 0)
        throw runner_error(
            fmt::format("an axis of {} cannot be split into these {} parts", length, lengths.size()));
    std::vector<tensor> parts;
    std::size_t before = 0;
    for (std::int64_t const each : lengths) {
        xloom::shape dims = from.shape();
        dims[axis] = static_cast<std::size_t>(each);
        tensor part(from.type(), dims);
        std::size_t const block = dims[axis] * inner;
        for (std::size_t o = 0; o < outer; ++o)
            copy_items(from, o * length * inner + before, part, o * block, block);
        before += block;
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
    tensor result(t.type(), dims);
    copy_items(t, 0, result, 0, t.size());
    return result;
}

tensor stack_leading(std::vector<tensor> slices)
{
    for (tensor& slice : slices)
        slice = slice.reshaped(xloom::insert_axis(slice.shape(), 0, 1));
    return concatenated(slices, 0);
}

} // namespace runner
