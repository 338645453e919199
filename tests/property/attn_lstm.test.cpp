// Rules of attn_lstm that need no reference: what must agree bit for bit, and what must not get through.

#include <doctest/doctest.h>

#include <numeric>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/lstm.hpp>

#include "support/attn_lstm_calls.hpp"

namespace property_attn_lstm_test {

using namespace xloom;
using textbook::part_of;

namespace {

using operands = textbook::attn_lstm_operands<float>;
using results = attn_lstm_arrays<float>;

/// Looks a little further at each step: reads the alignment before.
constexpr auto onward = [](attention_step<float> const& step) {
    for (std::size_t m = 0; m < step.scores.size(); ++m) {
        float score = m == 0 ? 0 : step.last_alignment[m - 1];
        for (std::size_t a = 0; a < step.query.size(); ++a)
            score += step.V[a] * step.key(m)[a] * step.query[a];
        step.scores[m] = score;
    }
};

/// Sizes around those of vectors and chunks, by number.
struct size_case {
    recurrent_sizes rows;
    attention_sizes attention;
};

size_case const size_cases[] = {
    {{5, 3, 2, 5, 1}, {4, 3, 6, 7}},
    {{5, 7, 0, 8, 1}, {9, 8, 8, 8}},
    {{2, 6, 3, 17, 1}, {1, 1, 1, 1}},
    {{40, 5, 3, 3, 1}, {5, 2, 17, 9}}, // several chunks of steps
    {{3, 97, 2, 4, 1}, {3, 5, 4, 3}},  // more rows than a chunk has
    {{9, 2, 2, 33, 1}, {17, 16, 15, 31}},
    {{4, 2, 2, 5, 1}, {3, 0, 5, 4}},
    {{4, 2, 2, 5, 1}, {3, 4, 0, 0}},
    {{4, 2, 2, 5, 1}, {0, 4, 3, 2}},
};

std::vector<std::int32_t> part_of(
    std::vector<std::int32_t> const& lengths, std::size_t first, std::size_t last)
{
    return lengths.empty() ? lengths
                           : std::vector<std::int32_t>(lengths.begin() + static_cast<std::ptrdiff_t>(first),
                                 lengths.begin() + static_cast<std::ptrdiff_t>(last));
}

/// Rows `first` to `last` of the batch.
operands batch_part(operands in, std::size_t first, std::size_t last)
{
    for (textbook::array<float>* each :
        {&in.X, &in.initial_h, &in.initial_c, &in.initial_attention, &in.initial_alignment})
        *each = part_of(*each, 1, first, last);
    in.M = part_of(in.M, 0, first, last);
    in.sequence_lens = part_of(in.sequence_lens, first, last);
    in.memory_seq_lens = part_of(in.memory_seq_lens, first, last);
    return in;
}

results batch_part(results from, std::size_t first, std::size_t last)
{
    for (textbook::array<float>* each : from.each())
        *each = part_of(*each, each->shape.size() - 2, first, last);
    return from;
}

/// Random operands for number `which` of the sizes.
operands draw(std::size_t number, unsigned which = with_all, std::size_t D = 1)
{
    std::mt19937 random(static_cast<unsigned>(number));
    recurrent_sizes rows = size_cases[number].rows;
    rows.D = D;
    return random_attn_lstm<float>(random, rows, size_cases[number].attention, which);
}

constexpr unsigned without_layer = with_all & ~unsigned(with_AW);

} // namespace

TEST_CASE("attn_lstm is a scan over attn_lstm_cell, bit for bit")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (unsigned const which : {unsigned(with_all), without_layer})
            for (std::size_t d = 0; d < 2; ++d) {
                CAPTURE(number);
                CAPTURE(which);
                auto in = draw(number, which & ~unsigned(with_sequence_lens), 2);
                auto const& [T, N, I, H, D] = size_cases[number].rows;
                attn_lstm_tensors<float> const tensors(in);
                attn_lstm_weights<float> const weights(
                    tensors.constants(), {.direction = direction::bidirectional});
                auto const whole = call_attn_lstm(tensors, weights, shapes_of_outputs(in));

                auto const state = [&, direction = d](textbook::array<float> const& from) {
                    auto to = from;
                    std::size_t const size = from.shape[1] * from.shape[2];
                    to.shape = {from.shape[1], from.shape[2]};
                    to.items.assign(from.items.begin() + static_cast<std::ptrdiff_t>(direction * size),
                        from.items.begin() + static_cast<std::ptrdiff_t>((direction + 1) * size));
                    return to_tensor<xt::xtensor<float, 2>>(to);
                };
                auto h = state(in.initial_h), c = state(in.initial_c),
                     attention = state(in.initial_attention);
                auto const X = to_tensor<xt::xtensor<float, 3>>(in.X);
                xt::xtensor<float, 3> Y = xt::zeros<float>({T, N, H});
                attn_lstm_cell<float> cell(weights, ref_of(tensors.M), tensors.memory_lengths(), d);
                direction const order = d == 0 ? direction::forward : direction::reverse;
                scan_into(cell, std::tie(h, c, attention), X, Y,
                    {.scan_input_directions = {order}, .scan_output_directions = {order}});

                for (std::size_t t = 0; t < T; ++t)
                    for (std::size_t i = 0; i < N * H; ++i)
                        REQUIRE(Y.data()[t * N * H + i] == whole.Y.items[(t * 2 + d) * N * H + i]);
                CHECK(h == state(whole.Y_h));
                CHECK(c == state(whole.Y_c));
                CHECK(attention == state(whole.Y_attention));
            }
}

