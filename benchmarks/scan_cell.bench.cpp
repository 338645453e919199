// A cell that users write themselves, as a body of scan_into, against the same cell as the body of an ONNX
// Scan:
//
//     h = tanh(x[t] W^T + b + h R^T)

#include <limits>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "recurrent_operands.hpp"

namespace {

using namespace bench;

struct cell_operands {
    std::size_t iterations, N, H;
    cube x;             ///< [T, N, H]
    matrix W, R;        ///< [H, H]
    vector b;           ///< [H]
    matrix h0, h, by_h; ///< [N, H]
    cube y;             ///< [T, N, H]
    matrix W_turned, R_turned;
    xloom::packed_matrix<float> from_x, from_h;
    xloom::rnn_weights<float> rnn;
    xloom::recurrent_workspace<float> workspace;

    cell_operands(std::size_t T, std::size_t rows, std::size_t hidden)
        : iterations(T),
          N(rows),
          H(hidden),
          x(uniform<cube>({T, N, H}, 1, 1.0)),
          W(uniform<matrix>({H, H}, 2, weight_limit(H))),
          R(uniform<matrix>({H, H}, 3, weight_limit(H))),
          b(uniform<vector>({H}, 4, weight_limit(H))),
          h0(xt::zeros<float>({N, H})),
          h(h0),
          by_h(h0),
          y(cube::from_shape({T, N, H})),
          W_turned(xt::transpose(W)),
          R_turned(xt::transpose(R)),
          from_x(W_turned, b),
          from_h(R_turned),
          rnn(packed_rnn()),
          workspace(xloom::recurrent_workspace(rnn, {T, N}))
    {}

    /// As ONNX's RNN wants its weights: with an axis of directions, and a second b.
    xloom::rnn_weights<float> packed_rnn() const
    {
        cube const its_W = xt::expand_dims(W, 0), its_R = xt::expand_dims(R, 0);
        matrix B = xt::zeros<float>({std::size_t{1}, 2 * H});
        std::copy(b.begin(), b.end(), B.begin());
        return {{.W = its_W, .R = its_R, .B = B}};
    }

    auto const& results() const { return y; }
    void clear() { y.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(cube const& expected) const { return is_close(y, expected); }
};

void hand(cell_operands& o)
{
    o.h.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t) {
        for (std::size_t n = 0; n < o.N; ++n) {
            float* const y = &o.y(t, n, 0);
            std::copy(o.b.begin(), o.b.end(), y);
            for (std::size_t k = 0; k < o.H; ++k)
                add_product(y, o.x(t, n, k), &o.W_turned(k, 0), o.H);
            for (std::size_t k = 0; k < o.H; ++k)
                add_product(y, o.h(n, k), &o.R_turned(k, 0), o.H);
        }
        for (std::size_t i = 0; i < o.h.size(); ++i) {
            float& y = (&o.y(t, 0, 0))[i];
            y = o.h.data()[i] = std::tanh(y);
        }
    }
}

void xloom_cell(cell_operands& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [&o](auto& h, auto const& x_t, auto& y_t) {
            o.from_x(o.N, x_t.data(), o.H, y_t.data(), o.H);
            o.from_h(o.N, h.data(), o.H, o.by_h.data(), o.H);
            std::transform(y_t.data(), y_t.data() + h.size(), o.by_h.data(), h.data(), std::plus<>());
            std::span<float> const state(h.data(), h.size());
            xloom::activate({xloom::activation::tanh}, state, state);
            std::copy(state.begin(), state.end(), y_t.data());
        },
        o.h, o.x, o.y);
}

void xloom_rnn(cell_operands& o)
{
    auto Y = xt::adapt(
        o.y.data(), o.y.size(), xt::no_ownership(), std::array{o.iterations, std::size_t{1}, o.N, o.H});
    xloom::rnn_into(o.x, o.rnn, {}, {.Y = Y}, o.workspace);
}

onnx_graph model(cell_operands& o)
{
    onnx_graph const body{.inputs = {bound("h", o.h), element("x_t", o.x), weight("W", o.W), weight("R", o.R),
                              weight("b", o.b)},
        .outputs = {bound("next_h", o.h), element("y_t", o.y)},
        .nodes = {{"Gemm", {"x_t", "W", "b"}, {"by_x"}, {{"transB", 1}}},
            {"Gemm", {"h", "R", "by_x"}, {"sum"}, {{"transB", 1}}}, {"Tanh", {"sum"}, {"next_h"}},
            {"Identity", {"next_h"}, {"y_t"}}}};
    return model_of({.op = "Scan", .attributes = {subgraph("body", body), {"num_scan_inputs", 1}}},
        {bound("h0", o.h0), bound("x", o.x)}, {bound("final_h", o.h), bound("y", o.y)});
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t T = 100;
    for (std::size_t N : {1u, 16u})
        for (std::size_t H : {64u, 256u})
            add_case(
                "scan_cell/f32/tanh/N:" + std::to_string(N) + "/H:" + std::to_string(H) + "/iterations:100",
                [=] { return cell_operands(T, N, H); },
                {{"hand", hand}, {"xloom", xloom_cell}, {"xloom_rnn", xloom_rnn},
                    {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
