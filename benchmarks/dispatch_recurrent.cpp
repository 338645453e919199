// The recurrent operators of bench_dispatch, with products and activations, in one build.

#include <cmath>

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

#include "dispatch_operands.hpp"

namespace bench::XLOOM_BENCH_BUILD {
namespace {

/// The weights of a network with as many inputs as units, and its operands.
struct network {
    dispatch_work size;
    float limit;
    cube X;
    row y;
    cube Y_h, Y_c;

    explicit network(dispatch_work const& work)
        : size(work),
          limit(1 / std::sqrt(static_cast<float>(size.H))),
          X(uniform<cube>({size.T, size.N, size.H}, 1, 1)),
          y(size.N * size.H),
          Y_h(cube::from_shape({1, size.N, size.H})),
          Y_c(Y_h)
    {}

    cube weights(std::size_t rows, std::uint32_t seed) const
    {
        return uniform<cube>({1, rows, size.H}, limit, seed);
    }
    matrix biases(std::size_t count) const { return uniform<matrix>({1, count}, limit, 5); }
    void keep() { y.assign(Y_h.begin(), Y_h.end()); }
};

struct lstm : network {
    cube W, R;
    matrix B;
    xloom::lstm_weights<float> packed;
    xloom::recurrent_workspace<float> workspace{};

    explicit lstm(dispatch_work const& work)
        : network(work),
          W(weights(4 * size.H, 2)),
          R(weights(4 * size.H, 3)),
          B(biases(8 * size.H)),
          packed({W, R, B, {}})
    {}

    void operator()()
    {
        xloom::lstm_into(X, packed, {}, {{}, Y_h, Y_c}, workspace);
        keep();
    }
};

/// A network of `gates` gates without biases.
template <class Weights>
struct unbiased : network {
    cube W, R;
    Weights packed;
    xloom::recurrent_workspace<float> workspace{};

    unbiased(dispatch_work const& work, std::size_t gates)
        : network(work), W(weights(gates * size.H, 2)), R(weights(gates * size.H, 3)), packed({W, R, {}})
    {}
};

struct gru : unbiased<xloom::gru_weights<float>> {
    explicit gru(dispatch_work const& work) : unbiased(work, 3) {}

    void operator()()
    {
        xloom::gru_into(X, packed, {}, {{}, Y_h}, workspace);
        keep();
    }
};

struct rnn : unbiased<xloom::rnn_weights<float>> {
    explicit rnn(dispatch_work const& work) : unbiased(work, 1) {}

    void operator()()
    {
        xloom::rnn_into(X, packed, {}, {{}, Y_h}, workspace);
        keep();
    }
};

/// Attends to 50 rows of memory as wide as the state.
struct attn_lstm : network {
    cube W, R, QW, MW, M;
    matrix V;
    xloom::attn_lstm_weights<float> packed;
    xloom::attention_workspace<float> workspace{};

    explicit attn_lstm(dispatch_work const& work)
        : network(work),
          W(uniform<cube>({1, 4 * size.H, 2 * size.H}, limit, 2)),
          R(weights(4 * size.H, 3)),
          QW(weights(size.H, 4)),
          MW(weights(size.H, 5)),
          M(uniform<cube>({size.N, 50, size.H}, 1, 6)),
          V(biases(size.H)),
          packed({.W = W, .R = R, .QW = QW, .MW = MW, .V = V})
    {}

    void operator()()
    {
        xloom::attn_lstm_into(X, packed, {.M = M}, {.Y_h = Y_h, .Y_c = Y_c}, workspace);
        keep();
    }
};

struct lstm_cell : lstm {
    xloom::lstm_cell<float> cell;
    row c = row(size.H);

    explicit lstm_cell(dispatch_work const& work) : lstm(work), cell(packed) {}

    void operator()()
    {
        std::fill(y.begin(), y.end(), 0.0f);
        std::fill(c.begin(), c.end(), 0.0f);
        for (std::size_t t = 0; t < size.T; ++t)
            cell(y, c, std::span<float const>(X.data() + t * size.H, size.H));
    }
};

struct product {
    dispatch_work size;
    matrix A, B;
    xloom::packed_matrix<float> packed;
    row y;

    explicit product(dispatch_work const& work)
        : size(work),
          A(uniform<matrix>({size.N, size.H}, 1, 1)),
          B(uniform<matrix>({size.H, size.H}, 1, 2)),
          packed(B),
          y(size.N * size.H)
    {}

    void operator()() { packed(size.N, A.data(), size.H, y.data(), size.H); }
};

struct activations {
    dispatch_work size;
    row x, y;

    explicit activations(dispatch_work const& work) : size(work), x(size.N * size.H), y(x.size())
    {
        matrix const numbers = uniform<matrix>({size.N, size.H}, 8, 1);
        std::copy(numbers.begin(), numbers.end(), x.begin());
    }

    void operator()()
    {
        for (std::size_t n = 0; n < size.N; ++n)
            xloom::activate(xloom::activation::tanh, std::span<float const>(x.data() + n * size.H, size.H),
                std::span<float>(y.data() + n * size.H, size.H));
    }
};

} // namespace

built_call make_recurrent(dispatch_work const& work)
{
    if (work.kind == "lstm")
        return call_of(std::make_shared<lstm>(work));
    if (work.kind == "gru")
        return call_of(std::make_shared<gru>(work));
    if (work.kind == "rnn")
        return call_of(std::make_shared<rnn>(work));
    if (work.kind == "attn_lstm")
        return call_of(std::make_shared<attn_lstm>(work));
    if (work.kind == "lstm_cell")
        return call_of(std::make_shared<lstm_cell>(work));
    if (work.kind == "packed_matrix")
        return call_of(std::make_shared<product>(work));
    return call_of(std::make_shared<activations>(work));
}

} // namespace bench::XLOOM_BENCH_BUILD
