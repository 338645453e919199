// Sizes that no memory holds, in weights, cells and workspaces: a shape_error, before anything is allocated.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/stack.hpp>

#include "support/placed_tensor.hpp"

namespace errors_recurrent_limits_test {

using namespace xloom;

namespace {

using floats = placed_tensor<float>;

constexpr std::size_t endless = static_cast<std::size_t>(-1);

/// A single one, repeated along all axes.
floats ones(shape const& dims)
{
    floats tensor({1}, placement::row_major);
    tensor.memory.assign(tensor.memory.size(), 1);
    tensor.layout = {dims, strides(dims.size(), 0)};
    return tensor;
}

/// Weights of `gates` gates for I = 3 and H = 2.
template <class Weights>
Weights weights_of(std::size_t gates)
{
    floats const W = ones({1, 2 * gates, 3}), R = ones({1, 2 * gates, 2});
    return Weights({.W = W, .R = R});
}

/// Weights of an AttnLSTM with I = 3 and H = 2.
attn_lstm_weights<float> attentive(std::size_t A, std::size_t E)
{
    floats const W = ones({1, 8, 3 + E}), R = ones({1, 8, 2}), QW = ones({1, 2, A}), MW = ones({1, E, A}),
                 V = ones({1, A});
    return attn_lstm_weights<float>({.W = W, .R = R, .QW = QW, .MW = MW, .V = V});
}

template <class Call>
void refuse(std::string const& text, Call const& call)
{
    CHECK_THROWS_WITH_AS(call(), text.c_str(), shape_error);
}

} // namespace

TEST_CASE("recurrent limits: a workspace for more steps or rows than can be counted")
{
    auto const refuse_each = [](std::string const& text, batch_sizes const& batch) {
        refuse("xloom::recurrent_workspace: " + text,
            [&] { recurrent_workspace(weights_of<lstm_weights<float>>(4), batch); });
        refuse("xloom::recurrent_workspace: " + text,
            [&] { recurrent_workspace(weights_of<gru_weights<float>>(3), batch); });
        refuse("xloom::recurrent_workspace: " + text,
            [&] { recurrent_workspace(weights_of<rnn_weights<float>>(1), batch); });
        refuse("xloom::stack_workspace: " + text,
            [&] { stack_workspace(std::vector{weights_of<lstm_weights<float>>(4)}, batch); });
        refuse("xloom::attention_workspace: " + text, [&] {
            attention_workspace(attentive(2, 2), {batch.T, batch.N, 1});
        });
    };
    refuse_each(
        "Y must fit in memory, but T = 1, N = 18446744073709551615, D = 1 and H = 2. Choose smaller sizes.",
        {1, endless});
    refuse_each(
        "Y must fit in memory, but T = 18446744073709551615, N = 2, D = 1 and H = 2. Choose smaller sizes.",
        {endless, 2});
    refuse_each("the states must fit in memory, but N = 288230376151711744, D = 1, I = 3 and H = 2. Choose "
                "fewer rows.",
        {1, std::size_t{1} << 58});
    refuse("xloom::attention_workspace: keys and alignments must fit in memory, but D = 1, N = 2, S = "
           "18446744073709551615, A = 2, E = 2 "
           "and C = 2. Choose smaller sizes.",
        [] {
            attention_workspace(attentive(2, 2), {1, 2, endless});
        });
}

TEST_CASE("recurrent limits: a workspace for a stack whose states cannot be counted, or that has no layers")
{
    std::vector<rnn_weights<float>> layers{weights_of<rnn_weights<float>>(1)};
    floats const of_second = ones({1, 2, 2});
    layers.emplace_back(rnn_constants<float>{.W = of_second, .R = of_second});
    refuse(
        "xloom::stack_workspace: the states must fit in memory, but N = 36028797018963968, D = 2, I = 3 and "
        "H = 2. Choose fewer rows.",
        [&] {
            stack_workspace(layers, {1, std::size_t{1} << 55});
        });
    refuse(
        "xloom::stack_workspace: there must be at least one layer, but layers is empty. Give weights.", [] {
            stack_workspace(std::vector<rnn_weights<float>>(), {1, 1});
        });
}

TEST_CASE("recurrent limits: a cell for more rows than can be counted")
{
    for (std::size_t const N : {endless, std::size_t{1} << 61, std::size_t{1} << 58})
        refuse("xloom::lstm_cell: the states must fit in memory, but N = " + std::to_string(N) +
                   ", D = 1, I = 3 and H = 2. Choose fewer rows.",
            [&] { lstm_cell<float>(weights_of<lstm_weights<float>>(4), N); });
    floats const M = ones({std::size_t{1} << 62, 0, 1}), none = ones({std::size_t{1} << 58, 0, 1});
    refuse("xloom::attn_lstm_cell: keys and alignments must fit in memory, but D = 1, N = "
           "4611686018427387904, S = 0, A = 1, E = 1 and C = 1. "
           "Choose smaller sizes.",
        [&] { attn_lstm_cell<float>(attentive(1, 1), M); });
    refuse(
        "xloom::attn_lstm_cell: the states must fit in memory, but N = 288230376151711744, D = 1, I = 3 and "
        "H = 2. Choose fewer rows.",
        [&] { attn_lstm_cell<float>(attentive(1, 1), none); });
}

TEST_CASE("recurrent limits: a call with more rows than can be counted, whose outputs are not wanted")
{
    floats const W = ones({1, 8, 0}), R = ones({1, 8, 2}), X = ones({0, std::size_t{1} << 58, 0});
    lstm_weights<float> const weights({.W = W, .R = R});
    recurrent_workspace<float> workspace;
    std::string const text = "the states must fit in memory, but N = 288230376151711744, D = 1, I = 0 and H "
                             "= 2. Choose fewer rows.";
    refuse("xloom::lstm_into: " + text, [&] { lstm_into(X, weights, {}, {}, workspace); });
    attn_lstm_weights<float> const without_attention({.W = W, .R = R});
    attention_workspace<float> other;
    refuse("xloom::attn_lstm_into: " + text, [&] { attn_lstm_into(X, without_attention, {}, {}, other); });
}

TEST_CASE("recurrent limits: weights that repeat one number more often than can be counted")
{
    constexpr std::size_t wide = std::size_t{1} << 60;
    floats const W = ones({1, 4, wide}), R = ones({1, 4, 1}), half = ones({1, 4, wide / 2});
    refuse("xloom::lstm_weights: the weights must fit in memory, but W is [1, 4, 1152921504606846976] and R "
           "is [1, 4, 1]. Reduce them.",
        [&] { lstm_weights<float>({.W = W, .R = R}); });
    refuse("xloom: the buffers of an operator must fit in memory, but its sizes need more bytes than "
           "std::ptrdiff_t can count. Choose smaller sizes.",
        [&] { lstm_weights<float>({.W = half, .R = R}); });

    // Four rows of A numbers would be 2^64.
    constexpr std::size_t A = std::size_t{1} << 62;
    floats const narrow = ones({1, 4, 1}), QW = ones({1, 1, A}), MW = ones({1, 0, A}), V = ones({1, A});
    refuse("xloom::attn_lstm_weights: the weights must fit in memory, but R is [1, 4, 1] and MW is [1, 0, "
           "4611686018427387904]. Reduce them.",
        [&] { attn_lstm_weights<float>({.W = narrow, .R = R, .QW = QW, .MW = MW, .V = V}); });
    floats const thin = ones({1, 1, 1}), one = ones({1, 1}), AW = ones({1, 2, A});
    refuse("xloom::attn_lstm_weights: the weights must fit in memory, but R is [1, 4, 1], MW is [1, 1, 1] "
           "and AW is [1, 2, 4611686018427387904]. Reduce them.",
        [&] { attn_lstm_weights<float>({.W = narrow, .R = R, .QW = thin, .MW = thin, .V = one, .AW = AW}); });
}

TEST_CASE("recurrent limits: a packed_matrix of more columns than can be counted")
{
    for (floats const& B :
        {ones({0, std::size_t{1} << 62}), ones({std::size_t{1} << 33, std::size_t{1} << 33})})
        refuse("xloom::packed_matrix: B must fit in memory, but it is " + detail::concat(B.layout.dims) +
                   ". Reduce its dimensions.",
            [&] { packed_matrix<float>{B}; });
}

TEST_CASE("recurrent limits: a packed_matrix without items costs no time for its dimensions")
{
    floats const wide = ones({0, std::size_t{1} << 60}), high = ones({std::size_t{1} << 60, 0});
    for (weight_storage const storage : {weight_storage::int8, weight_storage::block_sparse_int8})
        refuse("xloom: the buffers of an operator must fit in memory, but its sizes need more bytes than "
               "std::ptrdiff_t can count. Choose smaller sizes.",
            [&] { packed_matrix<float>(wide, {}, storage); });
    floats row_major = high;
    row_major.layout.strides = {0, 1};
    for (weight_storage const storage : weight_storages) {
        CHECK(packed_matrix<float>(high, {}, storage).columns() == 0);
        CHECK(packed_matrix<float>(row_major, {}, storage).columns() == 0);
    }
}

} // namespace errors_recurrent_limits_test
