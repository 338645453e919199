#pragma once
// A batch of one row of few units, run by steps whose sums are in registers.

#include <array>
#include <type_traits>

#include <xloom/detail/kernel/small_cells.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The function that chooses a step of one row.
template <class Parameters>
struct small_step_functions {
    using item = typename Parameters::number;

    kernel::small_step<Parameters> (*choose)(Parameters const&) noexcept;

    static constexpr small_step_functions compiled() noexcept
    {
        return {&kernel::small_step_of<typename Parameters::number>};
    }
};

/// Returns the step of one row that the weights of direction d permit; nullptr: the general one. It needs
/// weights of the type that computes.
template <class Family, class Item>
auto small_step_of(recurrent_weights<Family, Item> const& weights, std::size_t d) noexcept
{
    auto const& p = detail::parameters_of(weights, d);
    using functions = small_step_functions<std::remove_cvref_t<decltype(p)>>;
    return weights.level().template functions<functions>().choose(p);
}

/// The states of a row of few units.
template <class T>
struct small_row {
    std::size_t units;
    T *first_h, *first_c;

    std::size_t H() const noexcept { return units; }
    T* h(std::size_t) const noexcept { return first_h; }
    T* c(std::size_t) const noexcept { return first_c; }
};

/// True if small steps can run a batch of one row, and take no longer than the general engine.
///
/// Why only weights that fit in L1: a small step reads all of them in one loop, and beyond L1 the products of
/// several steps at once, panel by panel, are faster.
template <class Item, class Weights>
bool prefers_small_steps(Weights const& weights, batch_operands<Item> const& operands)
{
    auto const& [D, I, H] = operands.widths;
    if (operands.sizes.N != 1)
        return false;
    for (std::size_t d = 0; d < D; ++d) {
        auto const& p = detail::parameters_of(weights, d);
        bool const is_worthwhile =
            operands.sizes.T == 1 || p.products() * sizeof(Item) <= tuning::l1_cache_size;
        if (detail::small_step_of(weights, d) == nullptr || !is_worthwhile ||
            (I != 1 && operands.sequence(d, 0).x.stride != 1))
            return false;
    }
    return true;
}

/// Runs a batch of one row. Requires prefers_small_steps(weights, operands).
template <class Item, class Weights, class States>
void run_small_row(Weights const& weights, States const& states, batch_operands<Item> const& operands)
{
    std::size_t const H = operands.widths.H;
    for (std::size_t d = 0; d < operands.widths.D; ++d) {
        auto const& p = detail::parameters_of(weights, d);
        auto const step = detail::small_step_of(weights, d);
        kernel::sequence<Item> const sequence = operands.sequence(d, 0);
        batch_part<Item> const part{d, d, &sequence, 1, 0};
        std::array<Item, kernel::max_small_units<Item>> h, c;
        small_row<Item> const row{H, h.data(), c.data()};
        states.start(part, row);
        for (std::size_t t = 0; t < sequence.length; ++t) {
            auto const at = static_cast<std::ptrdiff_t>(t);
            step(p, h.data(), c.data(), sequence.x.first + at * sequence.x_stride, nullptr);
            if (sequence.y.first != nullptr)
                kernel::copy_row<Item, Item>(
                    {h.data()}, H, {sequence.y.first + at * sequence.y_stride, sequence.y.stride});
        }
        states.finish(part, row);
        operands.Y.zero_fill(sequence.length, operands.sizes.T, d, 0, 0, H);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
