// Weights without their blocks of zeros: the results of all weights.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include "support/attn_lstm_calls.hpp"
#include "support/gru_calls.hpp"
#include "support/larger_error.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/textbook_product.hpp"
#include "support/threads.hpp"
#include "support/zero_blocks.hpp"

namespace block_sparse_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<float, 2>;

/// A storage without blocks of zeros, and the one that has them.
struct storage_pair {
    weight_storage sparse, dense;
};
constexpr storage_pair storages[] = {{weight_storage::block_sparse, weight_storage::full},
    {weight_storage::block_sparse_int8, weight_storage::int8}};

matrix random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns)
{
    std::uniform_real_distribution<float> draw(-1, 1);
    auto made = matrix::from_shape({rows, columns});
    for (float& item : made)
        item = draw(random);
    return made;
}

/// B [K, J] with zeros in place of blocks.
matrix sparse_matrix(std::mt19937& random, std::size_t K, std::size_t J, double density)
{
    matrix B = random_matrix(random, K, J);
    zero_blocks(random, density, K, J, 4, 8, [&](std::size_t i, std::size_t j) -> float& { return B(i, j); });
    return B;
}

std::vector<float> product(packed_matrix<float> const& B, matrix const& A)
{
    std::vector<float> C(A.shape(0) * B.columns());
    B(A.shape(0), A.data(), B.depth(), C.data(), B.columns());
    return C;
}

/// The largest error of C = A B + bias, whose textbook is in float64.
double worst_error(
    std::vector<float> const& C, matrix const& A, matrix const& B, xt::xtensor<float, 1> const& bias)
{
    std::size_t const K = B.shape(0), J = B.shape(1);
    double worst = 0;
    for (std::size_t m = 0; m < A.shape(0); ++m)
        for (std::size_t j = 0; j < J; ++j) {
            double const expected = textbook::product(A.data() + m * K, B, bias, j);
            worst = larger_error(worst, std::abs(expected - static_cast<double>(C[m * J + j])));
        }
    return worst;
}

} // namespace

TEST_CASE("packed_matrix without blocks of zeros: the sums of all products, with their bits")
{
    std::mt19937 random(1);
    for (std::size_t const K : {0u, 1u, 4u, 7u, 130u, 257u})
        for (std::size_t const J : {1u, 12u, 70u, 600u})
            for (double const density : {0.0, 0.3, 0.55, 0.8}) {
                CAPTURE(K);
                CAPTURE(J);
                CAPTURE(density);
                matrix const B = sparse_matrix(random, K, J, density);
                auto const row = random_matrix(random, 1, J);
                auto bias = xt::xtensor<float, 1>::from_shape({J});
                std::copy(row.begin(), row.end(), bias.begin());
                for (storage_pair const& pair : storages) {
                    packed_matrix<float> const sparse(B, bias, pair.sparse), dense(B, bias, pair.dense);
                    for (std::size_t const M : {1u, 2u, 3u, 5u}) {
                        CAPTURE(M);
                        matrix const A = random_matrix(random, M, K);
                        auto const C = product(sparse, A);
                        CHECK(C == product(dense, A));
                        if (pair.dense == weight_storage::full)
                            CHECK(worst_error(C, A, B, bias) < 1e-5);
                    }
                }
            }
}

TEST_CASE("packed_matrix without blocks of zeros takes the memory of the others, and of all if they are most")
{
    std::mt19937 random(2);
    for (storage_pair const& pair : storages) {
        CAPTURE(name_of(pair.sparse));
        auto const bytes = [&](double density) {
            matrix const B = sparse_matrix(random, 256, 1024, density);
            packed_matrix<float> const stored(B, {}, pair.sparse);
            CHECK(stored.storage() == pair.sparse);
            return static_cast<double>(stored.bytes()) /
                   static_cast<double>(packed_matrix<float>(B, {}, pair.dense).bytes());
        };
        CHECK(bytes(0.3) < 0.4);
        CHECK(bytes(0.3) > 0.27);
        CHECK(bytes(0.58) < 0.7);
        CHECK(bytes(0.68) == 1);
        CHECK(bytes(0.95) == 1);
    }
}

