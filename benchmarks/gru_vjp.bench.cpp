// Compares gru_forward_into and gru_vjp_into with gru_into and with oneDNN.

#include <xloom/gradients/gru_vjp.hpp>

#include "recurrent_vjp.hpp"

namespace {

using namespace bench;

struct gru_network {
    static constexpr auto name = "gru";
    static constexpr std::size_t gates = 3;
    static constexpr bool has_c = false;
    using constants = xloom::gru_constants<float>;
    using weights = xloom::gru_weights<float>;
    using residuals = xloom::gru_residuals<float>;
    using operands = vjp_operands<gru_network>;

    static xloom::gru_options options(cell_sizes const& s)
    {
        return {.linear_before_reset = s.linear_before_reset};
    }

    static void into(operands& o) { xloom::gru_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h}, o.workspace); }
    static void forward_into(operands& o)
    {
        xloom::gru_forward_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h}, o.residuals, o.workspace);
    }
    static void vjp_into(operands& o)
    {
        cell_gradients& g = o.found;
        g.clear();
        xloom::gru_vjp_into(o.X, o.weights, o.residuals, {o.ct.Y, o.ct.Y_h},
            {.X = g.X, .W = g.W, .R = g.R, .B = g.B, .initial_h = g.initial_h}, o.workspace);
    }

    /// oneDNN's gates are ONNX's.
    static std::size_t gate(std::size_t of_onednn) { return of_onednn; }

#ifdef XLOOM_HAS_ONEDNN
    static onednn_passes passes(
        cell_sizes const& s, onednn_layouts const& layouts, dnnl::engine const& engine)
    {
        return s.linear_before_reset ? passes<dnnl::lbr_gru_forward, dnnl::lbr_gru_backward>(layouts, engine)
                                     : passes<dnnl::gru_forward, dnnl::gru_backward>(layouts, engine);
    }
    template <class Forward, class Backward>
    static onednn_passes passes(onednn_layouts const& layouts, dnnl::engine const& engine)
    {
        auto const& [x, y, state, W, R, B] = layouts;
        auto const direction = dnnl::rnn_direction::unidirectional_left2right;
        typename Forward::primitive_desc const forward(
            {dnnl::prop_kind::forward_training, direction, x, state, W, R, B, y, state}, engine);
        typename Backward::primitive_desc const backward(
            {dnnl::prop_kind::backward, direction, x, state, W, R, B, y, state, x, state, W, R, B, y, state},
            engine, forward);
        return onednn_passes::of<Forward, Backward>(forward, backward);
    }
#endif
};

} // namespace

int main(int argc, char** argv)
{
    add_passes<gru_network>({{50, 16, 256, 256, true}, {50, 16, 256, 256, false}, {50, 32, 512, 512, true},
        {100, 64, 128, 128, true}, {50, 1, 256, 256, true}});
    return run_cases(argc, argv);
}
