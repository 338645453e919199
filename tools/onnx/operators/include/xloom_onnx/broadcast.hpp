#pragma once
// NumPy's broadcasting, and iteration over operands that are broadcast or strided.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Broadcasts `dims` with another shape.
///
/// Errors    shape_error: dimensions that differ, none of which is 1.
inline void broadcast_with(xloom::shape& dims, xloom::shape const& other)
{
    if (other.size() > dims.size()) {
        xloom::shape const fewer = dims;
        dims = other;
        return broadcast_with(dims, fewer);
    }
    std::size_t const missing = dims.size() - other.size();
    for (std::size_t a = 0; a < other.size(); ++a) {
        std::size_t& dim = dims[missing + a];
        if (other[a] != dim && other[a] != 1) {
            if (dim != 1)
                xloom::kernels::fail<xloom::shape_error>(
                    "xloom_onnx: the shapes ", dims, " and ", other, " cannot be broadcast to one");
            dim = other[a];
        }
    }
}

/// Returns the common shape of all after broadcasting.
///
/// Errors    shape_error: dimensions that differ, none of which is 1.
template <class... Shapes>
xloom::shape broadcast_shape(xloom::shape const& first, Shapes const&... others)
{
    xloom::shape dims = first;
    (broadcast_with(dims, others), ...);
    return dims;
}

namespace detail {

/// Requires that an operand can be broadcast to x.
///
/// Errors    shape_error.
inline void require_broadcast(
    std::string_view op, char const* name, xloom::shape const& dims, xloom::shape const& x)
{
    if (dims.size() > x.size() || broadcast_shape(x, dims) != x)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": ", name, " of the shape ", dims, " cannot be broadcast to X of the shape ", x);
}

} // namespace detail

/// Returns the strides, in items, of a row-major tensor of shape `from` broadcast to shape `to`: 0 along a
/// broadcast or empty axis. Requires that it can be broadcast.
inline xloom::strides broadcast_strides(xloom::shape const& from, xloom::shape const& to)
{
    xloom::strides steps(to.size(), 0);
    if (xloom::element_count(from) == 0)
        return steps;
    std::size_t step = 1;
    for (std::size_t back = 1; back <= from.size(); ++back) {
        std::size_t const dim = from[from.size() - back];
        if (dim != 1)
            steps[to.size() - back] = static_cast<std::ptrdiff_t>(step);
        step *= dim;
    }
    return steps;
}

/// An iteration over several operands in the row-major order of one shape, row by row: a row is the longest
/// run along which each operand has a constant stride. Strides and offsets count items. Allocates nothing.
///
///     for (row_walk<2> walk(dims, {a_strides, b_strides}); !walk.done(); walk.next())
///         for (std::size_t i = 0; i < walk.length(); ++i)
///             *c++ = a[walk.offset(0) + i * walk.stride(0)] + b[walk.offset(1) + i * walk.stride(1)];
template <std::size_t Operands>
class row_walk {
public:
    row_walk(xloom::shape const& dims, std::array<xloom::strides, Operands> const& strides)
    {
        std::size_t const size = xloom::element_count(dims);
        if (size == 0)
            return;
        for (std::size_t a = 0; a < dims.size(); ++a) {
            if (dims[a] == 1)
                continue;
            axis next{dims[a], 0, {}};
            bool joins = depth_ != 0;
            for (std::size_t n = 0; n < Operands; ++n) {
                next.strides[n] = strides[n][a];
                joins = joins && axes_[depth_ - 1].strides[n] ==
                                     next.strides[n] * static_cast<std::ptrdiff_t>(next.dim);
            }
            if (joins) {
                next.dim *= axes_[depth_ - 1].dim;
                axes_[depth_ - 1] = next;
            } else {
                axes_[depth_++] = next;
            }
        }
        if (depth_ != 0)
            row_ = axes_[--depth_];
        left_ = size / row_.dim;
    }

    bool done() const noexcept { return left_ == 0; }
    void next() noexcept
    {
        --left_;
        for (std::size_t a = depth_; a-- > 0;) {
            axis& each = axes_[a];
            bool const wraps = ++each.position == each.dim;
            // At its end an axis returns to its beginning.
            std::ptrdiff_t const steps = wraps ? 1 - static_cast<std::ptrdiff_t>(each.dim) : 1;
            for (std::size_t n = 0; n < Operands; ++n)
                offsets_[n] += steps * each.strides[n];
            if (!wraps)
                return;
            each.position = 0;
        }
    }

    /// Returns the number of rows from this one on whose offsets differ by row_strides().
    std::size_t rows() const noexcept
    {
        return depth_ == 0 ? 1 : axes_[depth_ - 1].dim - axes_[depth_ - 1].position;
    }
    std::array<std::ptrdiff_t, Operands> row_strides() const noexcept
    {
        return depth_ == 0 ? std::array<std::ptrdiff_t, Operands>{} : axes_[depth_ - 1].strides;
    }
    /// Continues after those rows.
    void next_rows() noexcept
    {
        if (std::size_t const skipped = rows() - 1; skipped != 0) {
            axis& inner = axes_[depth_ - 1];
            inner.position += skipped;
            left_ -= skipped;
            for (std::size_t n = 0; n < Operands; ++n)
                offsets_[n] += static_cast<std::ptrdiff_t>(skipped) * inner.strides[n];
        }
        next();
    }

    std::size_t length() const noexcept { return row_.dim; }
    std::ptrdiff_t stride(std::size_t operand) const noexcept { return row_.strides[operand]; }
    std::ptrdiff_t offset(std::size_t operand) const noexcept { return offsets_[operand]; }
    std::array<std::ptrdiff_t, Operands> const& strides() const noexcept { return row_.strides; }

private:
    struct axis {
        std::size_t dim;
        std::size_t position;
        std::array<std::ptrdiff_t, Operands> strides;
    };

    axis row_{1, 0, {}};
    std::array<axis, xloom::max_rank> axes_;
    std::size_t depth_ = 0;
    std::array<std::ptrdiff_t, Operands> offsets_{};
    std::size_t left_ = 0;
};

} // namespace xloom_onnx
