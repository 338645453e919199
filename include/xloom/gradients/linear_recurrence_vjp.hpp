#pragma once
// The derivative of a linear recurrence: a linear recurrence in the opposite direction.

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/linear_recurrence_vjp_run.hpp>
#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>
#include <xloom/parallel/linear_recurrence.hpp>

namespace xloom::inline XLOOM_ABI {

/// The gradients of linear_recurrence by its operands: tensors, and a number by a number h0; of
/// linear_recurrence_vjp_into references to them, of which {} omits one.
template <class Tensor, class State>
struct linear_recurrence_gradients {
    Tensor a{};
    Tensor b{};
    State h0{};
};

namespace detail {

/// The references by which linear_recurrence_vjp_into writes gradients.
template <class Item>
using recurrence_gradient_refs = linear_recurrence_gradients<tensor_ref<Item>, tensor_or_number_ref<Item>>;

/// The requirements of the derivative of a linear recurrence.
template <class A, class B, class H0, class H, class CtH>
using recurrence_vjp_types =
    requirements<recurrence_types<A, B, H0>, with_an_axis<H, CtH>, one_element_type<A, H, CtH>>;

/// Checks the operands and computes the gradients: if `is_added`, those that are given are added to, else all
/// are written. Requires valid types and no lazy operands.
template <class A, class B, class H0, class H, class CtH, class Policy>
void run_linear_recurrence_vjp(std::string_view op, A const& a, B const& b, H0 const& h0, H const& h,
    CtH const& ct_h, recurrence_gradient_refs<item_t<A>> const& gradients, bool is_added,
    linear_recurrence_options const& options, Policy const& policy)
{
    detail::run_recurrence_vjp(detail::checked_recurrence_vjp(op, a, b, h0, h, ct_h, gradients, options.axis),
        is_added, options.reverse, policy_ref(policy));
}

} // namespace detail

/// Computes the vector-Jacobian product of linear_recurrence and adds it to the caller's gradients by a, b
/// and h0, where ct_h is the cotangent of h.
///
///     for t in reversed(range(T)):
///         ct[t] = ct_h[t] + a[t+1] * ct[t+1]     # 0 beyond the end
///         ct_b[t] += ct[t]
///         ct_a[t] += ct[t] * h[t-1]              # h[-1] = h0
///     ct_h0 += ct[0] * a[0]
///
/// Shapes    a, b, h0 as for linear_recurrence; h, its result, and ct_h as a. ct_a and ct_b as a, ct_h0 as
///           h0; for a number h0 a number, the sum over the sequences. Each may be omitted.
/// Types     those of linear_recurrence; products of user-defined scalars must commute. Complex numbers are
///           not conjugated, as in jax.vjp.
/// Options   axis (0), reverse (false): those of the recurrence.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Errors    before the first write: shape_error, overlap_error, std::bad_alloc.
/// Order     ct is linear_recurrence in the opposite direction; the products are rounded once, then added.
/// Cost      that recurrence, and a pass over h and over each gradient. Allocates a tensor of the shape of
///           a, and what linear_recurrence_into does.
/// Aliasing  b is not read. A number h0 is copied, and may be the variable of ct_h0. Any other overlap with a
///           gradient is an overlap_error.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const a = {2, 3}, b = {1, 1}, h = {11, 34}, ct_h = {0, 1};
/// xt::xtensor<double, 1> ct_a = {0, 0}, ct_b = {0, 0};
/// double ct_h0 = 0;
/// xloom::linear_recurrence_vjp_into(a, b, 5.0, h, ct_h, {.a = ct_a, .b = ct_b, .h0 = ct_h0});
/// ct_a; // = [15, 11]
/// ct_h0; // = 6
/// ```
template <class A, class B, class H0, class H, class CtH, class Item = detail::first_item_t<A>,
    class Options = linear_recurrence_options, class... Env>
void linear_recurrence_vjp_into(A const& a, B const& b, H0 const& h0, H const& h, CtH const& ct_h,
    std::type_identity_t<detail::recurrence_gradient_refs<Item>> const& gradients, Options&& options = {},
    Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<linear_recurrence_options, Options, Env...>,
                      detail::recurrence_vjp_types<A, B, H0, H, CtH>>()) {
        auto const [slopes, terms, states, cotangents] = detail::evaluated_inputs(std::tie(a, b, h, ct_h));
        decltype(auto) initial = detail::initial_state<Item>(h0);
        detail::run_linear_recurrence_vjp("xloom::linear_recurrence_vjp_into", slopes, terms, initial, states,
            cotangents, gradients, /*is_added*/ true, detail::options_of<linear_recurrence_options>(options),
            detail::policy_of(options, env...));
    }
}

/// Returns the gradients that linear_recurrence_vjp_into adds, in tensors of their own.
///
/// Errors    shape_error, std::bad_alloc.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const a = {2, 3}, b = {1, 1}, ct_h = {0, 1};
/// auto const h = xloom::linear_recurrence(a, b, 5.0); // h = {11, 34}
/// auto const [ct_a, ct_b, ct_h0] = xloom::linear_recurrence_vjp(a, b, 5.0, h, ct_h);
/// ct_a; // = [15, 11]
/// ct_b; // = [3, 1]
/// ct_h0; // = 6
/// ```
template <class A, class B, class H0, class H, class CtH, class Options = linear_recurrence_options,
    class... Env>
auto linear_recurrence_vjp(
    A const& a, B const& b, H0 const& h0, H const& h, CtH const& ct_h, Options&& options = {}, Env&&... env)
{
    using T = detail::item_t<A>;
    using state_type = std::conditional_t<tensor<H0> || detail::lazy<H0>, detail::owned_t<H0>, T>;
    linear_recurrence_gradients<detail::owned_t<A>, state_type> gradients{};
    if constexpr (detail::satisfied<detail::options_and_policy<linear_recurrence_options, Options, Env...>,
                      detail::recurrence_vjp_types<A, B, H0, H, CtH>>()) {
        static constexpr std::string_view op = "xloom::linear_recurrence_vjp";
        auto const [slopes, terms, states, cotangents] = detail::evaluated_inputs(std::tie(a, b, h, ct_h));
        decltype(auto) initial = detail::initial_state<T>(h0);
        detail::check_named_ranks(op, {"a", "h0"}, std::tie(slopes, initial));
        gradients.a = detail::make_tensor<detail::owned_t<A>>(op, "ct_a", detail::shape_of(slopes));
        gradients.b = detail::make_tensor<detail::owned_t<A>>(op, "ct_b", detail::shape_of(slopes));
        if constexpr (tensor<state_type>)
            gradients.h0 = detail::make_tensor<state_type>(op, "ct_h0", detail::shape_of(initial));
        detail::run_linear_recurrence_vjp(op, slopes, terms, initial, states, cotangents,
            {gradients.a, gradients.b, gradients.h0}, /*is_added*/ false,
            detail::options_of<linear_recurrence_options>(options), detail::policy_of(options, env...));
    }
    return gradients;
}

} // namespace xloom::inline XLOOM_ABI
