#pragma once
// The derivative of ScatterND by data and updates, with every reduction.

#include <optional>
#include <utility>

#include <xloom/detail/check/indexed_vjp.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter_vjp.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

/// The gradients of scatter_nd by its operands, each with the shape of its operand: tensors or numbers; of
/// scatter_nd_vjp_into references to them, of which {} omits one.
template <class Data, class Updates>
struct scatter_nd_gradients {
    Data data{};
    Updates updates{};
};

namespace detail {

/// The references by which scatter_nd_vjp_into writes gradients.
template <class Item>
using scatter_gradient_refs = scatter_nd_gradients<tensor_ref<Item>, tensor_ref<Item>>;

/// Checks all but the outputs, calls make_outputs(memory), which sets the memory of the outputs and returns
/// pointers to their items, and writes the gradients, or adds them.
template <bool IsAdded, class Data, class Indices, class Updates, class Ct, class Policy, class MakeOutputs>
void scatter_nd_vjp(std::string_view op, reduction kind, Data const& data, Indices const& indices,
    Updates const& updates, Ct const& ct, scatter_nd_vjp_options const& options, Policy const& policy,
    MakeOutputs const& make_outputs)
{
    using T = item_t<Data>;
    check_rank(op, "ct", detail::rank_of(ct));
    check_rank(op, "data", detail::rank_of(data));
    check_rank(op, "indices", detail::rank_of(indices));
    check_rank(op, "updates", detail::rank_of(updates));
    scatter_nd_vjp_memory memory{detail::memory_of(ct), detail::memory_of(data), detail::memory_of(indices),
        detail::memory_of(updates)};
    shape const& dims = memory.data.layout.dims;
    scatter_rules const rules = rules_of(options, kind);
    check_scatter_nd_vjp(op, memory.ct.layout.dims, dims, options);
    indexed_shape const indexed =
        check_scatter_nd(op, dims, memory.indices.layout.dims, memory.updates.layout.dims, rules);
    slice_index const index(op, dims, indices, indexed, rules.bounds);
    index.require_distinct(rules);
    std::optional<row_major_items<T>> update_items, old;
    if (depends_on_values(kind))
        update_items.emplace(updates);
    check_reduction<T, reduction>(op, rules);

    auto const [ct_data, ct_updates] = make_outputs(memory);
    row_major_items<T> const cotangents(ct);
    if (depends_on_values(kind) && options.include_self)
        old.emplace(data);
    bool const is_buffered = depends_on_values(kind);
    auto const output = [&](T* items, std::optional<memory_block> const& of) {
        return gradient_output<T>({items, of ? of->layout : strided_layout()}, IsAdded, is_buffered);
    };
    gradient_output<T> by_data = output(ct_data, memory.ct_data),
                       by_updates = output(ct_updates, memory.ct_updates);
    auto const run = [&]<class Store>(Store) {
        scatter_vjp_call<T, Store> const call{rules, index.in(row_major_layout(dims)).read, index.reader(),
            index.slices(), index.slice_size(), cotangents.data(), old ? old->data() : nullptr,
            update_items ? update_items->data() : nullptr, by_data.data(), by_updates.data()};
        detail::run_scatter_vjp(index, call, options.ties, policy);
    };
    bool const is_added_directly = IsAdded && !is_buffered;
    if constexpr (IsAdded)
        if (is_added_directly)
            run(kernel::add_gradient());
    if (!is_added_directly)
        run(kernel::write_gradient());
    by_data.finish(policy);
    by_updates.finish(policy);
}

/// Requires a reduction whose gradient is known: one of xloom's.
template <class Reduce>
struct known_gradient {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_built_in<Reduce>;
        static_assert(is_valid, "the reduction is one of xloom's, such as reduction::add; of a callable only "
                                "you know the gradient");
        return is_valid;
    }
};

