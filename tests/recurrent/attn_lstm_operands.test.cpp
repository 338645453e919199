// AttnLSTM on containers, adaptors and views of xtensor, and on tensors that hold nothing.

#include <doctest/doctest.h>

#include "support/attn_lstm_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace attn_lstm_operands_test {

using namespace xloom;

namespace {

using columns = xt::xtensor<float, 3, xt::layout_type::column_major>;

} // namespace

TEST_CASE("attn_lstm: containers, adaptors and views of xtensor")
{
    std::mt19937 random(9);
    auto const in = random_attn_lstm<float>(random, {4, 3, 2, 5, 1}, {6, 4, 3, 2});
    auto const expected = textbook_attn_lstm(in);

    xt::xarray<float> const X = to_tensor<xt::xarray<float>>(in.X);
    columns const W = to_tensor<columns>(in.W), MW = to_tensor<columns>(in.MW);
    auto const R = xt::adapt(in.R.items, std::array<std::size_t, 3>{1, 20, 5}),
               QW = xt::adapt(in.QW.items, std::array<std::size_t, 3>{1, 5, 3});
    auto const B = to_tensor<xt::xtensor<float, 2>>(in.B), V = to_tensor<xt::xtensor<float, 2>>(in.V);
    auto const P = to_tensor<xt::xarray<float, xt::layout_type::column_major>>(in.P);
    // M between other tensors, memory_seq_lens as the column of a table.
    xt::xtensor<float, 4> memories =
        xt::ones<float>({std::size_t{3}, std::size_t{2}, std::size_t{6}, std::size_t{4}});
    xt::view(memories, xt::all(), 1, xt::all(), xt::all()) = to_tensor<xt::xtensor<float, 3>>(in.M);
    auto const M = xt::view(memories, xt::all(), 1, xt::all(), xt::all());
    xt::xtensor<std::uint8_t, 2> table = xt::zeros<std::uint8_t>({3, 2});
    for (std::size_t n = 0; n < 3; ++n)
        table(n, 1) = static_cast<std::uint8_t>(in.memory_seq_lens[n]);
    auto const memory_seq_lens = xt::view(table, xt::all(), 1);
    auto const sequence_lens =
        xt::xtensor<std::int64_t, 1>{in.sequence_lens[0], in.sequence_lens[1], in.sequence_lens[2]};
    auto const initial_h = to_tensor<columns>(in.initial_h), initial_c = to_tensor<columns>(in.initial_c);
    auto const AW = to_tensor<xt::xtensor<float, 3>>(in.AW);
    auto const initial_attention = to_tensor<columns>(in.initial_attention),
               initial_alignment = to_tensor<columns>(in.initial_alignment);

    auto const [Y, Y_h, Y_c] = attn_lstm(X,
        {.W = W,
            .R = R,
            .B = B,
            .sequence_lens = sequence_lens,
            .initial_h = initial_h,
            .initial_c = initial_c,
            .P = P,
            .QW = QW,
            .MW = MW,
            .V = V,
            .M = M,
            .memory_seq_lens = memory_seq_lens,
            .AW = AW,
            .initial_attention = initial_attention,
            .initial_alignment = initial_alignment},
        {.hidden_size = 5});
    CHECK(difference(attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)}, expected) < 4e-6);

    // The outputs, too: alignments between the items of a wider tensor, Y_attention in another order.
    attn_lstm_weights<float> const weights(
        {.W = W, .R = R, .B = B, .P = P, .QW = QW, .MW = MW, .V = V, .AW = AW}),
        copy = weights;
    xt::xtensor<float, 4> wide = xt::ones<float>({4, 1, 3, 12});
    auto even = xt::view(wide, xt::all(), xt::all(), xt::all(), xt::range(0, 12, 2));
    columns Y_attention = xt::zeros<float>({1, 3, 2});
    auto workspace = attention_workspace(copy, {4, 3, 6});
    attn_lstm_into(X, copy,
        {sequence_lens, initial_h, initial_c, M, memory_seq_lens, initial_attention, initial_alignment},
        {.alignments = even, .Y_attention = Y_attention}, workspace);
    CHECK(difference(to_array(xt::xtensor<float, 4>(even)), expected.alignments) < 4e-6);
    CHECK(difference(to_array(Y_attention), expected.Y_attention) < 4e-6);
    for (std::size_t i = 1; i < wide.size(); i += 2)
        REQUIRE(wide.storage()[i] == 1);
}

