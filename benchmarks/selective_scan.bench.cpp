// The selective recurrence of a state-space model such as Mamba, by selective_scan_into (impl:xloom) and as a
// body of scan_into (impl:xloom_scan_into), against ONNX Runtime and hand-written loops:
//
//     h = exp(dt[t] A) h + dt[t] x[t] B[t]         of each of d channels n states
//     y[t] = h C[t]
//
// A and h are [d, n], as Mamba has them, or turned, [n, d]: then the operators of an ONNX model have long
// rows to work on, where [d, n] makes them start anew for every channel.
//
// selective_scan_vjp: the backward pass, beside the forward pass (impl:forward) and a loop that keeps all
// states (impl:hand).

#include <cmath>
#include <limits>

#include <xloom/control_flow/scan.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>

#include "loop_model.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using matrix = xt::xtensor<float, 2>;

struct selective_operands {
    bool is_turned;
    std::size_t iterations, d, n;
    matrix A, h0, h; ///< [d, n], or [n, d]
    matrix x, dt;    ///< [T, d]
    matrix B, C;     ///< [T, n]
    matrix y;        ///< [T, d]
    xloom::recurrent_workspace<float> workspace{};

    /// As Mamba starts its training: A is -1, -2, ... in each channel, dt is in [0.001, 0.1].
    selective_operands(bool turned, std::size_t T, std::size_t channels, std::size_t states)
        : is_turned(turned),
          iterations(T),
          d(channels),
          n(states),
          A(turned ? matrix::from_shape({n, d}) : matrix::from_shape({d, n})),
          h0(zero_like(A)),
          h(h0),
          x(uniform<matrix>({T, d}, 1, 1.0)),
          dt(0.0505f + uniform<matrix>({T, d}, 2, 0.0495)),
          B(uniform<matrix>({T, n}, 3, 1.0)),
          C(uniform<matrix>({T, n}, 4, 1.0)),
          y(matrix::from_shape({T, d}))
    {
        for (std::size_t i = 0; i < A.size(); ++i)
            A.data()[i] = -1.0f - static_cast<float>(turned ? i / d : i % n);
    }

    std::int64_t trips() const { return static_cast<std::int64_t>(iterations); }
    auto const& results() const { return y; }
    void clear() { y.fill(std::numeric_limits<float>::quiet_NaN()); }

    /// Each exp has an error of one or two roundings, and contributions to a state decay: the series differ
    /// by 1.2e-7, of sums up to 0.6.
    bool is_close_to(matrix const& expected) const { return is_within(y, expected, 1e-6f); }
};

/// The operands of one time step.
struct step_operands {
    float* h;
    float const *A, *x, *dt, *B, *C;
    float* y;
    std::size_t d, n;
};

/// The straightforward loop.
void plain_step(step_operands const& o)
{
    for (std::size_t i = 0; i < o.d; ++i) {
        o.y[i] = 0.0f;
        for (std::size_t j = 0; j < o.n; ++j) {
            float& h = o.h[i * o.n + j];
            h = std::exp(o.dt[i] * o.A[i * o.n + j]) * h + o.dt[i] * o.x[i] * o.B[j];
            o.y[i] += h * o.C[j];
        }
    }
}

void plain_turned_step(step_operands const& o)
{
    std::fill_n(o.y, o.d, 0.0f);
    for (std::size_t j = 0; j < o.n; ++j)
        for (std::size_t i = 0; i < o.d; ++i) {
            float& h = o.h[j * o.d + i];
            h = std::exp(o.dt[i] * o.A[j * o.d + i]) * h + o.dt[i] * o.x[i] * o.B[j];
            o.y[i] += h * o.C[j];
        }
}

using batch = xloom::kernel::batch_t<float>;
using namespace xloom::kernel;

/// Computes the next states of a batch.
batch next_states(float* h, float const* A, batch const& dt, batch const& taken)
{
    using std::exp;
    batch const next = multiply_add(exp(dt * load_batch(A)), load_batch(h), taken);
    store_batch(h, next);
    return next;
}

/// A SIMD loop; n is a multiple of the batch size.
void simd_step(step_operands const& o)
{
    for (std::size_t i = 0; i < o.d; ++i) {
        batch const dt(o.dt[i]), step(o.dt[i] * o.x[i]);
        batch y(0.0f);
        for (std::size_t j = 0; j < o.n; j += batch_size<float>)
            y = multiply_add(
                next_states(o.h + i * o.n + j, o.A + i * o.n + j, dt, step * load_batch(o.B + j)),
                load_batch(o.C + j), y);
        o.y[i] = sum_of<float>(y);
    }
}

/// A SIMD loop; d is a multiple of the batch size.
void simd_turned_step(step_operands const& o)
{
    for (std::size_t i = 0; i < o.d; i += batch_size<float>) {
        batch const dt = load_batch(o.dt + i), step = dt * load_batch(o.x + i);
        batch y(0.0f);
        for (std::size_t j = 0; j < o.n; ++j)
            y = multiply_add(next_states(o.h + j * o.d + i, o.A + j * o.d + i, dt, step * batch(o.B[j])),
                batch(o.C[j]), y);
        store_batch(o.y + i, y);
    }
}

