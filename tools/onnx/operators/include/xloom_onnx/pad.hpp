#pragma once
// Pad.

#include <algorithm>
#include <array>
#include <cstdint>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

enum class pad_mode { constant, reflect, edge, wrap };

struct pad_options {
    integers pads{}; ///< before each of the axes, then after each; negative ones cut items off
    integers axes{}; ///< omitted: all
    bool has_axes = false;
    pad_mode mode = pad_mode::constant;
};

/// One axis of y: `before` items, `length` items of x from `start` on, `after` items.
struct axis_padding {
    std::size_t start = 0, length = 0, before = 0, after = 0;

    std::size_t padded() const { return before + length + after; }
    /// Returns the position in x that is seen at a position in y; -1 for the constant.
    std::int64_t source(std::size_t at, pad_mode mode) const
    {
        auto const n = static_cast<std::int64_t>(length);
        std::int64_t const place = static_cast<std::int64_t>(at) - static_cast<std::int64_t>(before);
        auto const in_x = [this](
                              std::int64_t position) { return position + static_cast<std::int64_t>(start); };
        if (0 <= place && place < n)
            return in_x(place);
        if (mode == pad_mode::constant)
            return -1;
        if (mode == pad_mode::edge)
            return in_x(std::clamp<std::int64_t>(place, 0, n - 1));
        std::int64_t const period = mode == pad_mode::wrap ? n : (std::max)(std::int64_t{1}, 2 * n - 2);
        std::int64_t const phase = (place % period + period) % period;
        return in_x(mode == pad_mode::wrap ? phase : (std::min)(phase, period - phase));
    }
};

/// Errors    option_error: not two pads for each axis, too large ones, an axis that is none or is given
///           twice. shape_error: more is cut off than there is, or there is nothing to pad with.
inline std::array<axis_padding, xloom::max_rank> axis_paddings(
    xloom::shape const& x, pad_options const& options)
{
    static constexpr std::string_view op = "xloom_onnx::pad";
    integers axes = options.axes;
    if (!options.has_axes && axes.empty())
        for (std::size_t a = 0; a < x.size(); ++a)
            axes.push_back(static_cast<std::int64_t>(a));
    integers const& pads = options.pads;
    std::size_t const count = axes.size();
    if (pads.size() != 2 * count)
        xloom::kernels::fail<xloom::option_error>(
            op, ": there are ", pads.size(), " pads for ", count, " axes");
    static_cast<void>(checked_axes(op, axes, x.size()));
    std::array<axis_padding, xloom::max_rank> result;
    for (std::size_t a = 0; a < x.size(); ++a)
        result[a].length = x[a];
    // The padded length is a std::size_t.
    constexpr std::int64_t most = (std::min<std::int64_t>)(std::int64_t{1} << 31, PTRDIFF_MAX / 4);
    bool is_empty = false, has_nothing = false;
    for (std::size_t i = 0; i < count; ++i) {
        axis_padding& each = result[xloom::wrap_axis(axes[i], x.size())];
        std::int64_t const before = pads[i], after = pads[i + count];
        if (before > most || after > most)
            xloom::kernels::fail<xloom::option_error>(
                op, ": the pads ", before, " and ", after, " are too large");
        auto const cut = [&](std::int64_t pad) {
            std::uint64_t const items = pad < 0 ? 0 - static_cast<std::uint64_t>(pad) : 0;
            if (items > each.length)
                xloom::kernels::fail<xloom::shape_error>(
                    op, ": the pads ", pads, " cut off more than there is of the shape ", x);
            each.length -= static_cast<std::size_t>(items);
            return static_cast<std::size_t>(items);
        };
        each.start = cut(before);
        cut(after);
        each.before = static_cast<std::size_t>((std::max)(before, std::int64_t{0}));
        each.after = static_cast<std::size_t>((std::max)(after, std::int64_t{0}));
        has_nothing = has_nothing || (each.length == 0 && each.padded() != 0);
    }
    for (std::size_t a = 0; a < x.size(); ++a)
        is_empty = is_empty || result[a].padded() == 0;
    if (has_nothing && !is_empty && options.mode != pad_mode::constant)
        xloom::kernels::fail<xloom::shape_error>(op, ": an empty axis has nothing to pad with");
    return result;
}

inline xloom::shape pad_shape(xloom::shape const& x, pad_options const& options)
{
    auto const paddings = axis_paddings(x, options);
    xloom::shape dims = x;
    for (std::size_t a = 0; a < x.size(); ++a)
        dims[a] = paddings[a].padded();
    return dims;
}

namespace detail {

/// Writes the items of y from axis `axis` on. `from` is null where they are the constant.
template <class T>
void pad_axes(T const* from, T* to, std::size_t axis,
    std::array<axis_padding, xloom::max_rank> const& paddings, xloom::strides const& from_steps,
    xloom::strides const& to_steps, pad_mode mode, T const& value)
{
    axis_padding const& each = paddings[axis];
    std::size_t const count = each.padded();
    if (from == nullptr) {
        std::fill_n(to, count * static_cast<std::size_t>(to_steps[axis]), value);
        return;
    }
    bool const is_last = axis + 1 == to_steps.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (is_last && i == each.before && each.length != 0) {
            to = std::copy_n(from + each.start, each.length, to);
            i += each.length - 1;
            continue;
        }
        std::int64_t const at = each.source(i, mode);
        if (is_last) {
            *to++ = at < 0 ? value : from[at];
        } else {
            pad_axes(at < 0 ? nullptr : from + at * from_steps[axis], to, axis + 1, paddings, from_steps,
                to_steps, mode, value);
            to += to_steps[axis];
        }
    }
}

} // namespace detail

/// Pads x. `value` is the constant.
///
/// Errors    as axis_paddings; shape_error.
/// Cost      each item is written once. Allocates nothing if y has as many items already.
template <operand X, operand Value, class Y>
void pad_into(X const& x, Value const& value, Y&& y, pad_options const& options)
{
    using T = item_t<X>;
    const_view_of<X> const from(x);
    tensor_view<T const> const constant(value);
    if (constant.size() != 1)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::pad_into: the constant value must be one item, but has the shape ",
            constant.shape());
    auto const paddings = axis_paddings(from.shape(), options);
    xloom::shape dims = from.shape();
    for (std::size_t a = 0; a < dims.size(); ++a)
        dims[a] = paddings[a].padded();
    auto const to = output_view("xloom_onnx::pad_into", y, dims);
    if (to.size() == 0)
        return;
    if (dims.empty())
        *to.data() = *from.data();
    else
        detail::pad_axes<T>(from.size() == 0 ? nullptr : from.data(), to.data(), 0, paddings,
            xloom::row_major_strides(from.shape()), xloom::row_major_strides(dims), options.mode,
            constant[0]);
}
template <operand X, class Y>
void pad_into(X const& x, Y&& y, pad_options const& options)
{
    pad_into(x, item_t<X>{}, y, options);
}

} // namespace xloom_onnx
