#pragma once
// The engine of the backward passes of the operators with one state, GRU and RNN.

#include <algorithm>

#include <xloom/detail/recurrent/backward_run.hpp>
#include <xloom/detail/recurrent/single_state.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The state of the rows of a GRU or an RNN, whose steps keep residuals; Rows is their kernel.
template <class Item, class Rows, class Weights, class Residuals>
struct recorded_hidden_states : hidden_states<Item, Rows, Weights> {
    using T = compute_t<Item>;

    Residuals& residuals;
    std::size_t groups;

    template <class Part>
    Rows make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        return Rows(detail::parameters_of(this->weights, part.d), part.count,
            residuals.steps_to_write(part.d, part.group, groups), memory);
    }
    template <class Part>
    void start(Part const& part, Rows const& rows) const
    {
        hidden_states<Item, Rows, Weights>::start(part, rows);
        for (std::size_t r = 0; r < part.count; ++r)
            std::copy_n(rows.h(r), kernel::whole_batches<T>(rows.H()),
                residuals.initial_to_write(part.d, part.group + r * groups));
    }
};

/// Runs the forward pass of a GRU or an RNN, and keeps residuals.
template <class Rows, class Item, class Weights, class Start, class Outputs, class Residuals, class Policy>
void run_hidden_forward(std::string_view op, input_ref<Item> const& X, Weights const& weights,
    Start const& start, Outputs const& outputs, Residuals& residuals, recurrent_workspace<Item>& workspace,
    Policy const& policy)
{
    check_recorded_weights(op, weights);
    batch_sizes const batch = check_hidden_call<Item>(op, X, weights, start);
    check_hidden_outputs<Item>(op, weights, batch, X, start, outputs);
    std::int64_t const layout = weights.layout();
    batch_operands<Item> const operands{
        batch, weights.sizes(), weights.direction(), {X, layout}, {outputs.Y, layout}, &start.sequence_lens};
    residuals.start(weights, batch, [&](std::size_t n) { return operands.length(n); });
    auto runner = make_runner(weights, operands, workspace, policy);
    runner(
        recorded_hidden_states<Item, Rows, Weights, Residuals>{
            {weights, {start.initial_h, layout}, {outputs.Y_h, layout}}, residuals, runner.groups},
        policy);
    residuals.finish(operands.X);
}

/// Checks and runs the backward pass of a GRU or an RNN. The texts are the shapes of W, R and B.
template <class Cell, class Item, class Weights, class Residuals, class Cotangents, class Gradients,
    class Policy>
void run_hidden_backward(std::string_view op, std::array<std::string_view, 3> const& texts,
    input_ref<Item> const& X, Weights const& weights, Residuals const& residuals,
    Cotangents const& cotangents, Gradients const& gradients, recurrent_workspace<Item>& workspace,
    Policy const& policy)
{
    check_ranks(op, X, cotangents.Y, cotangents.Y_h);
    std::int64_t const layout = weights.layout();
    recurrent_widths const& sizes = weights.sizes();
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H, rows = Cell::gates * H;
    batch_sizes const batch = check_X(op, X.shape(), sizes, layout);
    check_residuals(op, residuals, weights, batch, X);
    shape const state = state_shape(sizes, batch, layout);
    auto const describe_sizes = [&] { return describe(sizes, batch); };
    check_shapes(op,
        std::array{shape_requirement{"ct_Y", output_letters(layout), output_shape(sizes, batch, layout),
                       shape_if_given(cotangents.Y)},
            shape_requirement{"ct_Y_h", state_letters(layout), state, shape_if_given(cotangents.Y_h)}},
        describe_sizes);
    check_outputs<Item>(op, describe_sizes,
        std::array{
            output_requirement<Item>{"ct_X", layout == 0 ? "[T, N, I]" : "[N, T, I]", X.shape(), gradients.X},
            output_requirement<Item>{"ct_W", texts[0], {D, rows, I}, gradients.W},
            output_requirement<Item>{"ct_R", texts[1], {D, rows, H}, gradients.R},
            output_requirement<Item>{"ct_B", texts[2], {D, 2 * rows}, gradients.B},
            output_requirement<Item>{
                "ct_initial_h", state_letters(layout), state, gradients.initial_h, "ct_Y_h"},
        },
        blocks_of(X, cotangents.Y, cotangents.Y_h));
    run_backward<backward_states<Item, Cell>>(
        {batch, sizes, weights.direction(), {X, layout}, {cotangents.Y, layout}, {gradients.X, layout},
            gradients.B, {}, {{{gradients.W, 0, I}, {gradients.R, 0, H}}}},
        {{cotangents.Y_h, layout}, {}, {gradients.initial_h, layout}, {}}, weights, residuals, workspace,
        policy);
}

} // namespace xloom::inline XLOOM_ABI::detail
