#pragma once
// The engine of stacks of recurrent layers: layer by layer, or all layers at once, each behind the one below.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/progress.hpp>
#include <xloom/detail/recurrent/forward.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Family, class Item>
class stack_run;

/// The element type of packed weights.
template <class Weights>
struct item_of_weights;
template <class Family, class Item>
struct item_of_weights<recurrent_weights<Family, Item>> {
    using type = Item;
};

} // namespace detail

/// Reusable memory of the stacks of recurrent layers: the outputs of two layers, and workspaces of those that
/// run at once. It grows to the size that a call needs. One call may use it at a time.
template <class Item>
class stack_workspace {
public:
    stack_workspace() = default;
    /// Makes room for all calls of these layers, such as a std::vector of lstm_weights, with up to T steps, N
    /// rows and the policy's threads.
    ///
    /// Errors    shape_error, option_error: layers that do not fit, as lstm_stack. shape_error: sizes that
    ///           cannot be counted in bytes.
    template <class Layers, execution_policy Policy = serial_policy>
    explicit stack_workspace(Layers const& layers, batch_sizes const& batch, Policy const& policy = {});

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        std::size_t sum = (between_[0].capacity() + between_[1].capacity()) * sizeof(Item) +
                          layers_.capacity() * sizeof(recurrent_workspace<Item>);
        for (recurrent_workspace<Item> const& each : layers_)
            sum += each.bytes();
        return sum;
    }

private:
    template <class, class>
    friend class detail::stack_run;

    std::array<detail::aligned_vector<Item>, 2> between_{};
    std::vector<recurrent_workspace<Item>> layers_{};
};

template <class Layers, class... Policy>
stack_workspace(Layers const&, batch_sizes const&, Policy const&...)
    -> stack_workspace<typename detail::item_of_weights<typename Layers::value_type>::type>;

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The layers of a stack.
template <class Family, class Item>
using stack_layers = std::span<recurrent_weights<Family, Item> const>;

/// A layer that runs behind the one below it, if there is one, on another thread.
struct running_layer {
    progress* below;
    progress& own;

    void wait_for(std::size_t end)
    {
        if (below != nullptr)
            below->wait_for(end);
    }

    /// Returns the reference with which the layer runs, at most `steps` steps together.
    kernel::layer_ref ref(std::size_t steps)
    {
        return {steps, this,
            [](void* self, std::size_t end) { static_cast<running_layer*>(self)->wait_for(end); },
            [](void* self, std::size_t end) { static_cast<running_layer*>(self)->own.reach(end); }};
    }
};

/// A call of a stack, checked. Layer l reads the output of layer l - 1 from one of two buffers, and writes
/// its own to the other one; where the layers run at once, layer l + 1 overwrites only steps that layer l has
/// read.
template <class Family, class Item>
class stack_run {
    using states = recurrent_states<Family, Item>;

public:
    stack_run(tensor_ref<Item const> const& X, stack_layers<Family, Item> layers, batch_sizes const& batch,
        typename Family::template start<Item> const& start,
        typename Family::template outputs<Item> const& outputs, stack_workspace<Item>& workspace)
        : X_(X), layers_(layers), batch_(batch), start_(start), outputs_(outputs), workspace_(workspace)
    {
        recurrent_widths const& sizes = layers_[0].sizes();
        for (std::size_t l = 0; l + 1 < layers_.size() && l < workspace_.between_.size(); ++l)
            grow(workspace_.between_[l], batch_.T * batch_.N * sizes.D * sizes.K);
    }

