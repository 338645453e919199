// Weights stored as float16, bfloat16, int8 and dynamic_int8: the results of the rounded weights.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include "support/attn_lstm_calls.hpp"
#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/rounded_weights.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"

namespace recurrent_storage_test {

using namespace xloom;
using textbook::is_8_bits, textbook::round_rows;

namespace {

/// Rounds a matrix [D, rows, columns], with a scale for each column of `rows` rows of a block.
void round_columns(weight_storage storage, textbook::array<float>& matrix, std::size_t rows)
{
    if (matrix.items.empty())
        return;
    if (!is_8_bits(storage))
        return round_rows(storage, matrix, matrix.shape[2]);
    std::size_t const columns = matrix.shape[2], all = matrix.shape[1];
    for (std::size_t d = 0; d < matrix.shape[0]; ++d)
        for (std::size_t j = 0; j < columns; ++j) {
            float* const first = &matrix.items[d * all * columns + j];
            textbook::round_to_8_bits(first, rows, columns);
            if (rows < all)
                textbook::round_to_8_bits(first + rows * columns, all - rows, columns);
        }
}

constexpr weight_storage narrow[] = {weight_storage::float16, weight_storage::bfloat16, weight_storage::int8,
    weight_storage::dynamic_int8, weight_storage::dynamic_bfloat16};
/// Those that round weights only.
constexpr weight_storage weight_only[] = {
    weight_storage::float16, weight_storage::bfloat16, weight_storage::int8};

constexpr recurrent_sizes some_sizes[] = {{5, 1, 3, 1}, {4, 1, 7, 5, 2}, {3, 2, 4, 19}, {3, 5, 1, 16},
    {2, 7, 130, 33, 2}, {2, 13, 9, 64}, {3, 1, 20, 131}, {2, 3, 0, 8}, {0, 2, 3, 4}, {2, 0, 3, 4}};

template <class Family>
void check_results(recurrent_sizes const& sizes, weight_storage storage)
{
    CAPTURE(sizes.H);
    CAPTURE(sizes.N);
    CAPTURE(name_of(storage));
    std::mt19937 random(7);
    typename Family::options options;
    options.direction = sizes.D == 2 ? "bidirectional" : "reverse";
    auto in = Family::template draw<float>(random, sizes);
    if (sizes.H > 2) // a row of zeros
        std::fill_n(in.R.items.begin() + static_cast<std::ptrdiff_t>(sizes.H), sizes.H, 0.0f);
    typename Family::template tensors<float> const original(in);
    typename Family::template weights<float> const weights(
        original.constants(), Family::options_of(options), storage);
    CHECK(weights.storage() == storage);
    auto const found = Family::template call<float>(in, weights);

    round_rows(storage, in.W, sizes.I);
    round_rows(storage, in.R, sizes.H);
    CHECK(difference(found, Family::textbook(in, options)) < 2e-6);
    if (storage != weight_storage::int8)
        CHECK(have_same_bits(found, Family::template call<float>(in, options)));
}

} // namespace

TEST_CASE_TEMPLATE("narrow weights give the results of the rounded weights, with 16 bits to the bit", Family,
    lstm_family, gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes)
        for (weight_storage const storage : weight_only)
            check_results<Family>(sizes, storage);
}

TEST_CASE_TEMPLATE(
    "narrow weights have the same bits on any number of threads", Family, lstm_family, gru_family, rnn_family)
{
    // One row, whose columns are partitioned if there are 2^17 of R's weights in a product, and several.
    std::size_t const H = std::is_same_v<Family, lstm_family>  ? 192
                          : std::is_same_v<Family, gru_family> ? 288
                                                               : 384;
    for (recurrent_sizes const& sizes : {recurrent_sizes{2, 1, 9, H}, {8, 7, 130, 70}})
        for (weight_storage const storage : narrow) {
            CAPTURE(sizes.N);
            CAPTURE(name_of(storage));
            std::mt19937 random(9);
            auto const in = Family::template draw<float>(random, sizes, with_B, {.weights = 0.1});
            typename Family::template weights<float> const weights(
                typename Family::template tensors<float>(in).constants(), {}, storage);
            auto const expected = Family::template call<float>(in, weights);
            std::atomic<std::size_t> parts = 0;
            CHECK(have_same_bits(
                expected, Family::template call<float>(in, weights, threads_or_backwards{5, true, &parts})));
            CHECK(parts > 1);
            CHECK(have_same_bits(expected, Family::template call<float>(in, weights, threads_policy(2))));
        }
}

