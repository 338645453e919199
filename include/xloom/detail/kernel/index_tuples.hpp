#pragma once
// The index tuples of ScatterND and GatherND, and their offsets.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The result of a check of indices: one is out of range, none is negative, or any may be negative.
enum class index_signs : unsigned char { out_of_range, nonnegative, any };

/// `count` contiguous tuples, each of one index for each of some axes. A negative index counts from the end
/// of its axis.
template <std::integral Index>
struct index_tuples {
    Index const* first = nullptr;
    std::size_t count = 0;
    strided_layout axes{}; ///< the length and the stride of each axis; offsets have the unit of strides
    index_signs signs = index_signs::any;

    std::size_t width() const { return axes.dims.size(); }
};

// Single indices are converted without branches, so that compilers vectorise loops over them.

template <std::integral Index>
constexpr bool is_index(Index index, std::size_t length)
{
    return static_cast<std::uintmax_t>(index) + (index < Index{} ? length : 0) < length;
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
    using widest = std::conditional_t<std::is_signed_v<Index>, std::intmax_t, std::uintmax_t>;
    auto const end = static_cast<widest>(length);
    widest const from_front = static_cast<widest>(index) + (index < Index{} ? end : widest{});
    return static_cast<std::ptrdiff_t>((std::min<widest>)((std::max<widest>)(from_front, widest{}), end - 1));
}

namespace detail {

/// Returns what is known of `count` indices at a stride of Width, or of `width` if Width is 0.
template <std::size_t Width, std::integral Index>
index_signs signs_of(Index const* indices, std::size_t count, std::size_t width, std::size_t length)
{
    Index least = indices[0], largest = indices[0];
    for (std::size_t i = 0; i < count; ++i) {
        Index const index = indices[i * (Width == 0 ? width : Width)];
        least = index < least ? index : least;
        largest = index > largest ? index : largest;
    }
    if (!is_index(least, length) || !is_index(largest, length))
        return index_signs::out_of_range;
    return least < Index{} ? index_signs::any : index_signs::nonnegative;
}

} // namespace detail

/// Returns what is known of the indices of `count` contiguous tuples into axes of these lengths. Cost: one
/// pass over the indices for each axis.
template <std::integral Index>
index_signs signs_of(Index const* tuples, std::size_t count, shape const& lengths)
{
    std::size_t const width = lengths.size();
    index_signs found = index_signs::nonnegative;
    for (std::size_t axis = 0; axis < width && count != 0; ++axis) {
        Index const* const indices = tuples + axis;
        std::size_t const length = lengths[axis];
        index_signs const signs = width == 1   ? detail::signs_of<1>(indices, count, width, length)
                                  : width == 2 ? detail::signs_of<2>(indices, count, width, length)
                                               : detail::signs_of<0>(indices, count, width, length);
        if (signs == index_signs::out_of_range)
            return signs;
        found = signs == index_signs::any ? signs : found;
    }
    return found;
}

/// True if every index of `count` contiguous tuples is within its axis.
template <std::integral Index>
bool are_in_range(Index const* tuples, std::size_t count, shape const& lengths)
{
    return kernel::signs_of(tuples, count, lengths) != index_signs::out_of_range;
}

/// The offset of a dropped tuple.
inline constexpr std::ptrdiff_t dropped_offset = (std::numeric_limits<std::ptrdiff_t>::min)();

/// A function object that converts a tuple to its offset. Width is the number of indices of a tuple, 0 if it
/// is not known at compile time.
template <std::size_t Width, bounds Bounds = bounds::assume>
class tuple_offset {
public:
    explicit tuple_offset(strided_layout const& axes) : width_(axes.dims.size())
    {
        std::copy_n(axes.dims.begin(), width(), lengths_.begin());
        std::copy_n(axes.strides.begin(), width(), strides_.begin());
    }

    std::size_t width() const { return Width == 0 ? width_ : Width; }

    template <std::integral Index>
    std::ptrdiff_t operator()(Index const* tuple) const
    {
        std::ptrdiff_t offset = 0;
        bool is_inside = true;
        for (std::size_t axis = 0; axis < width(); ++axis) {
            std::size_t const length = lengths_[axis];
            offset += from_front(tuple[axis], length) * strides_[axis];
            if constexpr (Bounds == bounds::drop)
                is_inside = is_inside & is_index(tuple[axis], length);
        }
        return is_inside ? offset : dropped_offset;
    }

private:
    template <std::integral Index>
    static std::ptrdiff_t from_front(Index index, std::size_t length)
    {
        if constexpr (guarantees_in_range(Bounds))
            return wrap_index(index, length);
        else if constexpr (Bounds == bounds::clip)
            return clip_index(index, length);
        else // a dropped tuple's offset is not used, but must not overflow
            return is_index(index, length) ? wrap_index(index, length) : 0;
    }

    std::array<std::size_t, Width == 0 ? max_rank : Width> lengths_{};
    std::array<std::ptrdiff_t, Width == 0 ? max_rank : Width> strides_{};
    std::size_t width_;
};

/// Calls f with the tuple_offset for tuples of indices into `axes`. Widths 1 and 2, the most frequent, are
/// compile-time constants.
template <bounds Bounds, class F>
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

} // namespace xloom::inline XLOOM_ABI::kernel
