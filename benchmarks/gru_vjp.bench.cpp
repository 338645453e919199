// Compares gru_forward_into and gru_vjp_into with gru_into and with oneDNN.

#include <xloom/gradients/gru_vjp.hpp>

#include <algorithm>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../tests/support/xtensor_extras.hpp"
#include "onednn.hpp"
#include "recurrent_operands.hpp"

namespace {

using namespace bench;

struct gru_sizes {
    std::size_t T, N, I, H;
    bool linear_before_reset;
};

/// The gradients of a call, with W and R in ONNX's order.
struct gradients {
    cube X, W, R;
    matrix B;
    cube initial_h;

    explicit gradients(gru_sizes const& s)
        : X(cube::from_shape({s.T, s.N, s.I})),
          W(cube::from_shape({1, 3 * s.H, s.I})),
          R(cube::from_shape({1, 3 * s.H, s.H})),
          B(matrix::from_shape({1, 6 * s.H})),
          initial_h(cube::from_shape({1, s.N, s.H}))
    {}
    void clear()
    {
        for (cube* const each : {&X, &W, &R, &initial_h})
            each->fill(0);
        B.fill(0);
    }
};

#ifdef XLOOM_HAS_ONEDNN
/// oneDNN's gates are ONNX's; its bias is the sum of both, with linear_before_reset but for the last gate,
/// whose second bias comes fourth. Weights in the layout of its choice.
class onednn_gru {
    using desc = dnnl::memory::desc;
    using tag = dnnl::memory::format_tag;

public:
    template <class Operands>
    onednn_gru(gru_sizes const& s, Operands const& o) : size_(s)
    {
        if (s.linear_before_reset)
            make<dnnl::lbr_gru_forward, dnnl::lbr_gru_backward>(o);
        else
            make<dnnl::gru_forward, dnnl::gru_backward>(o);
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
    }
    void store_gradients(gradients& to)
    {
        store(DNNL_ARG_DIFF_SRC_LAYER, to.X);
        store(DNNL_ARG_DIFF_SRC_ITER, to.initial_h);
        std::size_t const H = size_.H;
        for (auto const& [name, layout, weights] : {std::tuple(DNNL_ARG_DIFF_WEIGHTS_LAYER, W_layout_, &to.W),
                 std::tuple(DNNL_ARG_DIFF_WEIGHTS_ITER, R_layout_, &to.R)}) {
            std::vector<float> const items = onednn_items(all_.at(name), layout, stream_);
            std::copy(items.begin(), items.end(), weights->data());
        }
        auto const* const bias = static_cast<float const*>(all_.at(DNNL_ARG_DIFF_BIAS).get_data_handle());
        for (std::size_t i = 0; i < 3 * H; ++i) {
            to.B(0, i) = bias[i];
            to.B(0, 3 * H + i) = bias[size_.linear_before_reset && i >= 2 * H ? H + i : i];
        }
    }

private:
    template <class Forward, class Backward, class Operands>
    void make(Operands const& o)
    {
        auto const at = [](std::size_t i) { return static_cast<dnnl::memory::dim>(i); };
        auto const f32 = dnnl::memory::data_type::f32;
        auto const T = at(size_.T), N = at(size_.N), I = at(size_.I), H = at(size_.H),
                   biases = at(size_.linear_before_reset ? 4 : 3);
        desc const x({T, N, I}, f32, tag::tnc), y({T, N, H}, f32, tag::tnc),
            state({1, 1, N, H}, f32, tag::ldnc), W({1, 1, I, 3, H}, f32, tag::any),
            R({1, 1, H, 3, H}, f32, tag::any), B({1, 1, biases, H}, f32, tag::ldgo);
        W_layout_ = desc({1, 1, I, 3, H}, f32, tag::ldgoi);
        R_layout_ = desc({1, 1, H, 3, H}, f32, tag::ldgoi);
        auto const direction = dnnl::rnn_direction::unidirectional_left2right;
        typename Forward::primitive_desc const forward(
            {dnnl::prop_kind::forward_training, direction, x, state, W, R, B, y, state}, engine_);
        typename Backward::primitive_desc const backward(
            {dnnl::prop_kind::backward, direction, x, state, W, R, B, y, state, x, state, W, R, B, y, state},
            engine_, forward);
        forward_ = Forward(forward);
        backward_ = Backward(backward);
        auto const memory = [&](int name, desc const& layout) {
            return (all_[name] = onednn_memory(layout, engine_));
        };
        onednn_copy(o.X.data(), x, memory(DNNL_ARG_SRC_LAYER, x), stream_);
        memory(DNNL_ARG_SRC_ITER, state);
        memory(DNNL_ARG_DST_LAYER, y);
        memory(DNNL_ARG_DST_ITER, state);
        memory(DNNL_ARG_WORKSPACE, forward.workspace_desc());
        std::vector<float> bias(4 * size_.H);
        for (std::size_t i = 0, h = 2 * size_.H; i < 3 * size_.H; ++i) {
            float const second = o.B(0, 3 * size_.H + i);
            bool const is_apart = size_.linear_before_reset && i >= h;
            bias[i] = o.B(0, i) + (is_apart ? 0 : second);
            if (is_apart)
                bias[size_.H + i] = second;
        }
        onednn_copy(bias.data(), B, memory(DNNL_ARG_BIAS, forward.bias_desc()), stream_);
        onednn_copy(
            o.W.data(), W_layout_, memory(DNNL_ARG_WEIGHTS_LAYER, forward.weights_layer_desc()), stream_);
        onednn_copy(
            o.R.data(), R_layout_, memory(DNNL_ARG_WEIGHTS_ITER, forward.weights_iter_desc()), stream_);
        forward_operands_ = all_;
        onednn_copy(
            o.W.data(), W_layout_, memory(DNNL_ARG_WEIGHTS_LAYER, backward.weights_layer_desc()), stream_);
        onednn_copy(
            o.R.data(), R_layout_, memory(DNNL_ARG_WEIGHTS_ITER, backward.weights_iter_desc()), stream_);
        memory(DNNL_ARG_DIFF_SRC_LAYER, x);
        memory(DNNL_ARG_DIFF_SRC_ITER, state);
        memory(DNNL_ARG_DIFF_WEIGHTS_LAYER, backward.diff_weights_layer_desc());
        memory(DNNL_ARG_DIFF_WEIGHTS_ITER, backward.diff_weights_iter_desc());
        memory(DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc());
        onednn_copy(o.ct.Y.data(), y, memory(DNNL_ARG_DIFF_DST_LAYER, y), stream_);
        onednn_copy(o.ct.Y_h.data(), state, memory(DNNL_ARG_DIFF_DST_ITER, state), stream_);
    }

