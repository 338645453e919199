// Linear attention of 16 heads, a token at a time (T:1) and 64 together, by linear_attention_into with the
// state in place (impl:xloom), against ONNX Runtime's fused operator with the same buffer for both states
// (impl:onnxruntime) or two buffers (impl:onnxruntime_two), and a hand-written loop. impl:xloom_two writes to
// another state than it reads.
//
// linear_attention_narrow: states of float16 and bfloat16, beside those of float. Those of 256 layers come
// from memory, that of one layer stays in a core's caches.
// linear_attention_vjp: the backward pass of gated_delta, beside the forward pass (impl:forward) and a loop
// that keeps all states (impl:hand).

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <xloom/gradients/linear_attention_vjp.hpp>

#include "support.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using xloom::update_rule;
using tokens = xt::xtensor<float, 3>;
using states = xt::xtensor<float, 4>;

constexpr std::size_t heads = 16;

struct attention_operands {
    update_rule rule;
    std::size_t iterations, d; ///< tokens, and keys and values of a head
    tokens query, key, value, decay, beta, output;
    states state0, state, other_state;
    xloom::recurrent_workspace<float> workspace{};

    /// Keys have a length of about 1, decays are near 1, so that the state stays small from call to call.
    attention_operands(update_rule of, std::size_t count, std::size_t width)
        : rule(of),
          iterations(count),
          d(width),
          query(uniform<tokens>({1, iterations, heads * d}, 1, 1.0)),
          key(uniform<tokens>({1, iterations, heads * d}, 2, std::sqrt(3.0 / static_cast<double>(d)))),
          value(uniform<tokens>({1, iterations, heads * d}, 3, 1.0)),
          decay(-0.1f + uniform<tokens>({1, iterations, heads}, 4, 0.1)),
          beta(0.5f + uniform<tokens>({1, iterations, heads}, 5, 0.5)),
          output(value),
          state0(uniform<states>({1, heads, d, d}, 6, 1.0)),
          state(state0),
          other_state(state0)
    {}

    bool has_decay() const { return rule == update_rule::gated || rule == update_rule::gated_delta; }
    bool has_beta() const { return rule == update_rule::delta || rule == update_rule::gated_delta; }

    xloom::linear_attention_inputs<float> inputs() const
    {
        xloom::linear_attention_inputs<float> in{.past_state = state};
        if (has_decay())
            in.decay = decay;
        if (has_beta())
            in.beta = beta;
        return in;
    }
    xloom::linear_attention_options options() const
    {
        return {static_cast<std::int64_t>(heads), static_cast<std::int64_t>(heads), rule, 0};
    }

    using outputs = std::tuple<tokens, states, states>;

    outputs results() const { return {output, state, other_state}; }
    void clear()
    {
        state = state0;
        other_state = state0;
        output.fill(std::numeric_limits<float>::quiet_NaN());
    }
    /// Sums of up to 128 products of numbers of about 1, in other orders.
    bool is_close_to(outputs const& expected) const
    {
        auto const& [y, in_place, other] = expected;
        return is_within(output, y, 1e-4f) && is_within(state, in_place, 1e-4f) &&
               is_within(other_state, other, 1e-4f);
    }
};

/// The straightforward loops, along the rows of the state.
void hand(attention_operands& o)
{
    float const scale = 1 / std::sqrt(static_cast<float>(o.d));
    for (std::size_t t = 0; t < o.iterations; ++t)
        for (std::size_t h = 0; h < heads; ++h) {
            float const *const q = &o.query(0, t, h * o.d), *const k = &o.key(0, t, h * o.d);
            float* const S = &o.state(0, h, 0, 0);
            float const decay = o.has_decay() ? std::exp(o.decay(0, t, h)) : 1.0f;
            float value[128], read[128]{};
            for (std::size_t d = 0; d < o.d && o.has_beta(); ++d)
                for (std::size_t j = 0; j < o.d; ++j)
                    read[j] += decay * S[d * o.d + j] * k[d];
            for (std::size_t j = 0; j < o.d; ++j)
                value[j] = o.has_beta() ? o.beta(0, t, h) * (o.value(0, t, h * o.d + j) - read[j])
                                        : o.value(0, t, h * o.d + j);
            float* const y = &o.output(0, t, h * o.d);
            std::fill_n(y, o.d, 0.0f);
            for (std::size_t d = 0; d < o.d; ++d)
                for (std::size_t j = 0; j < o.d; ++j) {
                    float& s = S[d * o.d + j];
                    s = decay * s + k[d] * value[j];
                    y[j] += s * (scale * q[d]);
                }
        }
}

template <class Policy>
void run(attention_operands& o, states& present_state, Policy const& policy)
{
    xloom::linear_attention_into(o.query, o.key, o.value, o.inputs(),
        {.output = o.output, .present_state = present_state}, o.options(), o.workspace, policy);
}

void in_place(attention_operands& o) { run(o, o.state, xloom::serial); }
void two_states(attention_operands& o) { run(o, o.other_state, xloom::serial); }
void by_two(attention_operands& o) { run(o, o.state, two_threads()); }

