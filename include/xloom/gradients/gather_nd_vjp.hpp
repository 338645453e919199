#pragma once
// The derivative of GatherND: a scatter that adds the cotangent of each gathered slice to the slice of data
// that it was read from.

#include <algorithm>
#include <string_view>

#include <xloom/detail/check/indexed_vjp.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Returns a range of dimensions as a shape.
///
/// Errors    shape_error: over max_rank.
template <dimensions Dims>
shape shape_from(std::string_view op, Dims const& dims)
{
    check_rank(op, "data", static_cast<std::size_t>(dims.size()));
    return shape(dims.begin(), dims.end());
}

/// Adds the cotangents of gathered slices to the slices at an index.
template <class Index, class Ct, class T, class Policy>
void run_gather_vjp(slice_index<Index> const& index, Ct const& ct, strided_items<T> const& ct_data,
    gather_nd_vjp_options const& options, Policy const& policy)
{
    row_major_items<T> const items(ct);
    shape const slice = index.in(ct_data.layout).slice.dims;
    detail::run_scatter(index, row_major_updates(items.data(), slice), rules_of(options, reduction::add),
        ct_data, reduce_add, policy);
}

} // namespace detail

/// Returns the vector-Jacobian product of gather_nd: the gradient by data, where ct is the cotangent of
/// gather_nd's output. It is a scatter: the cotangents of all copies of a slice are added.
///
///     ct_data = zeros(data_shape)
///     for i in ndindex(indices.shape[:-1]):                       # in row-major order
///         ct_data[i[:b] + indices[i]] += ct[i]                     # b = batch_dims
///
/// Shapes    ct as gather_nd's output, indices.shape[:-1] ++ data_shape[b + k:]; indices and data_shape, an
///           xloom::shape or any range such as data.shape(), as for gather_nd. The result has data_shape: an
///           xt::xarray, with gather_nd_vjp<Rank> an xt::xtensor of that rank; for your own container one of
///           its family. Any layout, lazy expressions too.
/// Types     ct of float, double, long double, their complex numbers, storage floats other than float8_e8m0,
///           or a user-defined scalar with +, * and /, whose T{} is zero; indices of any integer type.
/// Options   batch_dims (0), bounds (check): those of the gather_nd that is differentiated. With drop, the
///           cotangents of dropped slices are not read; with clip, they are added to the nearest slice.
///           accumulate_in_float (false), unique, sorted (false): those of the scatter_nd that it is.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Errors    shape_error, option_error, index_error (up to four offending positions and values).
/// Order     row-major, as scatter_nd with reduction::add: storage floats are rounded after each addition
///           unless accumulate_in_float.
/// Cost      that of filling ct_data with zeros and of scatter_nd_into with reduction::add.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xt::xtensor<float, 2> const ct = {{1, 2}, {3, 4}, {5, 6}};
/// xloom::gather_nd_vjp({2, 2}, rows, ct); // = [[3, 4], [6, 8]]
/// ```
template <std::size_t Rank = dynamic_rank, class Dims = shape, class Indices, class Ct,
    class Options = gather_nd_vjp_options, class... Env>
auto gather_nd_vjp(
    Dims const& data_shape, Indices const& indices, Ct const& ct, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (!satisfied<options_and_policy<gather_nd_vjp_options, Options, Env...>, shape_argument<Dims>,
                      readable<Ct>, integer_indices<Indices>, has_gradient<Ct>, rank_of_result<Rank, Ct>>()) {
        return detail::to_owned(ct); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::gather_nd_vjp";
        auto const& given = detail::options_of<gather_nd_vjp_options>(options);
        using result_type = typename enable_tensor<owned_t<Ct>>::template rebind<Rank>;
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        shape const dims = detail::shape_from(op, data_shape);
        indexed_shape const indexed = check_gather_nd_vjp(
            op, detail::shape_of(cotangent), dims, detail::shape_of(index_tensor), given, sizeof(item_t<Ct>));
        slice_index const index(op, dims, index_tensor, indexed, given.bounds);
        index.require_distinct(rules_of(given));
        if (Rank != dynamic_rank && dims.size() != Rank)
            fail<shape_error>(op, ": the result must have the requested rank, but data has the shape ", dims,
                " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
        result_type result = enable_tensor<result_type>::make(dims);
        detail::fill_items(result, item_t<Ct>{});
        auto const ct_data = detail::items_in<item_t<Ct>>(result);
        detail::run_gather_vjp(index, cotangent, ct_data, given, detail::policy_of(options, env...));
        return result;
    }
}

/// Adds the gradient of gather_nd_vjp to the caller's ct_data, of any layout, whose shape is that of data:
/// those of several calls add up, so set it to zero before the first.
///
/// Order     row-major, from the values of ct_data on, as scatter_nd_into with reduction::add.
/// Cost      as scatter_nd_into with reduction::add.
/// Errors    as gather_nd_vjp, before the first write. overlap_error: ct_data shares memory with ct or
///           indices, or its items share memory with each other.
template <class Indices, class Ct, class Output, class Options = gather_nd_vjp_options, class... Env>
void gather_nd_vjp_into(
    Indices const& indices, Ct const& ct, Output&& ct_data, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (satisfied<options_and_policy<gather_nd_vjp_options, Options, Env...>, readable<Ct>,
                      integer_indices<Indices>, has_gradient<Ct>, written_tensor<Output>,
                      output_of_items<Ct, Output>>()) {
        static constexpr std::string_view op = "xloom::gather_nd_vjp_into";
        auto const& given = detail::options_of<gather_nd_vjp_options>(options);
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, "ct_data", detail::rank_of(ct_data));
        auto const sums = detail::items_in<item_t<Ct>>(ct_data);
        indexed_shape const indexed = check_gather_nd_vjp(op, detail::shape_of(cotangent), sums.layout.dims,
            detail::shape_of(index_tensor), given, sizeof(item_t<Ct>));
        slice_index const index(op, sums.layout.dims, index_tensor, indexed, given.bounds);
        index.require_distinct(rules_of(given));
        check_gather_nd_vjp_output(
            op, detail::memory_of(ct_data), detail::memory_of(cotangent), detail::memory_of(index_tensor));
        detail::run_gather_vjp(index, cotangent, sums, given, detail::policy_of(options, env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
