#pragma once
// The forward engine of the recurrent operators. A Family is the operator, such as gru_family.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>
#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>
#include <xloom/detail/recurrent/small_step.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The states of a row of few units.
template <class T>
struct small_row {
    std::size_t units;
    T *first_h, *first_c;

    std::size_t H() const noexcept { return units; }
    std::size_t K() const noexcept { return units; }
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
    std::size_t const D = operands.widths.D, I = operands.widths.I;
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
    subnormal_mode<raised_flags::dropped> const flushing(flush_bits);
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
        operands.pad(d, 0, sequence.length);
    }
}

/// The outputs, in tensors of their own, of a family whose only state is h.
template <class Item>
struct single_state_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// Returns the operands along time of a call of these weights, which refer to start.sequence_lens.
template <class Item, class Weights, class Start, class Outputs>
batch_operands<Item> operands_of(Weights const& weights, batch_sizes const& batch,
    tensor_ref<Item const> const& X, Start const& start, Outputs const& outputs)
{
    std::int64_t const layout = weights.layout();
    return {
        batch, weights.sizes(), weights.direction(), {X, layout}, {outputs.Y, layout}, start.sequence_lens};
}

template <class Item, class Weights, class Policy>
recurrent_runner<Item> make_runner(Weights const& weights, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::size_t const products = detail::parameters_of(weights, 0).products();
    return {operands, row_groups(policy, operands.widths, operands.sizes, products), workspace};
}

/// Runs a batch of any number of rows.
template <class Item, class Weights, class States, class Policy>
void run_batch(Weights const& weights, States const& states, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    if constexpr (std::is_same_v<compute_t<Item>, Item>)
        if (prefers_small_steps(weights, operands))
            return run_small_row(weights, states, operands);
    make_runner(weights, operands, workspace, policy)(states, policy);
}

/// Makes the workspace large enough for such a run.
template <class Item, class Weights, class States, class Policy>
void reserve_batch(Weights const& weights, States const& states, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    if constexpr (std::is_same_v<compute_t<Item>, Item>)
        if (prefers_small_steps(weights, operands))
            return;
    make_runner(weights, operands, workspace, policy).reserve(states);
}

/// The initial and final states of the rows: h, and c of a family that has it.
template <class Family, class Item>
struct recurrent_states {
    using T = compute_t<Item>;

    recurrent_weights<Family, Item> const& weights;
    state_rows<Item const> initial_h, initial_c;
    state_rows<Item> Y_h, Y_c;

    recurrent_states(recurrent_weights<Family, Item> const& w,
        typename Family::template start<Item> const& from, typename Family::template outputs<Item> const& to)
        : weights(w), initial_h(from.initial_h, w.layout()), Y_h(to.Y_h, w.layout())
    {
        if constexpr (Family::has_c) {
            initial_c = {from.initial_c, w.layout()};
            Y_c = {to.Y_c, w.layout()};
        }
    }

    /// Returns the states of the directions from d on.
    recurrent_states from_direction(std::size_t d) const
    {
        recurrent_states states = *this;
        states.initial_h = initial_h.from_direction(d);
        states.initial_c = initial_c.from_direction(d);
        states.Y_h = Y_h.from_direction(d);
        states.Y_c = Y_c.from_direction(d);
        return states;
    }

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        return typename Family::template rows<T>(detail::parameters_of(weights, part.d), part.count, memory);
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            load_state(initial_h, part.d, part.first[r].row, rows.K(), rows.h(r));
            if constexpr (Family::has_c)
                load_state(initial_c, part.d, part.first[r].row, rows.H(), rows.c(r));
        }
    }
    template <class Part, class Rows>
    void finish(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            store_state(rows.h(r), rows.K(), Y_h, part.d, part.first[r].row);
            if constexpr (Family::has_c)
                store_state(rows.c(r), rows.H(), Y_c, part.d, part.first[r].row);
        }
    }
};

/// Returns the operands of a call that are read, with their names.
template <class Family, class Item>
auto named_inputs(tensor_ref<Item const> const& X, typename Family::template start<Item> const& start)
{
    operand_memory const x = named("X", X), lengths = named("sequence_lens", start.sequence_lens),
                         h = named("initial_h", start.initial_h);
    if constexpr (Family::has_c)
        return std::array{x, lengths, h, named("initial_c", start.initial_c)};
    else
        return std::array{x, lengths, h};
}

/// Returns the shape of the initial c, if the family has it and it is given.
template <class Family, class Start>
shape_ref shape_of_initial_c(Start const& start)
{
    if constexpr (Family::has_c)
        return shape_if_given(start.initial_c);
    else
        return {};
}

/// The sizes of a checked call, and the shapes that they give its states and outputs.
struct call_sizes {
    recurrent_widths const& widths;
    batch_sizes batch;
    recurrent_shapes shapes;

    std::string describe() const { return detail::describe(widths, batch); }
};

/// Checks the inputs of a call, and returns its sizes.
template <class Family, class Item>
call_sizes check_call(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_weights<Family, Item> const& weights, typename Family::template start<Item> const& start,
    std::span<operand_memory const> inputs)
{
    check_ranks(op, inputs);
    recurrent_widths const& widths = weights.sizes();
    batch_sizes const batch = check_X(op, X.shape(), widths, weights.layout());
    call_sizes const sizes{widths, batch, shapes_of_outputs(widths, batch, weights.layout())};
    check_states(op, sizes.shapes, shape_if_given(start.initial_h), shape_of_initial_c<Family>(start),
        [&] { return sizes.describe(); });
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return sizes;
}