onnx_graph model_with(attention_operands& o, states& present_state)
{
    onnx_graph model{.inputs = {bound("query", o.query), bound("key", o.key), bound("value", o.value),
                         bound("past_state", o.state)},
        .outputs = {bound("output", o.output), bound("present_state", present_state)}};
    onnx_node node{"LinearAttention", {"query", "key", "value", "past_state", "", ""},
        {"output", "present_state"},
        {{"q_num_heads", static_cast<std::int64_t>(heads)},
            {"kv_num_heads", static_cast<std::int64_t>(heads)},
            {"update_rule", std::string(xloom::name_of(o.rule))}},
        "com.microsoft"};
    if (o.has_decay()) {
        model.inputs.push_back(bound("decay", o.decay));
        node.inputs[4] = "decay";
    }
    if (o.has_beta()) {
        model.inputs.push_back(bound("beta", o.beta));
        node.inputs[5] = "beta";
    }
    model.nodes.push_back(node);
    return model;
}

onnx_graph same_buffer(attention_operands& o) { return model_with(o, o.state); }
onnx_graph two_buffers(attention_operands& o) { return model_with(o, o.other_state); }

std::string name_of_case(char const* operation, update_rule rule, std::size_t T, std::size_t d)
{
    return std::string(operation) + "/f32/rule:" + std::string(xloom::name_of(rule)) +
           "/heads:16/d:" + std::to_string(d) + "/T:" + std::to_string(T);
}

void add_attention(update_rule rule, std::size_t T, std::size_t d)
{
    auto const make = [=] { return attention_operands(rule, T, d); };
    std::string const name = name_of_case("linear_attention", rule, T, d);
    add_case(name, make,
        std::vector<series<attention_operands>>{
            {"hand", hand}, {"xloom", in_place}, {.impl = "onnxruntime", .model = same_buffer}});
    add_case(name + "/two_states", make,
        std::vector<series<attention_operands>>{
            {"xloom", two_states}, {.impl = "onnxruntime", .model = two_buffers}});
    if (T > 1)
        add_case(name, make,
            std::vector<series<attention_operands>>{{"xloom_serial", in_place}, {"xloom", by_two}}, 2);
}

/// A token of several layers, one after the other, each with a state of either type.
template <class State>
struct narrow_operands : attention_operands {
    std::vector<states> wide;
    std::vector<xt::xtensor<State, 4>> narrow;

    narrow_operands(std::size_t width, std::size_t layers)
        : attention_operands(update_rule::gated_delta, 1, width), wide(layers), narrow(layers)
    {
        iterations = layers;
        clear();
    }
    void clear()
    {
        attention_operands::clear();
        std::ranges::fill(wide, state0);
        std::ranges::fill(narrow, xt::xtensor<State, 4>(xt::cast<State>(state0)));
    }
    bool is_close_to(outputs const& expected) const
    {
        return is_within(output, std::get<0>(expected), 0.05f);
    }

    template <class Held>
    void run(std::vector<xt::xtensor<Held, 4>>& layers)
    {
        for (xt::xtensor<Held, 4>& each : layers)
            xloom::linear_attention_into<Held>(query, key, value,
                {.past_state = each, .decay = decay, .beta = beta}, {.output = output, .present_state = each},
                options(), workspace);
    }
};

template <class State>
void add_narrow(char const* type, std::size_t d, std::size_t layers)
{
    using operands = narrow_operands<State>;
    add_case(
        "linear_attention_narrow/f32/state:" + std::string(type) + "/heads:16/d:" + std::to_string(d) +
            "/layers:" + std::to_string(layers),
        [=] { return operands(d, layers); },
        std::vector<series<operands>>{
            {"float", [](operands& o) { o.run(o.wide); }}, {"xloom", [](operands& o) { o.run(o.narrow); }}});
}

/// The operands of a backward pass: ct is the cotangent of the output.
struct backward_operands : attention_operands {
    struct gradients {
        tokens query, key, value, decay, beta;
    };

    tokens ct = uniform<tokens>({1, iterations, heads* d}, 7, 1.0);
    gradients found{query, key, value, decay, beta};
    std::vector<float> kept{}; ///< the states of all steps, in the loop by hand

    explicit backward_operands(std::size_t width) : attention_operands(update_rule::gated_delta, 64, width) {}

    gradients const& results() const { return found; }
    void clear()
    {
        attention_operands::clear();
        set_gradients(std::numeric_limits<float>::quiet_NaN());
    }
    void set_gradients(float with)
    {
        for (tokens* const each : {&found.query, &found.key, &found.value, &found.decay, &found.beta})
            each->fill(with);
    }
    /// Of sums of up to d^2 products, in other orders.
    bool is_close_to(gradients const& expected) const
    {
        auto const are_close = [](tokens const& a, tokens const& b) {
            return std::equal(a.begin(), a.end(), b.begin(),
                [](float u, float v) { return std::abs(u - v) <= 1e-4f * (1 + std::abs(u)); });
        };
        return are_close(expected.query, found.query) && are_close(expected.key, found.key) &&
               are_close(expected.value, found.value) && are_close(expected.decay, found.decay) &&
               are_close(expected.beta, found.beta);
    }
};