TEST_CASE("narrow weights of an AttnLSTM give the results of the rounded weights, with 16 bits to the bit")
{
    for (unsigned const which : {with_all & ~with_AW, with_all + 0u})
        for (std::size_t const N : {1u, 2u, 7u})
            for (weight_storage const storage : weight_only) {
                CAPTURE(N);
                CAPTURE(name_of(storage));
                std::mt19937 random(3);
                textbook::attn_lstm_options options;
                options.direction = "bidirectional";
                auto in = random_attn_lstm<float>(random, {4, N, 5, 21, 2}, {6, 11, 13, 9}, which);
                attn_lstm_tensors<float> const original(in);
                attn_lstm_weights<float> const weights(original.constants(), options_of(options), storage);
                auto const call = [&](attn_lstm_weights<float> const& with) {
                    auto const [Y, Y_h, Y_c] = attn_lstm(original.X, with, original.start());
                    return attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)};
                };
                auto const found = call(weights);
                round_rows(storage, in.W, 5);
                round_rows(storage, in.R, 21);
                round_columns(storage, in.QW, in.QW.shape[1]);
                round_columns(storage, in.MW, in.MW.shape[1]);
                round_columns(storage, in.AW, 21);
                CHECK(difference(found, textbook_attn_lstm(in, options)) < 2e-6);
                if (storage != weight_storage::int8)
                    CHECK(have_same_bits(
                        found, call({attn_lstm_tensors<float>(in).constants(), options_of(options)})));
            }
}

namespace {

/// One step, whose X and initial_h are rounded like the weights.
template <class Family>
void check_quantized_step(recurrent_sizes const& sizes, weight_storage storage)
{
    CAPTURE(name_of(storage));
    CAPTURE(sizes.H);
    CAPTURE(sizes.N);
    std::mt19937 random(21);
    auto in = Family::template draw<float>(random, sizes, with_all & ~with_sequence_lens);
    typename Family::template tensors<float> const original(in);
    typename Family::template weights<float> const weights(
        original.constants(), Family::options_of({}), storage);
    auto const found = Family::template call<float>(in, weights);

    round_rows(storage, in.W, sizes.I);
    round_rows(storage, in.R, sizes.H);
    if (storage == weight_storage::dynamic_int8) {
        textbook::round_rows_to_8_bits(in.X.items, sizes.I);
        textbook::round_rows_to_8_bits(in.initial_h.items, sizes.H);
    } else {
        round_rows(storage, in.X, sizes.I);
        round_rows(storage, in.initial_h, sizes.H);
    }
    CHECK(difference(found, Family::textbook(in, {})) < 2e-6);
}

} // namespace

TEST_CASE_TEMPLATE("a step of dynamic_int8 or dynamic_bfloat16 weights gives the results of the rounded "
                   "operands",
    Family, lstm_family, rnn_family)
{
    for (recurrent_sizes const& sizes : {recurrent_sizes{1, 1, 3, 1}, {1, 2, 4, 19}, {1, 5, 1, 16},
             {1, 7, 130, 33}, {1, 13, 9, 64}, {1, 1, 20, 131}, {1, 30, 5, 21}, {1, 2, 1027, 8}})
        for (auto const storage : {weight_storage::dynamic_int8, weight_storage::dynamic_bfloat16})
            check_quantized_step<Family>(sizes, storage);
}

TEST_CASE_TEMPLATE("sequences of dynamic_int8 and dynamic_bfloat16 weights are close to those of floats",
    Family, lstm_family, gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : {recurrent_sizes{20, 1, 30, 40}, {20, 7, 30, 40, 2}}) {
        std::mt19937 random(17);
        typename Family::options options;
        options.direction = sizes.D == 2 ? "bidirectional" : "reverse";
        auto const in = Family::template draw<float>(random, sizes, with_B, {.weights = 0.15});
        for (auto const& [storage, most] : {std::pair(weight_storage::dynamic_int8, 0.02),
                 std::pair(weight_storage::dynamic_bfloat16, 0.005)}) {
            typename Family::template weights<float> const weights(
                typename Family::template tensors<float>(in).constants(), Family::options_of(options),
                storage);
            double const error =
                difference(Family::template call<float>(in, weights), Family::textbook(in, options));
            CHECK(error < most);
            CHECK(error > 1e-4);
        }
    }
}

