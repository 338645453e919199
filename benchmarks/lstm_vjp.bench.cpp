// Compares lstm_forward_into and lstm_vjp_into with lstm_into and with oneDNN.

#include <xloom/gradients/lstm_vjp.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../tests/support/xtensor_extras.hpp"
#include "onednn.hpp"
#include "recurrent_operands.hpp"

namespace {

using namespace bench;

struct lstm_sizes {
    std::size_t T, N, I, H;
};

/// The gradients of a call, with W and R in ONNX's order.
struct gradients {
    cube X, W, R;
    matrix B;
    cube initial_h, initial_c;

    explicit gradients(lstm_sizes const& s)
        : X(cube::from_shape({s.T, s.N, s.I})),
          W(cube::from_shape({1, 4 * s.H, s.I})),
          R(cube::from_shape({1, 4 * s.H, s.H})),
          B(matrix::from_shape({1, 8 * s.H})),
          initial_h(cube::from_shape({1, s.N, s.H})),
          initial_c(cube::from_shape({1, s.N, s.H}))
    {}
    void clear()
    {
        for (cube* const each : {&X, &W, &R, &initial_h, &initial_c})
            each->fill(0);
        B.fill(0);
    }
};

#ifdef XLOOM_HAS_ONEDNN
/// oneDNN's gates are i, f, g, o; its bias is the sum of both. Weights in the layout of its choice.
class onednn_lstm {
    using desc = dnnl::memory::desc;
    using tag = dnnl::memory::format_tag;

public:
    template <class Operands>
    onednn_lstm(lstm_sizes const& s, Operands const& o) : size_(s)
    {
        auto const at = [](std::size_t i) { return static_cast<dnnl::memory::dim>(i); };
        auto const f32 = dnnl::memory::data_type::f32;
        auto const T = at(s.T), N = at(s.N), I = at(s.I), H = at(s.H);
        desc const x({T, N, I}, f32, tag::tnc), y({T, N, H}, f32, tag::tnc),
            state({1, 1, N, H}, f32, tag::ldnc), W({1, 1, I, 4, H}, f32, tag::any),
            R({1, 1, H, 4, H}, f32, tag::any), B({1, 1, 4, H}, f32, tag::ldgo);
        W_layout_ = desc({1, 1, I, 4, H}, f32, tag::ldgoi);
        R_layout_ = desc({1, 1, H, 4, H}, f32, tag::ldgoi);
        auto const direction = dnnl::rnn_direction::unidirectional_left2right;
        dnnl::lstm_forward::primitive_desc const forward(
            {dnnl::prop_kind::forward_training, direction, x, state, state, W, R, B, y, state, state},
            engine_);
        dnnl::lstm_backward::primitive_desc const backward(
            {dnnl::prop_kind::backward, direction, x, state, state, W, R, B, y, state, state, x, state, state,
                W, R, B, y, state, state},
            engine_, forward);
        forward_ = dnnl::lstm_forward(forward);
        backward_ = dnnl::lstm_backward(backward);
        auto const memory = [&](int name, desc const& layout) {
            return (all_[name] = onednn_memory(layout, engine_));
        };
        onednn_copy(o.X.data(), x, memory(DNNL_ARG_SRC_LAYER, x), stream_);
        memory(DNNL_ARG_SRC_ITER, state);
        memory(DNNL_ARG_SRC_ITER_C, state);
        memory(DNNL_ARG_DST_LAYER, y);
        memory(DNNL_ARG_DST_ITER, state);
        memory(DNNL_ARG_DST_ITER_C, state);
        memory(DNNL_ARG_WORKSPACE, forward.workspace_desc());
        std::vector<float> const W_items = reordered(o.W), R_items = reordered(o.R);
        std::vector<float> bias(4 * s.H);
        for (std::size_t i = 0; i < 4 * s.H; ++i)
            bias[i] = o.B(0, gate(i / s.H) * s.H + i % s.H) + o.B(0, (4 + gate(i / s.H)) * s.H + i % s.H);
        onednn_copy(bias.data(), B, memory(DNNL_ARG_BIAS, forward.bias_desc()), stream_);
        onednn_copy(
            W_items.data(), W_layout_, memory(DNNL_ARG_WEIGHTS_LAYER, forward.weights_layer_desc()), stream_);
        onednn_copy(
            R_items.data(), R_layout_, memory(DNNL_ARG_WEIGHTS_ITER, forward.weights_iter_desc()), stream_);
        forward_operands_ = all_;
        onednn_copy(W_items.data(), W_layout_, memory(DNNL_ARG_WEIGHTS_LAYER, backward.weights_layer_desc()),
            stream_);
        onednn_copy(
            R_items.data(), R_layout_, memory(DNNL_ARG_WEIGHTS_ITER, backward.weights_iter_desc()), stream_);
        memory(DNNL_ARG_DIFF_SRC_LAYER, x);
        memory(DNNL_ARG_DIFF_SRC_ITER, state);
        memory(DNNL_ARG_DIFF_SRC_ITER_C, state);
        memory(DNNL_ARG_DIFF_WEIGHTS_LAYER, backward.diff_weights_layer_desc());
        memory(DNNL_ARG_DIFF_WEIGHTS_ITER, backward.diff_weights_iter_desc());
        memory(DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc());
        onednn_copy(o.ct.Y.data(), y, memory(DNNL_ARG_DIFF_DST_LAYER, y), stream_);
        onednn_copy(o.ct.Y_h.data(), state, memory(DNNL_ARG_DIFF_DST_ITER, state), stream_);
        onednn_copy(o.ct.Y_c.data(), state, memory(DNNL_ARG_DIFF_DST_ITER_C, state), stream_);
    }

