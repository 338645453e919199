#pragma once
// The GatherND operator: gathers the slices that indices name.

#include <utility>

#include <xloom/run/indexed/gather_call.hpp>

namespace xloom {

namespace detail {

/// A compile-time error of a gather_nd or gather_nd_into call.
enum class gather_nd_fault {
    none,
    data,
    indices_container,
    indices,
    rank,
    output,
    output_type,
    output_const,
    output_temporary
};

template <class Data, class Indices>
consteval gather_nd_fault find_gather_nd_fault()
{
    if constexpr (!tensor<Data> && !lazy<Data>)
        return gather_nd_fault::data;
    else if constexpr (!can_hold_indices<Indices>)
        return gather_nd_fault::indices_container;
    else
        return holds_indices<Indices> ? gather_nd_fault::none : gather_nd_fault::indices;
}

template <std::size_t Rank, class Data, class Indices>
consteval gather_nd_fault find_gather_nd_result_fault()
{
    constexpr gather_nd_fault fault = find_gather_nd_fault<Data, Indices>();
    if constexpr (fault != gather_nd_fault::none || Rank != dynamic_rank || expression<Data>)
        return fault;
    else
        return enable_tensor<Data>::rank == dynamic_rank ? gather_nd_fault::none : gather_nd_fault::rank;
}

template <class Data, class Indices, class Output>
consteval gather_nd_fault find_gather_nd_into_fault()
{
    constexpr gather_nd_fault fault = find_gather_nd_fault<Data, Indices>();
    if constexpr (fault != gather_nd_fault::none)
        return fault;
    else if constexpr (!tensor<Output>)
        return gather_nd_fault::output;
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Data>>)
        return gather_nd_fault::output_type;
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        return gather_nd_fault::output_const;
    else
        return outlives_call<Output> ? gather_nd_fault::none : gather_nd_fault::output_temporary;
}

/// The container of a gathered result: Data's family with this rank.
template <class Data, std::size_t Rank>
using gathered_t = typename enable_tensor<owned_t<Data>>::template rebind<Rank>;

/// Gathers into output, through a row-major copy if its layout is not row-major. Dropped slices keep their
/// values.
template <class Call, tensor Output, class Policy>
void gather_to(Call const& call, Output& output, Policy const& policy)
{
    strided_layout const layout = detail::layout_of(output);
    auto* const items = enable_tensor<Output>::data(output);
    if (is_row_major(layout))
        return call.run(items, policy);
    auto copy = call.may_leave_out()
                    ? pack_items<item_t<Output>>(items, layout)
                    : xt::xtensor<item_t<Output>, 1>::from_shape({element_count(layout.dims)});
    call.run(copy.data(), policy);
    unpack_items(copy, items, layout);
}

template <std::size_t Rank, class Data, class Indices, class Policy>
auto gather_nd(
    Data const& data, Indices const& indices, Policy const& policy, gather_nd_options const& options)
{
    constexpr gather_nd_fault fault = find_gather_nd_result_fault<Rank, Data, Indices>();
    static_assert(fault != gather_nd_fault::data, "xloom::gather_nd: data must be a tensor");
    static_assert(fault != gather_nd_fault::indices_container,
        "xloom::gather_nd: indices must be a tensor, and a std::vector is none; pass xt::adapt(indices, {n, "
        "k}) for n tuples of k");
    static_assert(fault != gather_nd_fault::indices, "xloom::gather_nd: indices must hold integers");
    static_assert(fault != gather_nd_fault::rank, "xloom::gather_nd: data is a container of your own with a "
                                                  "static rank, so name the output's: gather_nd<Rank>(...)");
    if constexpr (fault != gather_nd_fault::none) {
        return owned_t<Data>(data);
    } else {
        static constexpr std::string_view op = "xloom::gather_nd";
        using result_type = gathered_t<Data, Rank>;
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
        check_rank(op, "data", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        gather_call<bare<decltype(source)>, bare<decltype(index_tensor)>> const call(
            op, source, index_tensor, options);
        shape const& dims = call.output_shape();
        if (Rank != dynamic_rank && dims.size() != Rank)
            fail<shape_error>(op, ": the output must have the rank that was asked for, but its shape is ",
                dims, " and the rank asked for is ", Rank, ". Ask for ", dims.size(), ".");
        result_type result = enable_tensor<result_type>::make(dims);
        if (call.may_leave_out())
            std::fill_n(enable_tensor<result_type>::data(result), element_count(dims), item_t<Data>{});
        gather_to(call, result, policy);
        return result;
    }
}

template <class Data, class Indices, class Output, class Policy>
void gather_nd_into(Data const& data, Indices const& indices, Output&& output, Policy const& policy,
    gather_nd_options const& options)
{
    constexpr gather_nd_fault fault = find_gather_nd_into_fault<Data, Indices, Output>();
    static_assert(fault != gather_nd_fault::data, "xloom::gather_nd_into: data must be a tensor");
    static_assert(fault != gather_nd_fault::indices_container,
        "xloom::gather_nd_into: indices must be a tensor, and a std::vector is none; pass xt::adapt(indices, "
        "{n, k}) for n tuples of k");
    static_assert(fault != gather_nd_fault::indices, "xloom::gather_nd_into: indices must hold integers");
    static_assert(
        fault != gather_nd_fault::output, "xloom::gather_nd_into: output must be a tensor in memory");
    static_assert(
        fault != gather_nd_fault::output_type, "xloom::gather_nd_into: output must have data's element type");
    static_assert(fault != gather_nd_fault::output_const,
        "xloom::gather_nd_into: output is written, so it must not be const");
    static_assert(fault != gather_nd_fault::output_temporary,
        "xloom::gather_nd_into: output is written in place, so it must be a variable or a view of one");
    if constexpr (fault == gather_nd_fault::none) {
        static constexpr std::string_view op = "xloom::gather_nd_into";
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
        check_rank(op, "data", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        gather_call<bare<decltype(source)>, bare<decltype(index_tensor)>> const call(
            op, source, index_tensor, options);
        check_rank(op, "output", detail::rank_of(output));
        check_gather_output(op, detail::memory_of(output), call.output_shape(), detail::memory_of(source),
            detail::memory_of(index_tensor));
        gather_to(call, output, policy);
    }
}

} // namespace detail

/// Returns the slices of data that indices name.
///
///     for i in ndindex(indices.shape[:-1]):
///         output[i] = data[i[:b] + indices[i]]                    # b = batch_dims
///
/// Shapes    data [d0 .. d(r-1)], indices [i0 .. i(q-2), k], the first b axes of equal lengths; q, r >= 1, b
///           < min(q, r), b + k <= r. The output is indices.shape[:-1] ++ data.shape[b + k:]: an xt::xarray,
///           with gather_nd<Rank> an xt::xtensor of that rank; for your own container one of its family, with
///           gather_nd<Rank> if its rank is static. Any layout, lazy expressions too.
/// Types     data of any type, indices of any integer type. A negative index counts from the end of its axis.
/// Options   batch_dims (0). bounds (check); with drop, dropped slices are T{}.
/// Policy    serial, or one with threads (xloom/tbb.hpp).
/// Errors    shape_error, option_error, index_error (all offending positions and values).
/// Cost      indices read twice, the indexed slices read, the output written once; a copy of indices that are
///           not row-major.
/// Differs   from ONNX: k = 0 is valid, and gives a whole batch entry for each empty tuple.
/// Source    ONNX GatherND-11 to 13; infer_gather_nd has ONNX's own shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const data = {{1, 2}, {3, 4}};
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xloom::gather_nd(data, rows); // = [[3, 4], [1, 2], [3, 4]]
/// xloom::gather_nd<1>(data, xt::xtensor<int, 2>{{0, 1}, {1, 0}}); // = [2, 3]
/// ```
template <std::size_t Rank = dynamic_rank, class Data, class Indices>
auto gather_nd(Data const& data, Indices const& indices, gather_nd_options const& options = {})
{
    return detail::gather_nd<Rank>(data, indices, serial, options);
}

/// Runs gather_nd on the threads of a policy.
template <std::size_t Rank = dynamic_rank, class Data, class Indices, execution_policy Policy>
auto gather_nd(
    Data const& data, Indices const& indices, Policy const& policy, gather_nd_options const& options = {})
{
    return detail::gather_nd<Rank>(data, indices, policy, options);
}

/// Returns the shape of gather_nd's output for data and indices of these shapes: the shape that
/// gather_nd_into's output must have.
///
/// Errors    shape_error and option_error, as gather_nd.
/// Source    ONNX GatherND-13.
/// Example
/// ```cpp
/// xloom::gather_nd_shape({2, 3}, {5, 1}); // = [5, 3]
/// ```
constexpr shape gather_nd_shape(
    shape const& data, shape const& indices, gather_nd_options const& options = {})
{
    return detail::check_gather_nd("xloom::gather_nd", data, indices, options);
}

/// Gathers slices of data into the caller's output, of any layout; with bounds::drop, dropped slices keep
/// their values.
///
/// Errors    as gather_nd, before the first write; shape_error: another shape of output. overlap_error:
///           output shares memory with data or indices, or its items share memory with each other.
template <class Data, class Indices, class Output>
void gather_nd_into(
    Data const& data, Indices const& indices, Output&& output, gather_nd_options const& options = {})
{
    detail::gather_nd_into(data, indices, std::forward<Output>(output), serial, options);
}

/// Runs gather_nd_into on the threads of a policy.
template <class Data, class Indices, class Output, execution_policy Policy>
void gather_nd_into(Data const& data, Indices const& indices, Output&& output, Policy const& policy,
    gather_nd_options const& options = {})
{
    detail::gather_nd_into(data, indices, std::forward<Output>(output), policy, options);
}

} // namespace xloom
