#pragma once
// The step of one row of few units.

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

} // namespace xloom::inline XLOOM_ABI::detail
