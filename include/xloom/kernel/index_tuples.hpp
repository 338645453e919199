#pragma once
// Tuples of indices, as ScatterND and GatherND take them, and the offsets that they stand for.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/core/bounds.hpp>
#include <xloom/core/layout.hpp>

namespace xloom::kernel {

/// `count` tuples, side by side, each of one index for each of some axes. A negative index counts from the end of its axis.
template <std::integral Index>
struct index_tuples {
    Index const* first = nullptr;
    std::size_t count = 0;
    strided_layout axes{};      ///< the length of each axis, and its step in whatever the offsets count
    std::size_t first_axis = 0; ///< of the tensor

    std::size_t width() const { return axes.dims.size(); }
};

template <std::integral Index>
constexpr bool is_index(Index index, std::size_t length)
{
    if constexpr (std::is_unsigned_v<Index>)
        return index < length;
    else
        return index < 0 ? static_cast<std::uintmax_t>(-(index + 1)) < length : static_cast<std::uintmax_t>(index) < length;
}

/// The index counted from the front. Requires is_index(index, length).
template <std::integral Index>
constexpr std::ptrdiff_t wrap_index(Index index, std::size_t length)
{
    auto const i = static_cast<std::ptrdiff_t>(index);
    return i < 0 ? i + static_cast<std::ptrdiff_t>(length) : i;
}

/// The nearest index that there is, counted from the front. Requires length > 0.
template <std::integral Index>
constexpr std::ptrdiff_t clip_index(Index index, std::size_t length)
{
    if (is_index(index, length))
        return wrap_index(index, length);
    bool const is_before = std::is_signed_v<Index> && index < Index{};
    return is_before ? 0 : static_cast<std::ptrdiff_t>(length) - 1;
}

namespace detail {

/// Is every Width-th of the indices on an axis of this length? Least and largest are all that needs to be looked at.
template <std::size_t Width, std::integral Index>
bool is_axis_in_range(Index const* indices, std::size_t count, std::size_t width, std::size_t length)
{
    Index least = indices[0], largest = indices[0];
    for (std::size_t i = 0; i < count; ++i) {
        Index const index = indices[i * (Width == 0 ? width : Width)];
        least = index < least ? index : least;
        largest = index > largest ? index : largest;
    }
    return is_index(least, length) && is_index(largest, length);
}

} // namespace detail

/// True if all indices lie on their axes. One pass over the indices for each axis.
template <std::integral Index>
bool are_in_range(index_tuples<Index> const& tuples)
{
    std::size_t const width = tuples.width();
    if (tuples.count == 0)
        return true;
    for (std::size_t axis = 0; axis < width; ++axis) {
        Index const* const indices = tuples.first + axis;
        std::size_t const length = tuples.axes.dims[axis];
        bool const is_inside = width == 1   ? detail::is_axis_in_range<1>(indices, tuples.count, width, length)
                               : width == 2 ? detail::is_axis_in_range<2>(indices, tuples.count, width, length)
                                            : detail::is_axis_in_range<0>(indices, tuples.count, width, length);
        if (!is_inside)
            return false;
    }
    return true;
}

/// The offset of a tuple that is left out.
inline constexpr std::ptrdiff_t dropped = std::numeric_limits<std::ptrdiff_t>::min();

/// Turns a tuple into its offset. Width is the number of indices of a tuple, 0 if it is not known at compile time.
template <std::size_t Width, bounds Bounds = bounds::assume>
class tuple_offset {
public:
    explicit tuple_offset(strided_layout const& axes) : width_(axes.dims.size())
    {
        std::copy_n(axes.dims.begin(), width(), lengths_.begin());
        std::copy_n(axes.steps.begin(), width(), steps_.begin());
    }

    std::size_t width() const { return Width == 0 ? width_ : Width; }

    template <std::integral Index>
    std::ptrdiff_t operator()(Index const* tuple) const
    {
        std::ptrdiff_t offset = 0;
        bool is_inside = true;
        for (std::size_t axis = 0; axis < width(); ++axis) {
            std::size_t const length = lengths_[axis];
            offset += (may_be_outside ? clip_index(tuple[axis], length) : wrap_index(tuple[axis], length)) * steps_[axis];
            is_inside = is_inside && (Bounds != bounds::drop || is_index(tuple[axis], length));
        }
        return is_inside ? offset : dropped;
    }

private:
    static constexpr bool may_be_outside = Bounds == bounds::clip || Bounds == bounds::drop;

    std::array<std::size_t, Width == 0 ? max_rank : Width> lengths_{};
    std::array<std::ptrdiff_t, Width == 0 ? max_rank : Width> steps_{};
    std::size_t width_;
};

/// Calls f(tuple_offset) with the one for tuples of this width: of 1 and 2 indices, which occur most, the width is known to the compiler.
template <bounds Bounds = bounds::assume, class F>
void with_tuple_offset(strided_layout const& axes, F const& f)
{
    switch (axes.dims.size()) {
    case 1:
        return f(tuple_offset<1, Bounds>(axes));
    case 2:
        return f(tuple_offset<2, Bounds>(axes));
    default:
        return f(tuple_offset<0, Bounds>(axes));
    }
}

} // namespace xloom::kernel
