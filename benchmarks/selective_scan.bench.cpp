// The selective recurrence of a state-space model such as Mamba, as a body of scan_into, against ONNX Runtime
// and hand-written loops:
//
//     h = exp(dt[t] A) h + dt[t] x[t] B[t]         of each of d channels n states
//     y[t] = h C[t]
//
// A and h are [d, n], as Mamba has them, or turned, [n, d]: then the operators of an ONNX model have long
// rows to work on, where [d, n] makes them start anew for every channel.

#include <cmath>
#include <limits>

#include <xloom/kernel/simd.hpp>
#include <xloom/scan_into.hpp>

#include "loop_model.hpp"
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

    /// As Mamba starts its training: A is -1, -2, ... in each channel, dt lies in [0.001, 0.1].
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
    bool is_close_to(matrix const& expected) const
    {
        return std::equal(expected.begin(), expected.end(), y.begin(),
            [](float a, float b) { return std::abs(a - b) <= 1e-6f; });
    }
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
void xloom_selective(selective_operands& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [&o](auto& h, auto const& x_t, auto const& dt_t, auto const& B_t, auto const& C_t, auto& y_t) {
            Step({h.data(), o.A.data(), x_t.data(), dt_t.data(), B_t.data(), C_t.data(), y_t.data(), o.d,
                o.n});
        },
        o.h, std::tie(o.x, o.dt, o.B, o.C), o.y);
}

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
        {{"hand", hand<Step>}, {"hand_plain", hand<PlainStep>}, {"xloom", xloom_selective<Step>},
            {.impl = "onnxruntime_scan", .model = scan_model},
            {.impl = "onnxruntime_loop", .model = gathering_model}});
}

} // namespace

int main(int argc, char** argv)
{
    add_selective<simd_step, plain_step>("dxn", false);
    add_selective<simd_turned_step, plain_turned_step>("nxd", true);
    return run_cases(argc, argv);
}