    /// Runs the layers, several at once where that is worthwhile: as many as there are threads.
    template <class Policy>
    void operator()(Policy const& policy)
    {
        std::size_t const at_once = layers_at_once(policy), L = layers_.size();
        make_layers(at_once);
        std::vector<progress> done(at_once == 1 ? 0 : L);
        auto const for_each_group = [&](auto const& of_one, auto const& of_several) {
            for (std::size_t begin = 0; begin < L; begin += at_once)
                if (std::size_t const end = (std::min)(begin + at_once, L); end - begin == 1)
                    of_one(layers_[begin], states_of(begin), operands_of(begin));
                else
                    of_several(begin, end);
        };
        // All memory, before the first layer writes its states, and while no layer waits for another one.
        for_each_group(
            [&](auto const& layer, states const& of, batch_operands<Item> const& operands) {
                reserve_batch(layer, of, operands, workspace_.layers_[0], policy);
            },
            [&](std::size_t begin, std::size_t end) {
                for (std::size_t l = begin; l < end; ++l)
                    runner_of(l, begin, {.most_steps = steps_of(l)}).reserve(states_of(l));
            });
        for_each_group(
            [&](auto const& layer, states const& of, batch_operands<Item> const& operands) {
                run_batch(layer, of, operands, workspace_.layers_[0], policy);
            },
            [&](std::size_t begin, std::size_t end) { run_at_once(begin, end, done, policy_ref(policy)); });
    }

    /// Makes the workspace large enough for smaller batches too, of which other numbers of layers may run at
    /// once.
    template <class Policy>
    void reserve_all(Policy const& policy)
    {
        std::size_t const at_once = most_at_once(policy);
        make_layers(at_once);
        for (std::size_t l = 0; l < layers_.size(); ++l)
            make_runner(layers_[l], operands_of(l), workspace_.layers_[0], policy).reserve_all(states_of(l));
        for (std::size_t slot = 1; slot < at_once; ++slot) // layer l takes it if l - slot is the first to run
            for (std::size_t l = slot; l < layers_.size(); ++l)
                runner_of(l, l - slot, {}).reserve(states_of(l));
    }

private:
    void make_layers(std::size_t at_once)
    {
        if (workspace_.layers_.size() < at_once)
            workspace_.layers_.resize(at_once);
    }

    /// Returns the multiply-adds of a step of a row in all layers.
    std::size_t products() const
    {
        std::size_t sum = 0;
        for (auto const& layer : layers_)
            sum += detail::parameters_of(layer, 0).products();
        return sum;
    }

    /// Returns the largest number of layers that run at once, in this batch or in a smaller one.
    template <class Policy>
    std::size_t most_at_once(Policy const& policy) const
    {
        for (auto const& layer : layers_)
            if (layer.direction() != direction::forward)
                return 1;
        return (std::min)(
            detail::parts_for(policy, detail::products_of(batch_, products()), tuning::products_per_thread),
            layers_.size());
    }

    /// Returns how many layers run at once; 1 if each has all rows and threads to itself.
    template <class Policy>
    std::size_t layers_at_once(Policy const& policy) const
    {
        if constexpr (std::is_same_v<compute_t<Item>, Item>)
            for (std::size_t l = 0; l < layers_.size(); ++l)
                if (prefers_small_steps(layers_[l], operands_of(l)))
                    return 1;
        std::size_t const threads = most_at_once(policy);
        if (threads == 1 || batch_.T < tuning::min_blocks_per_layer * steps_of(0))
            return 1;
        return threads <= row_groups(policy, layers_[0].sizes(), batch_, products()) ? 1 : threads;
    }

    /// Returns the runner of a layer of those that run at once from layer `begin` on.
    recurrent_runner<Item> runner_of(std::size_t l, std::size_t begin, kernel::layer_ref const& layer) const
    {
        return {operands_of(l), 1, workspace_.layers_[l - begin], layer};
    }

    /// Runs layers [begin, end), each on a thread.
    void run_at_once(
        std::size_t begin, std::size_t end, std::vector<progress>& done, policy_ref const& policy)
    {
        std::atomic<std::size_t> next = begin; // so that no layer waits for one that nobody runs
        policy.for_each(end - begin, [&](std::size_t) {
            std::size_t const l = next++;
            running_layer layer{l == begin ? nullptr : &done[l - 1], done[l]};
            runner_of(l, begin, layer.ref(steps_of(l)))(states_of(l), serial);
            layer.wait_for(batch_.T);
            layer.own.reach(batch_.T);
        });
    }

    /// Returns how many steps a layer runs before it tells the next one: few, so that the threads begin and
    /// end together, but as many as are worth reading W and telling.
    std::size_t steps_of(std::size_t l) const
    {
        std::size_t const N = std::max<std::size_t>(batch_.N, 1),
                          products = saturating_mul(N, detail::parameters_of(layers_[l], 0).products());
        return (std::max)({batch_.T / tuning::blocks_per_layer, tuning::products_per_share / products,
            ceil_div(tuning::min_rows_per_product, N)});
    }