    void run_forward()
    {
        forward_.execute(stream_, forward_operands_);
        stream_.wait();
    }
    /// Begins with gradients of zeros, as xloom's run does; oneDNN adds to those of weights.
    void run_backward()
    {
        for (int const name : {DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS}) {
            dnnl::memory const& sums = all_.at(name);
            std::fill_n(static_cast<float*>(sums.get_data_handle()),
                sums.get_desc().get_size() / sizeof(float), 0.0f);
        }
        backward_.execute(stream_, all_);
        stream_.wait();
    }

    template <class Results>
    void store_outputs(Results& y)
    {
        store(DNNL_ARG_DST_LAYER, y.Y);
        store(DNNL_ARG_DST_ITER, y.Y_h);
        store(DNNL_ARG_DST_ITER_C, y.Y_c);
    }
    void store_gradients(gradients& to)
    {
        store(DNNL_ARG_DIFF_SRC_LAYER, to.X);
        store(DNNL_ARG_DIFF_SRC_ITER, to.initial_h);
        store(DNNL_ARG_DIFF_SRC_ITER_C, to.initial_c);
        auto const store_weights = [&](int name, desc const& layout, cube& weights) {
            std::vector<float> const items = onednn_items(all_.at(name), layout, stream_);
            std::size_t const width = weights.shape(2);
            for (std::size_t i = 0; i < 4 * size_.H; ++i)
                std::copy_n(
                    &items[i * width], width, &weights(0, gate(i / size_.H) * size_.H + i % size_.H, 0));
        };
        store_weights(DNNL_ARG_DIFF_WEIGHTS_LAYER, W_layout_, to.W);
        store_weights(DNNL_ARG_DIFF_WEIGHTS_ITER, R_layout_, to.R);
        auto const* const bias = static_cast<float const*>(all_.at(DNNL_ARG_DIFF_BIAS).get_data_handle());
        for (std::size_t i = 0; i < 4 * size_.H; ++i)
            for (std::size_t const half : {std::size_t{0}, std::size_t{4}})
                to.B(0, (half + gate(i / size_.H)) * size_.H + i % size_.H) = bias[i];
    }

private:
    /// ONNX's number of a gate.
    static std::size_t gate(std::size_t of_onednn)
    {
        return std::array<std::size_t, 4>{0, 2, 3, 1}[of_onednn];
    }

    std::vector<float> reordered(cube const& weights) const
    {
        std::size_t const width = weights.shape(2);
        std::vector<float> items(weights.size());
        for (std::size_t i = 0; i < 4 * size_.H; ++i)
            std::copy_n(&weights(0, gate(i / size_.H) * size_.H + i % size_.H, 0), width, &items[i * width]);
        return items;
    }
    template <class Tensor>
    void store(int name, Tensor& to)
    {
        std::copy_n(static_cast<float const*>(all_.at(name).get_data_handle()), to.size(), to.data());
    }

    lstm_sizes size_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    desc W_layout_, R_layout_;
    dnnl::lstm_forward forward_;
    dnnl::lstm_backward backward_;
    std::unordered_map<int, dnnl::memory> all_, forward_operands_;
};
#else
struct onednn_lstm {};
#endif

struct backward_operands {
    lstm_sizes size;
    bool is_forward; ///< the case compares forward passes
    cube X, W, R;
    matrix B;
    recurrent_results y, ct;
    gradients found;
    xloom::lstm_weights<float> weights;
    xloom::lstm_residuals<float> residuals{};
    xloom::recurrent_workspace<float> workspace{};
    std::shared_ptr<onednn_lstm> peer{};
    bool is_of_peer = false;      ///< the last results are the peer's, in its memory
    bool is_forward_only = false; ///< the last run was a forward pass, although the case compares gradients

