#pragma once
// xloom's GatherND, GatherElements, ScatterND, ScatterElements, TensorScatter and CumSum into outputs of any
// kind: a container gets its shape, a result of rank 0 is a number.

#include <cstdint>
#include <utility>

#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/indexing/tensor_scatter.hpp>
#include <xloom/parallel/cumulative.hpp>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

namespace detail {

/// Copies data to y, which gets its shape, unless y is data. Returns a view of it.
template <operand Data, class Y>
auto copied_data(std::string_view op, Data const& data, Y& y)
{
    const_view_of<Data> const from(data);
    auto const to = output_view(op, y, from.shape());
    if (from.data() != to.data())
        std::copy(from.begin(), from.end(), to.begin());
    return to;
}

} // namespace detail

/// Runs xloom::gather_nd_into for an output that gets its shape.
template <operand Data, operand Indices, class Y>
void gather_nd_into(
    Data const& data, Indices const& indices, Y&& y, xloom::gather_nd_options const& options = {})
{
    const_view_of<Data> const from(data);
    const_view_of<Indices> const at(indices);
    auto to = output_view(
        "xloom_onnx::gather_nd_into", y, xloom::gather_nd_shape(from.shape(), at.shape(), options));
    xloom::gather_nd_into(from, at, to, options);
}

/// Runs xloom::gather_elements_into for an output that gets its shape.
template <operand Data, operand Indices, class Y>
void gather_elements_into(
    Data const& data, Indices const& indices, Y&& y, xloom::gather_elements_options const& options = {})
{
    const_view_of<Data> const from(data);
    const_view_of<Indices> const at(indices);
    auto to = output_view("xloom_onnx::gather_elements_into", y, at.shape());
    xloom::gather_elements_into(from, at, to, options);
}

struct scatter_nd_options {
    xloom::reduction reduction = xloom::reduction::none;
};

struct scatter_elements_options {
    std::int64_t axis = 0;
    xloom::reduction reduction = xloom::reduction::none;
};

/// Copies data to y and runs xloom::scatter_nd_into there.
template <operand Data, operand Indices, operand Updates, class Y>
void scatter_nd_into(Data const& data, Indices const& indices, Updates const& updates, Y&& y,
    scatter_nd_options const& options = {})
{
    auto to = detail::copied_data("xloom_onnx::scatter_nd_into", data, y);
    xloom::scatter_nd_into(
        options.reduction, to, const_view_of<Indices>(indices), const_view_of<Updates>(updates));
}

/// Copies data to y and runs xloom::scatter_elements_into there.
template <operand Data, operand Indices, operand Updates, class Y>
void scatter_elements_into(Data const& data, Indices const& indices, Updates const& updates, Y&& y,
    scatter_elements_options const& options = {})
{
    auto to = detail::copied_data("xloom_onnx::scatter_elements_into", data, y);
    xloom::scatter_elements_into(options.reduction, to, const_view_of<Indices>(indices),
        const_view_of<Updates>(updates), {.axis = options.axis});
}

/// Copies the cache to y and runs xloom::tensor_scatter_into there, without write_indices or with them.
template <operand Cache, operand Update, class Y>
void tensor_scatter_into(
    Cache const& cache, Update const& update, Y&& y, xloom::tensor_scatter_options const& options = {})
{
    auto to = detail::copied_data("xloom_onnx::tensor_scatter_into", cache, y);
    xloom::tensor_scatter_into(to, const_view_of<Update>(update), {}, options);
}
template <operand Cache, operand Update, operand Indices, class Y>
void tensor_scatter_into(Cache const& cache, Update const& update, Indices const& write_indices, Y&& y,
    xloom::tensor_scatter_options const& options = {})
{
    const_view_of<Indices> const at(write_indices);
    auto to = detail::copied_data("xloom_onnx::tensor_scatter_into", cache, y);
    xloom::tensor_scatter_into(to, const_view_of<Update>(update), {.write_indices = at}, options);
}

struct cumulative_options {
    bool reverse = false;
    bool exclusive = false;
};

/// Computes the sums of x along an axis by xloom::cumulative_sum_into.
template <operand X, class Y>
void cumsum_into(X const& x, std::int64_t axis, Y&& y, cumulative_options const& options = {})
{
    const_view_of<X> const from(x);
    auto to = output_view("xloom_onnx::cumsum_into", y, from.shape());
    xloom::cumulative_sum_into(
        from, to, {.axis = axis, .reverse = options.reverse, .exclusive = options.exclusive});
}

/// Computes the products of x along an axis by xloom::cumulative_prod_into.
template <operand X, class Y>
void cumprod_into(X const& x, std::int64_t axis, Y&& y, cumulative_options const& options = {})
{
    const_view_of<X> const from(x);
    auto to = output_view("xloom_onnx::cumprod_into", y, from.shape());
    xloom::cumulative_prod_into(
        from, to, {.axis = axis, .reverse = options.reverse, .exclusive = options.exclusive});
}

} // namespace xloom_onnx
