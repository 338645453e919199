#pragma once
// One step of the GRU, for streams and as a scan's body.

#include <xloom/detail/recurrent/cell.hpp>
#include <xloom/detail/recurrent/gru_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// One step of one direction of ONNX's GRU for N rows, bitwise equal to a step of gru.
///
///     z, r = act_f(split(Wzr x_t + Wbzr + Rzr h + Rbzr, 2))
///     g = act_g(Wh x_t + Wbh + Rh (r * h) + Rbh)    # linear_before_reset: ... + r * (Rh h + Rbh)
///     h = (1 - z) * g + z * h
///     y_t = h
///
/// Members   constructed from the weights, N = 1 and d = 0, the direction: a shape_error if N cannot be
///           counted in bytes, an option_error if the weights have no direction d.
/// Shapes    h and y_t [N, H], x_t [N, I]: spans, containers, row-major tensors and views whose items are
///           contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N 3H (I + H) multiply-adds a step. A step allocates nothing.
/// Real time each step after the first.
/// Aliasing  x_t and y_t may be h.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    ONNX GRU-22.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}}}, R = xt::zeros<float>({1, 3, 1});
/// xloom::gru_cell<float> cell(xloom::gru_weights<float>({.W = W, .R = R}));
/// xt::xtensor<float, 1> h = {0};
/// cell(h, xt::xtensor<float, 1>{1});
/// cell(h, xt::xtensor<float, 1>{3});
/// h; // = [0.307763]
/// ```
template <class Item>
using gru_cell = detail::recurrent_cell<detail::gru_family, Item>;

} // namespace xloom::inline XLOOM_ABI