    batch_operands<Item> operands_of(std::size_t l) const
    {
        recurrent_widths const& sizes = layers_[l].sizes();
        auto const between = [&](std::size_t layer) { return workspace_.between_[layer % 2].data(); };
        batch_operands<Item> operands = detail::operands_of(layers_[l], batch_, X_, start_, outputs_);
        if (l != 0) // [N, T, D, K], as an input [N, T, D K]
            operands.X = {tensor_ref<Item const>(between(l - 1), {batch_.N, batch_.T, sizes.I}), 1};
        if (l + 1 != layers_.size()) {
            operands.Y = {tensor_ref<Item>(between(l), {batch_.N, batch_.T, sizes.D, sizes.K}), 1};
            operands.pads_Y = false; // layer l + 2 may write there at the same time
        }
        return operands;
    }

    states states_of(std::size_t l) const
    {
        return states(layers_[l], start_, outputs_).from_direction(l * layers_[l].sizes().D);
    }

    tensor_ref<Item const> const& X_;
    stack_layers<Family, Item> layers_;
    batch_sizes batch_;
    typename Family::template start<Item> const& start_;
    typename Family::template outputs<Item> const& outputs_;
    stack_workspace<Item>& workspace_;
};

/// Requires layers of one layout, number of directions and H, of which each but the first has I = D H.
template <class Family, class Item>
void check_layers(std::string_view op, stack_layers<Family, Item> layers)
{
    if (layers.empty())
        fail<shape_error>(op, ": there must be at least one layer, but layers is empty. Give weights.");
    recurrent_widths const& first = layers[0].sizes();
    for (std::size_t l = 1; l < layers.size(); ++l) {
        recurrent_widths const& sizes = layers[l].sizes();
        if (sizes.D != first.D || sizes.H != first.H || sizes.K != first.K || sizes.I != first.D * first.K)
            fail<shape_error>(op, ": a layer must have the D and H of the first one, D = ", first.D,
                " and H = ", first.H, first.projects ? concat(", its K = ", first.K) : "", ", and I = D ",
                first.projects ? "K" : "H", ", but layers[", l, "] has ", describe(sizes),
                ". Give weights of these sizes.");
        if (layers[l].layout() != layers[0].layout())
            fail<option_error>(op, ": all layers must have one layout, but that of layers[", l, "] is ",
                layers[l].layout(), ", and that of layers[0] is ", layers[0].layout(), ". Choose one.");
    }
}

/// Returns the widths of a layer with the directions of all, which those of the states of a stack are.
template <class Family, class Item>
recurrent_widths widths_of_states(stack_layers<Family, Item> layers)
{
    recurrent_widths states = layers[0].sizes();
    states.D *= layers.size();
    return states;
}

/// Returns the shapes of a stack's Y and of the states of all layers. `states` are the widths of a layer but
/// for D, which is L D.
inline recurrent_shapes shapes_of_stack(recurrent_widths const& layer, recurrent_widths const& states,
    batch_sizes const& batch, std::int64_t layout)
{
    recurrent_shapes all = shapes_of_outputs(states, batch, layout);
    all.Y = shapes_of_outputs(layer, batch, layout).Y;
    all.symbolic_c = layout == 0 ? "[L D, N, H]" : "[N, L D, H]";
    all.symbolic_h = !layer.projects ? all.symbolic_c : layout == 0 ? "[L D, N, K]" : "[N, L D, K]";
    return all;
}

/// The sizes of a checked stack, and the shapes that they give its states and outputs.
struct stack_sizes {
    batch_sizes batch;
    recurrent_widths const& layer; ///< but I, which is that of the first layer
    std::size_t layers;
    recurrent_shapes shapes;

    std::string describe() const { return concat("L = ", layers, ", ", detail::describe(layer, batch)); }
};

