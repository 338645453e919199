#pragma once
// An output that is the gradient of weights: a sum of products, accumulated from block to block.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Columns [first_column, first_column + columns) of an output [D, rows, ..], the gradient of weights.
template <class Item>
struct weight_columns {
    tensor_ref<Item> to;
    std::size_t first_column = 0, columns = 0;
};

/// The gradient of weights in one direction. It is accumulated in place if the columns are whole batches of
/// the type that computes, else in the workspace.
template <class Item>
class weight_gradient {
    using T = compute_t<Item>;

public:
    weight_gradient() = default;
    weight_gradient(weight_columns<Item> const& from, std::size_t d, kernel::arena<T>& memory)
        : columns_(from.columns)
    {
        tensor_ref<Item> const& to = from.to;
        if (!to.is_given())
            return;
        is_given_ = true;
        rows_ = to.shape()[1];
        row_step_ = to.step(1);
        item_step_ = to.step(2);
        first_ = to.data() + static_cast<std::ptrdiff_t>(d) * to.step(0) +
                 static_cast<std::ptrdiff_t>(from.first_column) * item_step_;
        if constexpr (std::is_same_v<T, Item>)
            if (item_step_ == 1 && columns_ % kernel::batch_size<T> == 0 &&
                row_step_ >= static_cast<std::ptrdiff_t>(columns_)) {
                sums_ = {first_, static_cast<std::size_t>(row_step_)};
                is_in_place_ = true;
                return;
            }
        std::size_t const step = kernel::row_stride<T>(columns_);
        sums_ = {memory.take(rows_, step), step};
    }

    bool is_given() const { return is_given_; }
    std::size_t rows() const { return rows_; }
    kernel::row_span<T> sums() const { return sums_; }

    /// Writes rows [begin, end) of the gradient, zeros if nothing was added.
    void finish(std::size_t begin, std::size_t end, bool is_zero) const
    {
        if (!is_given_ || (is_in_place_ && !is_zero))
            return;
        for (std::size_t row = begin; row < end; ++row) {
            kernel::strided_row<Item> const to{
                first_ + static_cast<std::ptrdiff_t>(row) * row_step_, item_step_};
            if (is_zero)
                zero_fill(to, 0, columns_);
            else
                kernel::copy_row<T, Item>({sums_.first + row * sums_.stride}, columns_, to);
        }
    }

private:
    std::size_t rows_ = 0, columns_ = 0;
    Item* first_ = nullptr;
    std::ptrdiff_t row_step_ = 0, item_step_ = 0;
    kernel::row_span<T> sums_{nullptr, 0};
    bool is_given_ = false, is_in_place_ = false;
};

} // namespace xloom::inline XLOOM_ABI::detail