TEST_CASE("packed_matrix without blocks of zeros: the zeros that are not stored are not multiplied")
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    matrix B = xt::zeros<float>({8, 16}); // of four blocks the first has numbers, one of them 0
    for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t j = 0; j < 8; ++j)
            B(k, j) = j == 3 ? 0.0f : 1.0f;
    matrix A = xt::ones<float>({1, 8});
    A(0, 0) = infinity;
    for (storage_pair const& pair : storages) {
        auto const C = product(packed_matrix<float>(B, {}, pair.sparse), A);
        CHECK(C[0] == infinity);
        CHECK(std::isnan(C[3]));
        CHECK(C[8] == 0);
        CHECK(std::isnan(product(packed_matrix<float>(B, {}, pair.dense), A)[8]));
    }
    A(0, 0) = 1;
    A(0, 7) = std::numeric_limits<float>::quiet_NaN();
    CHECK(product(packed_matrix<float>(B, {}, weight_storage::block_sparse), A)[0] == 4);
}

TEST_CASE("a matrix that is assigned has blocks of its own")
{
    std::mt19937 random(3);
    matrix const first = sparse_matrix(random, 20, 90, 0.3), next = sparse_matrix(random, 20, 90, 0.5),
                 A = random_matrix(random, 3, 20);
    for (storage_pair const& pair : storages) {
        packed_matrix<float> stored(first, {}, pair.sparse);
        stored.assign(next);
        CHECK(product(stored, A) == product(packed_matrix<float>(next, {}, pair.dense), A));
    }
}

namespace {

template <class Family>
auto sparse_operands(std::mt19937& random, recurrent_sizes const& sizes)
{
    auto in = Family::template draw<float>(random, sizes, with_B, {.weights = 0.2});
    zero_blocks(random, 0.4, in.W);
    zero_blocks(random, 0.3, in.R);
    return in;
}

} // namespace

TEST_CASE_TEMPLATE("recurrent operators of weights without blocks of zeros have the bits of all weights, on "
                   "any number of threads",
    Family, lstm_family, gru_family, rnn_family)
{
    // Few units, which have steps in registers otherwise; units that are no multiple of 8; one row, whose
    // columns are partitioned.
    std::size_t const H = std::is_same_v<Family, lstm_family>  ? 192
                          : std::is_same_v<Family, gru_family> ? 288
                                                               : 384;
    for (recurrent_sizes const& sizes :
        {recurrent_sizes{3, 1, 9, 16}, {3, 7, 20, 37, 2}, {4, 3, 130, 40}, {2, 1, 9, H}}) {
        CAPTURE(sizes.H);
        std::mt19937 random(4);
        auto const in = sparse_operands<Family>(random, sizes);
        typename Family::options options;
        options.direction = sizes.D == 2 ? "bidirectional" : "forward";
        typename Family::template tensors<float> const tensors(in);
        for (storage_pair const& pair : storages) {
            CAPTURE(name_of(pair.sparse));
            using weights = typename Family::template weights<float>;
            weights const stored(tensors.constants(), Family::options_of(options), pair.sparse);
            CHECK(stored.storage() == pair.sparse);
            auto const expected = Family::template call<float>(
                in, weights(tensors.constants(), Family::options_of(options), pair.dense));
            CHECK(have_same_bits(expected, Family::template call<float>(in, stored)));
            CHECK(have_same_bits(expected, Family::template call<float>(in, stored, threads_policy(2))));
        }
        typename Family::template weights<float> const stored(
            tensors.constants(), Family::options_of(options), weight_storage::block_sparse);
        CHECK(difference(Family::template call<float>(in, stored), Family::textbook(in, options)) < 2e-6);
    }
}

