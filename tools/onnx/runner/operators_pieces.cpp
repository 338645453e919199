// Operators that cut tensors, and put them together: Concat, Split, Slice, Pad, ReverseSequence.

#include <algorithm>

#include "axis.hpp"
#include "broadcast.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

std::vector<value> run_concat(call const& c)
{
    if (!c.has_attribute("axis") && c.opset() >= 4)
        throw runner_error("its attribute 'axis' is missing");
    std::vector<tensor> parts;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        parts.push_back(c.tensor_at(i));
    return {concatenated(parts, c.integer("axis", 1))};
}

types concat_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (!dims.has_rank())
        return same_type(node);
    std::size_t const axis = axis_of(node.integer("axis", 1), dims.rank());
    for (std::size_t i = 1; i < node.input_count(); ++i) {
        partial_shape const& next = node.shape_at(i);
        dims[axis] = next.rank() == dims.rank() ? dim_sum(dims[axis], next[axis]) : xloom::unknown;
    }
    return type_like_first(node, dims);
}

/// The lengths of the parts: given (attribute `split` before opset 13, input since), or equal; the last may
/// then be shorter since 18.
std::vector<std::int64_t> part_lengths(call const& c, std::size_t whole)
{
    if (c.has(1))
        return c.integers_at(1);
    if (c.opset() < 13 && c.has_attribute("split"))
        return c.integers("split");
    std::size_t const count = c.output_count();
    if (c.opset() >= 18 &&
        c.integer("num_outputs", static_cast<std::int64_t>(count)) != static_cast<std::int64_t>(count))
        throw runner_error(
            fmt::format("num_outputs is {}, but it has {} outputs", c.integer("num_outputs", 0), count));
    if (count == 0 || (c.opset() < 18 && whole % count != 0))
        throw runner_error(fmt::format("an axis of {} cannot be split into {} equal parts", whole, count));
    std::size_t const most = whole / count + (whole % count != 0 ? 1 : 0);
    std::vector<std::int64_t> lengths;
    for (std::size_t k = 0; k < count; ++k) {
        std::size_t const length = std::min(most, whole);
        lengths.push_back(static_cast<std::int64_t>(length));
        whole -= length;
    }
    return lengths;
}

std::vector<value> run_split(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const axis = axis_of(c.integer("axis", 0), x.shape().size());
    std::vector<tensor> const parts = split_along(x, axis, part_lengths(c, x.shape()[axis]));
    if (parts.size() != c.output_count())
        throw runner_error(fmt::format("there are {} parts for {} outputs", parts.size(), c.output_count()));
    return {parts.begin(), parts.end()};
}

types split_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank())
        dims[axis_of(node.integer("axis", 0), dims.rank())] = xloom::unknown;
    return types(node.output_count(), type_like_first(node, dims)[0]);
}

struct axis_slice {
    std::int64_t first = 0;
    std::size_t count = 0;
    std::int64_t step = 1;
};

/// As NumPy reads start:end:step.
axis_slice slice_of(std::size_t dim, std::int64_t start, std::int64_t end, std::int64_t step)
{
    auto const length = static_cast<std::int64_t>(dim);
    if (step == 0)
        throw runner_error("a step is 0");
    if (dim == 0)
        return {};
    start += start < 0 ? length : 0;
    end += end < 0 ? length : 0;
    std::size_t count = 0;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, length);
        end = std::clamp<std::int64_t>(end, start, std::max(start, length));
        count = end == start ? 0 : static_cast<std::size_t>((end - start - 1) / step + 1);
    } else {
        start = std::clamp<std::int64_t>(start, 0, length - 1);
        end = std::clamp<std::int64_t>(end, -1, start);
        // Below -length it is as good as -length, and can be negated.
        step = std::max(step, -length);
        count = end == start ? 0 : static_cast<std::size_t>((start - end - 1) / -step + 1);
    }
    return {start, count, count > 1 ? step : 0};
}

