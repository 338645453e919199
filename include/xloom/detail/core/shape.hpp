#pragma once
// Shapes and axes: constexpr, without xtensor, and the strided layout of a tensor in memory. The names of
// operator and operands are parameters.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

/// The largest rank; a call with a tensor of a larger rank throws shape_error.
inline constexpr std::size_t max_rank = 16;

/// The largest number of inputs, or of outputs, of a scan; a call with more throws option_error.
inline constexpr std::size_t max_operands = 32;

/// The rank of a container whose rank is known at run time only.
inline constexpr std::size_t dynamic_rank = static_cast<std::size_t>(-1);

using shape = static_vector<std::size_t, max_rank>;
using strides = static_vector<std::ptrdiff_t, max_rank>;
using axes = option_list<std::int64_t, max_operands>;

namespace detail {

/// Requires rank <= max_rank. `i` is the operand's index if there are several of that name.
///
/// Errors    shape_error: over max_rank.
constexpr void check_rank(
    std::string_view op, std::string_view operand, std::size_t rank, std::optional<std::size_t> i = {})
{
    if (rank > max_rank)
        fail<shape_error>(op, ": a tensor may have at most ", max_rank, " axes (max_rank), but ", operand,
            i ? concat("[", *i, "]") : std::string(), " has ", rank, ". Merge some of them.");
}

} // namespace detail

/// True if `axis` is in [-rank, rank - 1]; negative axes count from the back.
constexpr bool is_axis(std::int64_t axis, std::size_t rank) noexcept
{
    auto const r = static_cast<std::int64_t>(rank);
    return -r <= axis && axis < r;
}

namespace detail {

/// Throws shape_error for axes that tensors do not have; `facts` name both.
template <class... Facts>
[[noreturn]] void fail_axis(std::string_view op, Facts const&... facts)
{
    fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but ", facts...,
        ". Name an axis that the tensor has.");
}

} // namespace detail

/// Returns the axis counted from the front. Requires is_axis(axis, rank).
constexpr std::size_t wrap_axis(std::int64_t axis, std::size_t rank) noexcept
{
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// Returns `dims` without `axis`: the shape of a slice.
template <class Dims>
constexpr Dims drop_axis(Dims dims, std::size_t axis)
{
    dims.erase(axis);
    return dims;
}
/// Why not erase from a copy here: the copy would be read in wide pieces right after erase wrote single
/// items, which stalls the processor for longer than all else takes.
template <class T, std::size_t Capacity>
constexpr static_vector<T, Capacity> drop_axis(static_vector<T, Capacity> const& dims, std::size_t axis)
{
    static_vector<T, Capacity> rest;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (i != axis)
            rest.push_back(dims[i]);
    return rest;
}

/// Returns `dims` with `dim` inserted at `axis`: the shape of stacked slices.
template <class Dims>
constexpr Dims insert_axis(Dims dims, std::size_t axis, typename Dims::value_type const& dim)
{
    dims.insert(axis, dim);
    return dims;
}

/// True if the numbers of elements and of bytes, and the strides in bytes, are representable in
/// std::ptrdiff_t. An empty tensor has strides as if its empty axes had length 1. Dims: shape, or a list of
/// dimensions.
template <class Dims = std::initializer_list<std::size_t>>
constexpr bool has_strides(Dims const& dims, std::size_t bytes_per_element = 1) noexcept
{
    std::size_t bytes = bytes_per_element;
    for (std::size_t const dim : dims)
        bytes = detail::saturating_mul(bytes, dim == 0 ? 1 : dim);
    return bytes <= static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)());
}

/// True if the numbers of elements and of bytes are representable in std::ptrdiff_t.
constexpr bool is_countable(shape const& dims, std::size_t bytes_per_element = 1) noexcept
{
    for (std::size_t const dim : dims)
        if (dim == 0)
            return true;
    return has_strides(dims, bytes_per_element);
}

