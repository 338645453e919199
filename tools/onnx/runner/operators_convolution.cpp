// Conv, along one, two or three axes.

#include <algorithm>
#include <array>

#include "axis.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "products.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"

namespace runner {

namespace {

/// A convolution along one spatial axis.
struct spatial_axis {
    std::int64_t input = 1, kernel = 1, output = 1;
    std::int64_t stride = 1, dilation = 1, before = 0;

    std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
    std::int64_t position(std::int64_t place, std::int64_t k) const
    {
        return place * stride + k * dilation - before;
    }
    bool contains(std::int64_t at) const { return 0 <= at && at < input; }
};

/// A convolution along fewer axes is one along three, whose first have one item.
using spatial_axes = std::array<spatial_axis, 3>;

std::int64_t product_of(spatial_axes const& axes, std::int64_t spatial_axis::*length)
{
    return axes[0].*length * (axes[1].*length) * (axes[2].*length);
}

/// Numbers of an attribute: `count` of them, none below `least`.
std::vector<std::int64_t> numbers_of(call const& c, char const* name, std::size_t count, std::int64_t least)
{
    std::vector<std::int64_t> numbers = c.integers(name);
    if (!c.has_attribute(name))
        numbers.assign(count, least);
    bool const is_possible = numbers.size() == count && std::ranges::all_of(numbers, [&](std::int64_t n) {
        return least <= n && n < std::int64_t{1} << 31;
    });
    if (!is_possible)
        throw runner_error(fmt::format("its {} are {}", name, listed(numbers)));
    return numbers;
}

/// The output's length along an axis, and the padding before it.
void fit(spatial_axis& axis, std::string const& auto_pad, std::int64_t before, std::int64_t after)
{
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
        axis.output = axis.input / axis.stride + (axis.input % axis.stride != 0 ? 1 : 0);
        std::int64_t const total =
            std::max<std::int64_t>(0, (axis.output - 1) * axis.stride + axis.extent() - axis.input);
        axis.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
        return;
    }
    axis.before = auto_pad == "VALID" ? 0 : before;
    std::int64_t const room = axis.input + axis.before + (auto_pad == "VALID" ? 0 : after) - axis.extent();
    if (axis.kernel == 0 || room < 0)
        throw runner_error(
            fmt::format("a kernel of {} items does not fit into {} padded ones", axis.extent(), axis.input));
    axis.output = room / axis.stride + 1;
}

spatial_axes axes_of(call const& c, xloom::shape const& x, xloom::shape const& w)
{
    std::size_t const count = x.size() - 2;
    std::string const auto_pad = c.text("auto_pad", "NOTSET");
    if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
        throw runner_error("its auto_pad is " + in_quotes(auto_pad));
    auto const strides = numbers_of(c, "strides", count, 1), dilations = numbers_of(c, "dilations", count, 1);
    auto const pads = numbers_of(c, "pads", 2 * count, 0);
    (void)items_between(x, 2, x.size()), (void)items_between(w, 2, w.size()); // can be counted
    spatial_axes axes;
    for (std::size_t i = 0; i < count; ++i) {
        if (x[2 + i] >> 31 != 0 || w[2 + i] >> 31 != 0)
            throw runner_error(fmt::format("the shapes {} and {} are too large", x, w));
        spatial_axis& axis = axes[i + axes.size() - count];
        axis.input = static_cast<std::int64_t>(x[2 + i]);
        axis.kernel = static_cast<std::int64_t>(w[2 + i]);
        axis.stride = strides[i];
        axis.dilation = dilations[i];
        fit(axis, auto_pad, pads[i], pads[i + count]);
    }
    if (c.has_attribute("kernel_shape") &&
        c.integers("kernel_shape") != std::vector<std::int64_t>(w.begin() + 2, w.end()))
        throw runner_error(
            fmt::format("kernel_shape is {}, but W's shape is {}", listed(c.integers("kernel_shape")), w));
    return axes;
}

/// Copies one row of a channel's window: `from` is a row of the input, null outside of it.
template <class T>
void copy_row(T const* from, spatial_axis const& axis, std::int64_t place, T* to)
{
    std::int64_t const first = axis.position(place, 0);
    if (from == nullptr) {
        std::fill_n(to, axis.kernel, T{0});
    } else if (axis.dilation == 1 && first >= 0 && first + axis.kernel <= axis.input) {
        std::copy_n(from + first, axis.kernel, to);
    } else {
        for (std::int64_t k = 0; k < axis.kernel; ++k) {
            std::int64_t const at = axis.position(place, k);
            to[k] = axis.contains(at) ? from[at] : T{0};
        }
    }
}

/// Copies the window at output position `place`, channel by channel; zeros outside of the input.
template <class T>
void copy_window(
    T const* input, std::size_t channels, spatial_axes const& axes, std::int64_t place, T* window)
{
    auto const& [deep, down, across] = axes;
    std::int64_t const z = place / across.output / down.output, y = place / across.output % down.output,
                       x = place % across.output;
    T const* channel = input;
    for (std::size_t c = 0; c < channels; ++c, channel += product_of(axes, &spatial_axis::input))
        for (std::int64_t i = 0; i < deep.kernel; ++i)
            for (std::int64_t j = 0; j < down.kernel; ++j, window += across.kernel) {
                std::int64_t const plane = deep.position(z, i), row = down.position(y, j);
                bool const is_inside = deep.contains(plane) && down.contains(row);
                copy_row(is_inside ? channel + (plane * down.input + row) * across.input : nullptr, across, x,
                    window);
            }
}

/// One group of channels of one input: the windows, as many at a time as fit a buffer, times the kernels.
template <class T>
void convolve(T const* input, std::size_t channels, spatial_axes const& axes, T const* kernels,
    std::size_t count, T* output)
{
    auto const kernel_items = static_cast<std::size_t>(product_of(axes, &spatial_axis::kernel));
    auto const places = static_cast<std::size_t>(product_of(axes, &spatial_axis::output));
    std::size_t const depth = channels * kernel_items;
    std::size_t const most =
        std::clamp<std::size_t>((std::size_t{1} << 18) / std::max<std::size_t>(depth, 1), 1, places);
    reservation const room(most * depth * sizeof(T));
    std::vector<T> windows(most * depth);
    for (std::size_t first = 0; first < places; first += most) {
        std::size_t const now = std::min(most, places - first);
        for (std::size_t p = 0; p < now; ++p)
            copy_window(
                input, channels, axes, static_cast<std::int64_t>(first + p), windows.data() + p * depth);
        multiply_matrices<T>(count, depth, now, kernels, {windows.data(), 1, depth}, output + first, places);
    }
}

std::vector<value> run_conv(call const& c)
{
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    std::size_t const rank = x.shape().size();
    if (rank > 5)
        throw not_implemented("Conv along more than three axes is not implemented");
    std::int64_t const group_count = c.integer("group", 1);
    if (rank < 3 || w.shape().size() != rank)
        throw runner_error(fmt::format("X and W have the shapes {} and {}", x.shape(), w.shape()));
    std::size_t const batch = x.shape()[0], channels = x.shape()[1], kernels = w.shape()[0];
    auto const groups = static_cast<std::size_t>(group_count);
    if (group_count < 1 || channels % groups != 0 || kernels % groups != 0 ||
        w.shape()[1] != channels / groups)
        throw runner_error(
            fmt::format("X and W have the shapes {} and {} in {} groups", x.shape(), w.shape(), group_count));
    spatial_axes const axes = axes_of(c, x.shape(), w.shape());
    xloom::shape dims{batch, kernels};
    for (std::size_t i = 5 - rank; i < axes.size(); ++i)
        dims.push_back(static_cast<std::size_t>(axes[i].output));
    if (c.has(2) && c.tensor_at(2).shape() != xloom::shape{kernels})
        throw runner_error(fmt::format("B has the shape {} for {} kernels", c.tensor_at(2).shape(), kernels));
    with_float(x.type(), []<class T>(std::type_identity<T>) {}); // no others
    element_type const type = x.type() == element_type::double_ ? x.type() : element_type::float_;
    if (w.type() != x.type() || (c.has(2) && c.tensor_at(2).type() != x.type()))
        throw runner_error("X, W and B must be of one type");
    tensor const inputs = convert(x, type), weights = convert(w, type);
    tensor const bias = c.has(2) ? convert(c.tensor_at(2), type) : tensor();
    tensor result = new_tensor(type, dims);
    if (result.size() == 0)
        return {convert(result, x.type())};
    with_type_of<float, double>(type, [&]<class T>(std::type_identity<T>) {
        std::size_t const plane = items_between(dims, 2, rank), kernels_each = kernels / groups;
        std::size_t const input_each = inputs.size() / batch / groups, weights_each = weights.size() / groups;
        T* to = result.items<T>().data();
        for (std::size_t n = 0; n < batch * groups; ++n, to += kernels_each * plane) {
            std::size_t const g = n % groups;
            convolve<T>(inputs.items<T>().data() + n * input_each, channels / groups, axes,
                weights.items<T>().data() + g * weights_each, kernels_each, to);
            for (std::size_t m = 0; c.has(2) && m < kernels_each; ++m) {
                T const added = bias.items<T>()[g * kernels_each + m];
                for (std::size_t i = 0; i < plane; ++i)
                    to[m * plane + i] += added;
            }
        }
    });
    return {convert(result, x.type())};
}

types conv_type(typing const& node)
{
    partial_shape const &x = node.shape_at(0), &w = node.shape_at(1);
    if (x.rank() < 2)
        return type_like_first(node, xloom::unknown_rank);
    partial_shape dims = unknown_dims(x.rank());
    dims[0] = x[0];
    dims[1] = w.rank() == x.rank() ? w[0] : xloom::unknown;
    return type_like_first(node, dims);
}

} // namespace

void add_convolution_operators(operator_table& table) { table["Conv"] = {run_conv, conv_type}; }

} // namespace runner