/// A head after the other: its steps forwards, of which all states are kept, then backwards.
void hand_backward(backward_operands& o)
{
    std::size_t const D = o.d, size = D * D;
    float const scale = 1 / std::sqrt(static_cast<float>(D));
    o.kept.resize((o.iterations + 1) * size);
    std::vector<float> carried(size), read(o.iterations * D), written(D), ct_written(D);
    o.set_gradients(0);
    for (std::size_t h = 0; h < heads; ++h) {
        std::copy_n(&o.state(0, h, 0, 0), size, o.kept.begin());
        std::ranges::fill(read, 0.0f);
        for (std::size_t t = 0; t < o.iterations; ++t) {
            float const *const S = &o.kept[t * size], *const k = &o.key(0, t, h * D),
                               decay = std::exp(o.decay(0, t, h));
            float *const next = &o.kept[(t + 1) * size], *const r = &read[t * D];
            for (std::size_t d = 0; d < D; ++d)
                for (std::size_t j = 0; j < D; ++j)
                    r[j] += decay * S[d * D + j] * k[d];
            for (std::size_t d = 0; d < D; ++d)
                for (std::size_t j = 0; j < D; ++j)
                    next[d * D + j] =
                        decay * S[d * D + j] + k[d] * o.beta(0, t, h) * (o.value(0, t, h * D + j) - r[j]);
        }
        std::ranges::fill(carried, 0.0f);
        for (std::size_t t = o.iterations; t-- > 0;) {
            float const *const S = &o.kept[t * size], *const next = &o.kept[(t + 1) * size],
                               *const q = &o.query(0, t, h * D), *const k = &o.key(0, t, h * D),
                               *const ct = &o.ct(0, t, h * D), *const r = &read[t * D];
            float const decay = std::exp(o.decay(0, t, h)), beta = o.beta(0, t, h);
            float *const ct_q = &o.found.query(0, t, h * D), *const ct_k = &o.found.key(0, t, h * D);
            for (std::size_t j = 0; j < D; ++j) {
                written[j] = beta * (o.value(0, t, h * D + j) - r[j]);
                ct_written[j] = 0;
            }
            for (std::size_t d = 0; d < D; ++d)
                for (std::size_t j = 0; j < D; ++j) {
                    float& ct_S = carried[d * D + j];
                    ct_S += scale * q[d] * ct[j];
                    ct_q[d] += scale * next[d * D + j] * ct[j];
                    ct_k[d] += ct_S * written[j];
                    ct_written[j] += ct_S * k[d];
                }
            for (std::size_t j = 0; j < D; ++j) {
                o.found.value(0, t, h * D + j) = beta * ct_written[j];
                o.found.beta(0, t, h) += ct_written[j] * (o.value(0, t, h * D + j) - r[j]);
            }
            float ct_decay = 0;
            for (std::size_t d = 0; d < D; ++d)
                for (std::size_t j = 0; j < D; ++j) {
                    float const ct_read = -beta * ct_written[j], s = decay * S[d * D + j];
                    float& ct_S = carried[d * D + j];
                    ct_k[d] += s * ct_read;
                    ct_S += k[d] * ct_read;
                    ct_decay += s * ct_S;
                    ct_S *= decay;
                }
            o.found.decay(0, t, h) = ct_decay;
        }
    }
}

void forward(backward_operands& o) { in_place(o); }

void backward(backward_operands& o)
{
    o.set_gradients(0); // which are added to
    xloom::linear_attention_vjp_into(o.query, o.key, o.value, o.inputs(), {.output = o.ct},
        {.query = o.found.query,
            .key = o.found.key,
            .value = o.found.value,
            .decay = o.found.decay,
            .beta = o.found.beta},
        o.options(), o.workspace);
}

void add_backward(std::size_t d)
{
    add_case(
        name_of_case("linear_attention_vjp", update_rule::gated_delta, 64, d),
        [=] { return backward_operands(d); },
        std::vector<series<backward_operands>>{{"hand", hand_backward}, {"xloom", backward},
            {.impl = "forward", .run = forward, .count_errors = no_errors}});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const d : {std::size_t{64}, std::size_t{128}}) {
        for (update_rule const rule :
            {update_rule::linear, update_rule::gated, update_rule::delta, update_rule::gated_delta})
            for (std::size_t const T : {std::size_t{1}, std::size_t{64}})
                if (d == 64 || rule == update_rule::gated || rule == update_rule::gated_delta)
                    add_attention(rule, T, d);
        for (std::size_t const layers : {std::size_t{1}, std::size_t{256}}) {
            add_narrow<xloom::float16>("float16", d, layers);
            add_narrow<xloom::bfloat16>("bfloat16", d, layers);
        }
        add_backward(d);
    }
    return run_cases(argc, argv);
}