TEST_CASE("an AttnLSTM of dynamic_int8 weights is close to one of floats")
{
    for (std::size_t const N : {1u, 7u}) {
        std::mt19937 random(3);
        textbook::attn_lstm_options options;
        auto const in =
            random_attn_lstm<float>(random, {4, N, 5, 21, 1}, {6, 11, 13, 9}, with_all & ~with_sequence_lens);
        attn_lstm_tensors<float> const tensors(in);
        attn_lstm_weights<float> const weights(
            tensors.constants(), options_of(options), weight_storage::dynamic_int8);
        auto const [Y, Y_h, Y_c] = attn_lstm(tensors.X, weights, tensors.start());
        attn_lstm_arrays<float> const found{to_array(Y), to_array(Y_h), to_array(Y_c)};
        double const error = difference(found, textbook_attn_lstm(in, options));
        CHECK(error < 0.05);
        CHECK(error > 1e-4);
    }
}

namespace {

/// Cells of narrow weights: T steps of N rows have the bits of a call.
template <class Family, class Cell>
void check_cell(std::size_t N)
{
    constexpr std::size_t T = 4, I = 6, H = 37;
    std::mt19937 random(11);
    auto const in = Family::template draw<float>(random, {T, N, I, H}, with_B);
    typename Family::template tensors<float> const tensors(in);
    for (weight_storage const storage : narrow) {
        typename Family::template weights<float> const weights(tensors.constants(), {}, storage);
        auto const expected = Family::template call<float>(in, weights);
        CHECK(last_h_of<Family>(Cell(weights, N), in, H) == expected.Y_h.items);
    }
}

} // namespace

TEST_CASE("cells of narrow weights have the bits of a call")
{
    for (std::size_t const N : {1u, 3u}) {
        check_cell<lstm_family, lstm_cell<float>>(N);
        check_cell<gru_family, gru_cell<float>>(N);
        check_cell<rnn_family, rnn_cell<float>>(N);
    }
}

TEST_CASE("narrow weights of an AttnLSTM's cell have the bits of a call")
{
    std::mt19937 random(5);
    auto const in =
        random_attn_lstm<float>(random, {1, 1, 5, 21, 1}, {6, 11, 13, 9}, with_B | with_attention);
    attn_lstm_tensors<float> const tensors(in);
    for (weight_storage const storage : narrow) {
        attn_lstm_weights<float> const weights(tensors.constants(), {}, storage);
        auto const expected = to_array(attn_lstm(tensors.X, weights, tensors.start()).Y_h);
        attn_lstm_cell<float> cell(weights, tensors.M);
        std::vector<float> h(21), c(21), attention(weights.sizes().C);
        cell(h, c, attention, in.X.items);
        CHECK(h == expected.items);
    }
}

TEST_CASE("a batch of narrow weights has the bits of its rows")
{
    for (weight_storage const storage : narrow) {
        std::mt19937 random(2);
        auto const in = random_lstm<float>(random, {3, 9, 140, 40}, with_B);
        lstm_tensors<float> const tensors(in);
        lstm_weights<float> const weights(tensors.constants(), {}, storage);
        auto const all = lstm_family::call<float>(in, weights);
        for (std::size_t n = 0; n < 9; ++n) {
            auto row = in;
            row.X = {{3, 1, 140}, {}};
            for (std::size_t t = 0; t < 3; ++t)
                for (std::size_t i = 0; i < 140; ++i)
                    row.X.items.push_back(in.X.items[(t * 9 + n) * 140 + i]);
            auto const one = lstm_family::call<float>(row, weights);
            CHECK(std::equal(one.Y_h.items.begin(), one.Y_h.items.end(),
                all.Y_h.items.begin() + static_cast<std::ptrdiff_t>(n * 40)));
        }
    }
}

TEST_CASE("narrow weights take half and a quarter of the memory")
{
    std::mt19937 random(1);
    // Whole vectors, and 20 KiB of biases and scales at most.
    lstm_tensors<float> const tensors(random_lstm<float>(random, {1, 1, 256, 256}, with_B));
    std::size_t const full = 4 * 256 * 512 * sizeof(float), rest = 20480;
    auto const bytes = [&](weight_storage storage) {
        return lstm_weights<float>(tensors.constants(), {}, storage).bytes();
    };
    for (auto const& [storage, expected] : {std::pair(weight_storage::full, full),
             std::pair(weight_storage::float16, full / 2), std::pair(weight_storage::bfloat16, full / 2),
             std::pair(weight_storage::int8, full / 4), std::pair(weight_storage::dynamic_int8, full / 4),
             std::pair(weight_storage::dynamic_bfloat16, full / 2)}) {
        CHECK(bytes(storage) >= expected);
        CHECK(bytes(storage) <= expected + rest);
    }
    CHECK(lstm_weights<float>(tensors.constants()).bytes() == bytes(weight_storage::full));
}

