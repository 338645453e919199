#pragma once
// Gradients, which are added to: rows of them, and that of weights, a sum of products that is accumulated
// from block to block.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>
#include <xloom/detail/recurrent/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Adds `count` items to those of a gradient, in the type that computes.
template <class From, class Item>
void add_row(
    kernel::strided_row<From const> const& from, std::size_t count, kernel::strided_row<Item> const& to)
{
    using T = compute_t<Item>;
    for (std::size_t i = 0; i < count; ++i) {
        auto const at = static_cast<std::ptrdiff_t>(i);
        Item& sum = to.first[at * to.stride];
        sum = static_cast<Item>(static_cast<T>(sum) + static_cast<T>(from.first[at * from.stride]));
    }
}

/// Columns [first_column, first_column + columns) of an output [D, rows, ..], the gradient of weights.
template <class Item>
struct weight_columns {
    tensor_ref<Item> to;
    std::size_t first_column = 0, columns = 0;
};

/// The gradient of weights in one direction. It is accumulated in place if the columns are whole batches of
/// the type that computes, else in the workspace, from what it holds before the call.
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
        row_stride_ = to.stride(1);
        item_stride_ = to.stride(2);
        first_ = item_at(to, d, 0, from.first_column);
        if constexpr (std::is_same_v<T, Item>)
            if (item_stride_ == 1 && columns_ % kernel::batch_size<T> == 0 &&
                row_stride_ >= static_cast<std::ptrdiff_t>(columns_)) {
                sums_ = {first_, static_cast<std::size_t>(row_stride_)};
                is_in_place_ = true;
                return;
            }
        std::size_t const stride = kernel::row_stride<T>(columns_);
        sums_ = {memory.take(rows_, stride), stride};
    }

    bool is_given() const { return is_given_; }
    std::size_t rows() const { return rows_; }
    kernel::row_span<T> sums() const { return sums_; }

    /// Reads a part of the rows of the gradient, unless it is accumulated in place.
    void start(part_range const& part) const
    {
        if (!is_given_ || is_in_place_)
            return;
        for (std::size_t row = part.begin; row < part.end; ++row) {
            T* const sums = sums_.first + row * sums_.stride;
            std::fill_n(sums, sums_.stride, T(0));
            kernel::copy_row<Item, T>(from(row), columns_, {sums});
        }
    }
    /// Writes a part of the rows of the gradient, unless it is accumulated in place.
    void finish(part_range const& part) const
    {
        if (!is_given_ || is_in_place_)
            return;
        for (std::size_t row = part.begin; row < part.end; ++row)
            kernel::copy_row<T, Item>({sums_.first + row * sums_.stride}, columns_, to(row));
    }

private:
    kernel::strided_row<Item> to(std::size_t row) const
    {
        return {first_ + static_cast<std::ptrdiff_t>(row) * row_stride_, item_stride_};
    }
    kernel::strided_row<Item const> from(std::size_t row) const { return {to(row).first, item_stride_}; }

    std::size_t rows_ = 0, columns_ = 0;
    Item* first_ = nullptr;
    std::ptrdiff_t row_stride_ = 0, item_stride_ = 0;
    kernel::row_span<T> sums_{nullptr, 0};
    bool is_given_ = false, is_in_place_ = false;
};

} // namespace xloom::inline XLOOM_ABI::detail
