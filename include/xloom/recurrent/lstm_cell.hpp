#pragma once
// One step of the LSTM, for streams and as a scan's body.

#include <algorithm>
#include <type_traits>
#include <utility>

#include <xloom/detail/recurrent/cell_operands.hpp>
#include <xloom/detail/recurrent/cell_step.hpp>
#include <xloom/detail/recurrent/small_steps.hpp>
#include <xloom/recurrent/lstm.hpp>

namespace xloom::inline XLOOM_ABI {

/// One step of one direction of ONNX's LSTM for N rows, bitwise equal to a step of lstm.
///
///     i, o, f, g = split(W x_t + Wb + R h + Rb, 4)
///     c = act_f(f + Pf * c) * c + act_f(i + Pi * c) * act_g(g)
///     h = act_f(o + Po * c) * act_h(c)
///     y_t = h
///
/// Shapes    h, c and y_t [N, H], x_t [N, I]: spans, containers, row-major tensors and views whose items are
///           contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N 4H (I + H) multiply-adds a step. A step allocates nothing.
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
class lstm_cell {
    using T = detail::compute_t<Item>;

public:
    /// Constructs a cell for N rows with the weights of direction d. An N that cannot be counted in bytes is
    /// a shape_error, a d that is no direction of the weights an option_error.
    explicit lstm_cell(lstm_weights<Item> weights, std::size_t N = 1, std::size_t d = 0)
        : weights_(std::move(weights)), N_(N), d_(d)
    {
        detail::check_direction(name, weights_.sizes(), d);
        detail::check_rows(name, weights_.sizes(), N);
        detail::grow(
            numbers_, std::max<std::size_t>(functions().size(detail::parameters_of(weights_, d_), N_), 1));
        if constexpr (std::is_same_v<T, Item>)
            small_step_ = detail::small_step_of(weights_, d_);
    }

    lstm_cell(lstm_cell const&) = default;
    lstm_cell(lstm_cell&&) = default;
    lstm_cell& operator=(lstm_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    lstm_cell& operator=(lstm_cell const& other) { return *this = lstm_cell(other); }

    /// Updates h and c to the next state.
    template <class Hidden, class Cell, class Element>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_x_t<Item, Element>()) {
            auto const& [D, I, H] = weights_.sizes();
            using namespace detail;
            check_step(name, {detail::sized("h", "N H", N_ * H, h), detail::sized("c", "N H", N_ * H, c),
                                 detail::sized("x_t", "N I", N_ * I, x_t)});
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h and c to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Element, class Output>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t, Output&& y_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_x_t<Item, Element>() && detail::is_cell_y_t<Item, Output>()) {
            auto const& [D, I, H] = weights_.sizes();
            using namespace detail;
            check_step(name,
                {detail::sized("h", "N H", N_ * H, h), detail::sized("c", "N H", N_ * H, c),
                    detail::sized("x_t", "N I", N_ * I, x_t), detail::sized("y_t", "N H", N_ * H, y_t)});
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t),
                detail::first_item(y_t));
        }
    }

private:
    static constexpr std::string_view name = "xloom::lstm_cell";

    constexpr auto functions() const noexcept
    {
        return weights_.level()
            .template functions<
                detail::cell_functions<Item, kernel::lstm_rows<T>, kernel::lstm_parameters<T>>>();
    }

    void step(Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        if constexpr (std::is_same_v<T, Item>)
            if (small_step_ != nullptr && N_ == 1)
                return small_step_(detail::parameters_of(weights_, d_), h, c, x_t, y_t);
        functions().step(detail::parameters_of(weights_, d_), N_, numbers_.data(), h, c, x_t, y_t);
    }

    lstm_weights<Item> weights_;
    detail::row_count N_;
    std::size_t d_;
    detail::aligned_vector<T> numbers_;
    kernel::small_step<kernel::lstm_parameters<T>> small_step_ =
        nullptr; ///< for N = 1; null: the general one
};

} // namespace xloom::inline XLOOM_ABI
