#pragma once
// The sequences of a parallel scan: one along the scanned axis for each index of the other axes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include <xloom/detail/core/layout.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The sequences of K operands of one shape. The axes other than the scanned one are merged where all
/// operands permit it; the last of them, whose stride in the last operand is the smallest, is that of the
/// neighbours, which a strip consists of.
template <std::size_t K>
class sequences {
public:
    using offsets = std::array<std::ptrdiff_t, K>;

    /// A reverse scan begins at the end of the axis.
    sequences(std::array<strided_layout, K> const& layouts, std::size_t axis, bool reverse)
        : length_(layouts[0].dims[axis])
    {
        for (std::size_t k = 0; k < K; ++k) {
            time_[k] = layouts[k].strides[axis];
            if (reverse && length_ != 0) {
                first_[k] = time_[k] * static_cast<std::ptrdiff_t>(length_ - 1);
                time_[k] = -time_[k];
            }
        }
        static_vector<std::size_t, max_rank> order;
        for (std::size_t other = 0; other < layouts[0].dims.size(); ++other)
            if (other != axis)
                order.push_back(other);
        auto const size_of_step = [&](std::size_t other) { return std::abs(layouts[K - 1].strides[other]); };
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { // stable_sort allocates
            return std::pair(size_of_step(b), a) < std::pair(size_of_step(a), b);
        });
        for (std::size_t const other : order) {
            offsets steps;
            for (std::size_t k = 0; k < K; ++k)
                steps[k] = layouts[k].strides[other];
            append(layouts[0].dims[other], steps);
        }
        if (dims_.empty())
            append_axis(1, offsets{});
    }

    /// The number of elements of each sequence.
    std::size_t length() const { return length_; }
    /// The number of sequences.
    std::size_t count() const { return element_count(dims_); }
    std::size_t neighbours() const { return dims_.back(); }
    /// The distance from one element of a sequence to the next one.
    offsets const& time() const { return time_; }
    /// The distance from a sequence to its neighbour.
    offsets const& beside() const { return steps_.back(); }

    /// Returns where sequence number i begins.
    offsets operator()(std::size_t i) const
    {
        offsets at = first_;
        for (std::size_t axis = dims_.size(); axis-- > 0; i /= dims_[axis])
            for (std::size_t k = 0; k < K; ++k)
                at[k] += static_cast<std::ptrdiff_t>(i % dims_[axis]) * steps_[axis][k];
        return at;
    }

private:
    void append(std::size_t dim, offsets const& steps)
    {
        if (dim == 1)
            return;
        bool continues = !dims_.empty();
        for (std::size_t k = 0; k < K && continues; ++k)
            continues = steps_.back()[k] == steps[k] * static_cast<std::ptrdiff_t>(dim);
        if (continues) {
            dims_.back() *= dim;
            steps_.back() = steps;
        } else {
            append_axis(dim, steps);
        }
    }
    void append_axis(std::size_t dim, offsets const& steps)
    {
        dims_.push_back(dim);
        steps_.push_back(steps);
    }

    std::size_t length_;
    offsets time_{}, first_{};
    shape dims_{};
    static_vector<offsets, max_rank> steps_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
