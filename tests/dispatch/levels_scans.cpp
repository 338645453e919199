// The scans and the reductions of segments.

#include "support/threads.hpp"
#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/linear_recurrence_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "levels.hpp"

namespace levels {
namespace {

/// Scans H sequences of N elements, which are consecutive if axis is 1, and else beside each other.
template <class T>
void print_items(std::size_t H, std::size_t N, std::ptrdiff_t axis)
{
    using matrix = xt::xtensor<T, 2>;
    auto const x = axis == 1 ? numbers<matrix>({H, N}, 1) : numbers<matrix>({N, H}, 1);
    xt::xtensor<int, 1> const splits = {
        0, 1, 1, static_cast<int>(x.shape()[0] / 3 + 1), static_cast<int>(x.shape()[0])};
    for (auto const kind :
        {xloom::reduction::add, xloom::reduction::mul, xloom::reduction::max, xloom::reduction::min}) {
        for (bool const reverse : {false, true}) {
            print("scan", H, N, xloom::associative_scan(kind, x, {.axis = axis, .reverse = reverse}));
            print("exclusive scan", H, N,
                xloom::associative_scan(
                    kind, x, {.axis = axis, .reverse = reverse, .exclusive = true}, threads_policy(2)));
            print("segment_scan", H, N, xloom::segment_scan(kind, x, splits, {.reverse = reverse}));
        }
        print("segment_reduce", H, N, xloom::segment_reduce(kind, x, splits));
    }
    print("cumulative_sum", H, N, xloom::cumulative_sum(x, {.axis = axis}));
    print("cumulative_prod", H, N, xloom::cumulative_prod(x, {.axis = axis}));
}

template <class T>
void print_recurrences(std::size_t H, std::size_t N, std::ptrdiff_t axis)
{
    using matrix = xt::xtensor<T, 2>;
    std::array<std::size_t, 2> const shape = axis == 1 ? std::array{H, N} : std::array{N, H};
    matrix const a = numbers<matrix>(shape, 1), b = numbers<matrix>(shape, 2);
    auto const h0 = numbers<xt::xtensor<T, 1>>({H}, 3);
    for (bool const reverse : {false, true}) {
        matrix const h = xloom::linear_recurrence(a, b, h0, {.axis = axis, .reverse = reverse});
        print("linear_recurrence", H, N, h);
        print("linear_recurrence of a number", H, N,
            xloom::linear_recurrence(a, b, T(1), {.axis = axis, .reverse = reverse}, threads_policy(2)));
        print("linear_recurrence_vjp", H, N,
            xloom::linear_recurrence_vjp(a, b, h0, h, b, {.axis = axis, .reverse = reverse}).a);
    }
}

/// The selective scan of H channels and N steps.
template <class T>
void print_selective(std::size_t H, std::size_t N)
{
    using cube = xt::xtensor<T, 3>;
    std::size_t const sequences = 2, S = 3;
    cube const u = numbers<cube>({sequences, N, H}, 1), delta = numbers<cube>({sequences, N, H}, 2),
               B = numbers<cube>({sequences, N, S}, 3), C = numbers<cube>({sequences, N, S}, 4),
               z = numbers<cube>({sequences, N, H}, 5);
    auto const A = numbers<xt::xtensor<T, 2>>({H, S}, 6);
    auto const out = xloom::selective_scan(
        u, {.delta = delta, .A = A, .B = B, .C = C, .z = z}, {.delta_softplus = true}, threads_policy(2));
    print("selective_scan", H, N, out.y);
    print("selective_scan's state", H, N, out.final_state);
    cube d_u = u, d_B = B;
    auto d_A = A;
    xloom::recurrent_workspace<T> workspace;
    xloom::selective_scan_vjp_into(u, {.delta = delta, .A = A, .B = B, .C = C, .z = z}, {.y = z},
        {.u = d_u, .A = d_A, .B = d_B}, {.delta_softplus = true}, workspace, threads_policy(2));
    for (auto const* const gradient : {&d_u, &d_B})
        print("selective_scan_vjp", H, N, *gradient);
    print("selective_scan_vjp's d_A", H, N, d_A);
}

/// The causal convolution of N steps of C channels, with SiLU.
template <class T>
void print_conv(std::size_t C, std::size_t N)
{
    using tensor = xt::xtensor<T, 3>;
    auto const x = numbers<tensor>({2, C, N}, 1), weight = numbers<tensor>({C, 1, 4}, 2);
    xloom::causal_conv_options const silu{.activation = xloom::conv_activation::silu};
    auto const out = xloom::causal_conv(x, weight, {}, silu, threads_policy(2));
    print("causal_conv", C, N, out.output);
    tensor ct_x = x, ct_weight = weight;
    xloom::causal_conv_vjp_into(
        x, weight, {}, {.output = out.output}, {.input = ct_x, .weight = ct_weight}, silu, threads_policy(2));
    print("causal_conv_vjp", C, N, ct_x);
    print("causal_conv_vjp's weight", C, N, ct_weight);
}

/// Linear attention of N tokens with V values, by each rule.
template <class T>
void print_attention(std::size_t V, std::size_t N)
{
    using tensor = xt::xtensor<T, 4>;
    tensor const query = numbers<tensor>({2, N, 2, 5}, 1), key = numbers<tensor>({2, N, 1, 5}, 2),
                 value = numbers<tensor>({2, N, 1, V}, 3);
    auto const gates = numbers<xt::xtensor<T, 3>>({2, N, 1}, 4);
    xloom::recurrent_workspace<T> workspace;
    for (auto const rule : {xloom::update_rule::linear, xloom::update_rule::gated, xloom::update_rule::delta,
             xloom::update_rule::gated_delta}) {
        xloom::linear_attention_inputs<T> inputs;
        if (rule == xloom::update_rule::gated || rule == xloom::update_rule::gated_delta)
            inputs.decay = gates;
        if (rule == xloom::update_rule::delta || rule == xloom::update_rule::gated_delta)
            inputs.beta = gates;
        xloom::linear_attention_options const options{.update_rule = rule};
        auto const out = xloom::linear_attention(query, key, value, inputs, options, threads_policy(2));
        print("linear_attention", V, N, out.output);
        print("linear_attention's state", V, N, out.present_state);
        tensor ct_key = key, ct_value = value;
        xloom::linear_attention_vjp_into(query, key, value, inputs, {.output = out.output},
            {.key = ct_key, .value = ct_value}, options, workspace, threads_policy(2));
        print("linear_attention_vjp", V, N, ct_key);
        print("linear_attention_vjp's values", V, N, ct_value);
    }
}

/// Linear attention with a state that xloom_dispatch has no functions of: it is computed as this program is
/// built. All numbers are whole.
void print_attention_with_float8_state()
{
    using tensor = xt::xtensor<float, 4>;
    using state = xloom::float8_e4m3fn;
    tensor const ones = xt::ones<float>({1, 3, 1, 2});
    xloom::linear_attention_options const options{.update_rule = xloom::update_rule::linear, .scale = 1};
    auto const out = xloom::linear_attention<state>(ones, ones, ones, {}, options);
    print("linear_attention with a float8 state", 2, 3, out.output);
    tensor ct_key = ones;
    xloom::linear_attention_vjp_into<state>(
        ones, ones, ones, {}, {.output = out.output}, {.key = ct_key}, options);
    print("linear_attention_vjp with a float8 state", 2, 3, ct_key);
}

} // namespace

void print_scans()
{
    for (std::size_t const H : {1u, 7u, 40u})
        for (std::size_t const N : {1u, 5u, 16u, 600u})
            for (std::ptrdiff_t const axis : {0, 1}) {
                print_items<float>(H, N, axis);
                print_items<double>(H, N, axis);
                print_items<std::int32_t>(H, N, axis);
                print_items<std::uint64_t>(H, N, axis);
                print_recurrences<float>(H, N, axis);
                print_recurrences<double>(H, N, axis);
            }
    for (std::size_t const H : {1u, 7u, 40u}) {
        print_selective<float>(H, 5);
        print_selective<double>(H, 5);
        print_conv<float>(H, 20);
        print_conv<double>(H, 20);
        print_attention<float>(H, 5);
        print_attention<double>(H, 5);
    }
    print_attention_with_float8_state();
}

} // namespace levels