    template <class Tensor>
    void store(int name, Tensor& to)
    {
        std::copy_n(static_cast<float const*>(all_.at(name).get_data_handle()), to.size(), to.data());
    }

    gru_sizes size_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    desc W_layout_, R_layout_;
    dnnl::primitive forward_, backward_;
    std::unordered_map<int, dnnl::memory> all_, forward_operands_;
};
#else
struct onednn_gru {};
#endif

struct backward_operands {
    gru_sizes size;
    bool is_forward; ///< the case compares forward passes
    cube X, W, R;
    matrix B;
    recurrent_results y, ct;
    gradients found;
    xloom::gru_weights<float> weights;
    xloom::gru_residuals<float> residuals{};
    xloom::recurrent_workspace<float> workspace{};
    std::shared_ptr<onednn_gru> peer{};
    bool is_of_peer = false;      ///< the last results are the peer's, in its memory
    bool is_forward_only = false; ///< the last run was a forward pass, although the case compares gradients

    backward_operands(gru_sizes const& s, bool compares_forward)
        : size(s),
          is_forward(compares_forward),
          X(uniform<cube>({s.T, s.N, s.I}, 1, 1.0)),
          W(uniform<cube>({1, 3 * s.H, s.I}, 2, weight_limit(s.H))),
          R(uniform<cube>({1, 3 * s.H, s.H}, 3, weight_limit(s.H))),
          B(uniform<matrix>({1, 6 * s.H}, 4, weight_limit(s.H))),
          y(s.T, s.N, s.H),
          ct(s.T, s.N, s.H),
          found(s),
          weights(xloom::gru_constants<float>{.W = W, .R = R, .B = B}, options(), xloom::for_training)
    {
        ct.Y = uniform<xt::xtensor<float, 4>>({s.T, std::size_t{1}, s.N, s.H}, 5, 1.0);
        ct.Y_h = uniform<cube>({1, s.N, s.H}, 6, 1.0);
        xloom::gru_forward_into(X, weights, {}, {y.Y, y.Y_h}, residuals, workspace);
#ifdef XLOOM_HAS_ONEDNN
        peer = std::make_shared<onednn_gru>(s, *this);
        peer->run_forward();
#endif
    }

    xloom::gru_options options() const { return {.linear_before_reset = size.linear_before_reset}; }
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
        return is_close(outputs.Y, expected.first.Y) &&
               (is_forward_only || (is_near(g.X, e.X) && is_near(g.W, e.W) && is_near(g.R, e.R) &&
                                       is_near(g.B, e.B) && is_near(g.initial_h, e.initial_h)));
    }
    benchmark::UserCounters counters() const
    {
        double const T = double(size.T), N = double(size.N), I = double(size.I), H = double(size.H),
                     gflops = T * N * (is_forward ? 6 : 12) * H * (I + H) * 1e-9;
        return {{"call", seconds_each(1)}, {"GFLOP/s", Counter(gflops, Counter::kIsIterationInvariantRate)},
            {"peak", Counter(gflops / fma_peak(), Counter::kIsIterationInvariantRate)}};
    }
};

void plain(backward_operands& o)
{
    xloom::gru_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h}, o.workspace);
    o.is_forward_only = true;
}

void keeping(backward_operands& o)
{
    xloom::gru_forward_into(o.X, o.weights, {}, {o.y.Y, o.y.Y_h}, o.residuals, o.workspace);
}

void backward(backward_operands& o)
{
    gradients& g = o.found;
    g.clear();
    xloom::gru_vjp_into(o.X, o.weights, o.residuals, {o.ct.Y, o.ct.Y_h},
        {.X = g.X, .W = g.W, .R = g.R, .B = g.B, .initial_h = g.initial_h}, o.workspace);
}

/// Packing, which a training step does once for both passes.
void packing(backward_operands& o)
{
    o.weights.assign({.W = o.W, .R = o.R, .B = o.B}, o.options());
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
    for (gru_sizes const& s : {gru_sizes{50, 16, 256, 256, true}, {50, 16, 256, 256, false},
             {50, 32, 512, 512, true}, {100, 64, 128, 128, true}, {50, 1, 256, 256, true}}) {
        std::string const sizes = text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}}) +
                                  (s.linear_before_reset ? "/linear_before_reset" : "");
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
            "gru_forward" + sizes, [=] { return backward_operands(s, true); }, forward_series);
        add_case(
            "gru_backward" + sizes, [=] { return backward_operands(s, false); }, backward_series);
    }
    return run_cases(argc, argv);
}
