#pragma once
// One step of the RNN, for streams and as a scan's body.

#include <xloom/detail/recurrent/cell.hpp>
#include <xloom/detail/recurrent/rnn_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// One step of one direction of ONNX's RNN for N rows, bitwise equal to a step of rnn.
///
///     h = act_f(W x_t + Wb + R h + Rb)
///     y_t = h
///
/// Members   constructed from the weights, N = 1 and d = 0, the direction: a shape_error if N cannot be
///           counted in bytes, an option_error if the weights have no direction d.
/// Shapes    h and y_t [N, H], x_t [N, I]: spans, containers, row-major tensors and views whose items are
///           contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N H (I + H) multiply-adds a step. A step allocates nothing.
/// Real time each step after the first.
/// Aliasing  x_t and y_t may be h.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    ONNX RNN-22.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = {{{0.5f}}}, R = xt::zeros<float>({1, 1, 1});
/// xloom::rnn_cell<float> cell(xloom::rnn_weights<float>({.W = W, .R = R}));
/// xt::xtensor<float, 1> h = {0};
/// cell(h, xt::xtensor<float, 1>{1});
/// cell(h, xt::xtensor<float, 1>{3});
/// h; // = [0.905148]
/// ```
template <class Item>
using rnn_cell = detail::recurrent_cell<detail::rnn_family, Item>;

} // namespace xloom::inline XLOOM_ABI
