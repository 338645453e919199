#pragma once
// The common parts of the calls of recurrent operators: outputs and the runner.

#include <xloom/detail/recurrent/batch_run.hpp>
#include <xloom/detail/recurrent/output_checks.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>
#include <xloom/detail/recurrent/small_row.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class Item>
xt::xtensor<Item, 4> make_output(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return enable_tensor<xt::xtensor<Item, 4>>::make(output_shape(sizes, batch, layout));
}

template <class Item>
xt::xtensor<Item, 3> make_state(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return enable_tensor<xt::xtensor<Item, 3>>::make(state_shape(sizes, batch, layout));
}

template <class Item, class Weights, class Policy>
recurrent_runner<Item> make_runner(Weights const& weights, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::size_t const products = detail::parameters_of(weights, 0).products();
    return {operands, row_groups(policy, operands.widths, operands.sizes, products), workspace};
}

template <class Item, class Weights, class States, class Policy>
void run_recurrent(Weights const& weights, States const& states, tensor_ref<Item const> const& X,
    lengths_ref const& sequence_lens, tensor_ref<Item> const& Y, batch_sizes const& batch,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    batch_operands<Item> const operands{batch, weights.sizes(), weights.direction(), {X, weights.layout()},
        {Y, weights.layout()}, &sequence_lens};
    if constexpr (std::is_same_v<compute_t<Item>, Item>)
        if (prefers_small_steps(weights, operands))
            return run_small_row(weights, states, operands);
    make_runner(weights, operands, workspace, policy)(states, policy);
}

/// Returns a workspace for batches of up to the given sizes.
template <class Item, class Weights, class States, class Policy>
recurrent_workspace<Item> reserved_workspace(std::string_view op, Weights const& weights,
    States const& states, batch_sizes const& batch, Policy const& policy)
{
    check_batch_sizes(op, weights.sizes(), batch);
    recurrent_workspace<Item> workspace;
    make_runner(weights, batch_operands<Item>{batch, weights.sizes(), weights.direction(), {}, {}, nullptr},
        workspace, policy)
        .reserve_all(states);
    return workspace;
}

} // namespace xloom::inline XLOOM_ABI::detail