template <void (*Step)(step_operands const&)>
void hand(selective_operands& o)
{
    o.h.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t)
        Step({o.h.data(), o.A.data(), &o.x(t, 0), &o.dt(t, 0), &o.B(t, 0), &o.C(t, 0), &o.y(t, 0), o.d, o.n});
}

template <void (*Step)(step_operands const&)>
void xloom_scan_into(selective_operands& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [&o](auto& h, auto const& x_t, auto const& dt_t, auto const& B_t, auto const& C_t, auto& y_t) {
            Step({h.data(), o.A.data(), x_t.data(), dt_t.data(), B_t.data(), C_t.data(), y_t.data(), o.d,
                o.n});
        },
        o.h, std::tie(o.x, o.dt, o.B, o.C), o.y);
}

template <class Policy>
void run_selective(selective_operands& o, Policy const& policy)
{
    auto const call = [&](auto const& A, auto& h) {
        xloom::selective_scan_into(o.x, {.delta = o.dt, .A = A, .B = o.B, .C = o.C},
            {.y = o.y, .final_state = h}, o.workspace, policy);
    };
    if (!o.is_turned)
        return call(o.A, o.h);
    auto h = xt::transpose(o.h);
    call(xt::transpose(o.A), h);
}

void xloom_selective(selective_operands& o) { run_selective(o, xloom::serial); }

void by_two(selective_operands& o) { run_selective(o, two_threads()); }

/// A scan input of a model and the element that its body receives.
struct sequence {
    onnx_operand whole, element;

    /// Elements of shape [length, 1] if they are broadcast along the rows of the states, else [length].
    sequence(std::string const& name, matrix& tensor, bool is_column)
        : whole(bound(name, tensor)), element(bench::element(name + "_t", tensor))
    {
        if (is_column)
            for (onnx_operand* const operand : {&whole, &element})
                operand->shape.push_back(1);
    }
};

std::vector<sequence> sequences_of(selective_operands& o)
{
    bool const is_turned = o.is_turned;
    return {{"x", o.x, !is_turned}, {"dt", o.dt, !is_turned}, {"B", o.B, is_turned}, {"C", o.C, false}};
}

/// From h, x_t, dt_t, B_t, C_t to next_h, y_t.
std::vector<onnx_node> step_of(selective_operands const& o)
{
    onnx_node const product = o.is_turned ? onnx_node{"MatMul", {"C_t", "next_h"}, {"y_t"}}
                                          : onnx_node{"MatMul", {"next_h", "C_t"}, {"y_t"}};
    return {{"Mul", {"dt_t", "A"}, {"rate"}}, {"Exp", {"rate"}, {"decay"}}, {"Mul", {"decay", "h"}, {"kept"}},
        {"Mul", {"dt_t", "x_t"}, {"step"}}, {"Mul", {"step", "B_t"}, {"taken"}},
        {"Add", {"kept", "taken"}, {"next_h"}}, product};
}

onnx_graph scan_model(selective_operands& o)
{
    onnx_graph body{.inputs = {bound("h", o.h)},
        .outputs = {bound("next_h", o.h), element("y_t", o.y)},
        .nodes = step_of(o)};
    std::vector<onnx_operand> inputs{bound("h0", o.h0)};
    for (sequence const& each : sequences_of(o)) {
        inputs.push_back(each.whole);
        body.inputs.push_back(each.element);
    }
    onnx_graph model =
        model_of({.op = "Scan", .attributes = {subgraph("body", body), {"num_scan_inputs", 4}}}, inputs,
            {bound("final_h", o.h), bound("y", o.y)});
    model.inputs.push_back(weight("A", o.A));
    return model;
}

onnx_graph gathering_model(selective_operands& o)
{
    onnx_graph body{.inputs = {bound("h", o.h)}, .outputs = {bound("next_h", o.h), element("y_t", o.y)}};
    std::vector<onnx_operand> captured{weight("A", o.A)};
    body.nodes.push_back({"Identity", {"cond"}, {"next_cond"}});
    for (sequence const& each : sequences_of(o)) {
        captured.push_back(each.whole);
        body.nodes.push_back({"Gather", {each.whole.name, "iteration"}, {each.element.name}});
    }
    auto const step = step_of(o);
    body.nodes.insert(body.nodes.end(), step.begin(), step.end());
    return loop_model(o, body, captured, {bound("final_h", o.h), bound("y", o.y)});
}

template <void (*Step)(step_operands const&), void (*PlainStep)(step_operands const&)>
void add_selective(std::string const& order, bool is_turned)
{
    add_case("selective_scan/f32/d:1536/n:16/state:" + order + "/iterations:1000",
        [=] { return selective_operands(is_turned, 1000, 1536, 16); },
        {{"hand", hand<Step>}, {"hand_plain", hand<PlainStep>}, {"xloom", xloom_selective},
            {"xloom_scan_into", xloom_scan_into<Step>}, {.impl = "onnxruntime_scan", .model = scan_model},
            {.impl = "onnxruntime_loop", .model = gathering_model}});
}