/// Attributes before opset 10, inputs since.
std::vector<value> run_slice(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const rank = x.shape().size();
    bool const has_inputs = c.opset() >= 10;
    std::vector<std::int64_t> const starts = has_inputs ? c.integers_at(1) : c.integers("starts");
    std::vector<std::int64_t> const ends = has_inputs ? c.integers_at(2) : c.integers("ends");
    std::vector<std::int64_t> axes =
        has_inputs ? (c.has(3) ? c.integers_at(3) : std::vector<std::int64_t>{}) : c.integers("axes");
    std::vector<std::int64_t> steps = has_inputs && c.has(4) ? c.integers_at(4) : std::vector<std::int64_t>{};
    if (has_inputs ? !c.has(3) : !c.has_attribute("axes"))
        for (std::size_t i = 0; i < starts.size(); ++i)
            axes.push_back(static_cast<std::int64_t>(i));
    if (!has_inputs || !c.has(4))
        steps.resize(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
        throw runner_error(fmt::format("starts, ends, axes and steps have {}, {}, {} and {} items",
            starts.size(), ends.size(), axes.size(), steps.size()));
    (void)marked_axes(axes, rank); // each at most once

    xloom::shape dims = x.shape();
    xloom::strides moves = broadcast_steps(x.shape(), x.shape());
    std::ptrdiff_t first = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        std::size_t const axis = axis_of(axes[i], rank);
        axis_slice const slice = slice_of(x.shape()[axis], starts[i], ends[i], steps[i]);
        dims[axis] = slice.count;
        first += slice.count == 0 ? 0 : slice.first * moves[axis];
        moves[axis] *= slice.step;
    }
    return {strided(x, first, dims, moves)};
}

/// Axes that may be sliced get unknown dimensions.
types slice_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    if (!x.has_rank())
        return same_type(node);
    std::vector<bool> marks(x.rank(), true);
    if (node.opset() < 10 && node.has_attribute("axes"))
        marks = marked_axes(node.integers("axes"), x.rank());
    else if (node.opset() >= 10 && node.integers_at(3))
        marks = marked_axes(*node.integers_at(3), x.rank());
    return type_like_first(node, without_dims(x, marks));
}

enum class pad_mode { constant, reflect, edge, wrap };

pad_mode pad_mode_of(call const& c)
{
    std::string const mode = c.text("mode", "constant");
    if (mode == "constant")
        return pad_mode::constant;
    if (mode == "reflect")
        return pad_mode::reflect;
    if (mode == "edge")
        return pad_mode::edge;
    if (mode == "wrap" && c.opset() >= 19)
        return pad_mode::wrap;
    throw runner_error("its mode is " + in_quotes(mode));
}

/// Which of `length` positions is seen at position `at`, which may be before the first or behind the last.
std::int64_t seen_at(std::int64_t at, std::int64_t length, pad_mode mode)
{
    std::int64_t const period = mode == pad_mode::wrap ? length : std::max<std::int64_t>(1, 2 * length - 2);
    if (mode == pad_mode::edge)
        return std::clamp<std::int64_t>(at, 0, length - 1);
    std::int64_t const phase = (at % period + period) % period;
    return mode == pad_mode::wrap ? phase : std::min(phase, period - phase);
}

tensor padded(tensor const& x, std::size_t axis, std::size_t before, std::size_t after, pad_mode mode,
    tensor const& item)
{
    constexpr std::size_t most = std::size_t{1} << 31;
    if (before > most || after > most)
        throw runner_error(fmt::format("the pads {} and {} are too large", before, after));
    xloom::shape dims = x.shape();
    std::size_t const old_length = dims[axis];
    dims[axis] += before + after;
    require_room_for(item, dims);
    tensor result = new_tensor_like(x, dims);
    auto const [outer, length, inner] = around(dims, axis);
    if (outer != 0 && old_length == 0 && mode != pad_mode::constant)
        throw runner_error("an empty axis has nothing to pad with");
    for (std::size_t o = 0; o < outer; ++o) {
        std::size_t const from = o * old_length * inner, to = o * length * inner;
        copy_items(x, from, result, to + before * inner, old_length * inner);
        if (mode == pad_mode::constant) {
            fill_items(result, to, before * inner, item);
            fill_items(result, to + (before + old_length) * inner, after * inner, item);
            continue;
        }
        for (std::size_t i = before == 0 ? old_length : 0; i < length;
             i += i + 1 == before ? old_length + 1 : 1) {
            std::int64_t const at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(before);
            std::int64_t const seen = seen_at(at, static_cast<std::int64_t>(old_length), mode);
            copy_items(x, from + static_cast<std::size_t>(seen) * inner, result, to + i * inner, inner);
        }
    }
    return result;
}