namespace {

template <class Cell, class Family>
void check_cell(std::size_t N, std::size_t H)
{
    std::mt19937 random(11);
    auto const in = sparse_operands<Family>(random, {4, N, 6, H});
    typename Family::template tensors<float> const tensors(in);
    for (storage_pair const& pair : storages) {
        typename Family::template weights<float> const all(tensors.constants(), {}, pair.dense);
        auto const expected = Family::template call<float>(in, all);
        Cell const cell({tensors.constants(), {}, pair.sparse}, N);
        CHECK(last_h_of<Family>(cell, in, H) == expected.Y_h.items);
    }
}

} // namespace

TEST_CASE("cells of weights without blocks of zeros have the bits of all weights")
{
    for (std::size_t const N : {1u, 3u})
        for (std::size_t const H : {8u, 37u}) {
            check_cell<lstm_cell<float>, lstm_family>(N, H);
            check_cell<gru_cell<float>, gru_family>(N, H);
            check_cell<rnn_cell<float>, rnn_family>(N, H);
        }
}

namespace {

/// Checks a cell of few units of whose weights one matrix has blocks of zeros: W, or R in rows [begin, end).
template <class Cell, class Family>
void check_mixed_cell(bool is_W, std::size_t begin, std::size_t end)
{
    std::mt19937 random(12);
    auto in = Family::template draw<float>(random, {3, 1, 8, 8}, with_B, {.weights = 0.2});
    auto& weights = is_W ? in.W : in.R;
    for (std::size_t row = begin; row < end; ++row)
        std::fill_n(&weights.items[row * 8 + 4], 4, 0.0f);
    typename Family::template tensors<float> const tensors(in);
    typename Family::template weights<float> const all(tensors.constants());
    Cell const cell({tensors.constants(), {}, weight_storage::block_sparse}, 1);
    CHECK(last_h_of<Family>(cell, in, 8) == Family::template call<float>(in, all).Y_h.items);
}

} // namespace

TEST_CASE("cells of weights of which one matrix alone has blocks of zeros have the bits of all weights")
{
    for (bool const is_W : {true, false}) {
        check_mixed_cell<lstm_cell<float>, lstm_family>(is_W, 0, 32);
        check_mixed_cell<gru_cell<float>, gru_family>(is_W, 0, 24);
        check_mixed_cell<rnn_cell<float>, rnn_family>(is_W, 0, 8);
    }
    check_mixed_cell<gru_cell<float>, gru_family>(false, 0, 16);  // z and r
    check_mixed_cell<gru_cell<float>, gru_family>(false, 16, 24); // h
}

TEST_CASE("an AttnLSTM of weights without blocks of zeros has the bits of all weights")
{
    for (std::size_t const N : {1u, 5u}) {
        std::mt19937 random(5);
        auto in = random_attn_lstm<float>(random, {4, N, 5, 24, 1}, {6, 16, 16, 8}, with_all + 0u);
        for (auto* const each : {&in.W, &in.R})
            zero_blocks(random, 0.3, *each);
        for (auto* const each : {&in.QW, &in.MW, &in.AW})
            zero_blocks(random, 0.3, each->shape[1], each->shape[2], 4, 8,
                [&](std::size_t i, std::size_t j) -> float& { return each->items[i * each->shape[2] + j]; });
        attn_lstm_tensors<float> const tensors(in);
        auto const call = [&](weight_storage storage) {
            attn_lstm_weights<float> const weights(tensors.constants(), {}, storage);
            auto const [Y, Y_h, Y_c] = attn_lstm(tensors.X, weights, tensors.start());
            return attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)};
        };
        for (storage_pair const& pair : storages)
            CHECK(have_same_bits(call(pair.sparse), call(pair.dense)));
        CHECK(difference(call(weight_storage::block_sparse), textbook_attn_lstm(in, {})) < 2e-6);
    }
}

} // namespace block_sparse_test