    backward_operands(lstm_sizes const& s, bool compares_forward)
        : size(s),
          is_forward(compares_forward),
          X(uniform<cube>({s.T, s.N, s.I}, 1, 1.0)),
          W(uniform<cube>({1, 4 * s.H, s.I}, 2, weight_limit(s.H))),
          R(uniform<cube>({1, 4 * s.H, s.H}, 3, weight_limit(s.H))),
          B(uniform<matrix>({1, 8 * s.H}, 4, weight_limit(s.H))),
          y(s.T, s.N, s.H),
          ct(s.T, s.N, s.H),
          found(s),
          weights(xloom::lstm_constants<float>{.W = W, .R = R, .B = B}, {}, xloom::for_training)
    {
        ct.Y = uniform<xt::xtensor<float, 4>>({s.T, std::size_t{1}, s.N, s.H}, 5, 1.0);
        ct.Y_h = uniform<cube>({1, s.N, s.H}, 6, 1.0);
        ct.Y_c = uniform<cube>({1, s.N, s.H}, 7, 1.0);
        xloom::lstm_forward_into(X, weights, {}, {y.Y, y.Y_h, y.Y_c}, residuals, workspace);
#ifdef XLOOM_HAS_ONEDNN
        peer = std::make_shared<onednn_lstm>(s, *this);
        peer->run_forward();
#endif
    }

    std::pair<recurrent_results, gradients> results() const { return {y, found}; }
    void clear()
    {
        is_of_peer = is_forward_only = false;
        if (is_forward)
            y.fill(0);
        found.clear();
    }
    bool is_close_to(std::pair<recurrent_results, gradients> const& expected) const
    {
        recurrent_results outputs = y;
        gradients g = found;
#ifdef XLOOM_HAS_ONEDNN
        if (is_of_peer) {
            peer->store_outputs(outputs);
            if (!is_forward)
                peer->store_gradients(g);
        }
#endif
        gradients const& e = expected.second;
        return is_close(outputs.Y, expected.first.Y) && is_close(outputs.Y_c, expected.first.Y_c) &&
               (is_forward_only ||
                   (is_near(g.X, e.X) && is_near(g.W, e.W) && is_near(g.R, e.R) && is_near(g.B, e.B) &&
                       is_near(g.initial_h, e.initial_h) && is_near(g.initial_c, e.initial_c)));
    }
    benchmark::UserCounters counters() const
    {
        double const T = double(size.T), N = double(size.N), I = double(size.I), H = double(size.H),
                     gflops = T * N * (is_forward ? 8 : 16) * H * (I + H) * 1e-9;
        return {{"call", seconds_each(1)}, {"GFLOP/s", Counter(gflops, Counter::kIsIterationInvariantRate)},
            {"peak", Counter(gflops / fma_peak(), Counter::kIsIterationInvariantRate)}};
    }
};

void plain(backward_operands& o)
{
    xloom::lstm_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace);
    o.is_forward_only = true;
}

void keeping(backward_operands& o)
{
    xloom::lstm_forward_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.residuals, o.workspace);
}

void backward(backward_operands& o)
{
    gradients& g = o.found;
    g.clear();
    xloom::lstm_vjp_into(o.X, o.weights, o.residuals, {o.ct.Y, o.ct.Y_h, o.ct.Y_c},
        {.X = g.X, .W = g.W, .R = g.R, .B = g.B, .initial_h = g.initial_h, .initial_c = g.initial_c},
        o.workspace);
}

/// Packing, which a training step does once for both passes.
void packing(backward_operands& o)
{
    o.weights.assign({.W = o.W, .R = o.R, .B = o.B});
    backward(o);
}

#ifdef XLOOM_HAS_ONEDNN
void onednn_forward(backward_operands& o)
{
    o.peer->run_forward();
    o.is_of_peer = true;
}

void onednn_backward(backward_operands& o)
{
    o.peer->run_backward();
    o.is_of_peer = true;
}
#endif

} // namespace

int main(int argc, char** argv)
{
    bool const has_peer = has_onednn();
    for (lstm_sizes const& s :
        {lstm_sizes{50, 16, 256, 256}, {50, 32, 512, 512}, {100, 64, 128, 128}, {50, 1, 256, 256}}) {
        std::string const sizes = text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}});
        std::vector<series<backward_operands>> forward_series{{"xloom_into", plain}, {"xloom", keeping}},
            backward_series{{"xloom", backward}, {"xloom_packing", packing}, {"forward", plain}};
#ifdef XLOOM_HAS_ONEDNN
        if (has_peer) {
            forward_series.push_back({"onednn", onednn_forward});
            backward_series.push_back({"onednn", onednn_backward});
        }
#else
        static_cast<void>(has_peer);
#endif
        add_case(
            "lstm_forward" + sizes, [=] { return backward_operands(s, true); }, forward_series);
        add_case(
            "lstm_backward" + sizes, [=] { return backward_operands(s, false); }, backward_series);
    }
    return run_cases(argc, argv);
}
