// Compares gru_into and gru with ONNX Runtime and straightforward loops.

#include <xloom/recurrent/gru.hpp>

#include "recurrent_operands.hpp"

namespace {

using namespace bench;

struct gru_operands : recurrent_operands, recurrent_inputs {
    cell_sizes size;
    matrix W_turned, R_turned; ///< for the loops by hand
    xloom::gru_weights<float> packed;
    xloom::recurrent_workspace<float> workspace;

    explicit gru_operands(cell_sizes const& s)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, 3), s.N == 1},
          recurrent_inputs(s, 3),
          size(s),
          W_turned(turned(W)),
          R_turned(turned(R)),
          packed(xloom::gru_constants<float>{.W = W, .R = R, .B = B}, options()),
          workspace(xloom::recurrent_workspace(packed, {s.T, s.N}))
    {}

    xloom::gru_options options() const { return {.linear_before_reset = size.linear_before_reset}; }

    /// A GRU has no Y_c.
    bool is_close_to(recurrent_results const& expected) const
    {
        return is_close(y.Y, expected.Y) && is_close(y.Y_h, expected.Y_h);
    }
};

/// sums += row M[:, first...first + count]
void add_products(float* sums, float const* row, matrix const& M, std::size_t first, std::size_t count)
{
    for (std::size_t k = 0; k < M.shape(0); ++k)
        add_product(sums, row[k], &M(k, first), count);
}

void hand(gru_operands& o)
{
    auto const [T, N, I, H, linear_before_reset] = o.size;
    std::vector<float> by_x(3 * H), by_h(3 * H), reset(H);
    o.y.Y_h.fill(0.0f);
    for (std::size_t t = 0; t < T; ++t)
        for (std::size_t n = 0; n < N; ++n) {
            float* const h = &o.y.Y_h(0, n, 0);
            std::copy_n(&o.B(0, 0), 3 * H, by_x.data());
            std::copy_n(&o.B(0, 3 * H), 3 * H, by_h.data());
            add_products(by_x.data(), &o.X(t, n, 0), o.W_turned, 0, 3 * H);
            add_products(by_h.data(), h, o.R_turned, 0, linear_before_reset ? 3 * H : 2 * H);
            for (std::size_t j = 0; j < H; ++j)
                reset[j] =
                    sigmoid(by_x[H + j] + by_h[H + j]) * (linear_before_reset ? by_h[2 * H + j] : h[j]);
            if (!linear_before_reset) {
                add_products(by_h.data() + 2 * H, reset.data(), o.R_turned, 2 * H, H);
                std::copy_n(&by_h[2 * H], H, reset.data());
            }
            for (std::size_t j = 0; j < H; ++j) {
                float const z = sigmoid(by_x[j] + by_h[j]);
                h[j] = (1.0f - z) * std::tanh(by_x[2 * H + j] + reset[j]) + z * h[j];
            }
            std::copy_n(h, H, &o.y.Y(t, 0, n, 0));
        }
}

void xloom_gru(gru_operands& o) { xloom::gru_into(o.X, o.packed, {}, {o.y.Y, o.y.Y_h}, o.workspace); }

void xloom_plain(gru_operands& o)
{
    auto const result = xloom::gru(o.X, {.W = o.W, .R = o.R, .B = o.B}, o.options());
    o.y.Y = result.Y;
    o.y.Y_h = result.Y_h;
}

onnx_graph model(gru_operands& o)
{
    return model_of({.op = "GRU",
                        .attributes = {{"hidden_size", static_cast<std::int64_t>(o.size.H)},
                            {"linear_before_reset", std::int64_t{o.size.linear_before_reset}}}},
        {bound("X", o.X), weight("W", o.W), weight("R", o.R), weight("B", o.B)},
        {bound("Y", o.y.Y), bound("Y_h", o.y.Y_h)});
}

} // namespace

int main(int argc, char** argv)
{
    for (cell_sizes const& s : {cell_sizes{10, 1, 64, 64, true}, {50, 1, 256, 256, true},
             {50, 16, 256, 256, true}, {50, 16, 256, 256, false}})
        add_case("gru" + text_of(s), [=] { return gru_operands(s); },
            {{"hand", hand}, {"xloom", xloom_gru}, {"xloom_plain", xloom_plain},
                {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
