// Operators that make one item of many: ReduceSum and its like, ArgMax, ArgMin.

#include <xloom_onnx/reduce.hpp>

#include "axis.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// Returns a mask of the axes that a node reduces: those of the list; all if it is empty, or none with
/// noop_with_empty_axes.
std::vector<bool> reduced_axes(node_view const& node, std::vector<std::int64_t> const& axes, std::size_t rank,
    std::int64_t axes_input_since)
{
    bool const is_noop = node.opset() >= axes_input_since && node.integer("noop_with_empty_axes", 0) != 0;
    return axes.empty() && !is_noop ? std::vector<bool>(rank, true) : marked_axes(axes, rank);
}

/// `axes` are an input from this opset on.
xloom_onnx::reduce_options options_of(call const& c, std::int64_t axes_input_since)
{
    return {.axes = named_axes(c, axes_input_since).value_or(std::vector<std::int64_t>{}),
        .keepdims = c.integer("keepdims", 1) != 0,
        .noop_with_empty_axes = c.opset() >= axes_input_since && c.integer("noop_with_empty_axes", 0) != 0};
}

template <std::int64_t AxesInputSince>
types reduction_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    known_axes const axes = axes_of(node, AxesInputSince);
    bool const keeps = node.integer("keepdims", 1) != 0;
    if (!x.has_rank() || (axes.are_given && !axes.list))
        return type_like_first(
            node, keeps && x.has_rank() ? unknown_dims(x.rank()) : partial_shape(xloom::unknown_rank));
    std::vector<bool> const marks =
        reduced_axes(node, axes.list.value_or(std::vector<std::int64_t>{}), x.rank(), AxesInputSince);
    partial_shape left;
    for (std::size_t a = 0; a < x.rank(); ++a)
        if (!marks[a] || keeps)
            left.insert(left.rank(), marks[a] ? xloom::dim(1) : x[a]);
    return type_like_first(node, left);
}

template <class T, class F>
tensor reduced(tensor const& x, F const& f, xloom_onnx::reduce_options const& options)
{
    tensor result = new_tensor(x.type(), xloom_onnx::reduce_shape(x.shape(), options));
    xloom_onnx::reduce_into(f, items_of<T>(x), writable_items_of<T>(result), options);
    return result;
}

template <auto const& F, std::int64_t AxesInputSince>
std::vector<value> run_reduce(call const& c)
{
    tensor const& x = c.tensor_at(0);
    auto const options = options_of(c, AxesInputSince);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int32_t, std::int64_t,
        std::uint32_t, std::uint64_t>(
        x.type(), [&]<class T>(std::type_identity<T>) { return reduced<T>(x, F, options); })};
}

/// Of bool and 8-bit numbers, too.
template <auto const& F>
std::vector<value> run_reduce_order(call const& c)
{
    tensor const& x = c.tensor_at(0);
    auto const options = options_of(c, 18);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int32_t,
        std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t, bool>(
        x.type(), [&]<class T>(std::type_identity<T>) { return reduced<T>(x, F, options); })};
}

types arg_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank()) {
        std::size_t const axis = axis_of(node.integer("axis", 0), dims.rank());
        dims.erase(axis);
        if (node.integer("keepdims", 1) != 0)
            dims.insert(axis, 1);
    }
    return {xloom::tensor_type(element_type::int64, dims)};
}

/// Runs ArgMax or ArgMin.
template <bool IsMax>
std::vector<value> run_arg(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom_onnx::arg_options const options{.axis = c.integer("axis", 0),
        .keepdims = c.integer("keepdims", 1) != 0,
        .select_last_index = c.integer("select_last_index", 0) != 0};
    tensor result = new_tensor(element_type::int64, xloom_onnx::arg_shape(x.shape(), options));
    with_number(x.type(), [&]<class T>(std::type_identity<T>) {
        auto const to = writable_items_of<std::int64_t>(result);
        if constexpr (IsMax)
            xloom_onnx::arg_max_into(items_of<T>(x), to, options);
        else
            xloom_onnx::arg_min_into(items_of<T>(x), to, options);
    });
    return {result};
}

} // namespace

void add_reduction_operators(operator_table& table)
{
    version_list const reduction{
        {1, "r", "r", "axes:ints keepdims:flag"}, {18, "ro", "r", "keepdims:flag noop_with_empty_axes:flag"}};
    version_list const arg{{1, "r", "r", "axis:int keepdims:flag"},
        {12, "r", "r", "axis:int keepdims:flag select_last_index:flag"}};
    table["ReduceSum"] = {{{1, "r", "r", "axes:ints keepdims:flag"},
                              {13, "ro", "r", "keepdims:flag noop_with_empty_axes:flag"}},
        run_reduce<xloom_onnx::reduce_sum, 13>, reduction_type<13>};
    table["ReduceLogSumExp"] = {
        reduction, run_reduce<xloom_onnx::reduce_log_sum_exp, 18>, reduction_type<18>};
    table["ReduceMean"] = {reduction, run_reduce<xloom_onnx::reduce_mean, 18>, reduction_type<18>};
    table["ReduceProd"] = {reduction, run_reduce<xloom_onnx::reduce_prod, 18>, reduction_type<18>};
    table["ReduceSumSquare"] = {reduction, run_reduce<xloom_onnx::reduce_sum_square, 18>, reduction_type<18>};
    table["ReduceL1"] = {reduction, run_reduce<xloom_onnx::reduce_l1, 18>, reduction_type<18>};
    table["ReduceL2"] = {reduction, run_reduce<xloom_onnx::reduce_l2, 18>, reduction_type<18>};
    table["ReduceMax"] = {reduction, run_reduce_order<xloom_onnx::reduce_max>, reduction_type<18>};
    table["ReduceMin"] = {reduction, run_reduce_order<xloom_onnx::reduce_min>, reduction_type<18>};
    table["ArgMax"] = {arg, run_arg<true>, arg_type};
    table["ArgMin"] = {arg, run_arg<false>, arg_type};
}

} // namespace runner
