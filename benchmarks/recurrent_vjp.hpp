#pragma once
// Compares the passes of a recurrent operator that keep residuals, and its VJP, with its plain call and with
// oneDNN. A Network says what is the operator's own.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onednn.hpp"
#include "recurrent_operands.hpp"

namespace bench {

/// The gradients of a call, with W and R in ONNX's order. A GRU has no initial_c.
struct cell_gradients {
    cube X, W, R;
    matrix B;
    cube initial_h, initial_c;

    std::array<cube*, 5> cubes() { return {&X, &W, &R, &initial_h, &initial_c}; }
    std::array<cube const*, 5> cubes() const { return {&X, &W, &R, &initial_h, &initial_c}; }
    void clear()
    {
        for (cube* const each : cubes())
            each->fill(0);
        B.fill(0);
    }
};

#ifdef XLOOM_HAS_ONEDNN

/// The layouts of a call: weights in the layout of oneDNN's choice.
struct onednn_layouts {
    dnnl::memory::desc x, y, state, W, R, B;
};

/// Both passes, and the layouts that oneDNN has chosen for them.
struct onednn_passes {
    dnnl::primitive forward, backward;
    dnnl::memory::desc workspace, forward_W, forward_R, backward_W, backward_R, ct_W, ct_R, ct_B;