/// Checks the layers and inputs of a stack.
template <class Family, class Item>
stack_sizes check_stack(std::string_view op, tensor_ref<Item const> const& X,
    stack_layers<Family, Item> layers, typename Family::template start<Item> const& start,
    std::span<operand_memory const> inputs)
{
    check_layers<Family, Item>(op, layers);
    check_ranks(op, inputs);
    recurrent_widths const& first = layers[0].sizes();
    std::int64_t const layout = layers[0].layout();
    batch_sizes const batch = check_X(op, X.shape(), first, layout);
    recurrent_widths const states = widths_of_states(layers);
    check_rows(op, states, batch.N);
    stack_sizes const sizes{batch, first, layers.size(), shapes_of_stack(first, states, batch, layout)};
    check_states(op, sizes.shapes, shape_if_given(start.initial_h), shape_of_initial_c<Family>(start),
        [&] { return sizes.describe(); });
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return sizes;
}

/// Runs a stack. The environment is valid; a start in it is passed over.
template <class Family, class Item, class... Env>
void run_stack(tensor_ref<Item const> const& X, stack_layers<Family, Item> layers, batch_sizes const& batch,
    typename Family::template start<Item> const& start,
    typename Family::template outputs<Item> const& outputs, Env&... env)
{
    auto&& workspace = detail::workspace_or_new<stack_workspace<Item>>(env...);
    stack_run<Family, Item>(X, layers, batch, start, outputs, workspace)(detail::policy_of(env...));
}

/// Checks and runs a stack, and returns its outputs.
template <class Family, class Item, class Start, class... Env>
typename Family::template result<Item> run_stack_call(std::string_view op, tensor_ref<Item const> const& X,
    stack_layers<Family, Item> layers, Start&& start, Env&&... env)
{
    using start_type = typename Family::template start<Item>;
    if constexpr (satisfied<
                      options_policy_and_workspace<start_type, stack_workspace<Item>, Start, Env...>>()) {
        start_type const& from = detail::options_of<start_type>(start);
        stack_sizes const sizes =
            check_stack<Family, Item>(op, X, layers, from, named_inputs<Family, Item>(X, from));
        auto result = make_result<Family, Item>(sizes.shapes);
        run_stack<Family, Item>(X, layers, sizes.batch, from, refs_to<Family, Item>(result), start, env...);
        return result;
    } else {
        return {};
    }
}

/// Checks and runs a stack into the caller's outputs.
template <class Family, class Item, class... Env>
void run_stack_into(std::string_view op, tensor_ref<Item const> const& X, stack_layers<Family, Item> layers,
    typename Family::template start<Item> const& start,
    typename Family::template outputs<Item> const& outputs, Env&&... env)
{
    if constexpr (satisfied<policy_and_workspace<stack_workspace<Item>, Env...>>()) {
        auto const inputs = named_inputs<Family, Item>(X, start);
        stack_sizes const sizes = check_stack<Family, Item>(op, X, layers, start, inputs);
        check_call_outputs<Family, Item>(op, sizes, inputs, outputs);
        run_stack<Family, Item>(X, layers, sizes.batch, start, outputs, env...);
    }
}

/// Makes a workspace large enough for a stack with up to the steps and rows of a batch.
template <class Family, class Item, class Policy>
void reserve_stack(stack_workspace<Item>& workspace, stack_layers<Family, Item> layers,
    batch_sizes const& batch, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::stack_workspace";
    check_layers<Family, Item>(op, layers);
    check_batch_sizes(op, layers[0].sizes(), batch);
    check_rows(op, widths_of_states(layers), batch.N);
    tensor_ref<Item const> const X{};
    typename Family::template start<Item> const start{};
    typename Family::template outputs<Item> const outputs{};
    stack_run<Family, Item>(X, layers, batch, start, outputs, workspace).reserve_all(policy);
}

} // namespace xloom::inline XLOOM_ABI::detail

namespace xloom::inline XLOOM_ABI {

template <class Item>
template <class Layers, execution_policy Policy>
stack_workspace<Item>::stack_workspace(Layers const& layers, batch_sizes const& batch, Policy const& policy)
{
    detail::reserve_stack(*this, std::span<typename Layers::value_type const>(layers), batch, policy);
}

} // namespace xloom::inline XLOOM_ABI
