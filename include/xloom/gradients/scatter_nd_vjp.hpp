#pragma once
// The derivative of ScatterND by data and updates, with every reduction.

#include <optional>
#include <utility>

#include <xloom/detail/check/scatter_nd_vjp.hpp>
#include <xloom/detail/indexed/scatter_vjp_run.hpp>
#include <xloom/detail/indexed/scatter_vjp_types.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

/// The gradients that scatter_nd_vjp returns, each with the shape of its operand.
template <class Data, class Updates>
struct scatter_nd_vjp_result {
    Data d_data;
    Updates d_updates;
};

/// The outputs of scatter_nd_vjp_into; {} omits one.
template <class Item>
struct scatter_nd_vjp_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::d_data> d_data{};
    detail::named_ref<tensor_ref<Item>, detail::names::d_updates> d_updates{};
};

namespace detail {

/// Checks all but the outputs, calls make_outputs(), which returns the memory of the outputs, and writes
/// them.
template <class Ct, class Data, class Indices, class Updates, class Policy, class MakeOutputs>
void scatter_nd_vjp(std::string_view op, Ct const& ct, Data const& data, Indices const& indices,
    Updates const& updates, scatter_nd_vjp_options const& options, Policy const& policy,
    MakeOutputs const& make_outputs)
{
    using T = item_t<Data>;
    check_rank(op, "ct", detail::rank_of(ct));
    check_rank(op, "data", detail::rank_of(data));
    check_rank(op, "indices", detail::rank_of(indices));
    check_rank(op, "updates", detail::rank_of(updates));
    scatter_nd_vjp_memory memory{detail::memory_of(ct), detail::memory_of(data), detail::memory_of(indices),
        detail::memory_of(updates)};
    check_scatter_nd_vjp(op, memory.ct.layout.dims, memory.data.layout.dims, options);
    scatter_vjp_call<Indices, Updates> const call(op, memory.data.layout.dims, indices, updates, options);
    check_reduction<T, reduction>(op, call.options());

    auto const [d_data, d_updates] = make_outputs(memory);
    row_major_items<Ct> const cotangents(ct);
    std::optional<row_major_items<Data>> old;
    if (depends_on_values(options.reduction) && options.include_self)
        old.emplace(data);
    row_major_output<T> data_gradient(d_data, memory.d_data ? memory.d_data->layout : strided_layout()),
        update_gradients(d_updates, memory.d_updates ? memory.d_updates->layout : strided_layout());
    detail::run_scatter_vjp(call,
        scatter_gradients<T>{cotangents.data(), old ? old->data() : nullptr, data_gradient.data(),
            update_gradients.data(), call.slice_size()},
        options.ties, policy);
    data_gradient.write_back();
    update_gradients.write_back();
}

/// Returns memory for the gradient by an operand of this type and shape: a container, or a number.
template <class X>
owned_t<X> make_gradient(std::string_view op, std::string_view name, shape const& dims)
{
    if constexpr (tensor<owned_t<X>>)
        return make_tensor<owned_t<X>>(op, name, dims);
    else
        return X{};
}

/// Returns a pointer to the items of a container, or to a number.
template <class X>
auto* gradient_items(X& value)
{
    if constexpr (tensor<X>)
        return enable_tensor<X>::data(value);
    else
        return std::addressof(value);
}

} // namespace detail