    template <class Forward, class Backward>
    static onednn_passes of(
        typename Forward::primitive_desc const& forward, typename Backward::primitive_desc const& backward)
    {
        return {Forward(forward), Backward(backward), forward.workspace_desc(), forward.weights_layer_desc(),
            forward.weights_iter_desc(), backward.weights_layer_desc(), backward.weights_iter_desc(),
            backward.diff_weights_layer_desc(), backward.diff_weights_iter_desc(), backward.diff_bias_desc()};
    }
};

/// oneDNN's bias is the sum of both, with linear_before_reset but for the last gate, whose second bias comes
/// after the gates.
template <class Network>
class onednn_network {
    using desc = dnnl::memory::desc;
    using tag = dnnl::memory::format_tag;
    static constexpr std::size_t gates = Network::gates;

public:
    template <class Operands>
    onednn_network(cell_sizes const& s, Operands const& o) : size_(s)
    {
        auto const at = [](std::size_t i) { return static_cast<dnnl::memory::dim>(i); };
        auto const f32 = dnnl::memory::data_type::f32;
        auto const T = at(s.T), N = at(s.N), I = at(s.I), H = at(s.H), G = at(gates);
        onednn_layouts const layouts{desc({T, N, I}, f32, tag::tnc), desc({T, N, H}, f32, tag::tnc),
            desc({1, 1, N, H}, f32, tag::ldnc), desc({1, 1, I, G, H}, f32, tag::any),
            desc({1, 1, H, G, H}, f32, tag::any), desc({1, 1, at(biases()), H}, f32, tag::ldgo)};
        W_layout_ = desc({1, 1, I, G, H}, f32, tag::ldgoi);
        R_layout_ = desc({1, 1, H, G, H}, f32, tag::ldgoi);
        onednn_passes const passes = Network::passes(s, layouts, engine_);
        forward_ = passes.forward;
        backward_ = passes.backward;
        auto const memory = [&](int name, desc const& layout) {
            return (all_[name] = onednn_memory(layout, engine_));
        };
        auto const& [x, y, state, W, R, B] = layouts;
        onednn_copy(o.X.data(), x, memory(DNNL_ARG_SRC_LAYER, x), stream_);
        memory(DNNL_ARG_SRC_ITER, state);
        memory(DNNL_ARG_DST_LAYER, y);
        memory(DNNL_ARG_DST_ITER, state);
        memory(DNNL_ARG_WORKSPACE, passes.workspace);
        std::vector<float> bias(biases() * s.H);
        for_each_bias([&](std::size_t first, std::size_t second, std::size_t sum, std::size_t other_sum) {
            bias[sum] += o.B(0, first);
            bias[other_sum] += o.B(0, second);
        });
        onednn_copy(bias.data(), B, memory(DNNL_ARG_BIAS, B), stream_);
        std::vector<float> const W_items = reordered(o.W), R_items = reordered(o.R);
        auto const copy_weights = [&](desc const& to_W, desc const& to_R) {
            onednn_copy(W_items.data(), W_layout_, memory(DNNL_ARG_WEIGHTS_LAYER, to_W), stream_);
            onednn_copy(R_items.data(), R_layout_, memory(DNNL_ARG_WEIGHTS_ITER, to_R), stream_);
        };
        copy_weights(passes.forward_W, passes.forward_R);
        if (Network::has_c)
            for (int const name : {DNNL_ARG_SRC_ITER_C, DNNL_ARG_DST_ITER_C})
                memory(name, state);
        forward_operands_ = all_;
        copy_weights(passes.backward_W, passes.backward_R);
        memory(DNNL_ARG_DIFF_SRC_LAYER, x);
        memory(DNNL_ARG_DIFF_SRC_ITER, state);
        memory(DNNL_ARG_DIFF_WEIGHTS_LAYER, passes.ct_W);
        memory(DNNL_ARG_DIFF_WEIGHTS_ITER, passes.ct_R);
        memory(DNNL_ARG_DIFF_BIAS, passes.ct_B);
        onednn_copy(o.ct.Y.data(), y, memory(DNNL_ARG_DIFF_DST_LAYER, y), stream_);
        onednn_copy(o.ct.Y_h.data(), state, memory(DNNL_ARG_DIFF_DST_ITER, state), stream_);
        if (Network::has_c) {
            memory(DNNL_ARG_DIFF_SRC_ITER_C, state);
            onednn_copy(o.ct.Y_c.data(), state, memory(DNNL_ARG_DIFF_DST_ITER_C, state), stream_);
        }
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

    void store_outputs(recurrent_results& y)
    {
        store(DNNL_ARG_DST_LAYER, y.Y);
        store(DNNL_ARG_DST_ITER, y.Y_h);
        if (Network::has_c)
            store(DNNL_ARG_DST_ITER_C, y.Y_c);
    }
    void store_gradients(cell_gradients& to)
    {
        store(DNNL_ARG_DIFF_SRC_LAYER, to.X);
        store(DNNL_ARG_DIFF_SRC_ITER, to.initial_h);
        if (Network::has_c)
            store(DNNL_ARG_DIFF_SRC_ITER_C, to.initial_c);
        auto const store_weights = [&](int name, desc const& layout, cube& weights) {
            std::vector<float> const items = onednn_items(all_.at(name), layout, stream_);
            for_each_row([&](std::size_t of_onednn, std::size_t row) {
                std::size_t const width = weights.shape(2);
                std::copy_n(items.data() + of_onednn * width, width, &weights(0, row, 0));
            });
        };
        store_weights(DNNL_ARG_DIFF_WEIGHTS_LAYER, W_layout_, to.W);
        store_weights(DNNL_ARG_DIFF_WEIGHTS_ITER, R_layout_, to.R);
        auto const* const bias = static_cast<float const*>(all_.at(DNNL_ARG_DIFF_BIAS).get_data_handle());
        for_each_bias([&](std::size_t first, std::size_t second, std::size_t sum, std::size_t other_sum) {
            to.B(0, first) = bias[sum];
            to.B(0, second) = bias[other_sum];
        });
    }

private:
    std::size_t biases() const { return size_.linear_before_reset ? gates + 1 : gates; }

    /// f(a row of oneDNN's weights, the row of ONNX's)
    template <class F>
    void for_each_row(F const& f) const
    {
        for (std::size_t i = 0; i < gates * size_.H; ++i)
            f(i, Network::gate(i / size_.H) * size_.H + i % size_.H);
    }
    /// f(both of ONNX's biases, of a row, and those of oneDNN's that they are parts of)
    template <class F>
    void for_each_bias(F const& f) const
    {
        for_each_row([&](std::size_t i, std::size_t row) {
            bool const is_apart = size_.linear_before_reset && i / size_.H == gates - 1;
            f(row, gates * size_.H + row, i, is_apart ? size_.H + i : i);
        });
    }

    std::vector<float> reordered(cube const& weights) const
    {
        std::vector<float> items(weights.size());
        for_each_row([&](std::size_t of_onednn, std::size_t row) {
            std::size_t const width = weights.shape(2);
            std::copy_n(&weights(0, row, 0), width, items.data() + of_onednn * width);
        });
        return items;
    }

    template <class Tensor>
    void store(int name, Tensor& to)
    {
        std::copy_n(static_cast<float const*>(all_.at(name).get_data_handle()), to.size(), to.data());
    }

    cell_sizes size_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    desc W_layout_, R_layout_;
    dnnl::primitive forward_, backward_;
    std::unordered_map<int, dnnl::memory> all_, forward_operands_;
};
#else
template <class Network>
struct onednn_network {};
#endif

template <class Network>
struct vjp_operands : recurrent_inputs {
    cell_sizes size;
    bool is_forward; ///< the case compares forward passes
    recurrent_results y, ct;
    cell_gradients found;
    typename Network::weights weights;
    typename Network::residuals residuals{};
    xloom::recurrent_workspace<float> workspace{};
    std::shared_ptr<onednn_network<Network>> peer{};
    bool is_of_peer = false;      ///< the last pass
    bool is_forward_only = false; ///< the last pass, among backward ones

