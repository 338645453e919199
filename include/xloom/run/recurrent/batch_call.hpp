#pragma once
// The common parts of the calls of recurrent operators: outputs, their checks, and the runner.

#include <array>

#include <xloom/run/recurrent/batch_run.hpp>
#include <xloom/run/recurrent/packed_weights.hpp>
#include <xloom/run/recurrent/small_row.hpp>

namespace xloom::detail {

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

/// Returns the memory block of each input.
template <class... Refs, class... Names>
std::array<named_block, sizeof...(Refs)> blocks_of(named_ref<Refs, Names> const&... inputs)
{
    return {named_block{inputs.name, block_if_given(inputs)}...};
}

/// An output, its required shape, and the name of the input that may be the same tensor.
template <class Item>
struct output_requirement {
    std::string_view operand;
    std::string_view symbolic_shape;
    shape const& expected;
    tensor_ref<Item> const& ref;
    std::string_view may_alias{};
};

/// Requires outputs of the expected shapes that overlap neither each other nor an input, except as may_alias
/// allows. `describe` returns the sizes that an error cites.
template <class Item, class Describe, std::size_t Outputs, std::size_t Inputs>
void check_outputs(std::string_view op, Describe const& describe,
    std::array<output_requirement<Item>, Outputs> const& outputs,
    std::array<named_block, Inputs> const& inputs)
{
    bool are_right = true;
    for (output_requirement<Item> const& output : outputs) {
        check_rank(op, output.operand, output.ref.rank());
        are_right &= !output.ref.is_given() || output.ref.shape() == output.expected;
    }
    std::apply(
        [&](auto const&... output) {
            if (!are_right)
                check_shapes(op,
                    std::array{shape_requirement{output.operand, output.symbolic_shape, output.expected,
                        shape_if_given(output.ref)}...},
                    describe);
            check_apart(op,
                std::array{named_block{output.operand, block_if_given(output.ref), output.may_alias}...},
                inputs);
        },
        outputs);
}

template <class Item, class Weights, class Policy>
recurrent_runner<Item> make_runner(Weights const& weights, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::size_t const products = detail::parameters_of(weights, 0).products();
    return {operands, row_groups(policy, operands.widths, operands.sizes, products), workspace};
}

template <class Item, class Weights, class States, class Policy>
void run_recurrent(Weights const& weights, States const& states, input_ref<Item> const& X,
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

} // namespace xloom::detail