TEST_CASE("attn_lstm in reverse is attn_lstm of the reversed rows, bit for bit")
{
    // Each row's first sequence_lens steps in the opposite order.
    auto const reversed = [](textbook::array<float> from, std::vector<std::int32_t> const& lengths) {
        std::size_t const T = from.shape[0], N = from.shape[from.shape.size() - 2], width = from.shape.back();
        auto const old = from.items;
        for (std::size_t n = 0; n < N; ++n) {
            std::size_t const length = lengths.empty() ? T : static_cast<std::size_t>(lengths[n]);
            for (std::size_t t = 0; t < length; ++t)
                std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(((length - 1 - t) * N + n) * width),
                    width, from.items.begin() + static_cast<std::ptrdiff_t>((t * N + n) * width));
        }
        return from;
    };
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (unsigned const which :
            {unsigned(with_all), with_all & ~unsigned(with_sequence_lens | with_AW)}) {
            auto in = draw(number, which);
            CAPTURE(number);
            auto const backwards = call_attn_lstm(in, {.direction = "reverse"}, onward);
            in.X = reversed(in.X, in.sequence_lens);
            auto forwards = call_attn_lstm(in, {}, onward);
            forwards.Y = reversed(forwards.Y, in.sequence_lens);
            forwards.alignments = reversed(forwards.alignments, in.sequence_lens);
            CHECK(have_same_bits(backwards, forwards));
        }
}

TEST_CASE("each direction of two is a direction alone, bit for bit")
{
    auto const half = [](textbook::array<float> const& from, std::size_t d, std::size_t axis = 0) {
        return part_of(from, axis, d, d + 1);
    };
    for (std::size_t number = 0; number < std::size(size_cases); ++number) {
        auto const in = draw(number, with_all, 2);
        CAPTURE(number);
        auto const both = call_attn_lstm(in, {.direction = "bidirectional"});
        for (std::size_t d = 0; d < 2; ++d) {
            operands const one{in.X, half(in.W, d), half(in.R, d), half(in.B, d), in.sequence_lens,
                half(in.initial_h, d), half(in.initial_c, d), half(in.P, d), half(in.QW, d), half(in.MW, d),
                half(in.V, d), in.M, in.memory_seq_lens, half(in.AW, d), half(in.initial_attention, d),
                half(in.initial_alignment, d)};
            results const of_both{half(both.Y, d, 1), half(both.Y_h, d), half(both.Y_c, d),
                half(both.alignments, d, 1), half(both.Y_attention, d), half(both.Y_alignment, d)};
            CHECK(
                have_same_bits(call_attn_lstm(one, {.direction = d == 0 ? "forward" : "reverse"}), of_both));
        }
    }
}

