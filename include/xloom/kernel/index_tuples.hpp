#pragma once
// The index tuples of ScatterND and GatherND, and their offsets.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/core/bounds.hpp>
#include <xloom/core/layout.hpp>

namespace xloom::kernel {

/// `count` contiguous tuples, each of one index for each of some axes. A negative index counts from the end
/// of its axis.
template <std::integral Index>
struct index_tuples {
    Index const* first = nullptr;
    std::size_t count = 0;
    strided_layout axes{};      ///< the length and the stride of each axis; offsets have the unit of strides
    std::size_t first_axis = 0; ///< the axis of the tensor that the first index refers to
    bool has_negative = true;   ///< false: no index is negative, so none is tested

    std::size_t width() const { return axes.dims.size(); }
};

template <std::integral Index>
constexpr bool is_index(Index index, std::size_t length)
{
    if constexpr (std::is_unsigned_v<Index>)
        return index < length;
    else
        return index < 0 ? static_cast<std::uintmax_t>(-(index + 1)) < length
                         : static_cast<std::uintmax_t>(index) < length;
}

/// Returns the index counted from the front. Requires is_index(index, length).
template <std::integral Index>
constexpr std::ptrdiff_t wrap_index(Index index, std::size_t length)
{
    auto const i = static_cast<std::ptrdiff_t>(index);
    return i < 0 ? i + static_cast<std::ptrdiff_t>(length) : i;
}

/// Returns the nearest valid index, counted from the front. Requires length > 0.
template <std::integral Index>
constexpr std::ptrdiff_t clip_index(Index index, std::size_t length)
{
    if (is_index(index, length))
        return wrap_index(index, length);
    bool const is_before = std::is_signed_v<Index> && index < Index{};
    return is_before ? 0 : static_cast<std::ptrdiff_t>(length) - 1;
}

namespace detail {

template <std::integral Index>
struct index_range {
    Index least;
    Index largest;
};

/// Returns the range of `count` indices at a stride of Width, or of `width` if Width is 0.
template <std::size_t Width, std::integral Index>
index_range<Index> range_of(Index const* indices, std::size_t count, std::size_t width)
{
    Index least = indices[0], largest = indices[0];
    for (std::size_t i = 0; i < count; ++i) {
        Index const index = indices[i * (Width == 0 ? width : Width)];
        least = index < least ? index : least;
        largest = index > largest ? index : largest;
    }
    return {least, largest};
}

} // namespace detail

/// The properties of all indices of some tuples.
struct index_stats {
    bool in_range = true; ///< every index is within its axis
    bool has_negative = false;
};

/// Returns the properties of all indices. Cost: one pass over the indices for each axis.
template <std::integral Index>
index_stats find_index_stats(index_tuples<Index> const& tuples)
{
    index_stats found;
    if (tuples.count == 0)
        return found;
    std::size_t const width = tuples.width();
    for (std::size_t axis = 0; axis < width; ++axis) {
        Index const* const indices = tuples.first + axis;
        auto const [least, largest] = width == 1   ? detail::range_of<1>(indices, tuples.count, width)
                                      : width == 2 ? detail::range_of<2>(indices, tuples.count, width)
                                                   : detail::range_of<0>(indices, tuples.count, width);
        std::size_t const length = tuples.axes.dims[axis];
        found.in_range = found.in_range && is_index(least, length) && is_index(largest, length);
        found.has_negative = found.has_negative || least < Index{};
    }
    return found;
}

/// The offset of a dropped tuple.
inline constexpr std::ptrdiff_t dropped_offset = (std::numeric_limits<std::ptrdiff_t>::min)();

/// A function object that converts a tuple to its offset. Width is the number of indices of a tuple, 0 if it
/// is not known at compile time.
template <std::size_t Width, bounds Bounds = bounds::assume, bool MayBeNegative = true>
class tuple_offset {
public:
    explicit tuple_offset(strided_layout const& axes) : width_(axes.dims.size())
    {
        std::copy_n(axes.dims.begin(), width(), lengths_.begin());
        std::copy_n(axes.strides.begin(), width(), steps_.begin());
    }

    std::size_t width() const { return Width == 0 ? width_ : Width; }

    template <std::integral Index>
    std::ptrdiff_t operator()(Index const* tuple) const
    {
        std::ptrdiff_t offset = 0;
        bool is_inside = true;
        for (std::size_t axis = 0; axis < width(); ++axis) {
            std::size_t const length = lengths_[axis];
            offset += from_front(tuple[axis], length) * steps_[axis];
            is_inside = is_inside && (Bounds != bounds::drop || is_index(tuple[axis], length));
        }
        return is_inside ? offset : dropped_offset;
    }

private:
    template <std::integral Index>
    static std::ptrdiff_t from_front(Index index, std::size_t length)
    {
        if constexpr (!guarantees_in_range(Bounds))
            return clip_index(index, length);
        else if constexpr (MayBeNegative)
            return wrap_index(index, length);
        else
            return static_cast<std::ptrdiff_t>(index);
    }

    std::array<std::size_t, Width == 0 ? max_rank : Width> lengths_{};
    std::array<std::ptrdiff_t, Width == 0 ? max_rank : Width> steps_{};
    std::size_t width_;
};

/// Calls f with the tuple_offset for these tuples. Widths 1 and 2, the most frequent, are compile-time
/// constants, and so is, for width 1, that no index is negative.
template <bounds Bounds = bounds::assume, std::integral Index, class F>
void with_tuple_offset(index_tuples<Index> const& tuples, F const& f)
{
    switch (tuples.width()) {
    case 1:
        if constexpr (guarantees_in_range(Bounds))
            if (!tuples.has_negative)
                return f(tuple_offset<1, Bounds, false>(tuples.axes));
        return f(tuple_offset<1, Bounds>(tuples.axes));
    case 2:
        return f(tuple_offset<2, Bounds>(tuples.axes));
    default:
        return f(tuple_offset<0, Bounds>(tuples.axes));
    }
}

} // namespace xloom::kernel
