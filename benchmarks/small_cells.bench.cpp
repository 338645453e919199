// Compares a step of lstm_cell, gru_cell and rnn_cell of few units, and a call of lstm_into, gru_into and
// rnn_into for one step, with a hand-written loop: one row, one number in.

#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "recurrent_operands.hpp"

namespace {

using namespace bench;

constexpr std::size_t steps = 200;

/// Adds, for each of `count` sums, the products of its row of R [count, H] with h.
void add_products_of_h(
    float const* __restrict R, float const* __restrict h, std::size_t count, std::size_t H, float* sums)
{
    for (std::size_t k = 0; k < H; ++k)
        add_product(sums, h[k], R + k * count, count);
}

/// A cell for the benchmarks of all three: what packs its weights, and its step.
template <class Cell, class Weights>
struct network {
    using cell = Cell;
    using weights = Weights;

    static weights pack(cube const& W, cube const& R, matrix const& B)
    {
        return Weights({.W = W, .R = R, .B = B});
    }
    static void step(cell& with, std::vector<float>& h, std::vector<float>&, std::vector<float> const& x)
    {
        with(h, x);
    }
};

struct lstm_network : network<xloom::lstm_cell<float>, xloom::lstm_weights<float>> {
    static constexpr auto name = "lstm_cell";
    static constexpr std::size_t gates = 4;

    static void call(
        cube const& X, weights const& packed, cube& h, cube& c, xloom::recurrent_workspace<float>& workspace)
    {
        xloom::lstm_into(X, packed, {.initial_h = h, .initial_c = c}, {.Y_h = h, .Y_c = c}, workspace);
    }
    static void step(cell& with, std::vector<float>& h, std::vector<float>& c, std::vector<float> const& x)
    {
        with(h, c, x);
    }
    /// The sums are those of x and of the biases, and become those of h too.
    static void finish(std::size_t H, float const* R, float* sums, float* h, float* c)
    {
        add_products_of_h(R, h, 4 * H, H, sums);
        for (std::size_t j = 0; j < H; ++j) {
            c[j] = sigmoid(sums[2 * H + j]) * c[j] + sigmoid(sums[j]) * std::tanh(sums[3 * H + j]);
            h[j] = sigmoid(sums[H + j]) * std::tanh(c[j]);
        }
    }
};

struct gru_network : network<xloom::gru_cell<float>, xloom::gru_weights<float>> {
    static constexpr auto name = "gru_cell";
    static constexpr std::size_t gates = 3;

    static weights pack(cube const& W, cube const& R, matrix const& B)
    {
        return weights({.W = W, .R = R, .B = B}, {.linear_before_reset = true});
    }
    static void call(
        cube const& X, weights const& packed, cube& h, cube&, xloom::recurrent_workspace<float>& workspace)
    {
        xloom::gru_into(X, packed, {.initial_h = h}, {.Y_h = h}, workspace);
    }
    static void finish(std::size_t H, float const* R, float* sums, float* h, float* products)
    {
        std::fill_n(products, 3 * H, 0.0f);
        add_products_of_h(R, h, 3 * H, H, products);
        for (std::size_t j = 0; j < H; ++j) {
            float const z = sigmoid(sums[j] + products[j]), r = sigmoid(sums[H + j] + products[H + j]),
                        next = std::tanh(sums[2 * H + j] + r * products[2 * H + j]);
            h[j] = (1 - z) * next + z * h[j];
        }
    }
};

struct rnn_network : network<xloom::rnn_cell<float>, xloom::rnn_weights<float>> {
    static constexpr auto name = "rnn_cell";
    static constexpr std::size_t gates = 1;

    static void call(
        cube const& X, weights const& packed, cube& h, cube&, xloom::recurrent_workspace<float>& workspace)
    {
        xloom::rnn_into(X, packed, {.initial_h = h}, {.Y_h = h}, workspace);
    }
    static void finish(std::size_t H, float const* R, float* sums, float* h, float*)
    {
        add_products_of_h(R, h, H, H, sums);
        for (std::size_t j = 0; j < H; ++j)
            h[j] = std::tanh(sums[j]);
    }
};

/// Steps of one row; states begin with zeros.
template <class Network>
struct cell_operands {
    static constexpr std::size_t gates = Network::gates;

