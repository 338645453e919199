#pragma once
// The passes of the recurrent operators that keep residuals, and the backward passes that read them. A Family
// is the operator, such as gru_family.

#include <algorithm>
#include <array>
#include <string_view>

#include <xloom/detail/recurrent/backward_run.hpp>
#include <xloom/detail/recurrent/forward.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The residuals of a Family's forward pass.
template <class Family, class Item>
using residuals_for = residuals_of<Item, typename Family::template attributes_type<compute_t<Item>>>;

/// The states of rows whose steps keep residuals.
template <class Family, class Item>
struct recorded_states : recurrent_states<Family, Item> {
    using T = compute_t<Item>;

    residuals_for<Family, Item>& residuals;
    std::size_t groups;

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        using rows = typename Family::template recorded_rows<T>;
        return rows(detail::parameters_of(this->weights, part.d), part.count,
            residuals.steps_to_write(part.d, part.group, groups), memory);
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        recurrent_states<Family, Item>::start(part, rows);
        std::size_t const h_width = kernel::whole_batches<T>(rows.K());
        for (std::size_t r = 0; r < part.count; ++r) {
            T* const kept = residuals.initial_to_write(part.d, part.group + r * groups);
            std::copy_n(rows.h(r), h_width, kept);
            if constexpr (Family::has_c)
                std::copy_n(rows.c(r), kernel::whole_batches<T>(rows.H()), kept + h_width);
        }
    }
};

/// Runs the forward pass, and keeps residuals.
template <class Family, class Item, class... Env>
void run_forward_into(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_weights<Family, Item> const& weights, typename Family::template start<Item> const& start,
    typename Family::template outputs<Item> const& outputs, residuals_for<Family, Item>& residuals,
    Env&&... env)
{
    if constexpr (satisfied<policy_and_workspace<recurrent_workspace<Item>, Env...>>()) {
        check_recorded_weights(op, weights);
        auto const inputs = named_inputs<Family, Item>(X, start);
        call_sizes const sizes = check_call<Family, Item>(op, X, weights, start, inputs);
        check_call_outputs<Family, Item>(op, sizes, inputs, outputs);
        batch_operands<Item> const operands = operands_of(weights, sizes.batch, X, start, outputs);
        residuals.start(weights, sizes.batch, [&](std::size_t n) { return operands.length(n); });
        auto&& workspace = detail::workspace_or_new<recurrent_workspace<Item>>(env...);
        auto const& policy = detail::policy_of(env...);
        auto runner = make_runner(weights, operands, workspace, policy);
        runner(recorded_states<Family, Item>{{weights, start, outputs}, residuals, runner.groups}, policy);
        residuals.finish(operands.X);
    }
}