/// Returns the number of elements; 1 for rank 0. Requires is_countable(dims).
constexpr std::size_t element_count(shape const& dims) noexcept
{
    for (std::size_t const dim : dims)
        if (dim == 0)
            return 0;
    std::size_t count = 1;
    for (std::size_t const dim : dims)
        count *= dim;
    return count;
}

/// Returns the index tuple of element `flat` in row-major order (NumPy's unravel_index). Requires flat <
/// element_count(dims).
constexpr shape unravel(std::size_t flat, shape const& dims)
{
    shape position(dims.size(), 0);
    for (std::size_t axis = dims.size(); axis-- > 0; flat /= dims[axis])
        position[axis] = flat % dims[axis];
    return position;
}

/// Returns the strides of a contiguous row-major tensor. Requires has_strides(dims).
constexpr strides row_major_strides(shape const& dims)
{
    strides result(dims.size(), 0);
    std::ptrdiff_t stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        result[axis] = stride;
        stride *= static_cast<std::ptrdiff_t>(dims[axis]);
    }
    return result;
}

namespace detail {

/// Requires that the size in bytes of a result, and its strides, are representable.
///
/// Errors    shape_error
constexpr void check_result_size(std::string_view op, std::string_view result, shape const& dims,
    std::size_t item_bytes, std::string_view remedy)
{
    if (!has_strides(dims, item_bytes))
        fail<shape_error>(op, ": the size of a result must fit in memory, but ", result,
            " would have the shape ", dims, ". ", remedy);
}

/// Requires that the size in bytes of an operand, which may be a view that repeats items, is representable.
/// Returns its shape. `i` is the operand's index if there are several of that name.
///
/// Errors    shape_error
constexpr shape const& check_operand_size(std::string_view op, std::string_view operand, shape const& dims,
    std::size_t item_bytes, std::optional<std::size_t> i = {})
{
    if (!is_countable(dims, item_bytes))
        fail<shape_error>(op, ": the size of an operand must fit in memory, but ", operand,
            i ? concat("[", *i, "]") : std::string(), " has the shape ", dims, ". Reduce a dimension.");
    return dims;
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// A shape and, for each axis, the stride in elements (any sign, 0 allowed).
struct strided_layout {
    shape dims{};
    xloom::strides strides{};
};

/// True if the elements are contiguous in row-major order.
constexpr bool is_row_major(strided_layout const& layout)
{
    std::size_t stride = 1; // wraps around: the other dimensions of an empty tensor may be of any size
    for (std::size_t axis = layout.dims.size(); axis-- > 0;) {
        if (layout.dims[axis] == 0)
            return true;
        if (layout.dims[axis] != 1 && static_cast<std::size_t>(layout.strides[axis]) != stride)
            return false;
        stride *= layout.dims[axis];
    }
    return true;
}

/// True if an axis of stride `outer` continues one of length `dim` and stride `inner`.
constexpr bool continues(std::ptrdiff_t outer, std::ptrdiff_t inner, std::size_t dim)
{
    return static_cast<std::size_t>(outer) == static_cast<std::size_t>(inner) * dim; // wraps around
}

/// Returns the layout without axes of length 1, and with adjacent axes of a common stride merged: the
/// elements have the same order and offsets.
constexpr strided_layout merge_axes(strided_layout const& layout)
{
    strided_layout merged;
    for (std::size_t axis = 0; axis < layout.dims.size(); ++axis) {
        std::size_t const dim = layout.dims[axis];
        std::ptrdiff_t const stride = layout.strides[axis];
        if (dim == 1)
            continue;
        if (!merged.dims.empty() && continues(merged.strides.back(), stride, dim)) {
            merged.dims.back() *= dim;
            merged.strides.back() = stride;
        } else {
            merged.dims.push_back(dim);
            merged.strides.push_back(stride);
        }
    }
    return merged;
}

/// Returns the layout of one slice across `axis`.
constexpr strided_layout drop_axis(strided_layout const& layout, std::size_t axis)
{
    return {drop_axis(layout.dims, axis), drop_axis(layout.strides, axis)};
}

} // namespace xloom::inline XLOOM_ABI::detail
