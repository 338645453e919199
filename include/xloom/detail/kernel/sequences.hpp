#pragma once
// The time loop of the recurrent operators: a batch of sequences of any lengths, run through a cell.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiply.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A row of items at a stride of `stride`.
template <class Item>
struct strided_row {
    Item* first = nullptr;
    std::ptrdiff_t stride = 1;
};

/// Copies `count` items and converts them.
template <class From, class To>
void copy_row(strided_row<From const> from, std::size_t count, strided_row<To> to)
{
    if (from.stride != 1 || to.stride != 1)
        for (std::size_t i = 0; i < count; ++i)
            to.first[static_cast<std::ptrdiff_t>(i) * to.stride] =
                static_cast<To>(from.first[static_cast<std::ptrdiff_t>(i) * from.stride]);
    else if constexpr (std::is_same_v<From, To>)
        std::copy_n(from.first, count, to.first);
    else
        std::transform(
            from.first, from.first + count, to.first, [](From const& item) { return static_cast<To>(item); });
}

/// One sequence in the order of a direction: its first x and y, and their strides along time (negated in the
/// reverse direction).
template <class Item>
struct sequence {
    std::size_t row; ///< in the batch
    std::size_t length;
    strided_row<Item const> x;
    std::ptrdiff_t x_stride;
    strided_row<Item> y; ///< null: omitted
    std::ptrdiff_t y_stride;
};

/// Returns how many of the first `most` sequences are longer than t. Requires sequences sorted by descending
/// length.
template <class Item>
std::size_t count_longer(sequence<Item> const* sequences, std::size_t most, std::size_t t) noexcept
{
    while (most > 0 && sequences[most - 1].length <= t)
        --most;
    return most;
}

/// A layer of a stack whose layers run at once: a reference to what waits for the layer below, and tells the
/// layer above. By default there is no stack.
struct layer_ref {
    std::size_t most_steps = tuning::rows_per_product; ///< that are run together
    void* self = nullptr;
    void (*wait_for)(void* self, std::size_t end) = nullptr; ///< for the inputs of the steps before `end`
    void (*reach)(void* self, std::size_t end) = nullptr;    ///< the outputs of the steps before `end`
};

/// Memory for the inputs of steps that are multiplied together, at most `most_steps`, and for their sums.
template <class T>
struct step_buffers {
    std::size_t steps;
    T* x;
    T* sums;

    template <class Rows>
    step_buffers(Rows const& cell, std::size_t rows, std::size_t longest, arena<T>& memory,
        std::size_t most_steps = tuning::rows_per_product)
        : steps((std::min)({std::max<std::size_t>(longest, 1), most_steps,
              std::max<std::size_t>(tuning::rows_per_product / std::max<std::size_t>(rows, 1), 1)})),
          x(memory.take(most_together(rows, longest), cell.W().depth)),
          sums(memory.take(most_together(rows, longest), cell.sums_stride()))
    {}

private:
    /// Returns at least steps * rows, and no less than for fewer rows or steps: memory for a batch suffices
    /// for smaller ones.
    static std::size_t most_together(std::size_t rows, std::size_t longest)
    {
        return (std::min)(
            std::max<std::size_t>(longest, 1) * rows, (std::max)(tuning::rows_per_product, rows));
    }
};

/// Runs `count` sequences, sorted by descending length, whose states are the first rows of `cell`. The layer
/// above is not told of the last steps, which are done when their caller is.
template <class T, class Item, class Rows>
void run_sequences(Rows const& cell, sequence<Item> const* sequences, std::size_t count,
    step_buffers<T> const& buffers, layer_ref const& layer = {})
{
    std::size_t const I = cell.W().depth, stride = cell.sums_stride();
    std::size_t const longest = count == 0 ? 0 : sequences[0].length;
    std::size_t const K = cell.K();
    for (std::size_t begin = 0; begin < longest; begin += buffers.steps) {
        std::size_t const end = (std::min)(begin + buffers.steps, longest);
        if (layer.self != nullptr)
            layer.wait_for(layer.self, end);
        std::size_t rows = 0;
        for (std::size_t t = begin, active = count; t < end; ++t) {
            active = count_longer(sequences, active, t);
            for (std::size_t r = 0; r < active; ++r, ++rows) {
                auto const& [items, item_stride] = sequences[r].x;
                copy_row<Item, T>(
                    {items + static_cast<std::ptrdiff_t>(t) * sequences[r].x_stride, item_stride}, I,
                    {buffers.x + rows * I});
            }
        }
        cell.multiplication()(rows, {buffers.x, I}, cell.W(), {cell.bias(), 0}, {buffers.sums, stride});

        T* sums = buffers.sums;
        for (std::size_t t = begin, active = count; t < end; ++t) {
            active = count_longer(sequences, active, t);
            cell.step(active, count_longer(sequences, active, t + 1), t, sums);
            sums += active * stride;
            for (std::size_t r = 0; r < active; ++r)
                if (auto const& [items, item_stride] = sequences[r].y; items != nullptr)
                    copy_row<T, Item>({cell.h(r)}, K,
                        {items + static_cast<std::ptrdiff_t>(t) * sequences[r].y_stride, item_stride});
        }
        if (layer.self != nullptr && end != longest)
            layer.reach(layer.self, end);
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