/// Checks the operands of a backward pass.
template <class Family, class Item, class Weights, class Cotangents, class Gradients>
void check_vjp_operands(std::string_view op, tensor_ref<Item const> const& X, Weights const& weights,
    residuals_for<Family, Item> const& residuals, Cotangents const& cotangents, Gradients const& gradients)
{
    using requirement = output_requirement<Item>;
    auto const inputs = [&] {
        operand_memory const x = named("X", X), Y = named("ct_Y", cotangents.Y),
                             Y_h = named("ct_Y_h", cotangents.Y_h);
        if constexpr (Family::has_c)
            return std::array{x, Y, Y_h, named("ct_Y_c", cotangents.Y_c)};
        else
            return std::array{x, Y, Y_h};
    }();
    check_ranks(op, inputs);
    std::int64_t const layout = weights.layout();
    recurrent_widths const& sizes = weights.sizes();
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H, K = sizes.K,
                      rows = Family::template backward_rows<compute_t<Item>>::gates * H;
    batch_sizes const batch = check_X(op, X.shape(), sizes, layout);
    check_residuals(op, residuals, weights, batch, X);
    recurrent_shapes const of = shapes_of_outputs(sizes, batch, layout);
    shape const W{D, rows, I}, R{D, rows, K}, B{D, 2 * rows}, P{D, 3 * H}, projection{D, K, H};
    auto const describe_sizes = [&] { return describe(sizes, batch); };
    shape_requirement const ct_Y{"ct_Y", of.symbolic_Y, of.Y, shape_if_given(cotangents.Y)},
        ct_Y_h{"ct_Y_h", of.symbolic_h, of.h, shape_if_given(cotangents.Y_h)};
    auto const& [symbolic_W, symbolic_R, symbolic_B] = Family::symbolic_shapes;
    requirement const ct_X{"ct_X", layout == 0 ? "[T, N, I]" : "[N, T, I]", X.shape(), gradients.X},
        ct_W{"ct_W", symbolic_W, W, gradients.W},
        ct_R{"ct_R", sizes.projects ? "[D, 4H, K]" : symbolic_R, R, gradients.R},
        ct_B{"ct_B", symbolic_B, B, gradients.B},
        ct_initial_h{"ct_initial_h", of.symbolic_h, of.h, gradients.initial_h};
    if constexpr (Family::has_c) {
        check_shapes(op,
            std::array{ct_Y, ct_Y_h,
                shape_requirement{"ct_Y_c", of.symbolic_c, of.c, shape_if_given(cotangents.Y_c)}},
            describe_sizes);
        if (!sizes.projects && gradients.projection.is_given())
            fail<shape_error>(op, ": ct_projection must be omitted, because the weights have no projection, "
                                  "but it is given. Omit it.");
        check_outputs<Item>(op, describe_sizes,
            std::array{ct_X, ct_W, ct_R, ct_B, requirement{"ct_P", "[D, 3H]", P, gradients.P},
                requirement{"ct_projection", "[D, K, H]", projection, gradients.projection}, ct_initial_h,
                requirement{"ct_initial_c", of.symbolic_c, of.c, gradients.initial_c}},
            inputs);
    } else {
        check_shapes(op, std::array{ct_Y, ct_Y_h}, describe_sizes);
        check_outputs<Item>(op, describe_sizes, std::array{ct_X, ct_W, ct_R, ct_B, ct_initial_h}, inputs);
    }
}

/// Checks and runs a backward pass.
template <class Family, class Item, class Weights, class Cotangents, class Gradients, class... Env>
void run_vjp_into(std::string_view op, tensor_ref<Item const> const& X, Weights const& weights,
    residuals_for<Family, Item> const& residuals, Cotangents const& cotangents, Gradients const& gradients,
    Env&&... env)
{
    if constexpr (satisfied<policy_and_workspace<recurrent_workspace<Item>, Env...>>()) {
        using rows = typename Family::template backward_rows<compute_t<Item>>;
        check_trainable(op, weights);
        check_vjp_operands<Family, Item>(op, X, weights, residuals, cotangents, gradients);
        std::int64_t const layout = weights.layout();
        recurrent_widths const& sizes = weights.sizes();
        backward_operands<Item, rows::gradients> operands{residuals.batch(), sizes, weights.direction(),
            {X, layout}, {cotangents.Y, layout}, {gradients.X, layout}, gradients.B, {},
            {{{gradients.W, 0, sizes.I}, {gradients.R, 0, sizes.K}}}};
        state_cotangents<Item> states{{cotangents.Y_h, layout}, {}, {gradients.initial_h, layout}, {}};
        if constexpr (Family::has_c) {
            operands.ct_P = gradients.P;
            operands.weights[rows::gradient_of_projection] = {gradients.projection, 0, sizes.H};
            states.ct_Y_c = {cotangents.Y_c, layout};
            states.ct_initial_c = {gradients.initial_c, layout};
        }
        auto&& workspace = detail::workspace_or_new<recurrent_workspace<Item>>(env...);
        run_backward<backward_states<Item, rows>>(
            operands, states, weights, residuals, workspace, detail::policy_of(env...));
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