TEST_CASE("weights of float16 stored as float16 are exact")
{
    std::mt19937 random(6);
    auto const in = random_lstm<float>(random, {3, 2, 5, 17}, with_all);
    auto const halves = [](textbook::array<float> const& from) {
        textbook::array<float16> to{from.shape, {}};
        to.items.assign(from.items.begin(), from.items.end());
        return to;
    };
    textbook::lstm_operands<float16> const half{halves(in.X), halves(in.W), halves(in.R), halves(in.B),
        in.sequence_lens, halves(in.initial_h), halves(in.initial_c), halves(in.P)};
    lstm_tensors<float16> const tensors(half);
    lstm_weights<float16> const full(tensors.constants());
    lstm_weights<float16> const stored(tensors.constants(), {}, weight_storage::float16);
    CHECK(stored.bytes() < full.bytes());
    CHECK(have_same_bits(lstm_family::call<float16>(half, stored), lstm_family::call<float16>(half, full)));
}

namespace {

template <class Family>
std::string error_of(weight_storage storage, float weight, bool in_W = false)
{
    std::mt19937 random(1);
    auto in = Family::template draw<float>(random, {1, 1, 2, 3}, with_none);
    (in_W ? in.W : in.R).items[4] = weight;
    typename Family::template tensors<float> const tensors(in);
    return ::error_of<option_error>(
        [&] { typename Family::template weights<float>(tensors.constants(), {}, storage); });
}

} // namespace

TEST_CASE_TEMPLATE(
    "weights that a narrow type cannot hold are an option_error", Family, lstm_family, gru_family, rnn_family)
{
    std::string const op = std::string("xloom::") + Family::name + "_weights: storage ";
    CHECK(error_of<Family>(weight_storage::float16, 65520) ==
          op + "float16 requires weights whose magnitude rounds to at most 65504, but one of R is "
               "65520.000000. Use "
               "weight_storage::full or bfloat16.");
    CHECK(error_of<Family>(weight_storage::float16, -65520, true) ==
          op + "float16 requires weights whose magnitude rounds to at most 65504, but one of W is "
               "-65520.000000. Use "
               "weight_storage::full or bfloat16.");
    CHECK(error_of<Family>(weight_storage::float16, 65519).empty());
    CHECK_FALSE(error_of<Family>(weight_storage::bfloat16, std::numeric_limits<float>::max()).empty());
    CHECK(error_of<Family>(weight_storage::bfloat16, 0x1.fep127f).empty());
    CHECK(error_of<Family>(weight_storage::int8, std::numeric_limits<float>::infinity()) ==
          op + "int8 requires finite weights, but one of R is inf. Use weight_storage::full.");
    CHECK(error_of<Family>(weight_storage::int8, -std::numeric_limits<float>::quiet_NaN(), true)
              .find(" W is ") != std::string::npos);
    CHECK(error_of<Family>(weight_storage::dynamic_int8, std::numeric_limits<float>::infinity()) ==
          op + "dynamic_int8 requires finite weights, but one of R is inf. Use weight_storage::full.");
    CHECK(error_of<Family>(static_cast<weight_storage>(9), 0) ==
          op.substr(0, op.size() - 8) +
              "storage must be full, float16, bfloat16, int8, dynamic_int8, "
              "dynamic_bfloat16, block_sparse or block_sparse_int8, but it is 9. Choose one of them.");
    for (weight_storage const storage :
        {weight_storage::float16, weight_storage::bfloat16, weight_storage::dynamic_bfloat16})
        for (float const weight :
            {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
            CHECK(error_of<Family>(storage, weight).empty());
}

TEST_CASE("a forward pass that keeps residuals requires weights that are stored in full")
{
    xt::xtensor<float, 3> const X = xt::ones<float>({1, 1, 1}), four = xt::ones<float>({1, 4, 1}),
                                one = xt::ones<float>({1, 1, 1});
    std::string const rule = "weights must be stored as weight_storage::full, as those of the backward pass "
                             "are, but their storage is int8. Construct them without a storage.";
    recurrent_workspace<float> workspace;
    CHECK(::error_of<option_error>([&] {
        lstm_weights<float> const stored({.W = four, .R = four}, {}, weight_storage::int8);
        lstm_residuals<float> residuals;
        lstm_forward_into(X, stored, {}, {}, residuals, workspace);
    }) == "xloom::lstm_forward_into: " + rule);
    CHECK(::error_of<option_error>([&] {
        rnn_weights<float> const stored({.W = one, .R = one}, {}, weight_storage::int8);
        rnn_residuals<float> residuals;
        rnn_forward_into(X, stored, {}, {}, residuals, workspace);
    }) == "xloom::rnn_forward_into: " + rule);
}

} // namespace recurrent_storage_test
