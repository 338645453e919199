#pragma once
// Sequences, which are std::vector, and optionals, which are std::optional. A std::vector<bool> has no bools
// in memory: its items are read and written by value.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/concat.hpp>
#include <xloom_onnx/reshape.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns a position in a sequence of `count`; negative ones count from the end.
///
/// Errors    index_error: no position. One past the end is one where `end_counts`.
inline std::size_t sequence_position(std::int64_t position, std::size_t count, bool end_counts = false)
{
    auto const length = static_cast<std::int64_t>(count);
    std::int64_t const at = position < 0 ? position + length : position;
    if (at < 0 || at >= length + (end_counts ? 1 : 0))
        xloom::kernels::fail<xloom::index_error>(
            "xloom_onnx: its position is ", position, " in a sequence of ", count);
    return static_cast<std::size_t>(at);
}

template <class T>
typename std::vector<T>::const_reference sequence_at(std::vector<T> const& sequence, std::int64_t position)
{
    return sequence[sequence_position(position, sequence.size())];
}

/// Inserts an item before a position; at the end without one.
template <class T>
void sequence_insert(std::vector<T>& sequence, T item)
{
    sequence.push_back(std::move(item));
}
template <class T>
void sequence_insert(std::vector<T>& sequence, T item, std::int64_t position)
{
    std::size_t const at = sequence_position(position, sequence.size(), true);
    sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(at), std::move(item));
}

/// Erases the item at a position; the last one without it.
///
/// Errors    index_error: no position, or an empty sequence.
template <class T>
void sequence_erase(std::vector<T>& sequence, std::int64_t position = -1)
{
    if (sequence.empty())
        xloom::kernels::fail<xloom::index_error>("xloom_onnx: nothing can be taken out of an empty sequence");
    sequence.erase(
        sequence.begin() + static_cast<std::ptrdiff_t>(sequence_position(position, sequence.size())));
}

struct concat_from_sequence_options {
    std::int64_t axis = 0;
    bool new_axis = false; ///< the tensors are stacked along a new axis
};

/// Joins the tensors of a sequence.
///
/// Errors    shape_error: an empty sequence, or other dimensions that differ. option_error: no axis.
template <operand T, class Y>
void concat_from_sequence_into(
    std::vector<T> const& sequence, Y&& y, concat_from_sequence_options const& options)
{
    static constexpr std::string_view op = "xloom_onnx::concat_from_sequence_into";
    if (sequence.empty())
        xloom::kernels::fail<xloom::shape_error>(
            op, ": the sequence is empty, so the shape of its items is unknown");
    if (!options.new_axis)
        return concat_into(sequence, y, {.axis = options.axis});
    if constexpr (detail::scalar<T>) {
        checked_axis(op, options.axis, 1);
        std::copy(sequence.begin(), sequence.end(), output_view(op, y, {sequence.size()}).data());
    } else {
        std::vector<tensor_view<item_t<T> const>> parts;
        for (T const& each : sequence) {
            const_view_of<T> const part(each);
            std::size_t const axis = checked_axis(op, options.axis, part.rank() + 1);
            parts.emplace_back(part.data(), xloom::insert_axis(part.shape(), axis, 1));
        }
        concat_into(parts, y, {.axis = options.axis});
    }
}

struct split_to_sequence_options {
    std::int64_t axis = 0;
    bool keepdims = true; ///< false drops the axis of the parts, unless lengths are given
};

namespace detail {

/// Writes part k of a sequence: the slices of x from `begin` on, as many as `dims` has along the axis, which
/// dropping requires to be one.
template <class X, class T>
void write_part(tensor_view<X const> const& from, std::size_t begin, xloom::shape const& dims,
    std::size_t axis, bool drops_axis, std::vector<T>& sequence, std::size_t k)
{
    auto const write = [&](T& item) {
        auto const part = output_view(
            "xloom_onnx::split_to_sequence_into", item, drops_axis ? xloom::drop_axis(dims, axis) : dims);
        take_part<X>(from, begin, tensor_view<X>(part.data(), dims), axis);
    };
    if constexpr (std::is_same_v<T, bool>) {
        bool item = false;
        write(item);
        sequence[k] = item;
    } else {
        write(sequence[k]);
    }
}

/// Splits x along an axis into parts of a length, the last of which may be shorter. Dropping the axis
/// requires the length 1.
template <operand X, class T>
void split_evenly(
    X const& x, std::int64_t length, std::vector<T>& sequence, std::int64_t given_axis, bool drops_axis)
{
    static constexpr std::string_view op = "xloom_onnx::split_to_sequence_into";
    const_view_of<X> const from(x);
    std::size_t const axis = checked_axis(op, given_axis, from.rank()), whole = from.shape()[axis];
    if (length <= 0)
        xloom::kernels::fail<xloom::option_error>(
            op, ": the length of a part must be positive, but it is ", length);
    std::size_t const most = std::cmp_greater(length, whole) ? (std::max)(whole, std::size_t{1})
                                                             : static_cast<std::size_t>(length);
    sequence.resize(whole / most + (whole % most != 0 ? 1 : 0));
    for (std::size_t k = 0; k < sequence.size(); ++k) {
        xloom::shape dims = from.shape();
        dims[axis] = (std::min)(most, whole - k * most);
        write_part<item_t<X>>(from, k * most, dims, axis, drops_axis, sequence, k);
    }
}

} // namespace detail

/// Splits x along an axis into parts of one length, the last of which may be shorter.
///
/// Errors    option_error: no axis, or a length that is not positive. shape_error: parts of another rank.
template <operand X, class T>
void split_to_sequence_into(
    X const& x, std::int64_t length, std::vector<T>& sequence, split_to_sequence_options const& options = {})
{
    detail::split_evenly(x, length, sequence, options.axis, false);
}

/// Splits x along an axis into its slices.
///
/// Errors    option_error: no axis. shape_error: parts of another rank.
template <operand X, class T>
void split_to_sequence_into(
    X const& x, std::vector<T>& sequence, split_to_sequence_options const& options = {})
{
    detail::split_evenly(x, 1, sequence, options.axis, !options.keepdims);
}

/// Splits x along an axis into parts of the given lengths: a tensor of rank 1.
///
/// Errors    shape_error: they do not sum up to that of the axis. option_error: no axis.
template <operand X, operand Lengths, class T>
    requires(!detail::scalar<Lengths>)
void split_to_sequence_into(X const& x, Lengths const& lengths, std::vector<T>& sequence,
    split_to_sequence_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::split_to_sequence_into";
    const_view_of<X> const from(x);
    const_view_of<Lengths> const counts(lengths);
    std::size_t const axis = checked_axis(op, options.axis, from.rank());
    check_split(from.shape()[axis], counts);
    sequence.resize(counts.size());
    std::size_t begin = 0;
    for (std::size_t k = 0; k < sequence.size(); ++k) {
        xloom::shape dims = from.shape();
        dims[axis] = static_cast<std::size_t>(counts[k]);
        detail::write_part<item_t<X>>(from, begin, dims, axis, false, sequence, k);
        begin += dims[axis];
    }
}

/// Returns what an optional holds.
///
/// Errors    option_error: it is empty.
template <class T>
T const& optional_get_element(std::optional<T> const& optional)
{
    if (!optional)
        xloom::kernels::fail<xloom::option_error>("xloom_onnx: an empty optional has no element");
    return *optional;
}

} // namespace xloom_onnx
