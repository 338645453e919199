#pragma once
// The engine of the operators with one state, GRU and RNN; Rows is their kernel.

#include <xloom/detail/recurrent/batch_call.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The initial and final state of the rows of a GRU or an RNN.
template <class Item, class Rows, class Weights>
struct hidden_states {

    Weights const& weights;
    state_rows<Item const> initial_h;
    state_rows<Item> Y_h;

    template <class Part>
    Rows make_rows(Part const& part, kernel::arena<compute_t<Item>>& memory) const
    {
        return Rows(detail::parameters_of(weights, part.d), part.count, memory);
    }
    template <class Part, class States>
    void start(Part const& part, States const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r)
            load_state(initial_h, part.d, part.first[r].row, rows.H(), rows.h(r));
    }
    template <class Part, class States>
    void finish(Part const& part, States const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r)
            store_state(rows.h(r), rows.H(), Y_h, part.d, part.first[r].row);
    }
};

template <class Item, class Weights, class Start>
batch_sizes check_hidden_call(
    std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), weights.layout());
    check_states(op, weights, batch, std::array{named_shape{"initial_h", shape_if_given(start.initial_h)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return batch;
}

template <class Item, class Weights, class Start, class Outputs>
void check_hidden_outputs(std::string_view op, Weights const& weights, batch_sizes const& batch,
    input_ref<Item> const& X, Start const& start, Outputs const& outputs)
{
    check_outputs<Item>(
        op, [&] { return describe(weights.sizes(), batch); },
        std::array{output_requirement<Item>{"Y", output_letters(weights.layout()),
                       output_shape(weights.sizes(), batch, weights.layout()), outputs.Y},
            output_requirement<Item>{"Y_h", state_letters(weights.layout()),
                state_shape(weights.sizes(), batch, weights.layout()), outputs.Y_h, "initial_h"}},
        blocks_of(X, start.sequence_lens, start.initial_h));
}

template <class Rows, class Item, class Weights, class Start, class Outputs, class Policy>
void run_hidden_into(input_ref<Item> const& X, Weights const& weights, batch_sizes const& batch,
    Start const& start, Outputs const& outputs, recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::int64_t const layout = weights.layout();
    hidden_states<Item, Rows, Weights> const states{
        weights, {start.initial_h, layout}, {outputs.Y_h, layout}};
    run_recurrent<Item>(weights, states, X, start.sequence_lens, outputs.Y, batch, workspace, policy);
}

/// Runs a GRU or an RNN, and returns Y and Y_h.
template <class Result, class Outputs, class Rows, class Item, class Weights, class Start, class Policy>
Result run_hidden(std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start,
    Policy const& policy)
{
    batch_sizes const batch = check_hidden_call<Item>(op, X, weights, start);
    Result result{make_output<Item>(weights.sizes(), batch, weights.layout()),
        make_state<Item>(weights.sizes(), batch, weights.layout())};
    recurrent_workspace<Item> workspace;
    run_hidden_into<Rows>(X, weights, batch, start, Outputs{result.Y, result.Y_h}, workspace, policy);
    return result;
}

} // namespace xloom::inline XLOOM_ABI::detail
