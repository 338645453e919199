// Compares lstm_forward_into and lstm_vjp_into with lstm_into and with oneDNN.

#include <xloom/gradients/lstm_vjp.hpp>

#include "recurrent_vjp.hpp"

namespace {

using namespace bench;

struct lstm_network {
    static constexpr auto name = "lstm";
    static constexpr std::size_t gates = 4;
    static constexpr bool has_c = true;
    using constants = xloom::lstm_constants<float>;
    using weights = xloom::lstm_weights<float>;
    using residuals = xloom::lstm_residuals<float>;
    using operands = vjp_operands<lstm_network>;

    static xloom::lstm_options options(cell_sizes const&) { return {}; }

    static void into(operands& o)
    {
        xloom::lstm_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace);
    }
    static void forward_into(operands& o)
    {
        xloom::lstm_forward_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.residuals, o.workspace);
    }
    static void vjp_into(operands& o)
    {
        cell_gradients& g = o.found;
        g.clear();
        xloom::lstm_vjp_into(o.X, o.weights, o.residuals, {o.ct.Y, o.ct.Y_h, o.ct.Y_c},
            {.X = g.X, .W = g.W, .R = g.R, .B = g.B, .initial_h = g.initial_h, .initial_c = g.initial_c},
            o.workspace);
    }

    /// ONNX's gate; oneDNN's are i, f, g, o.
    static std::size_t gate(std::size_t of_onednn)
    {
        return std::array<std::size_t, 4>{0, 2, 3, 1}[of_onednn];
    }

#ifdef XLOOM_HAS_ONEDNN
    static onednn_passes passes(cell_sizes const&, onednn_layouts const& layouts, dnnl::engine const& engine)
    {
        auto const& [x, y, state, W, R, B] = layouts;
        auto const direction = dnnl::rnn_direction::unidirectional_left2right;
        dnnl::lstm_forward::primitive_desc const forward(
            {dnnl::prop_kind::forward_training, direction, x, state, state, W, R, B, y, state, state},
            engine);
        dnnl::lstm_backward::primitive_desc const backward(
            {dnnl::prop_kind::backward, direction, x, state, state, W, R, B, y, state, state, x, state, state,
                W, R, B, y, state, state},
            engine, forward);
        return onednn_passes::of<dnnl::lstm_forward, dnnl::lstm_backward>(forward, backward);
    }
#endif
};

} // namespace

int main(int argc, char** argv)
{
    add_passes<lstm_network>(
        {{50, 16, 256, 256}, {50, 32, 512, 512}, {100, 64, 128, 128}, {50, 1, 256, 256}});
    return run_cases(argc, argv);
}
