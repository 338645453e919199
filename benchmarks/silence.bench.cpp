// Compares recurrences whose input is 0 after the first 200 of 4,200 steps with the same calls on an input
// that is sound throughout (impl:sound), with ONNX Runtime, and with a loop by hand. States decay by about
// 5 % a step; where subnormal numbers are no zeros, they stay subnormal.
//
// A series that ends in "flushing" runs while its thread computes with zeros in place of subnormal numbers,
// as with ONNX Runtime's session.set_denormal_as_zero, which counts once in a process.

#include <span>

#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "recurrent_operands.hpp"

namespace {

using namespace bench;

constexpr std::size_t steps = 4200, sound_steps = 200;

using workspace = xloom::recurrent_workspace<float>;

struct lstm_network {
    static constexpr auto name = "lstm", op = "LSTM";
    static constexpr std::size_t gates = 4, keeping_gate = 2;
    using weights = xloom::lstm_weights<float>;
    using cell = xloom::lstm_cell<float>;
    using residuals = xloom::lstm_residuals<float>;

    static void into(cube const& X, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::lstm_into(X, packed, {}, {y.Y, y.Y_h, y.Y_c}, memory);
    }
    static void step(cell& with, recurrent_results& y, std::span<float const> x_t, std::span<float> y_t)
    {
        with(y.Y_h, y.Y_c, x_t, y_t);
    }
    static void forward_into(cube const& X, weights const& packed, residuals& kept, workspace& memory)
    {
        xloom::lstm_forward_into(X, packed, {}, {}, kept, memory);
    }
    static void vjp_into(cube const& X, weights const& packed, residuals const& kept,
        recurrent_results const& ct, cube& ct_X, workspace& memory)
    {
        xloom::lstm_vjp_into(X, packed, kept, {.Y = ct.Y}, {.X = ct_X}, memory);
    }
};

struct gru_network {
    static constexpr auto name = "gru", op = "GRU";
    static constexpr std::size_t gates = 3, keeping_gate = 0;
    using weights = xloom::gru_weights<float>;
    using cell = xloom::gru_cell<float>;
    using residuals = xloom::gru_residuals<float>;

    static void into(cube const& X, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::gru_into(X, packed, {}, {y.Y, y.Y_h}, memory);
    }
    static void step(cell& with, recurrent_results& y, std::span<float const> x_t, std::span<float> y_t)
    {
        with(y.Y_h, x_t, y_t);
    }
    static void forward_into(cube const& X, weights const& packed, residuals& kept, workspace& memory)
    {
        xloom::gru_forward_into(X, packed, {}, {}, kept, memory);
    }
    static void vjp_into(cube const& X, weights const& packed, residuals const& kept,
        recurrent_results const& ct, cube& ct_X, workspace& memory)
    {
        xloom::gru_vjp_into(X, packed, kept, {.Y = ct.Y}, {.X = ct_X}, memory);
    }
};

/// One row of H units that reads H numbers. The biases are 0, but those of the gate that keeps the state.
template <class Network>
struct silence_operands : recurrent_operands, recurrent_inputs {
    cube silent, ct_X;               ///< X is sound
    recurrent_results ct, silent_ct; ///< of all steps; of the last
    typename Network::weights weights;
    typename Network::residuals residuals{};
    typename Network::cell cell;
    workspace memory{};

    explicit silence_operands(std::size_t H)
        : recurrent_operands{recurrent_results(steps, 1, H), work_of({steps, 1, H, H}, Network::gates), true},
          recurrent_inputs({steps, 1, H, H}, Network::gates),
          silent(X),
          ct_X(xt::zeros_like(X)),
          ct(steps, 1, H),
          silent_ct(steps, 1, H),
          weights(pack(H)),
          cell(weights)
    {
        auto const size = static_cast<std::ptrdiff_t>(H);
        std::fill(silent.begin() + static_cast<std::ptrdiff_t>(sound_steps) * size, silent.end(), 0.0f);
        ct.fill(1);
        silent_ct.fill(0);
        std::fill(
            silent_ct.Y.end() - static_cast<std::ptrdiff_t>(sound_steps) * size, silent_ct.Y.end(), 1.0f);
        Network::forward_into(silent, weights, residuals, memory);
    }