namespace {

/// All operands column-major in containers that own no memory if they are empty, and the results like them.
void check_columns(recurrent_sizes const& rows, attention_sizes const& attention)
{
    std::mt19937 random(3);
    auto const in = random_attn_lstm<float>(
        random, rows, attention, with_all & ~unsigned(with_sequence_lens | with_memory_seq_lens));
    auto const X = to_tensor<columns>(in.X), W = to_tensor<columns>(in.W), R = to_tensor<columns>(in.R),
               M = to_tensor<columns>(in.M), QW = to_tensor<columns>(in.QW), MW = to_tensor<columns>(in.MW),
               AW = to_tensor<columns>(in.AW), initial_attention = to_tensor<columns>(in.initial_attention),
               initial_alignment = to_tensor<columns>(in.initial_alignment);
    auto const V = to_tensor<xt::xtensor<float, 2, xt::layout_type::column_major>>(in.V);
    auto const expected = textbook_attn_lstm(textbook::attn_lstm_operands<float>{.X = in.X,
        .W = in.W,
        .R = in.R,
        .QW = in.QW,
        .MW = in.MW,
        .V = in.V,
        .M = in.M,
        .AW = in.AW,
        .initial_attention = in.initial_attention,
        .initial_alignment = in.initial_alignment});

    auto const [Y, Y_h, Y_c] = attn_lstm(X, {.W = W,
                                                .R = R,
                                                .QW = QW,
                                                .MW = MW,
                                                .V = V,
                                                .M = M,
                                                .AW = AW,
                                                .initial_attention = initial_attention,
                                                .initial_alignment = initial_alignment});
    CHECK(difference(attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)}, expected) < 4e-6);

    attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V, .AW = AW});
    using blocks = xt::xtensor<float, 4, xt::layout_type::column_major>;
    auto Y2 = to_tensor<blocks>(expected.Y), alignments = to_tensor<blocks>(expected.alignments);
    auto Y_attention = to_tensor<columns>(expected.Y_attention),
         Y_alignment = to_tensor<columns>(expected.Y_alignment);
    attention_workspace<float> workspace;
    attn_lstm_into(X, weights,
        {.M = M, .initial_attention = initial_attention, .initial_alignment = initial_alignment},
        {.Y = Y2, .alignments = alignments, .Y_attention = Y_attention, .Y_alignment = Y_alignment},
        workspace);
    CHECK(difference(attn_lstm_arrays<float>{to_array(Y2), {}, {}, to_array(alignments),
                         to_array(Y_attention), to_array(Y_alignment)},
              expected) < 4e-6);
}

} // namespace

TEST_CASE("attn_lstm: containers without memory")
{
    check_columns({3, 2, 2, 5}, {3, 4, 5, 6});
    check_columns({0, 2, 2, 5}, {3, 4, 5, 6});
    check_columns({3, 0, 2, 5}, {3, 4, 5, 6});
    check_columns({3, 2, 0, 5}, {3, 4, 5, 6});
    check_columns({3, 2, 2, 5}, {0, 4, 5, 6});
    check_columns({3, 2, 2, 5}, {3, 0, 5, 6});
    check_columns({3, 2, 2, 5}, {3, 4, 0, 6});
    check_columns({3, 2, 2, 5}, {3, 4, 5, 0});
}

} // namespace attn_lstm_operands_test
