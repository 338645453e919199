// Prints hashes of the bits of results: of this build's kernels or, with xloom::dispatch, of those of a
// level. Two programs of this file for one vector unit print the same lines.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/threads.hpp"
#include <xloom/gradients/activate_vjp.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include "levels.hpp"

namespace {

using namespace levels;

template <class T, class Weights, class Into, class Step>
void print_network(
    char const* name, std::size_t gates, std::size_t H, std::size_t N, Into const& into, Step const& step)
{
    using cube = xt::xtensor<T, 3>;
    std::size_t const steps = 5, I = 3;
    cube const X = numbers<cube>({steps, N, I}, 1), W = numbers<cube>({2, gates * H, I}, 2);
    auto R = numbers<cube>({2, gates * H, H}, 3);
    for (std::size_t i = 0; i < R.size(); ++i) // half of the blocks that block_sparse may leave out
        if ((i / H / 8 + i % H / 4) % 2 == 0)
            R.flat(i) = 0;
    auto const B = numbers<xt::xtensor<T, 2>>({2, 2 * gates * H}, 4);
    auto const print_with = [&](Weights const& weights) {
        auto Y = xt::xtensor<T, 4>::from_shape({steps, 2, N, H}), Y_threads = Y;
        into(X, weights, Y, xloom::serial);
        into(X, weights, Y_threads, threads_policy(2));
        print(name, H, N, Y);
        print(name, H, N, Y_threads);
        std::vector<T> h(N * H, T(0)), c = h;
        for (std::size_t t = 0; t < steps; ++t)
            step(weights, N, h, c, std::span<T const>(X.data() + t * N * I, N * I));
        print(name, H, N, h);
    };
    xloom::direction const both = xloom::direction::bidirectional;
    if constexpr (std::is_same_v<T, float>)
        for (auto const storage : xloom::weight_storages)
            print_with(Weights({W, R, B}, {.direction = both}, storage));
    else
        print_with(Weights({W, R, B}, {.direction = both}));
}

/// Prints AttnLSTM with Bahdanau's score or one of the program's own, and the steps of its cell.
template <class T, class Score>
void print_attention(char const* name, std::size_t H, std::size_t N, Score const& score)
{
    using cube = xt::xtensor<T, 3>;
    std::size_t const steps = 5, I = 3, S = 4, E = 5, A = 6, L = 7;
    cube const X = numbers<cube>({steps, N, I}, 1), W = numbers<cube>({1, 4 * H, I + L}, 2),
               R = numbers<cube>({1, 4 * H, H}, 3), QW = numbers<cube>({1, H, A}, 4),
               MW = numbers<cube>({1, E, A}, 5), AW = numbers<cube>({1, H + E, L}, 6),
               M = numbers<cube>({N, S, E}, 7);
    auto const V = numbers<xt::xtensor<T, 2>>({1, A}, 8);
    xloom::attn_lstm_weights<T> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V, .AW = AW});
    for (std::size_t const threads : {1u, 2u}) {
        auto const out = xloom::attn_lstm(score, X, weights, {.M = M}, threads_policy(threads));
        print(name, H, N, out.Y);
        print(name, H, N, out.Y_c);
    }
    xloom::attn_lstm_cell<T, Score> cell(score, weights, M);
    std::vector<T> h(N * H, T(0)), c = h, y = h, attention(N * L, T(0)), alignment(N * S, T(0));
    for (std::size_t t = 0; t < steps; ++t)
        cell(h, c, attention, alignment, std::span<T const>(X.data() + t * N * I, N * I), y);
    print(name, H, N, attention);
    print(name, H, N, alignment);
}