/// Pads that are negative cut items off, before the others add some.
std::vector<value> run_pad(call const& c)
{
    tensor x = c.tensor_at(0);
    std::size_t const rank = x.shape().size();
    bool const has_inputs = c.opset() >= 11;
    std::vector<std::int64_t> const pads =
        has_inputs ? c.integers_at(1) : c.integers(c.opset() < 2 ? "paddings" : "pads");
    std::vector<std::int64_t> axes;
    if (c.opset() >= 18 && c.has(3))
        axes = c.integers_at(3);
    else
        for (std::size_t a = 0; a < rank; ++a)
            axes.push_back(static_cast<std::int64_t>(a));
    if (pads.size() != 2 * axes.size())
        throw runner_error(fmt::format("there are {} pads for {} axes", pads.size(), axes.size()));
    (void)marked_axes(axes, rank); // each at most once

    pad_mode const mode = pad_mode_of(c);
    tensor item = tensor(x.type(), {});
    if (x.type() != element_type::string)
        std::fill_n(item.bytes(), item.item_size(), std::byte{0});
    if (has_inputs && c.has(2))
        item = c.tensor_at(2);
    else if (!has_inputs && c.has_attribute("value"))
        item = convert(tensor::scalar(static_cast<float>(c.number("value", 0))), x.type());
    if (item.type() != x.type() || item.size() != 1)
        throw runner_error("the constant value for " + describe(x) + " is " + describe(item));

    xloom::shape dims = x.shape();
    xloom::strides const steps = broadcast_steps(dims, dims);
    std::ptrdiff_t first = 0;
    for (std::size_t i = 0; i < pads.size(); ++i) {
        std::size_t const axis = axis_of(axes[i % axes.size()], rank);
        std::uint64_t const cut = pads[i] < 0 ? 0 - static_cast<std::uint64_t>(pads[i]) : 0;
        if (cut > dims[axis])
            throw runner_error(
                fmt::format("the pads {} cut off more than there is of the shape {}", pads, x.shape()));
        dims[axis] -= cut;
        if (i < axes.size())
            first += static_cast<std::ptrdiff_t>(cut) * steps[axis];
    }
    if (dims != x.shape())
        x = strided(x, first, dims, steps);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        auto const before = static_cast<std::size_t>(std::max<std::int64_t>(pads[i], 0));
        auto const after = static_cast<std::size_t>(std::max<std::int64_t>(pads[i + axes.size()], 0));
        if (before + after != 0)
            x = padded(x, axis_of(axes[i], rank), before, after, mode, item);
    }
    return {x};
}

types pad_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    std::size_t const rank = dims.rank();
    auto const pads = node.opset() >= 11
                          ? node.integers_at(1)
                          : std::optional(node.integers(node.opset() < 2 ? "paddings" : "pads"));
    bool const has_axes = node.opset() >= 18 && node.has(3);
    bool const is_known = pads && !has_axes && pads->size() == 2 * rank;
    for (std::size_t a = 0; a < rank; ++a)
        dims[a] = is_known ? dim_sum(dim_sum(dims[a], (*pads)[a]), (*pads)[rank + a]) : xloom::unknown;
    return type_like_first(node, dims);
}

std::vector<value> run_reverse_sequence(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom::shape const& dims = x.shape();
    std::int64_t const time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
    if (dims.size() < 2 || !((time == 0 && batch == 1) || (time == 1 && batch == 0)))
        throw runner_error(
            fmt::format("time_axis {} and batch_axis {} must be 0 and 1 of {}", time, batch, dims));
    std::vector<std::int64_t> const lengths = c.integers_at(1);
    std::size_t const times = dims[time == 0 ? 0 : 1], rows_count = dims[time == 0 ? 1 : 0];
    if (lengths.size() != rows_count)
        throw runner_error(fmt::format("there are {} lengths for a batch of {}", lengths.size(), rows_count));
    tensor result(x.type(), dims);
    std::size_t const inner = around(dims, 1).inner;
    for (std::size_t n = 0; n < rows_count; ++n) {
        if (lengths[n] < 0 || static_cast<std::size_t>(lengths[n]) > times)
            throw runner_error(fmt::format("the length {} is not in 0 .. {}", lengths[n], times));
        auto const length = static_cast<std::size_t>(lengths[n]);
        auto const place = [&](std::size_t t) {
            return (time == 0 ? t * rows_count + n : n * times + t) * inner;
        };
        for (std::size_t t = 0; t < times && x.size() != 0; ++t)
            copy_items(x, place(t < length ? length - 1 - t : t), result, place(t), inner);
    }
    return {result};
}

} // namespace

void add_piece_operators(operator_table& table)
{
    table["Concat"] = {run_concat, concat_type};
    table["Split"] = {run_split, split_type};
    table["Slice"] = {run_slice, slice_type};
    table["Pad"] = {run_pad, pad_type};
    table["ReverseSequence"] = {run_reverse_sequence, same_type};
}

} // namespace runner
