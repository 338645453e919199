// Compares recurrences whose input is 0 after the first 200 of 4,200 steps with the same calls on an input
// that is sound throughout (impl:sound), with ONNX Runtime, and with a loop by hand. States decay by about
// 5 % a step; where subnormal numbers are no zeros, they stay subnormal.
//
// subnormal: calls that compute with subnormal numbers, unless the thread does not: of subnormal operands, or
// products that decay.
//
// A series that ends in "flushing" runs while its thread computes with zeros in place of subnormal numbers,
// as with ONNX Runtime's session.set_denormal_as_zero, which counts once in a process.

#include <functional>
#include <span>

#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/linear_attention.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn_cell.hpp>
#include <xloom/recurrent/selective_scan.hpp>

#include "attn_lstm_operands.hpp"

namespace {

using namespace bench;

constexpr std::size_t steps = 4200, sound_steps = 200;

using workspace = xloom::recurrent_workspace<float>;
using row = xt::xtensor<float, 1>;

struct lstm_network {
    static constexpr auto name = "lstm", op = "LSTM";
    static constexpr std::size_t gates = 4;
    using weights = xloom::lstm_weights<float>;
    using cell = xloom::lstm_cell<float>;
    using residuals = xloom::lstm_residuals<float>;

    static void keep_state(cube&, matrix& B, std::size_t H) { std::fill_n(&B(0, 2 * H), H, 3.0f); }
    static void into(cube const& X, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::lstm_into(X, packed, {}, {y.Y, y.Y_h, y.Y_c}, memory);
    }
    static void one_into(cube const& x_t, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::lstm_into(x_t, packed, {.initial_h = y.Y_h, .initial_c = y.Y_c}, {{}, y.Y_h, y.Y_c}, memory);
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
    static constexpr std::size_t gates = 3;
    using weights = xloom::gru_weights<float>;
    using cell = xloom::gru_cell<float>;
    using residuals = xloom::gru_residuals<float>;

    static void keep_state(cube&, matrix& B, std::size_t H) { std::fill_n(B.data(), H, 3.0f); }
    static void into(cube const& X, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::gru_into(X, packed, {}, {y.Y, y.Y_h}, memory);
    }
    static void one_into(cube const& x_t, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::gru_into(x_t, packed, {.initial_h = y.Y_h}, {{}, y.Y_h}, memory);
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

struct rnn_network {
    static constexpr auto name = "rnn", op = "RNN";
    static constexpr std::size_t gates = 1;
    using weights = xloom::rnn_weights<float>;
    using cell = xloom::rnn_cell<float>;
    using residuals = xloom::rnn_residuals<float>;

    static void keep_state(cube& R, matrix&, std::size_t H)
    {
        for (std::size_t j = 0; j < H; ++j)
            R(0, j, j) = 0.9f;
    }
    static void into(cube const& X, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::rnn_into(X, packed, {}, {y.Y, y.Y_h}, memory);
    }
    static void one_into(cube const& x_t, weights const& packed, recurrent_results& y, workspace& memory)
    {
        xloom::rnn_into(x_t, packed, {.initial_h = y.Y_h}, {{}, y.Y_h}, memory);
    }
    static void step(cell& with, recurrent_results& y, std::span<float const> x_t, std::span<float> y_t)
    {
        with(y.Y_h, x_t, y_t);
    }
    static void forward_into(cube const& X, weights const& packed, residuals& kept, workspace& memory)
    {
        xloom::rnn_forward_into(X, packed, {}, {}, kept, memory);
    }
    static void vjp_into(cube const& X, weights const& packed, residuals const& kept,
        recurrent_results const& ct, cube& ct_X, workspace& memory)
    {
        xloom::rnn_vjp_into(X, packed, kept, {.Y = ct.Y}, {.X = ct_X}, memory);
    }
};

template <class Tensor>
void fall_silent(Tensor& of_steps)
{
    auto const after = static_cast<std::ptrdiff_t>(of_steps.size() / steps * sound_steps);
    std::fill(of_steps.begin() + after, of_steps.end(), 0.0f);
}

/// One row of H units that reads H numbers, with weights that keep the state for some steps.
template <class Network>
struct silence_operands : recurrent_operands, recurrent_inputs {
    cube silent, x_t, ct_X;          ///< X is sound
    recurrent_results ct, silent_ct; ///< of all steps; of the last
    typename Network::weights weights;
    typename Network::residuals residuals{};
    typename Network::cell cell;
    workspace memory{};

    explicit silence_operands(std::size_t H)
        : recurrent_operands{recurrent_results(steps, 1, H),
              work_of(cell_sizes{steps, 1, H, H}, Network::gates), true},
          recurrent_inputs({steps, 1, H, H}, Network::gates),
          silent(X),
          x_t(cube::from_shape({1, 1, H})),
          ct_X(xt::zeros_like(X)),
          ct(steps, 1, H),
          silent_ct(steps, 1, H),
          weights(pack(H)),
          cell(weights)
    {
        fall_silent(silent);
        ct.fill(1);
        silent_ct.fill(0);
        std::fill_n(silent_ct.Y.rbegin(), sound_steps * H, 1.0f);
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
        Network::keep_state(R, B, H);
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

/// A call for each step.
template <class Network>
void call_over(silence_operands<Network>& o, cube const& X)
{
    o.y.Y_h.fill(0);
    o.y.Y_c.fill(0);
    for (std::size_t t = 0; t < steps; ++t) {
        std::copy_n(&X(t, 0, 0), X.shape(2), o.x_t.data());
        Network::one_into(o.x_t, o.weights, o.y, o.memory);
    }
}
template <class Network>
void run_calls(silence_operands<Network>& o)
{
    call_over(o, o.silent);
}
template <class Network>
void run_sound_calls(silence_operands<Network>& o)
{
    call_over(o, o.X);
}

template <class Network>
void run_backward(silence_operands<Network>& o)
{
    o.ct_X.fill(0);
    Network::vjp_into(o.silent, o.weights, o.residuals, o.silent_ct, o.ct_X, o.memory);
}
template <class Network>
void run_sound_backward(silence_operands<Network>& o)
{
    o.ct_X.fill(0);
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
            {.impl = "xloom_calls", .run = run_calls<Network>, .count_errors = no_errors<operands>},
            {.impl = "sound_calls", .run = run_sound_calls<Network>, .count_errors = no_errors<operands>},
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
        fall_silent(silent);
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

/// A call of one operator on silent or subnormal operands, or on sound ones.
struct silent_call {
    std::function<void(bool is_sound)> call;

    int results() const { return 0; } // they differ
    void clear() {}
    benchmark::UserCounters counters() const { return {{"call", seconds_each(1)}}; }
};

/// Adds a case of a call that `make` returns, which owns its operands.
void add_call(std::string const& work, std::function<void(bool)> (*make)(), bool flushes = false)
{
    auto const call = [](silent_call& o) { o.call(false); };
    std::vector<series<silent_call>> all{{"xloom", call}, {"sound", [](silent_call& o) { o.call(true); }}};
    if (flushes)
        all.push_back({.impl = "xloom_flushing", .run = call, .flushes = true});
    add_case(
        work, [=] { return silent_call{make()}; }, all);
}

/// Returns `call` of one of two operands.
template <class Tensor, class Call>
std::function<void(bool)> call_of(Tensor const& sound, Tensor const& silent, Call&& call)
{
    return [=, call = std::forward<Call>(call)](bool is_sound) mutable { call(is_sound ? sound : silent); };
}
template <class Tensor, class Call>
std::function<void(bool)> falling_silent(Tensor const& sound, Call&& call)
{
    Tensor silent = sound;
    fall_silent(silent);
    return call_of(sound, silent, std::forward<Call>(call));
}
template <class Tensor, class Call>
std::function<void(bool)> subnormal(Tensor const& sound, Call&& call)
{
    return call_of(sound, Tensor(1e-39f * sound), std::forward<Call>(call));
}

/// An LSTM whose attention finds nothing in a memory of zeros.
std::function<void(bool)> attention()
{
    using operands = attn_lstm_operands<xloom::serial_policy>;
    auto const o =
        std::make_shared<operands>(attn_lstm_sizes{steps, 1, 64, 64, 20, 64, 64, 64}, xloom::serial);
    o->R *= 0.1f;
    o->B.fill(0);
    lstm_network::keep_state(o->R, o->B, 64);
    o->packed.assign(o->constants());
    o->M.fill(0);
    return falling_silent(o->X, [o](cube const& X) {
        xloom::attn_lstm_into(X, o->packed, {.M = o->M}, {o->y.Y, o->y.Y_h, o->y.Y_c}, o->workspace);
    });
}

/// Mamba's: 64 channels of 16 states.
std::function<void(bool)> selective()
{
    std::size_t const K = 64, S = 16;
    matrix A = matrix::from_shape({K, S});
    for (std::size_t i = 0; i < A.size(); ++i)
        A.data()[i] = -1.0f - static_cast<float>(i % S);
    return falling_silent(uniform<matrix>({steps, K}, 1, 1.0),
        [A, delta = matrix(0.0505f + uniform<matrix>({steps, K}, 2, 0.0495)),
            B = uniform<matrix>({steps, S}, 3, 1.0), C = uniform<matrix>({steps, S}, 4, 1.0),
            y = matrix::from_shape({steps, K}), h = matrix(A),
            memory = workspace()](matrix const& u) mutable {
            xloom::selective_scan_into(
                u, {.delta = delta, .A = A, .B = B, .C = C}, {.y = y, .final_state = h}, memory);
        });
}

/// Gated, one head of 64 keys and values. The sequence is the tensors' second axis, of the only batch.
std::function<void(bool)> attention_of_tokens()
{
    cube const like = cube::from_shape({1, steps, 64});
    return falling_silent(uniform<cube>(like.shape(), 1, 1.0),
        [query = uniform<cube>(like.shape(), 2, 1.0), key = uniform<cube>(like.shape(), 3, 0.2),
            decay = cube(-0.05f + uniform<cube>({1, steps, 1}, 4, 0.02)), output = like,
            state = xt::xtensor<float, 4>::from_shape({1, 1, 64, 64}),
            memory = workspace()](cube const& value) mutable {
            state.fill(0);
            xloom::linear_attention_into(query, key, value, {.past_state = state, .decay = decay},
                {.output = output, .present_state = state},
                {.q_num_heads = 1, .kv_num_heads = 1, .update_rule = xloom::update_rule::gated}, memory);
        });
}

/// The product of a row of 256 numbers and a matrix.
std::function<void(bool)> product()
{
    matrix const B = uniform<matrix>({256, 256}, 2, 1.0);
    return subnormal(
        uniform<row>({256}, 1, 1.0), [packed = xloom::packed_matrix<float>(B), y = row::from_shape({256})](
                                         row const& x) mutable { packed(1, x.data(), 256, y.data(), 256); });
}

template <xloom::activation Kind>
std::function<void(bool)> activation()
{
    return subnormal(uniform<row>({4096}, 1, 1.0),
        [y = row::from_shape({4096})](row const& x) mutable { xloom::activate(Kind, x, y); });
}

/// Products of 0.9 and its inverse in turn, and of 0.9.
std::function<void(bool)> products()
{
    row sound = 0.9f * xt::ones<float>({std::size_t{100'000}}), silent = sound;
    for (std::size_t i = 1; i < sound.size(); i += 2)
        sound(i) = 1 / sound(i);
    return call_of(
        sound, silent, [y = row(sound)](row const& x) mutable { xloom::cumulative_prod_into(x, y); });
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {64u, 256u}) {
        add_network<gru_network>(H);
        add_network<lstm_network>(H);
        add_network<rnn_network>(H);
    }
    add_call("silence/attn_lstm/H:64", attention);
    add_call("silence/selective_scan/d:64/n:16", selective);
    add_call("silence/linear_attention/d:64", attention_of_tokens);
    add_call("silence/packed_matrix/rows:1/256x256", product);
    add_call("subnormal/tanh", activation<xloom::activation::tanh>, true);
    add_call("subnormal/sigmoid", activation<xloom::activation::sigmoid>, true);
    add_call("subnormal/leaky_relu", activation<xloom::activation::leaky_relu>, true);
    add_call("subnormal/cumulative_prod", products, true);
    for (std::size_t const channels : {1u, 64u})
        add_case(
            "silence/linear_recurrence/channels:" + std::to_string(channels),
            [=] { return pole_operands(channels); },
            std::vector<series<pole_operands>>{{"xloom", run_poles},
                {.impl = "sound", .run = run_sound_poles, .count_errors = no_errors<pole_operands>},
                {"hand", hand}, {.impl = "hand_flushing", .run = hand, .flushes = true}});
    return run_cases(argc, argv);
}