template <class T>
void print_all(std::size_t H, std::size_t N)
{
    print_network<T, xloom::lstm_weights<T>>(
        "lstm", 4, H, N,
        [](auto const& X, auto const& weights, auto& Y, auto const& policy) {
            xloom::recurrent_workspace<T> workspace;
            xloom::lstm_into(X, weights, {}, {Y, {}, {}}, workspace, policy);
        },
        [](auto const& weights, std::size_t rows, auto& h, auto& c, auto x) {
            xloom::lstm_cell<T>(weights, rows)(h, c, x);
        });
    print_network<T, xloom::gru_weights<T>>(
        "gru", 3, H, N,
        [](auto const& X, auto const& weights, auto& Y, auto const& policy) {
            xloom::recurrent_workspace<T> workspace;
            xloom::gru_into(X, weights, {}, {Y, {}}, workspace, policy);
        },
        [](auto const& weights, std::size_t rows, auto& h, auto&, auto x) {
            xloom::gru_cell<T>(weights, rows)(h, x);
        });
    print_network<T, xloom::rnn_weights<T>>(
        "rnn", 1, H, N,
        [](auto const& X, auto const& weights, auto& Y, auto const& policy) {
            xloom::recurrent_workspace<T> workspace;
            xloom::rnn_into(X, weights, {}, {Y, {}}, workspace, policy);
        },
        [](auto const& weights, std::size_t rows, auto& h, auto&, auto x) {
            xloom::rnn_cell<T>(weights, rows)(h, x);
        });
    print_attention<T>("attn_lstm", H, N, xloom::bahdanau());
    print_attention<T>("attn_lstm with a callable", H, N, [](xloom::attention_step<T> const& step) {
        for (std::size_t m = 0; m < step.scores.size(); ++m) {
            step.scores[m] = step.last_alignment[m];
            for (std::size_t a = 0; a < step.query.size(); ++a)
                step.scores[m] += step.key(m)[a] - step.query[a];
        }
    });
    using matrix = xt::xtensor<T, 2>;
    matrix const A = numbers<matrix>({N, H}, 5), M = numbers<matrix>({H, H + 1}, 6);
    auto C = matrix::from_shape({N, H + 1});
    xloom::packed_matrix<T> const product(M);
    product(N, A.data(), H, C.data(), H + 1);
    print("packed_matrix", H, N, C);
    if constexpr (std::is_same_v<T, float>)
        for (auto const storage : xloom::weight_storages) {
            xloom::packed_matrix<T>(M, {}, storage)(N, A.data(), H, C.data(), H + 1);
            print("narrow packed_matrix", H, N, C);
        }
    std::vector<T> y(N * H);
    for (std::size_t kind = 0; kind < xloom::activation_count; ++kind) {
        xloom::activate(static_cast<xloom::activation>(kind), std::span<T const>(A.data(), N * H), y);
        print("activate", H, N, y);
        std::vector<T> const ct_y(N * H, T(0.5));
        xloom::activate_vjp(
            static_cast<xloom::activation>(kind), std::span<T const>(A.data(), N * H), ct_y, y);
        print("activate_vjp", H, N, y);
    }
}

/// Prints products whose depth is several pieces of the storages that round rows, and several chains of sums.
void print_deep_products()
{
    using matrix = xt::xtensor<float, 2>;
    std::size_t const K = 1100, J = 70;
    auto M = numbers<matrix>({K, J}, 7);
    for (std::size_t i = 0; i < M.size(); ++i) // half of the blocks that block_sparse may leave out
        if ((i / J / 4 + i % J / 8) % 2 == 0)
            M.flat(i) = 0;
    for (std::size_t const N : {1u, 5u}) {
        auto const A = numbers<matrix>({N, K}, 8);
        auto C = matrix::from_shape({N, J});
        for (auto const storage : xloom::weight_storages) {
            xloom::packed_matrix<float>(M, {}, storage)(N, A.data(), K, C.data(), J);
            print("deep packed_matrix", K, N, C);
        }
    }
}

/// Prints the products of all numbers of a 16-bit type, which must be those of the same numbers as floats.
///
/// In the emulator subnormal numbers are not among them: where subnormal floats are zeros, qemu 7.2 takes
/// subnormal float16 for zeros, too, which processors convert.
///
/// Errors    std::logic_error: they are not.
template <class Small>
void print_every_number(xloom::weight_storage storage)
{
    constexpr std::size_t count = 65536;
    bool const is_emulated = std::getenv("XLOOM_TEST_EMULATED") != nullptr;
    auto const least = static_cast<float>(std::numeric_limits<Small>::min());
    auto B = xt::xtensor<float, 2>::from_shape({1, count});
    for (unsigned bits = 0; bits < count; ++bits) {
        auto const number = static_cast<float>(Small::from_bits(bits));
        B(0, bits) = is_emulated && std::abs(number) < least ? 0 : number;
    }
    std::vector<float> const A{1, -0.75f, 3};
    std::vector<float> full(A.size() * count), stored(full);
    xloom::packed_matrix<float> const floats(B), narrow_floats(B, {}, storage);
    floats(A.size(), A.data(), 1, full.data(), count);
    narrow_floats(A.size(), A.data(), 1, stored.data(), count);
    print("every 16-bit number", 1, A.size(), stored);
    if (std::memcmp(full.data(), stored.data(), full.size() * sizeof(float)) != 0)
        throw std::logic_error("a number of 16 bits has another value as a float");
}

} // namespace

int main()
{
    try {
        print_every_number<xloom::float16>(xloom::weight_storage::float16);
        print_every_number<xloom::bfloat16>(xloom::weight_storage::bfloat16);
        print_deep_products();
        levels::print_scans();
        levels::print_derivatives();
        for (std::size_t const H : {1u, 7u, 8u, 16u, 33u, 100u})
            for (std::size_t const N : {1u, 5u}) {
                print_all<float>(H, N);
                print_all<double>(H, N);
            }
    } catch (xloom::option_error const& error) {
        std::printf("%s\n", error.what());
    }
}