/// The operands of a backward pass: ct is the cotangent of y.
struct backward_operands : selective_operands {
    struct gradients {
        matrix x, dt, A, B, C;
    };

    matrix ct = uniform<matrix>({iterations, d}, 5, 1.0);
    gradients found{x, dt, A, B, C};
    std::vector<float> states{}, decays{}; ///< of all steps, in the loop by hand

    backward_operands() : selective_operands(false, 1000, 1536, 16) {}

    gradients const& results() const { return found; }
    void clear() { set_gradients(std::numeric_limits<float>::quiet_NaN()); }
    void set_gradients(float value)
    {
        for (matrix* const each : {&found.x, &found.dt, &found.A, &found.B, &found.C})
            each->fill(value);
    }
    /// The sums over 1,536 channels or 1,000 steps are added up in other orders.
    bool is_close_to(gradients const& expected) const
    {
        auto const are_close = [](matrix const& a, matrix const& b) {
            return std::equal(a.begin(), a.end(), b.begin(),
                [](float u, float v) { return std::abs(u - v) <= 1e-4f * (1 + std::abs(u)); });
        };
        return are_close(expected.x, found.x) && are_close(expected.dt, found.dt) &&
               are_close(expected.A, found.A) && are_close(expected.B, found.B) &&
               are_close(expected.C, found.C);
    }
};

/// The states before each step and their decays are kept by a forward loop; then the steps go backwards.
void hand_backward(backward_operands& o)
{
    std::size_t const K = o.d, S = o.n, size = K * S;
    o.states.resize((o.iterations + 1) * size);
    std::fill_n(o.states.begin(), size, 0.0f);
    o.decays.resize(o.iterations * size);
    for (std::size_t t = 0; t < o.iterations; ++t)
        for (std::size_t k = 0; k < K; ++k) {
            float const *const before = &o.states[t * size + k * S], dt = o.dt(t, k), taken = dt * o.x(t, k);
            float *const after = &o.states[(t + 1) * size + k * S], *const decay =
                                                                        &o.decays[t * size + k * S];
            for (std::size_t s = 0; s < S; ++s) {
                decay[s] = std::exp(dt * o.A(k, s));
                after[s] = decay[s] * before[s] + taken * o.B(t, s);
            }
        }
    std::vector<float> carried(size, 0.0f);
    o.set_gradients(0);
    for (std::size_t t = o.iterations; t-- > 0;)
        for (std::size_t k = 0; k < K; ++k) {
            float const dt = o.dt(t, k), x = o.x(t, k), ct = o.ct(t, k);
            float d_dt = 0, d_taken = 0;
            for (std::size_t s = 0; s < S; ++s) {
                float const ct_h = ct * o.C(t, s) + carried[k * S + s];
                o.found.C(t, s) += ct * o.states[(t + 1) * size + k * S + s];
                o.found.B(t, s) += ct_h * dt * x;
                d_taken += ct_h * o.B(t, s);
                carried[k * S + s] = ct_h * o.decays[t * size + k * S + s];
                float const ct_rate = carried[k * S + s] * o.states[t * size + k * S + s];
                d_dt += ct_rate * o.A(k, s);
                o.found.A(k, s) += ct_rate * dt;
            }
            o.found.dt(t, k) = d_dt + d_taken * x;
            o.found.x(t, k) = d_taken * dt;
        }
}

void forward(backward_operands& o) { run_selective(o, xloom::serial); }

template <class Policy>
void run_backward(backward_operands& o, Policy const& policy)
{
    o.set_gradients(0); // which are added to
    xloom::selective_scan_vjp_into(o.x, {.delta = o.dt, .A = o.A, .B = o.B, .C = o.C}, {.y = o.ct},
        {.u = o.found.x, .delta = o.found.dt, .A = o.found.A, .B = o.found.B, .C = o.found.C}, o.workspace,
        policy);
}

void xloom_backward(backward_operands& o) { run_backward(o, xloom::serial); }

void backward_by_two(backward_operands& o) { run_backward(o, two_threads()); }

void add_backward()
{
    static constexpr char const* name = "selective_scan_vjp/f32/d:1536/n:16/iterations:1000";
    add_case(
        name, [] { return backward_operands(); },
        std::vector<series<backward_operands>>{{"hand", hand_backward}, {"xloom", xloom_backward},
            {.impl = "forward", .run = forward, .count_errors = no_errors}});
    add_case(
        name, [] { return backward_operands(); },
        std::vector<series<backward_operands>>{{"xloom_serial", xloom_backward}, {"xloom", backward_by_two}},
        2);
}

} // namespace

int main(int argc, char** argv)
{
    add_selective<simd_step, plain_step>("dxn", false);
    add_selective<simd_turned_step, plain_turned_step>("nxd", true);
    add_case(
        "selective_scan/f32/d:1536/n:16/state:nxd/iterations:1000",
        [] { return selective_operands(true, 1000, 1536, 16); },
        std::vector<series<selective_operands>>{{"xloom_serial", xloom_selective}, {"xloom", by_two},
            {.impl = "onnxruntime_scan", .model = scan_model}},
        2);
    add_backward();
    return run_cases(argc, argv);
}
