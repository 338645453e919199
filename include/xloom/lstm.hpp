#pragma once
// The LSTM, one step at a time.

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xloom/core/error.hpp>
#include <xloom/kernel/lstm_cell.hpp>

namespace xloom {

/// I, the length of an input; H, the length of the states.
struct lstm_sizes {
    std::size_t I;
    std::size_t H;
};

namespace detail {

/// Contiguous elements of type T: std::vector, std::span, a row-major xtensor.
template <class Range, class T>
concept elements_of = std::convertible_to<decltype(std::declval<Range const&>().data()), T const*> &&
    std::convertible_to<decltype(std::declval<Range const&>().size()), std::size_t>;

template <class Range, class T>
concept mutable_elements_of = elements_of<Range, T> && std::convertible_to<decltype(std::declval<Range&>().data()), T*>;

/// "W has 23 and B has 15": the operands whose size is not what it must be.
class wrong_sizes {
public:
    void check(std::string_view operand, std::size_t size, std::size_t expected)
    {
        if (size != expected)
            text_ += concat(text_.empty() ? "" : " and ", operand, " has ", size);
    }

    bool any() const noexcept { return !text_.empty(); }
    std::string_view text() const noexcept { return text_; }

private:
    std::string text_;
};

} // namespace detail

/// One step of ONNX's LSTM with the default activations; the weights are laid out for it once, when the cell is made.
///
///     i, o, f, g = split(W x_t + Wb + R h + Rb, 4)
///     c = sigmoid(f) * c + sigmoid(i) * tanh(g)
///     h = sigmoid(o) * tanh(c)
///     y_t = h
///
/// Shapes    W [4H, I], R [4H, H], B [8H] = [Wb, Rb], row-major, gates in ONNX's order i, o, f, c.  h [H], c [H], x_t [I], y_t [H].
/// Options   B may be left out: zeros.
/// Errors    shape_error: a size other than these; a step throws it before it writes.
/// Cost      4H (I + H) multiply-adds a step. A step allocates nothing.
/// Aliasing  x_t may be h or c, y_t may be h; h and c are two.
/// Threads   a step writes to scratch inside the cell: one cell for each thread.
/// Differs   from ONNX: no P, clip, input_forget or other activations.
/// Source    ONNX LSTM-14, one direction, one batch row, one step.
/// Example   examples/voice_activity/detector.cpp
template <std::floating_point T>
class lstm_cell {
public:
    lstm_cell(lstm_sizes sizes, std::span<T const> W, std::span<T const> R, std::span<T const> B = {}) : I_(sizes.I), H_(sizes.H)
    {
        check_weights(W.size(), R.size(), B.size());
        panel_.resize((I_ + H_) * 4 * H_);
        kernel::pack_lstm_weights(I_, H_, W.data(), R.data(), panel_.data());
        bias_.resize(4 * H_);
        if (!B.empty())
            for (std::size_t j = 0; j < 4 * H_; ++j)
                bias_[j] = B[j] + B[4 * H_ + j];
        gates_.resize(4 * H_);
    }

    std::size_t input_size() const noexcept { return I_; }
    std::size_t hidden_size() const noexcept { return H_; }

    /// h and c become the next state.
    template <detail::mutable_elements_of<T> Hidden, detail::mutable_elements_of<T> Cell, detail::elements_of<T> Element>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t)
    {
        check_step(h.size(), c.size(), x_t.size(), H_);
        kernel::lstm_cell<T>(I_, H_, panel_.data(), bias_.data(), x_t.data(), h.data(), c.data(), gates_.data());
    }

    /// The same, and y_t = h: the body of a scan over x_t.
    template <detail::mutable_elements_of<T> Hidden, detail::mutable_elements_of<T> Cell, detail::elements_of<T> Element,
        detail::mutable_elements_of<T> Output>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t, Output&& y_t)
    {
        check_step(h.size(), c.size(), x_t.size(), y_t.size());
        kernel::lstm_cell<T>(I_, H_, panel_.data(), bias_.data(), x_t.data(), h.data(), c.data(), gates_.data());
        T const* const state = h.data();
        T* const output = y_t.data();
        for (std::size_t j = 0; j < H_; ++j)
            output[j] = state[j];
    }

private:
    void check_weights(std::size_t W, std::size_t R, std::size_t B) const
    {
        detail::wrong_sizes wrong;
        wrong.check("W", W, 4 * H_ * I_);
        wrong.check("R", R, 4 * H_ * H_);
        if (B != 0)
            wrong.check("B", B, 8 * H_);
        if (H_ == 0)
            detail::fail<shape_error>("xloom::lstm_cell: H must be at least 1, but H is 0.");
        if (wrong.any())
            detail::fail<shape_error>("xloom::lstm_cell: with I = ", I_, " and H = ", H_, ", W must have 4 * H * I = ", 4 * H_ * I_,
                " elements, R 4 * H * H = ", 4 * H_ * H_, " and B 8 * H = ", 8 * H_, " or none, but ", wrong.text(),
                ". Give W [4H, I], R [4H, H] and B [8H].");
    }

    void check_step(std::size_t h, std::size_t c, std::size_t x_t, std::size_t y_t) const
    {
        if (h == H_ && c == H_ && x_t == I_ && y_t == H_) [[likely]]
            return;
        detail::wrong_sizes wrong;
        wrong.check("h", h, H_);
        wrong.check("c", c, H_);
        wrong.check("x_t", x_t, I_);
        wrong.check("y_t", y_t, H_);
        detail::fail<shape_error>("xloom::lstm_cell: h, c and y_t must have H = ", H_, " elements and x_t I = ", I_, ", but ", wrong.text(),
            ". Pass operands of the sizes the cell was made with.");
    }

    std::size_t I_;
    std::size_t H_;
    std::vector<T> panel_;
    std::vector<T> bias_;
    std::vector<T> gates_;
};

} // namespace xloom
