#pragma once
// What other ONNX nodes infer, as far as the bodies of the official tests need them.

#include <cstddef>
#include <cstdint>

#include <xloom/detail/core/partial_type.hpp>

namespace node_types {

using xloom::partial_shape;
using xloom::partial_type;
using xloom::type_list;

constexpr type_list identity(type_list const& given) { return given; }

constexpr xloom::dim broadcast(xloom::dim const& a, xloom::dim const& b)
{
    if (a == b || b == xloom::dim(1))
        return a;
    return a == xloom::dim(1) ? b : xloom::unknown;
}

/// Add, Sub: the element type of `a`, the shapes broadcast against each other.
constexpr partial_type add(partial_type const& a, partial_type const& b)
{
    if (!a.shape().has_rank() || !b.shape().has_rank())
        return a.with_shape(xloom::unknown_rank);
    partial_shape const& longer = a.shape().rank() < b.shape().rank() ? b.shape() : a.shape();
    partial_shape const& shorter = a.shape().rank() < b.shape().rank() ? a.shape() : b.shape();
    partial_shape sum = longer;
    for (std::size_t from_end = 1; from_end <= shorter.rank(); ++from_end)
        sum[longer.rank() - from_end] =
            broadcast(longer[longer.rank() - from_end], shorter[shorter.rank() - from_end]);
    return a.with_shape(sum);
}

/// ReduceSum of all axes, keepdims = 0.
constexpr partial_type reduce_sum(partial_type const& data) { return data.with_shape(partial_shape{}); }

/// ReduceSum of axes known at run time only, keepdims = 0.
constexpr partial_type reduce_sum_at_run_time(partial_type const& data)
{
    return data.with_shape(xloom::unknown_rank);
}

constexpr partial_type cast(partial_type const& input, xloom::element_type to)
{
    return input.with_element(to);
}

/// Squeeze of one axis of known rank.
constexpr partial_type squeeze(partial_type const& data, std::size_t axis)
{
    return data.shape().has_rank() ? data.with_shape(xloom::drop_axis(data.shape(), axis)) : data;
}

constexpr partial_type unsqueeze(partial_type const& data, std::size_t axis)
{
    return data.shape().has_rank() ? data.with_shape(xloom::insert_axis(data.shape(), axis, 1)) : data;
}

} // namespace node_types