/// The requirements on the types of a call.
template <class Reduce, class Data, class Indices, class Updates, class Ct, class Options, class... Env>
consteval bool is_valid_scatter_nd_vjp()
{
    return satisfied<options_and_policy<scatter_nd_vjp_options, Options, Env...>, readable<Ct, Data>,
        integer_indices<Indices>, has_gradient<Data>, cotangent_of<Data, Updates, Ct>,
        known_gradient<Reduce>>();
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

/// Checks the types of a call and runs it.
template <class Reduce, class Data, class Indices, class Updates, class Ct, class Options, class... Env>
auto scatter_nd_vjp_of(Reduce const& reduce, Data const& data, Indices const& indices, Updates const& updates,
    Ct const& ct, Options const& options, Env const&... env)
{
    using result_type = scatter_nd_gradients<owned_t<Data>, owned_t<Updates>>;
    if constexpr (!is_valid_scatter_nd_vjp<Reduce, Data, Indices, Updates, Ct, Options, Env...>()) {
        return result_type{data, updates}; // a value, so that one mistake gives one error
    } else {
        auto const [old, index_tensor, values, cotangent] =
            detail::evaluated_inputs(std::tie(data, indices, updates, ct));
        static constexpr std::string_view op = "xloom::scatter_nd_vjp";
        std::optional<result_type> result;
        detail::scatter_nd_vjp<false>(op, kind_of(reduce), old, index_tensor, values, cotangent,
            options_of<scatter_nd_vjp_options>(options), detail::policy_of(options, env...),
            [&](scatter_nd_vjp_memory& memory) {
                result.emplace(
                    result_type{detail::make_gradient<Data>(op, "ct_data", memory.data.layout.dims),
                        detail::make_gradient<Updates>(op, "ct_updates", memory.updates.layout.dims)});
                memory.ct_data = detail::memory_of(result->data);
                memory.ct_updates = detail::memory_of(result->updates);
                return std::pair(
                    detail::first_of_items(result->data), detail::first_of_items(result->updates));
            });
        return *std::move(result);
    }
}

/// Checks the types of a call that writes to outputs, and runs it.
template <class Reduce, class Data, class Indices, class Updates, class Ct, class Options, class... Env>
void scatter_nd_vjp_to(Reduce const& reduce, Data const& data, Indices const& indices, Updates const& updates,
    Ct const& ct, scatter_gradient_refs<first_item_t<Data>> const& gradients, Options const& options,
    Env const&... env)
{
    if constexpr (is_valid_scatter_nd_vjp<Reduce, Data, Indices, Updates, Ct, Options, Env...>()) {
        static constexpr std::string_view op = "xloom::scatter_nd_vjp_into";
        check_rank(op, "ct_data", gradients.data.rank());
        check_rank(op, "ct_updates", gradients.updates.rank());
        auto const [old, index_tensor, values, cotangent] =
            detail::evaluated_inputs(std::tie(data, indices, updates, ct));
        detail::scatter_nd_vjp<true>(op, kind_of(reduce), old, index_tensor, values, cotangent,
            options_of<scatter_nd_vjp_options>(options), detail::policy_of(options, env...),
            [&](scatter_nd_vjp_memory& memory) {
                if (gradients.data.is_given())
                    memory.ct_data = gradients.data.block();
                if (gradients.updates.is_given())
                    memory.ct_updates = gradients.updates.block();
                detail::check_scatter_nd_vjp_outputs(op, memory);
                return std::pair(gradients.data.data(), gradients.updates.data());
            });
    }
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
/// A slot without updates: s. With include_self = false the old value does not take part, and its gradient
/// is 0 where there are updates.
///
/// Shapes    data, indices and updates as for scatter_nd, ct as data. The results are ct_data as data and
///           ct_updates as updates. Any layout; ct, data and updates may be lazy expressions.
/// Types     ct, data and updates of one type: float, double, long double, their complex numbers, storage
///           floats other than float8_e8m0, or a user-defined scalar with +, * and / (max and min: <, !=),
///           whose T{} is zero. Storage floats are computed in float and rounded once, so that the gradient
///           is that of the reduction without rounding. Complex numbers are not conjugated: mul is
///           holomorphic, and its gradient ct times the derivative, as in JAX. Indices of any integer type.
/// Options   those of the scatter_nd that is differentiated: bounds (check), duplicates
///           (last), include_self (true), unique, sorted (false: promises). duplicates says which update
///           takes effect. With bounds::drop, dropped updates have the gradient 0. ties (even): max and min
///           divide s evenly among all values that equal the result; first: the first of them has all of s.
/// Reduce    before data: a reduction of xloom, reduction::add or reduce_add, as that of the scatter_nd.
/// NaN       With max and min, the values that equal a NaN are the NaN values. -0 equals 0.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Errors    before the first write: shape_error, option_error, index_error (up to four offending
///           positions and values), std::bad_alloc.
/// Order     mul: s * (product of the values before * product of the values after), the former from the
///           first on, the latter from the last on. Nothing is divided, so zeros are exact; 0 times infinity
///           is 0, for s = 0 too.
/// Cost      linear. add: a copy of ct and a gather. none: the same, and a bit per slice and thread. mean:
///           the same, and a count per slice. mul: two scatters; a number per item of data, for storage
///           floats also one per item of updates. max, min: two scatters and a gather; two items and a count
///           per item of data; with ties::first one item and a byte. Operands that are not row-major are
///           copied; the values of data and updates are read by mul, max and min only.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5}, ct = {10, 20, 30};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// auto const [dx, du] = xloom::scatter_nd_vjp(x, i, u, ct);
/// dx; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// auto const split = xloom::scatter_nd_vjp(xloom::reduction::max, x, i, u, ct);
/// split.data; // = [0, 6.66667, 30]
/// split.updates; // = [6.66667, 10, 6.66667]
/// ```
template <class Data, class Indices, class Updates, class Ct, class Options = scatter_nd_vjp_options,
    class... Env>
    requires detail::begins_with_data<Data, Options, scatter_nd_vjp_options>
auto scatter_nd_vjp(Data const& data, Indices const& indices, Updates const& updates, Ct const& ct,
    Options&& options = {}, Env&&... env)
{
    return detail::scatter_nd_vjp_of(reduce_none, data, indices, updates, ct, options, env...);
}

/// Runs scatter_nd_vjp for a scatter_nd with a reduction of xloom.
template <class Reduce, class Data, class Indices, class Updates, class Ct,
    class Options = scatter_nd_vjp_options, class... Env>
    requires(!detail::begins_with_data<Reduce, Ct, scatter_nd_vjp_options>)
auto scatter_nd_vjp(Reduce const& reduce, Data const& data, Indices const& indices, Updates const& updates,
    Ct const& ct, Options&& options = {}, Env&&... env)
{
    return detail::scatter_nd_vjp_of(reduce, data, indices, updates, ct, options, env...);
}

/// Adds the gradients of scatter_nd_vjp to the caller's, of any layout; {} omits one. Those of several calls
/// add up, so set them to zero before the first.
///
/// Errors    as scatter_nd_vjp, before the first write. shape_error: ct_data does not have data's shape, or
///           ct_updates not that of updates. overlap_error: a gradient shares memory with an operand or with
///           the other gradient.
/// Cost      as scatter_nd_vjp; gradients of mul, max and min are computed first and then added, those of
///           another layout than row-major in a copy.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// xt::xtensor<float, 1> const ct = {10, 20, 30};
/// xt::xtensor<float, 1> dx = {0, 0, 0}, du = {0, 0, 0};
/// xloom::scatter_nd_vjp_into(x, i, u, ct, {.data = dx, .updates = du});
/// dx; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// ```
template <class Data, class Indices, class Updates, class Ct, class Options = scatter_nd_vjp_options,
    class... Env>
void scatter_nd_vjp_into(Data const& data, Indices const& indices, Updates const& updates, Ct const& ct,
    std::type_identity_t<detail::scatter_gradient_refs<detail::first_item_t<Data>>> const& gradients,
    Options&& options = {}, Env&&... env)
{
    detail::scatter_nd_vjp_to(reduce_none, data, indices, updates, ct, gradients, options, env...);
}

/// Runs scatter_nd_vjp_into for a scatter_nd with a reduction of xloom.
template <class Reduce, class Data, class Indices, class Updates, class Ct,
    class Options = scatter_nd_vjp_options, class... Env>
    requires(!detail::is_operand<Reduce>)
void scatter_nd_vjp_into(Reduce const& reduce, Data const& data, Indices const& indices,
    Updates const& updates, Ct const& ct,
    std::type_identity_t<detail::scatter_gradient_refs<detail::first_item_t<Data>>> const& gradients,
    Options&& options = {}, Env&&... env)
{
    detail::scatter_nd_vjp_to(reduce, data, indices, updates, ct, gradients, options, env...);
}

} // namespace xloom::inline XLOOM_ABI