TEST_CASE("a batch is its rows alone, bit for bit")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (unsigned const which : {unsigned(with_all), without_layer, unsigned(with_attention)}) {
            auto const in = draw(number, which);
            std::size_t const N = in.X.shape[1], step = N > 20 ? 13 : 1;
            CAPTURE(number);
            CAPTURE(which);
            auto const together = call_attn_lstm(in);
            for (std::size_t n = 0; n < N; n += step)
                CHECK(
                    have_same_bits(call_attn_lstm(batch_part(in, n, n + 1)), batch_part(together, n, n + 1)));
            CHECK(have_same_bits(call_attn_lstm(batch_part(in, N / 3, N)), batch_part(together, N / 3, N)));
        }
}

namespace {

/// The call in pieces of `length` steps, states handed on, in place or not. Each row ends where its length
/// says.
template <class Score>
results in_pieces(operands const& in, std::size_t length, Score const& score, bool in_place)
{
    std::size_t const T = in.X.shape[0], N = in.X.shape[1];
    attn_lstm_weights<float> const weights(attn_lstm_tensors<float>(in).constants());
    auto const like = shapes_of_outputs(in);
    // Zeros where a state is not given.
    auto const given = [](textbook::array<float> const& state, textbook::array<double> const& shape) {
        return state.shape.empty()
                   ? textbook::array<float>{shape.shape, std::vector<float>(textbook::size_of(shape.shape))}
                   : state;
    };
    operands piece = in;
    piece.initial_h = given(in.initial_h, like.Y_h);
    piece.initial_c = given(in.initial_c, like.Y_c);
    piece.initial_attention = given(in.initial_attention, like.Y_attention);
    piece.initial_alignment = given(in.initial_alignment, like.Y_alignment);
    results all;
    attention_workspace<float> workspace;
    for (std::size_t begin = 0; begin < T; begin += length) {
        std::size_t const end = std::min(begin + length, T);
        piece.X = part_of(in.X, 0, begin, end);
        piece.sequence_lens.clear();
        for (std::size_t n = 0; n < N; ++n) {
            std::size_t const of_row =
                in.sequence_lens.empty() ? T : static_cast<std::size_t>(in.sequence_lens[n]);
            piece.sequence_lens.push_back(static_cast<std::int32_t>(std::clamp(of_row, begin, end) - begin));
        }
        attn_lstm_tensors<float> tensors(piece);
        attn_lstm_places<float> places(shapes_of_outputs(piece), placement::row_major, all_outputs);
        auto outputs = places.outputs();
        if (in_place) {
            outputs.Y_h = tensors.initial_h;
            outputs.Y_c = tensors.initial_c;
            outputs.Y_attention = tensors.initial_attention;
            outputs.Y_alignment = tensors.initial_alignment;
        }
        attn_lstm_into(score, tensors.X, weights, tensors.start(), outputs, workspace);
        results const found = places.arrays();
        all.Y.items.insert(all.Y.items.end(), found.Y.items.begin(), found.Y.items.end());
        all.alignments.items.insert(
            all.alignments.items.end(), found.alignments.items.begin(), found.alignments.items.end());
        piece.initial_h = in_place ? to_array(tensors.initial_h) : found.Y_h;
        piece.initial_c = in_place ? to_array(tensors.initial_c) : found.Y_c;
        piece.initial_attention = in_place ? to_array(tensors.initial_attention) : found.Y_attention;
        piece.initial_alignment = in_place ? to_array(tensors.initial_alignment) : found.Y_alignment;
    }
    all.Y.shape = like.Y.shape;
    all.alignments.shape = like.alignments.shape;
    all.Y_h = piece.initial_h;
    all.Y_c = piece.initial_c;
    all.Y_attention = piece.initial_attention;
    all.Y_alignment = piece.initial_alignment;
    return all;
}

} // namespace

TEST_CASE(
    "a sequence in pieces is the sequence, bit for bit: each row with states of its own, in place or not")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (unsigned const which : {unsigned(with_all), without_layer, unsigned(with_attention)}) {
            auto const in = draw(number, which);
            auto const whole = call_attn_lstm(in), whole_onward = call_attn_lstm(in, {}, onward);
            for (std::size_t const length : {1u, 2u, 3u, 39u})
                for (bool const in_place : {false, true}) {
                    CAPTURE(number);
                    CAPTURE(which);
                    CAPTURE(length);
                    CAPTURE(in_place);
                    CHECK(have_same_bits(in_pieces(in, length, bahdanau(), in_place), whole));
                    CHECK(have_same_bits(in_pieces(in, length, onward, in_place), whole_onward));
                }
        }
}

