// Compares attn_lstm_forward_into and attn_lstm_vjp_into with attn_lstm_into. No peer has this gradient.

#include <xloom/gradients/attn_lstm_vjp.hpp>

#include <tuple>
#include <vector>

#include "attn_lstm_operands.hpp"

namespace {

using namespace bench;

struct backward_operands : attn_lstm_operands<xloom::serial_policy> {
    using base = attn_lstm_operands<xloom::serial_policy>;

    recurrent_results first, ct; ///< first: the outputs that the residuals belong to
    std::vector<cube> found;     ///< the cotangents of X, W, R, QW, MW, M, AW
    matrix ct_B, ct_V;
    xloom::attn_lstm_weights<float> trained;
    xloom::attn_lstm_residuals<float> residuals{};
    bool is_forward = false; ///< the last pass

    explicit backward_operands(attn_lstm_sizes const& s)
        : base(s, xloom::serial),
          first(s.T, s.N, s.H),
          ct(s.T, s.N, s.H),
          found{X, W, R, QW, MW, M, AW},
          ct_B(B),
          ct_V(V),
          trained(constants(), {}, xloom::for_training)
    {
        ct.Y = uniform<xt::xtensor<float, 4>>({s.T, std::size_t{1}, s.N, s.H}, 10, 1.0);
        xloom::attn_lstm_forward_into(
            X, packed, {.M = M}, {first.Y, first.Y_h, first.Y_c}, residuals, workspace);
    }

    using gradients = std::tuple<std::vector<cube>, matrix, matrix>;
    gradients results() const { return {found, ct_B, ct_V}; }
    void clear()
    {
        y.fill(0);
        for (cube& each : found)
            each.fill(0);
        ct_B.fill(0);
        ct_V.fill(0);
    }
    bool is_close_to(gradients const& expected) const
    {
        if (is_forward)
            return base::is_close_to(first);
        return results() == expected;
    }
    benchmark::UserCounters counters() const { return base::counters(is_forward ? 1 : 2); }
};

void plain(backward_operands& o)
{
    xloom_attn_lstm(o);
    o.is_forward = true;
}

void keeping(backward_operands& o)
{
    xloom::attn_lstm_forward_into(
        o.X, o.packed, {.M = o.M}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.residuals, o.workspace);
    o.is_forward = true;
}

void backward(backward_operands& o)
{
    auto& g = o.found;
    for (cube& each : g)
        each.fill(0);
    o.ct_B.fill(0);
    o.ct_V.fill(0);
    xloom::attn_lstm_gradients<float> gradients{
        .X = g[0], .W = g[1], .R = g[2], .B = o.ct_B, .QW = g[3], .MW = g[4], .V = o.ct_V, .M = g[5]};
    if (o.size.L != 0)
        gradients.AW = g[6];
    xloom::attn_lstm_vjp_into(o.X, o.M, o.trained, o.residuals, {.Y = o.ct.Y}, gradients, o.workspace);
    o.is_forward = false;
}

/// Packing, which a training step does once.
void packing(backward_operands& o)
{
    o.trained.assign(o.constants());
    backward(o);
}

} // namespace

int main(int argc, char** argv)
{
    for (attn_lstm_sizes const& s :
        {attn_lstm_sizes{50, 16, 256, 256, 50, 256, 256, 256}, {50, 32, 512, 512, 50, 512, 512, 512},
            {100, 64, 128, 128, 30, 128, 128, 128}, {50, 1, 256, 256, 50, 256, 256, 0}})
        add_case(
            "attn_lstm_backward" + text_of(s), [=] { return backward_operands(s); },
            std::vector<series<backward_operands>>{
                {"xloom", backward}, {"xloom_packing", packing}, {"forward", plain}, {"keeping", keeping}});
    return run_cases(argc, argv);
}