    std::size_t H;
    cube W, R;
    matrix B;
    typename Network::weights packed;
    typename Network::cell cell;
    xloom::recurrent_workspace<float> workspace{};
    std::vector<float> R_by_column; ///< [H, gates H], for the hand-written loop
    std::vector<float> inputs, bias, sums, h, c;

    explicit cell_operands(std::size_t H_)
        : H(H_),
          W(uniform<cube>({1, gates * H, std::size_t{1}}, 1, weight_limit(H))),
          R(uniform<cube>({1, gates * H, H}, 2, weight_limit(H))),
          B(uniform<matrix>({1, gates * H}, 3, weight_limit(H))),
          packed(Network::pack(W, R, both_biases())),
          cell(packed),
          R_by_column(gates * H * H),
          bias(gates * H),
          sums(gates * H),
          h(H),
          c(gates * H)
    {
        for (std::size_t row = 0; row < gates * H; ++row) {
            bias[row] = B(0, row);
            for (std::size_t k = 0; k < H; ++k)
                R_by_column[k * gates * H + row] = R(0, row, k);
        }
        auto const x = uniform<matrix>({steps, std::size_t{1}}, 4, 1.0);
        inputs.assign(x.storage().begin(), x.storage().end());
    }

    /// Those of x, and zeros for those of h.
    matrix both_biases() const
    {
        matrix both = xt::zeros<float>({std::size_t{1}, 2 * gates * H});
        std::copy(B.storage().begin(), B.storage().end(), both.storage().begin());
        return both;
    }

    std::vector<float> const& results() const { return h; }
    void clear()
    {
        std::fill(h.begin(), h.end(), 0.0f);
        std::fill(c.begin(), c.end(), 0.0f);
    }
    bool is_close_to(std::vector<float> const& expected) const { return is_within(h, expected, tolerance); }
    benchmark::UserCounters counters() const
    {
        return {{"call", seconds_each(1)}, {"iteration", seconds_each(steps)}};
    }
};

template <class Network>
void xloom_cell(cell_operands<Network>& o)
{
    o.clear();
    std::vector<float> x(1), c(o.H);
    for (float const item : o.inputs) {
        x[0] = item;
        Network::step(o.cell, o.h, c, x);
    }
}

template <class Network>
void xloom_into(cell_operands<Network>& o)
{
    cube x = xt::zeros<float>({1, 1, 1}), h = xt::zeros<float>({std::size_t{1}, std::size_t{1}, o.H}), c = h;
    for (float const item : o.inputs) {
        x(0, 0, 0) = item;
        Network::call(x, o.packed, h, c, o.workspace);
    }
    std::copy(h.storage().begin(), h.storage().end(), o.h.begin());
}

template <class Network>
void hand(cell_operands<Network>& o)
{
    o.clear();
    for (float const x : o.inputs) {
        for (std::size_t row = 0; row < o.sums.size(); ++row)
            o.sums[row] = o.bias[row] + o.W.storage()[row] * x;
        Network::finish(o.H, o.R_by_column.data(), o.sums.data(), o.h.data(), o.c.data());
    }
}

template <class Network>
void add_cells()
{
    for (std::size_t const H : std::initializer_list<std::size_t>{8, 16, 20, 32, 40, 64, 128})
        add_case(
            Network::name + text_of({{"N", 1}, {"I", 1}, {"H", H}}),
            [=] { return cell_operands<Network>(H); },
            std::vector<series<cell_operands<Network>>>{{"hand", hand<Network>},
                {"xloom", xloom_cell<Network>}, {"xloom_into", xloom_into<Network>}});
}

} // namespace

int main(int argc, char** argv)
{
    add_cells<lstm_network>();
    add_cells<gru_network>();
    add_cells<rnn_network>();
    return run_cases(argc, argv);
}
