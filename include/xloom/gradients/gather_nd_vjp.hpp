#pragma once
// The derivative of GatherND: a scatter that adds the cotangent of each gathered slice to the slice of data
// that it was read from.

#include <utility>

#include <xloom/detail/indexed/gather_vjp_call.hpp>
#include <xloom/detail/indexed/gather_vjp_types.hpp>

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

template <std::size_t Rank, class Ct, class Dims, class Indices, class Policy>
auto gather_nd_vjp(Ct const& ct, Dims const& data_shape, Indices const& indices,
    gather_nd_vjp_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_gather_nd_vjp<Rank, Ct, Dims, Indices, Policy>()) {
        return owned_t<Ct>(ct); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::gather_nd_vjp";
        using result_type = typename enable_tensor<owned_t<Ct>>::template rebind<Rank>;
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        shape const dims = detail::shape_from(op, data_shape);
        gather_vjp_call<bare<decltype(cotangent)>, bare<decltype(index_tensor)>> const call(
            op, cotangent, dims, index_tensor, options);
        if (Rank != dynamic_rank && dims.size() != Rank)
            fail<shape_error>(op, ": the result must have the requested rank, but data has the shape ", dims,
                " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
        result_type result = enable_tensor<result_type>::make(dims);
        detail::run_gather_vjp(call, result, policy);
        return result;
    }
}

template <class Ct, class Indices, class Output, class Policy>
void gather_nd_vjp_into(Ct const& ct, Indices const& indices, Output&& d_data,
    gather_nd_vjp_options const& options, Policy const& policy)
{
    if constexpr (is_valid_gather_nd_vjp_into<Ct, Indices, Output, Policy>()) {
        static constexpr std::string_view op = "xloom::gather_nd_vjp_into";
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, "d_data", detail::rank_of(d_data));
        gather_vjp_call<bare<decltype(cotangent)>, bare<decltype(index_tensor)>> const call(
            op, cotangent, detail::shape_of(d_data), index_tensor, options);
        check_gather_nd_vjp_output(
            op, detail::memory_of(d_data), detail::memory_of(cotangent), detail::memory_of(index_tensor));
        detail::run_gather_vjp(call, d_data, policy);
    }
}

} // namespace detail

/// Returns the vector-Jacobian product of gather_nd: the gradient by data, where ct is the cotangent of
/// gather_nd's output. It is a scatter: the cotangents of all copies of a slice are added.
///
///     d_data = zeros(data_shape)
///     for i in ndindex(indices.shape[:-1]):                       # in row-major order
///         d_data[i[:b] + indices[i]] += ct[i]                     # b = batch_dims
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
/// Policy    serial, or one with threads (tbb_policy): results are bitwise equal to those of serial.
/// Errors    shape_error, option_error, index_error (all offending positions and values).
/// Order     row-major, as scatter_nd with reduction::add: storage floats are rounded after each addition
///           unless accumulate_in_float.
/// Cost      that of filling d_data with zeros and of scatter_nd_into with reduction::add.
///           accumulate_in_float: also a copy of d_data.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xt::xtensor<float, 2> const ct = {{1, 2}, {3, 4}, {5, 6}};
/// xloom::gather_nd_vjp(ct, {2, 2}, rows); // = [[3, 4], [6, 8]]
/// ```
template <std::size_t Rank = dynamic_rank, class Ct, class Dims = shape, class Indices,
    class Policy = serial_policy>
auto gather_nd_vjp(Ct const& ct, Dims const& data_shape, Indices const& indices,
    gather_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    return detail::gather_nd_vjp<Rank>(ct, data_shape, indices, options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <std::size_t Rank = dynamic_rank, class Ct, class Dims = shape, class Indices,
    execution_policy Policy>
auto gather_nd_vjp(Ct const&, Dims const&, Indices const&, Policy const&, gather_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd_vjp<Rank, Ct, Dims, Indices, gather_nd_vjp_options>());
    return detail::owned_t<Ct>();
}

/// Computes gather_nd_vjp into the caller's d_data, of any layout, whose shape is that of data. Its previous
/// values are overwritten; scatter_nd_into with reduction::add adds to them instead.
///
/// Errors    as gather_nd_vjp, before the first write. overlap_error: d_data shares memory with ct or
///           indices, or its items share memory with each other.
template <class Ct, class Indices, class Output, class Policy = serial_policy>
void gather_nd_vjp_into(Ct const& ct, Indices const& indices, Output&& d_data,
    gather_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    detail::gather_nd_vjp_into(ct, indices, std::forward<Output>(d_data), options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Indices, class Output, execution_policy Policy>
void gather_nd_vjp_into(
    Ct const&, Indices const&, Output const&, Policy const&, gather_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd_vjp_into<Ct, Indices, Output, gather_nd_vjp_options>());
}

} // namespace xloom::inline XLOOM_ABI