/// Checks the outputs of a call or a stack of such sizes.
template <class Family, class Item, class Sizes>
void check_call_outputs(std::string_view op, Sizes const& sizes, std::span<operand_memory const> inputs,
    typename Family::template outputs<Item> const& outputs)
{
    using requirement = output_requirement<Item>;
    recurrent_shapes const& shapes = sizes.shapes;
    auto const describe = [&] { return sizes.describe(); };
    requirement const Y{"Y", shapes.symbolic_Y, shapes.Y, outputs.Y},
        Y_h{"Y_h", shapes.symbolic_h, shapes.h, outputs.Y_h, "initial_h"};
    if constexpr (Family::has_c)
        check_outputs<Item>(op, describe,
            std::array{Y, Y_h, requirement{"Y_c", shapes.symbolic_c, shapes.c, outputs.Y_c, "initial_c"}},
            inputs);
    else
        check_outputs<Item>(op, describe, std::array{Y, Y_h}, inputs);
}

/// Returns the outputs of a call, not set.
template <class Family, class Item>
typename Family::template result<Item> make_result(recurrent_shapes const& shapes)
{
    typename Family::template result<Item> result{};
    result.Y = enable_tensor<xt::xtensor<Item, 4>>::make(shapes.Y);
    result.Y_h = enable_tensor<xt::xtensor<Item, 3>>::make(shapes.h);
    if constexpr (Family::has_c)
        result.Y_c = enable_tensor<xt::xtensor<Item, 3>>::make(shapes.c);
    return result;
}

/// Returns references to the outputs of a call.
template <class Family, class Item>
typename Family::template outputs<Item> refs_to(typename Family::template result<Item>& result)
{
    typename Family::template outputs<Item> outputs{.Y = result.Y, .Y_h = result.Y_h};
    if constexpr (Family::has_c)
        outputs.Y_c = result.Y_c;
    return outputs;
}

/// Runs an operator. The environment is valid; options in it are passed over.
template <class Family, class Item, class... Env>
void run_call(tensor_ref<Item const> const& X, recurrent_weights<Family, Item> const& weights,
    batch_sizes const& batch, typename Family::template start<Item> const& start,
    typename Family::template outputs<Item> const& outputs, Env&... env)
{
    auto&& workspace = detail::workspace_or_new<recurrent_workspace<Item>>(env...);
    run_batch<Item>(weights, recurrent_states<Family, Item>(weights, start, outputs),
        detail::operands_of(weights, batch, X, start, outputs), workspace, detail::policy_of(env...));
}

/// Checks and runs an operator, and returns its outputs. The environment is as that of run_call.
template <class Family, class Item, class... Env>
typename Family::template result<Item> run_recurrent_call(std::string_view op,
    tensor_ref<Item const> const& X, recurrent_weights<Family, Item> const& weights,
    typename Family::template start<Item> const& start, Env&... env)
{
    call_sizes const sizes =
        check_call<Family, Item>(op, X, weights, start, named_inputs<Family, Item>(X, start));
    auto result = make_result<Family, Item>(sizes.shapes);
    run_call<Family, Item>(X, weights, sizes.batch, start, refs_to<Family, Item>(result), env...);
    return result;
}

/// Runs an operator with packed weights.
template <class Family, class Item, class Start, class... Env>
typename Family::template result<Item> run_packed(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_weights<Family, Item> const& weights, Start&& start, Env&&... env)
{
    using start_type = typename Family::template start<Item>;
    if constexpr (satisfied<
                      options_policy_and_workspace<start_type, recurrent_workspace<Item>, Start, Env...>>())
        return run_recurrent_call<Family, Item>(
            op, X, weights, detail::options_of<start_type>(start), start, env...);
    else
        return {};
}

/// Runs an operator with unpacked weights, which it packs first.
template <class Family, class Item, class Options, class... Env>
typename Family::template result<Item> run_unpacked(std::string_view op, tensor_ref<Item const> const& X,
    typename Family::template constants<Item> const& constants,
    typename Family::template start<Item> const& start, Options&& options, Env&&... env)
{
    using options_type = typename Family::options;
    if constexpr (satisfied<recurrent_items<Item>, options_policy_and_workspace<options_type,
                                                       recurrent_workspace<Item>, Options, Env...>>())
        return run_recurrent_call<Family, Item>(op, X,
            detail::weights_for<Family, Item>(op, constants, detail::options_of<options_type>(options)),
            start, options, env...);
    else
        return {};
}

/// Runs an operator into the caller's outputs.
template <class Family, class Item, class... Env>
void run_recurrent_into(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_weights<Family, Item> const& weights, typename Family::template start<Item> const& start,
    typename Family::template outputs<Item> const& outputs, Env&&... env)
{
    if constexpr (satisfied<policy_and_workspace<recurrent_workspace<Item>, Env...>>()) {
        auto const inputs = named_inputs<Family, Item>(X, start);
        call_sizes const sizes = check_call<Family, Item>(op, X, weights, start, inputs);
        check_call_outputs<Family, Item>(op, sizes, inputs, outputs);
        run_call<Family, Item>(X, weights, sizes.batch, start, outputs, env...);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail

namespace xloom::inline XLOOM_ABI {

template <class Item>
template <class Family, execution_policy Policy>
recurrent_workspace<Item>::recurrent_workspace(
    detail::recurrent_weights<Family, Item> const& weights, batch_sizes const& batch, Policy const& policy)
{
    detail::check_batch_sizes("xloom::recurrent_workspace", weights.sizes(), batch);
    typename Family::template start<Item> const start{};
    typename Family::template outputs<Item> const outputs{};
    detail::make_runner(weights, detail::operands_of<Item>(weights, batch, {}, start, outputs), *this, policy)
        .reserve_all(detail::recurrent_states<Family, Item>(weights, start, outputs));
}

} // namespace xloom::inline XLOOM_ABI