    vjp_operands(cell_sizes const& s, bool compares_forward)
        : recurrent_inputs(s, Network::gates),
          size(s),
          is_forward(compares_forward),
          y(s.T, s.N, s.H),
          ct(s.T, s.N, s.H),
          found{X, W, R, B, ct.Y_h, ct.Y_h},
          weights(constants(), Network::options(s), xloom::for_training)
    {
        ct.Y = uniform<xt::xtensor<float, 4>>({s.T, std::size_t{1}, s.N, s.H}, 5, 1.0);
        ct.Y_h = uniform<cube>({1, s.N, s.H}, 6, 1.0);
        ct.Y_c = uniform<cube>({1, s.N, s.H}, 7, 1.0);
        Network::forward_into(*this);
#ifdef XLOOM_HAS_ONEDNN
        peer = std::make_shared<onednn_network<Network>>(s, *this);
        peer->run_forward();
#endif
    }

    typename Network::constants constants() const { return {.W = W, .R = R, .B = B}; }
    std::pair<recurrent_results, cell_gradients> results() const { return {y, found}; }
    void clear()
    {
        is_of_peer = is_forward_only = false;
        if (is_forward)
            y.fill(0);
        found.clear();
    }
    bool is_close_to(std::pair<recurrent_results, cell_gradients> const& expected) const
    {
        recurrent_results outputs = y;
        cell_gradients g = found;
#ifdef XLOOM_HAS_ONEDNN
        if (is_of_peer) {
            peer->store_outputs(outputs);
            if (!is_forward)
                peer->store_gradients(g);
        }
#endif
        if (!is_close(outputs.Y, expected.first.Y) ||
            (Network::has_c && !is_close(outputs.Y_c, expected.first.Y_c)))
            return false;
        if (is_forward_only)
            return true;
        for (std::size_t i = 0; i < g.cubes().size(); ++i)
            if (!is_near(*g.cubes()[i], *expected.second.cubes()[i]))
                return false;
        return is_near(g.B, expected.second.B);
    }
    benchmark::UserCounters counters() const
    {
        double const gflops = work_of(size, Network::gates).flops * (is_forward ? 1 : 2) * 1e-9;
        return {{"call", seconds_each(1)}, {"GFLOP/s", Counter(gflops, Counter::kIsIterationInvariantRate)},
            {"peak", Counter(gflops / fma_peak(), Counter::kIsIterationInvariantRate)}};
    }
};

template <class Network>
void plain(vjp_operands<Network>& o)
{
    Network::into(o);
    o.is_forward_only = true;
}

/// Packing, which a training step does once for both passes.
template <class Network>
void packing(vjp_operands<Network>& o)
{
    o.weights.assign(o.constants(), Network::options(o.size));
    Network::vjp_into(o);
}

#ifdef XLOOM_HAS_ONEDNN
template <class Network>
void onednn_forward(vjp_operands<Network>& o)
{
    o.peer->run_forward();
    o.is_of_peer = true;
}

template <class Network>
void onednn_backward(vjp_operands<Network>& o)
{
    o.peer->run_backward();
    o.is_of_peer = true;
}
#endif

/// Adds the cases NAME_forward and NAME_backward of each of the sizes.
template <class Network>
void add_passes(std::initializer_list<cell_sizes> const& all)
{
    using operands = vjp_operands<Network>;
    bool const has_peer = has_onednn();
    for (cell_sizes const& s : all) {
        std::vector<series<operands>> forward_series{
            {"xloom_into", plain<Network>}, {"xloom", Network::forward_into}},
            backward_series{{"xloom", Network::vjp_into}, {"xloom_packing", packing<Network>},
                {"forward", plain<Network>}};
#ifdef XLOOM_HAS_ONEDNN
        if (has_peer) {
            forward_series.push_back({"onednn", onednn_forward<Network>});
            backward_series.push_back({"onednn", onednn_backward<Network>});
        }
#else
        static_cast<void>(has_peer);
#endif
        add_case(
            Network::name + std::string("_forward") + text_of(s), [=] { return operands(s, true); },
            forward_series);
        add_case(
            Network::name + std::string("_backward") + text_of(s), [=] { return operands(s, false); },
            backward_series);
    }
}

} // namespace bench
