#pragma once
// One step of the RNN, for streams and as a scan's body.

#include <utility>

#include <xloom/detail/recurrent/hidden_cell.hpp>
#include <xloom/recurrent/rnn.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

struct rnn_cell_name {
    static constexpr std::string_view text = "xloom::rnn_cell";
};

template <class Item>
using rnn_cell_base = hidden_cell<Item, rnn_weights<Item>, kernel::rnn_rows<compute_t<Item>>, rnn_cell_name>;

} // namespace detail

/// One step of one direction of ONNX's RNN for N rows, bitwise equal to a step of rnn.
///
///     h = act_f(W x_t + Wb + R h + Rb)
///     y_t = h
///
/// Shapes    h and y_t [N, H], x_t [N, I]: spans, containers, row-major tensors and views whose items are
///           contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N H (I + H) multiply-adds a step. A step allocates nothing.
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
class rnn_cell : public detail::rnn_cell_base<Item> {
public:
    /// Constructs a cell for N rows with the weights of direction d. An N that cannot be counted in bytes is
    /// a shape_error, a d that is no direction of the weights an option_error.
    explicit rnn_cell(rnn_weights<Item> weights, std::size_t N = 1, std::size_t d = 0)
        : detail::rnn_cell_base<Item>(std::move(weights), N, d)
    {}
};

} // namespace xloom::inline XLOOM_ABI