TEST_CASE("packed weights give the bits of plain ones, and outputs do not depend on which of them are wanted")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number) {
        auto const in = draw(number);
        attn_lstm_tensors<float> const tensors(in);
        attn_lstm_weights<float> const weights(tensors.constants());
        auto const all = call_attn_lstm(in);
        CAPTURE(number);
        for (auto const& [Y, Y_h, Y_c] :
            {attn_lstm(tensors.X, tensors.inputs()), attn_lstm(tensors.X, weights, tensors.start()),
                attn_lstm(bahdanau(), tensors.X, weights, tensors.start())}) {
            CHECK(have_same_bits(to_array(Y), all.Y));
            CHECK(have_same_bits(to_array(Y_h), all.Y_h));
            CHECK(have_same_bits(to_array(Y_c), all.Y_c));
        }
        for (unsigned wanted = 0; wanted < 64; ++wanted) {
            std::array<bool, 6> is_wanted{};
            for (std::size_t i = 0; i < 6; ++i)
                is_wanted[i] = wanted >> i & 1;
            auto const some =
                call_attn_lstm(tensors, weights, shapes_of_outputs(in), bahdanau(), serial, is_wanted);
            for (std::size_t i = 0; i < 6; ++i)
                if (is_wanted[i])
                    CHECK(have_same_bits(*some.each()[i], *all.each()[i]));
        }
    }
}

TEST_CASE("without QW, MW, V and M it is lstm, bit for bit")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (unsigned const which : {with_all & ~unsigned(with_attention), unsigned(with_none),
                 unsigned(with_B | with_sequence_lens)}) {
            auto const in = draw(number, which);
            attn_lstm_tensors<float> const tensors(in);
            CAPTURE(number);
            auto const found = call_attn_lstm(in);
            auto const expected =
                lstm(tensors.X, {ref_of(tensors.W), ref_of(tensors.R), ref_of(tensors.B), tensors.lengths(),
                                    ref_of(tensors.initial_h), ref_of(tensors.initial_c), ref_of(tensors.P)});
            CHECK(have_same_bits(found.Y, to_array(expected.Y)));
            CHECK(have_same_bits(found.Y_h, to_array(expected.Y_h)));
            CHECK(have_same_bits(found.Y_c, to_array(expected.Y_c)));
            CHECK(found.alignments.items.empty());
            CHECK(found.Y_attention.items.empty());
        }
}

TEST_CASE("NaN and infinity in the padding of X, M and initial_alignment get nowhere")
{
    float const nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (std::string const& direction : direction_names) {
            auto in = draw(number, with_all, direction == "bidirectional" ? 2 : 1);
            auto const clean = call_attn_lstm(in, {.direction = direction});
            auto const& [T, N, I, H, D] = size_cases[number].rows;
            auto const& [S, E, A, L] = size_cases[number].attention;
            for (float const value : {nan, infinity}) {
                for (std::size_t n = 0; n < N; ++n) {
                    for (std::size_t t = static_cast<std::size_t>(in.sequence_lens[n]); t < T; ++t)
                        std::fill_n(
                            in.X.items.begin() + static_cast<std::ptrdiff_t>((t * N + n) * I), I, value);
                    for (std::size_t m = static_cast<std::size_t>(in.memory_seq_lens[n]); m < S; ++m) {
                        std::fill_n(
                            in.M.items.begin() + static_cast<std::ptrdiff_t>((n * S + m) * E), E, value);
                        for (std::size_t d = 0; d < in.R.shape[0]; ++d)
                            in.initial_alignment.items[(d * N + n) * S + m] = value;
                    }
                }
                CAPTURE(number);
                CHECK(have_same_bits(call_attn_lstm(in, {.direction = direction}), clean));
            }
        }
}

