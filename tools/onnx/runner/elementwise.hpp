#pragma once
// Functions of items, as xloom_onnx has them, applied to tensors whose type the run knows.

#include <optional>

#include <xloom_onnx/elementwise.hpp>
#include <xloom_onnx/model/trailing_axes.hpp>

#include "graph.hpp"
#include "moves.hpp"
#include "text.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

/// Returns f applied to each item.
template <class Result, class A, class F>
tensor map_items(tensor const& a, F const& f)
{
    tensor result = new_tensor(xloom::element_type_of<Result>, a.shape());
    xloom_onnx::map_into(f, items_of<A>(a), writable_items_of<Result>(result));
    return result;
}

/// Returns f applied to each pair of items, after broadcasting.
template <class Result, class A, class B, class F>
tensor map_items(tensor const& a, tensor const& b, F const& f)
{
    tensor result =
        new_tensor(xloom::element_type_of<Result>, xloom_onnx::broadcast_shape(a.shape(), b.shape()));
    xloom_onnx::map_into(f, items_of<A>(a), items_of<B>(b), writable_items_of<Result>(result));
    return result;
}

/// Returns f applied to each item of input 0, which has type T.
template <class T, class F>
tensor map_input(call const& c, F const& f)
{
    tensor const& x = c.tensor_at(0);
    tensor result = c.result_over({0}, x.type(), x.shape());
    xloom_onnx::map_into(f, items_of<T>(x), writable_items_of<T>(result));
    return result;
}

/// Returns input 1 of a binary operator in the shape for broadcasting. Up to opset 6 the attributes
/// `broadcast` and `axis` give it; `axis` is the axis of A that B's first axis is aligned with.
inline tensor second_operand(call const& c)
{
    tensor const& b = c.tensor_at(1);
    if (c.opset() >= 7)
        return b;
    return b.reshaped(xloom_onnx::aligned_shape(
        c.tensor_at(0).shape(), b.shape(), c.integer("broadcast", 0) != 0, c.integer("axis", -1)));
}

/// Returns f applied to each pair of items of a binary operator's inputs, after broadcasting; all have type
/// T.
template <class T, class F>
tensor map_inputs(call const& c, F const& f)
{
    tensor const& a = c.tensor_at(0);
    // Without a copy of input 1, whose memory may become the result's.
    std::optional<tensor> const reshaped = c.opset() < 7 ? std::optional(second_operand(c)) : std::nullopt;
    tensor const& b = reshaped ? *reshaped : c.tensor_at(1);
    tensor result = c.result_over({0, 1}, a.type(), xloom_onnx::broadcast_shape(a.shape(), b.shape()));
    xloom_onnx::map_into(f, items_of<T>(a), items_of<T>(b), writable_items_of<T>(result));
    return result;
}

} // namespace runner
