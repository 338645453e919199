#pragma once
// One step of the LSTM, for streams and as a scan's body.

#include <xloom/detail/recurrent/cell.hpp>
#include <xloom/detail/recurrent/lstm_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// One step of one direction of ONNX's LSTM for N rows, bitwise equal to a step of lstm.
///
///     i, o, f, g = split(W x_t + Wb + R h + Rb, 4)
///     c = act_f(f + Pf * c) * c + act_f(i + Pi * c) * act_g(g)
///     h = act_f(o + Po * c) * act_h(c), or projection times it
///     y_t = h
///
/// Members   constructed from the weights, N = 1 and d = 0, the direction: a shape_error if N cannot be
///           counted in bytes, an option_error if the weights have no direction d.
/// Shapes    h, c and y_t [N, H], with a projection h and y_t [N, K]; x_t [N, I]: spans, containers,
///           row-major tensors and views whose items are contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N 4H (I + H) multiply-adds a step. A step allocates nothing.
/// Real time each step after the first.
/// Aliasing  x_t may be h or c, y_t may be h; h and c must not overlap.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    ONNX LSTM-22.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}, R = xt::zeros<float>({1, 4, 1});
/// xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = W, .R = R}));
/// xt::xtensor<float, 1> h = {0}, c = {0};
/// cell(h, c, xt::xtensor<float, 1>{1});
/// cell(h, c, xt::xtensor<float, 1>{3});
/// h; // = [0.613983]
/// ```
template <class Item>
using lstm_cell = detail::recurrent_cell<detail::lstm_family, Item>;

} // namespace xloom::inline XLOOM_ABI