/// Returns the vector-Jacobian product of scatter_nd: the gradients by data and by updates, where ct is the
/// cotangent of scatter_nd's result. For each slot, an item of data, its values are the old one and the
/// updates of its slice, in the order of application, and s = ct of the slot:
///
///     reduction   gradient of the slot's old value               gradient of each of its updates
///     none        0                                               s if it takes effect, else 0
///     add         s                                               s
///     mean        s / n                                           s / n, for n values
///     mul         s * (product of the updates)                    s * (product of all other values)
///     max, min    as an update                                    s / n if it is one of the n values that
///                                                                 equal the result, else 0
///
/// A slot without updates: s. With include_self = false the old value is none of the values, and its gradient
/// is 0 where there are updates.
///
/// Shapes    data, indices and updates as for scatter_nd, ct as data. The results are d_data as data and
///           d_updates as updates. Any layout; ct, data and updates may be lazy expressions.
/// Types     ct, data and updates of one type: float, double, long double, their complex numbers, storage
///           floats other than float8_e8m0, or a user-defined scalar with +, * and / (max and min: <, !=),
///           whose T{} is zero. Storage floats are computed in float and rounded once, so that the gradient
///           is that of the reduction without rounding. Complex numbers are not conjugated: mul is
///           holomorphic, and its gradient ct times the derivative, as in JAX. Indices of any integer type.
/// Options   those of the scatter_nd that is differentiated: reduction (none), bounds (check), duplicates
///           (last), include_self (true), unique, sorted (false: promises). duplicates says which update
///           takes effect. With bounds::drop, dropped updates have the gradient 0. ties (even): max and min
///           divide s evenly among all values that equal the result; first: the first of them has all of s.
/// NaN       With max and min, the values that equal a NaN are the NaN values. -0 equals 0.
/// Policy    serial, or one with threads (tbb_policy): results are bitwise equal to those of serial.
/// Errors    before the first write: shape_error, option_error, index_error (all offending positions and
///           values), std::bad_alloc.
/// Order     mul: s * (product of the values before * product of the values after), the former from the
///           first on, the latter from the last on. Nothing is divided, so zeros are exact; 0 times a product
///           that is infinite is 0.
/// Cost      linear. add: a copy of ct and a gather. none: the same, and a bit per slice and thread. mean:
///           the same, and a count per slice. mul: two scatters; a number per item of data, for storage
///           floats also one per item of updates. max, min: two scatters and a gather; two items and a count
///           per item of data; with ties::first one item and a byte. Operands that are not row-major are
///           copied; the values of data and updates are read by mul, max and min only.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5}, ct = {10, 20, 30};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// auto const [dx, du] = xloom::scatter_nd_vjp(ct, x, i, u);
/// dx; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// auto const split = xloom::scatter_nd_vjp(ct, x, i, u, {.reduction = xloom::reduction::max});
/// split.d_data; // = [0, 6.66667, 30]
/// split.d_updates; // = [6.66667, 10, 6.66667]
/// ```
template <class Ct, class Data, class Indices, class Updates, class Policy = serial_policy>
auto scatter_nd_vjp(Ct const& ct, Data const& data, Indices const& indices, Updates const& updates,
    scatter_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    using result_type = scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>;
    if constexpr (!detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, Policy>()) {
        return result_type{data, updates}; // a value, so that one mistake gives one error
    } else {
        auto const [cotangent, old, index_tensor, values] =
            detail::evaluated_inputs(std::tie(ct, data, indices, updates));
        static constexpr std::string_view op = "xloom::scatter_nd_vjp";
        std::optional<result_type> result;
        detail::scatter_nd_vjp(op, cotangent, old, index_tensor, values, options, policy,
            [&](detail::scatter_nd_vjp_memory& memory) {
                result.emplace(result_type{detail::make_gradient<Data>(op, "d_data", memory.data.layout.dims),
                    detail::make_gradient<Updates>(op, "d_updates", memory.updates.layout.dims)});
                memory.d_data = detail::memory_of(result->d_data);
                memory.d_updates = detail::memory_of(result->d_updates);
                return std::pair(
                    detail::gradient_items(result->d_data), detail::gradient_items(result->d_updates));
            });
        return *std::move(result);
    }
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Data, class Indices, class Updates, execution_policy Policy>
auto scatter_nd_vjp(Ct const&, Data const& data, Indices const&, Updates const& updates, Policy const&,
    scatter_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, scatter_nd_vjp_options>());
    return scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>{data, updates};
}

/// Rejects a reduction as an argument.
template <class Ct, class Data, class Indices, class Updates, detail::reduction_argument Reduce,
    class Policy = serial_policy>
auto scatter_nd_vjp(Ct const&, Data const& data, Indices const&, Updates const& updates, Reduce const&,
    scatter_nd_vjp_options const& = {}, Policy const& = {})
{
    static_cast<void>(detail::has_reduction_argument<Reduce>());
    return scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>{data, updates};
}

/// Computes scatter_nd_vjp into the caller's outputs, of any layout; {} omits one. d_data may be the tensor
/// ct, which then is not copied.
///
/// Errors    as scatter_nd_vjp, before the first write. shape_error: d_data does not have data's shape, or
///           d_updates not that of updates. overlap_error: an output shares memory with an operand, other
///           than d_data with the whole of ct, or with the other output.
/// Cost      as scatter_nd_vjp; outputs that are not row-major are written through a buffer.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// xt::xtensor<float, 1> ct = {10, 20, 30}, du = u;
/// xloom::scatter_nd_vjp_into(ct, x, i, u, {.d_data = ct, .d_updates = du});
/// ct; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// ```
template <class Ct, class Data, class Indices, class Updates, class Policy = serial_policy>
void scatter_nd_vjp_into(Ct const& ct, Data const& data, Indices const& indices, Updates const& updates,
    std::type_identity_t<scatter_nd_vjp_outputs<detail::first_item_t<Ct>>> const& outputs,
    scatter_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, Policy>()) {
        static constexpr std::string_view op = "xloom::scatter_nd_vjp_into";
        detail::check_ranks(op, outputs.d_data, outputs.d_updates);
        auto const [cotangent, old, index_tensor, values] =
            detail::evaluated_inputs(std::tie(ct, data, indices, updates));
        detail::scatter_nd_vjp(op, cotangent, old, index_tensor, values, options, policy,
            [&](detail::scatter_nd_vjp_memory& memory) {
                if (outputs.d_data.is_given())
                    memory.d_data = outputs.d_data.block();
                if (outputs.d_updates.is_given())
                    memory.d_updates = outputs.d_updates.block();
                detail::check_scatter_nd_vjp_outputs(op, memory);
                return std::pair(outputs.d_data.data(), outputs.d_updates.data());
            });
    }
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Data, class Indices, class Updates, execution_policy Policy>
void scatter_nd_vjp_into(Ct const&, Data const&, Indices const&, Updates const&,
    std::type_identity_t<scatter_nd_vjp_outputs<detail::first_item_t<Ct>>> const&, Policy const&,
    scatter_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, scatter_nd_vjp_options>());
}

} // namespace xloom::inline XLOOM_ABI
