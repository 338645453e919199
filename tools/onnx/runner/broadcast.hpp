#pragma once
// NumPy's broadcasting, and iteration over tensors that are broadcast, transposed or sliced.

#include <array>
#include <initializer_list>

#include "value.hpp"

namespace runner {

/// Returns the common shape of both after broadcasting.
xloom::shape broadcast(xloom::shape const& a, xloom::shape const& b);

/// Returns the strides of a row-major tensor of shape `from` broadcast to shape `to`: 0 for a broadcast or
/// empty axis.
xloom::strides broadcast_steps(xloom::shape const& from, xloom::shape const& to);

/// An iteration over several operands in the row-major order of one shape, row by row: a row is the longest
/// run along which each operand has a constant stride. Strides and offsets count items.
///
///     for (rows walk(dims, {a_steps, b_steps}); !walk.done(); walk.next())
///         for (std::size_t i = 0; i < walk.length(); ++i)
///             *c++ = a[walk.offset(0) + i * walk.step(0)] + b[walk.offset(1) + i * walk.step(1)];
class rows {
public:
    static constexpr std::size_t most_operands = 3;

    rows(xloom::shape const& dims, std::initializer_list<xloom::strides> steps);

    bool done() const { return left_ == 0; }
    void next();

    std::size_t length() const { return row_.dim; }
    std::ptrdiff_t step(std::size_t operand) const { return row_.steps[operand]; }
    std::ptrdiff_t offset(std::size_t operand) const { return offsets_[operand]; }

private:
    struct axis {
        std::size_t dim = 1;
        std::array<std::ptrdiff_t, most_operands> steps{};
        std::size_t position = 0;
    };

    axis row_{};
    xloom::static_vector<axis, xloom::max_rank> outer_{};
    std::array<std::ptrdiff_t, most_operands> offsets_{};
    std::size_t left_ = 0;
};

} // namespace runner
