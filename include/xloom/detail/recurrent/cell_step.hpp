#pragma once
// One step of a cell's rows, whose operands are contiguous.

#include <cstddef>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/sequences.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The rows of a cell, and memory for the inputs of a step and their sums.
template <class T, class Rows>
struct cell_scratch {
    Rows rows;
    T* x;
    T* sums;

    cell_scratch(Rows const& cell, std::size_t N, kernel::arena<T>& memory)
        : rows(cell), x(memory.take(N, rows.W().depth)), sums(memory.take(N, rows.sums_step()))
    {}
};

/// Performs a step of N rows: h [N, H], and c [N, H] of rows that have it, become the next states; h is also
/// written to y_t [N, H] if it is not null.
template <class T, class Rows, class Item>
void run_step(
    cell_scratch<T, Rows> const& scratch, std::size_t N, Item* h, Item* c, Item const* x_t, Item* y_t)
{
    constexpr bool has_c = requires { scratch.rows.c(0); };
    auto const& [rows, x, sums] = scratch;
    std::size_t const I = rows.W().depth, H = rows.H();
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<Item, T>({h + n * H}, H, {rows.h(n)});
        if constexpr (has_c)
            kernel::copy_row<Item, T>({c + n * H}, H, {rows.c(n)});
    }
    kernel::copy_row<Item, T>({x_t}, N * I, {x});
    kernel::multiply<T>(N, {x, I}, rows.W(), {rows.bias(), 0}, {sums, rows.sums_step()});
    rows.step(N, N, 0, sums);
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<T, Item>({rows.h(n)}, H, {h + n * H});
        if constexpr (has_c)
            kernel::copy_row<T, Item>({rows.c(n)}, H, {c + n * H});
        if (y_t != nullptr)
            kernel::copy_row<T, Item>({rows.h(n)}, H, {y_t + n * H});
    }
}

/// The functions of a step of N rows of a kernel that is constructed from parameters.
template <class Item, class Rows, class Parameters>
struct cell_functions {
    using item = Item;
    using T = compute_t<Item>;

    std::size_t (*size)(Parameters const&, std::size_t N); ///< of the memory that `step` takes
    void (*step)(Parameters const&, std::size_t N, T* memory, Item* h, Item* c, Item const* x_t, Item* y_t);

    static constexpr cell_functions compiled() noexcept { return {&size_of, &step_in}; }

private:
    static cell_scratch<T, Rows> take_memory(Parameters const& p, std::size_t N, kernel::arena<T>& memory)
    {
        Rows const rows(p, N, memory);
        return {rows, N, memory};
    }
    static std::size_t size_of(Parameters const& p, std::size_t N)
    {
        kernel::arena<T> size;
        take_memory(p, N, size);
        return size.used();
    }
    static void step_in(
        Parameters const& p, std::size_t N, T* numbers, Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        kernel::arena<T> memory(numbers);
        detail::run_step<T, Rows, Item>(take_memory(p, N, memory), N, h, c, x_t, y_t);
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