    /// Of a GRU, Y_c is not written.
    bool is_close_to(recurrent_results const& expected) const
    {
        return is_close(y.Y, expected.Y) && is_close(y.Y_h, expected.Y_h);
    }

private:
    typename Network::weights pack(std::size_t H)
    {
        for (float& item : R)
            item *= 0.1f;
        B.fill(0);
        std::fill_n(&B(0, Network::keeping_gate * H), H, 3.0f);
        return typename Network::weights({.W = W, .R = R, .B = B}, {}, xloom::for_training);
    }
};

template <class Network>
void run(silence_operands<Network>& o)
{
    Network::into(o.silent, o.weights, o.y, o.memory);
}
template <class Network>
void run_sound(silence_operands<Network>& o)
{
    Network::into(o.X, o.weights, o.y, o.memory);
}

template <class Network>
void step_over(silence_operands<Network>& o, cube const& X)
{
    std::size_t const H = X.shape(2);
    o.y.Y_h.fill(0);
    o.y.Y_c.fill(0);
    for (std::size_t t = 0; t < steps; ++t)
        Network::step(o.cell, o.y, std::span(&X(t, 0, 0), H), std::span(&o.y.Y(t, 0, 0, 0), H));
}
template <class Network>
void run_steps(silence_operands<Network>& o)
{
    step_over(o, o.silent);
}
template <class Network>
void run_sound_steps(silence_operands<Network>& o)
{
    step_over(o, o.X);
}

template <class Network>
void run_backward(silence_operands<Network>& o)
{
    Network::vjp_into(o.silent, o.weights, o.residuals, o.silent_ct, o.ct_X, o.memory);
}
template <class Network>
void run_sound_backward(silence_operands<Network>& o)
{
    Network::vjp_into(o.silent, o.weights, o.residuals, o.ct, o.ct_X, o.memory);
}

template <class Network>
onnx_graph model(silence_operands<Network>& o)
{
    return model_of(
        {.op = Network::op, .attributes = {{"hidden_size", static_cast<std::int64_t>(o.silent.shape(2))}}},
        {bound("X", o.silent), weight("W", o.W), weight("R", o.R), weight("B", o.B)},
        {bound("Y", o.y.Y), bound("Y_h", o.y.Y_h)});
}

template <class Network>
void add_network(std::size_t H)
{
    using operands = silence_operands<Network>;
    std::string const size = std::string(Network::name) + "/H:" + std::to_string(H);
    auto const make = [=] { return operands(H); };
    add_case("silence/" + size, make,
        std::vector<series<operands>>{{"xloom", run<Network>},
            {.impl = "sound", .run = run_sound<Network>, .count_errors = no_errors<operands>},
            {"xloom_steps", run_steps<Network>},
            {.impl = "sound_steps", .run = run_sound_steps<Network>, .count_errors = no_errors<operands>},
            {.impl = "onnxruntime", .model = model<Network>},
            {.impl = "onnxruntime_flushing", .model = model<Network>, .flushes = true}});
    add_case("silence_backward/" + size, make,
        std::vector<series<operands>>{
            {.impl = "xloom", .run = run_backward<Network>, .count_errors = no_errors<operands>},
            {.impl = "sound", .run = run_sound_backward<Network>, .count_errors = no_errors<operands>}});
}

/// Filters of one pole beside each other.
struct pole_operands {
    matrix a, b, silent, h;
    std::size_t iterations = steps;

    explicit pole_operands(std::size_t channels)
        : a(0.95f * xt::ones<float>({steps, channels})),
          b(uniform<matrix>({steps, channels}, 1, 1.0)),
          silent(b),
          h(xt::zeros_like(b))
    {
        std::fill(silent.begin() + static_cast<std::ptrdiff_t>(sound_steps * channels), silent.end(), 0.0f);
    }

    matrix const& results() const { return h; }
    bool is_close_to(matrix const& expected) const { return is_close(h, expected); }
    void clear() { h.fill(7); }
};

void run_poles(pole_operands& o) { xloom::linear_recurrence_into(o.a, o.silent, 0.0f, o.h); }
void run_sound_poles(pole_operands& o) { xloom::linear_recurrence_into(o.a, o.b, 0.0f, o.h); }
void hand(pole_operands& o)
{
    std::size_t const channels = o.h.shape(1);
    float const *const a = o.a.data(), *const b = o.silent.data();
    float* const h = o.h.data();
    std::copy_n(b, channels, h);
    for (std::size_t i = channels; i < o.h.size(); ++i)
        h[i] = a[i] * h[i - channels] + b[i];
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {64u, 256u}) {
        add_network<gru_network>(H);
        add_network<lstm_network>(H);
    }
    for (std::size_t const channels : {1u, 64u})
        add_case(
            "silence/linear_recurrence/channels:" + std::to_string(channels),
            [=] { return pole_operands(channels); },
            std::vector<series<pole_operands>>{{"xloom", run_poles},
                {.impl = "sound", .run = run_sound_poles, .count_errors = no_errors<pole_operands>},
                {"hand", hand}, {.impl = "hand_flushing", .run = hand, .flushes = true}});
    return run_cases(argc, argv);
}