TEST_CASE("NaN elsewhere stays NaN, in its row and from its step on")
{
    float const nan = std::numeric_limits<float>::quiet_NaN();
    std::mt19937 random(12);
    auto const clean_in = random_attn_lstm<float>(
        random, {6, 3, 2, 5}, {4, 3, 6, 7}, with_all & ~unsigned(with_sequence_lens | with_memory_seq_lens));
    for (double const clip : {textbook::no_clip, 0.5}) {
        textbook::attn_lstm_options const options{.clip = clip};
        auto const clean = call_attn_lstm(clean_in, options);
        auto const check = [&](operands const& in, std::size_t first_step, std::size_t first_alignment) {
            auto const found = call_attn_lstm(in, options);
            for (std::size_t t = 0; t < 6; ++t)
                for (std::size_t n = 0; n < 3; ++n) {
                    for (std::size_t j = 0; j < 5; ++j) {
                        std::size_t const i = (t * 3 + n) * 5 + j;
                        bool const is_right = n == 1 && t >= first_step
                                                  ? std::isnan(found.Y.items[i])
                                                  : found.Y.items[i] == clean.Y.items[i];
                        CHECK(is_right);
                    }
                    for (std::size_t m = 0; m < 4; ++m) {
                        std::size_t const i = (t * 3 + n) * 4 + m;
                        bool const is_right = n == 1 && t >= first_alignment
                                                  ? std::isnan(found.alignments.items[i])
                                                  : found.alignments.items[i] == clean.alignments.items[i];
                        CHECK(is_right);
                    }
                }
            for (std::size_t j = 0; j < 5; ++j)
                CHECK((std::isnan(found.Y_h.items[5 + j]) && std::isnan(found.Y_c.items[5 + j])));
        };
        auto in = clean_in;
        in.X.items[(2 * 3 + 1) * 2] = nan; // row 1, step 2
        check(in, 2, 2);
        in = clean_in;
        in.M.items[(1 * 4 + 2) * 3 + 1] = nan; // row 1, memory step 2: seen after step 0
        check(in, 1, 0);
        in = clean_in;
        in.initial_attention.items[7] = nan;
        check(in, 0, 0);
        in = clean_in;
        in.initial_h.items[5] = nan;
        check(in, 0, 0);
    }
}

TEST_CASE("alignments sum to 1 where a row has steps and memory, and are 0 elsewhere")
{
    for (std::size_t number = 0; number < std::size(size_cases); ++number)
        for (float const scale : {1.0f, 20.0f, 200.0f, -1e20f}) {
            auto in = draw(number);
            for (float& V : in.V.items)
                V *= scale;
            CAPTURE(number);
            CAPTURE(scale);
            auto const found = call_attn_lstm(in);
            auto const& [T, N, I, H, D] = size_cases[number].rows;
            std::size_t const S = size_cases[number].attention.S;
            for (std::size_t t = 0; t < T; ++t)
                for (std::size_t n = 0; n < N; ++n) {
                    auto const row =
                        found.alignments.items.begin() + static_cast<std::ptrdiff_t>((t * N + n) * S);
                    auto const length = static_cast<std::ptrdiff_t>(
                        t < static_cast<std::size_t>(in.sequence_lens[n]) ? in.memory_seq_lens[n] : 0);
                    double const sum = std::accumulate(row, row + length, 0.0);
                    CHECK(sum == doctest::Approx(length == 0 ? 0 : 1).epsilon(1e-6));
                    CHECK(std::all_of(row + length, row + static_cast<std::ptrdiff_t>(S),
                        [](float item) { return item == 0; }));
                }
            for (textbook::array<float> const* each : {&found.Y, &found.Y_h, &found.Y_c, &found.Y_attention})
                CHECK(std::all_of(
                    each->items.begin(), each->items.end(), [](float item) { return std::isfinite(item); }));
        }
}

TEST_CASE("equal memories, or keys of nothing, are looked at alike")
{
    for (std::size_t const A : {0u, 1u, 9u}) {
        std::mt19937 random(static_cast<unsigned>(A));
        auto in = random_attn_lstm<float>(random, {3, 2, 2, 5}, {7, 3, A, 4}, with_attention | with_AW);
        if (A != 0)
            for (std::size_t i = 3; i < in.M.items.size(); ++i)
                in.M.items[i] = in.M.items[i - 3];
        for (float const weight : call_attn_lstm(in).alignments.items)
            CHECK(weight == 1.0f / 7);
    }
}

} // namespace property_attn_lstm_test
