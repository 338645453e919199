#include "strings.hpp"

#include <algorithm>

namespace runner {

namespace {

/// Copies `count` items from one tensor to another of the same type.
void copy_items(tensor const& from, std::size_t from_item, std::size_t count, tensor& to, std::size_t to_item)
{
    if (from.type() == element_type::string)
        std::copy_n(from.items<std::string>().begin() + static_cast<std::ptrdiff_t>(from_item), count,
            to.items<std::string>().begin() + static_cast<std::ptrdiff_t>(to_item));
    else
        std::copy_n(from.bytes() + from_item * from.item_size(), count * from.item_size(), to.bytes() + to_item * to.item_size());
}

std::size_t slice_size(tensor const& t) { return xloom::element_count(xloom::drop_axis(t.shape(), 0)); }

} // namespace

tensor string_table::numbers_of(tensor const& strings)
{
    tensor numbers(element_type::uint64, strings.shape());
    auto const to = numbers.items<std::uint64_t>();
    std::size_t i = 0;
    for (std::string const& each : strings.items<std::string>()) {
        to[i++] = strings_.size();
        strings_.push_back(each);
    }
    return numbers;
}

tensor string_table::strings_of(tensor const& numbers) const
{
    tensor strings(element_type::string, numbers.shape());
    auto const to = strings.items<std::string>();
    std::size_t i = 0;
    for (std::uint64_t const number : numbers.items<std::uint64_t>())
        to[i++] = strings_.at(number);
    return strings;
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
        throw runner_error(xloom::detail::concat("a tensor of the shape ", t.shape(), " has no slice ", i));
    tensor result(t.type(), xloom::drop_axis(t.shape(), 0));
    copy_items(t, i * slice_size(t), slice_size(t), result, 0);
    return result;
}

tensor take_leading(tensor const& t, std::size_t count)
{
    if (count > leading_dim(t))
        throw runner_error(xloom::detail::concat("a tensor of the shape ", t.shape(), " has no ", count, " slices"));
    xloom::shape dims = t.shape();
    dims[0] = count;
    tensor result(t.type(), dims);
    copy_items(t, 0, result.size(), result, 0);
    return result;
}

tensor pad_leading(tensor const& t, std::size_t count)
{
    xloom::shape dims = t.shape();
    dims[0] = std::max(leading_dim(t), count);
    tensor result(t.type(), dims);
    copy_items(t, 0, t.size(), result, 0);
    return result;
}

tensor stack_leading(std::vector<tensor> const& slices)
{
    tensor result(slices.at(0).type(), xloom::insert_axis(slices[0].shape(), 0, slices.size()));
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (slices[i].type() != slices[0].type() || slices[i].shape() != slices[0].shape())
            throw runner_error(
                xloom::detail::concat("tensors of one shape are needed, but they are ", slices[0].shape(), " and ", slices[i].shape()));
        copy_items(slices[i], 0, slices[i].size(), result, i * slices[i].size());
    }
    return result;
}

} // namespace runner
