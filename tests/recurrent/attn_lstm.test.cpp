// AttnLSTM against the textbook in float64; family.test.cpp has what it shares with LSTM.

#include <doctest/doctest.h>

#include <sstream>

#include "support/attn_lstm_calls.hpp"
#include "support/recurrent_cases.hpp"

namespace attn_lstm_test {

using namespace xloom;

namespace {

using matrices = xt::xtensor<float, 3>;

constexpr std::size_t every_S[] = {0, 1, 2, 3, 4, 5, 9, 17};
constexpr std::size_t every_width[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 33};

struct any_sizes {
    recurrent_sizes rows;
    attention_sizes attention;
};

/// Sizes whose textbook does not take long.
any_sizes draw_sizes(std::mt19937& random)
{
    recurrent_sizes rows = random_sizes(random);
    attention_sizes const attention{any_of(random, every_S), any_of(random, every_width),
        any_of(random, every_width), any_of(random, every_width)};
    auto const& [S, E, A, L] = attention;
    std::size_t const H = rows.H, C = std::max(E, L);
    std::size_t const step = rows.N * (4 * H * (rows.I + C + H) + (H + S) * A + S * E + (H + E) * L +
                                          S * E * A / std::max<std::size_t>(rows.T, 1));
    while (rows.T > 1 && rows.T * step > 150'000)
        rows.T /= 2;
    while (rows.N > 7 && rows.N * step > 400'000)
        rows.N /= 2;
    return {rows, attention};
}

/// A call like any other: sizes, operands, direction and memory by chance. set(options, sizes, random) adds
/// options of its own.
template <class T, class Set>
void check_any_attention(unsigned seed, Set const& set)
{
    std::mt19937 random(seed);
    any_sizes sizes = draw_sizes(random);
    unsigned const which = random() % 8 == 0 ? random_choice(random) : random_choice(random) | with_attention;
    textbook::attn_lstm_options options;
    options.direction = any_of(random, direction_names);
    options.input_forget = random() % 4 == 0;
    sizes.rows.D = options.direction == "bidirectional" ? 2 : 1;
    set(options, sizes.rows, random);
    auto const in = random_attn_lstm<T>(random, sizes.rows, sizes.attention, which);
    std::ostringstream call;
    call << text_of(sizes.rows, which, options.direction, 0, placement::row_major) << ", S "
         << sizes.attention.S << ", E " << sizes.attention.Md << ", A " << sizes.attention.A << ", L "
         << sizes.attention.Aw;
    std::string const text = call.str();
    CAPTURE(seed);
    CAPTURE(text);
    auto const expected = textbook_attn_lstm(in, options);

    attn_lstm_tensors<T> const tensors(in, any_of(random, every_placement));
    auto const result = attn_lstm(tensors.X, tensors.inputs(), options_of(options));
    CHECK(difference(attn_lstm_arrays<T>{to_array(result.Y), to_array(result.Y_h), to_array(result.Y_c)},
              expected) < case_tolerance<T>);

    // And into the caller's outputs, any of them omitted.
    std::array<bool, 6> is_wanted{};
    for (bool& each : is_wanted)
        each = random() % 2 == 0;
    attn_lstm_places<T> places(expected, any_of(random, every_placement), is_wanted);
    attention_workspace<T> workspace;
    attn_lstm_into(tensors.X, attn_lstm_weights<T>(tensors.constants(), options_of(options)), tensors.start(),
        places.outputs(), workspace);
    CHECK(difference(places.arrays(), expected) < case_tolerance<T>);
    CHECK(places.has_clean_gaps());
}

} // namespace

TEST_CASE("attn_lstm: a call as a user writes it")
{
    // D = I = H = E = A = 1, S = 2. The gates are open, so that c collects tanh of the memory that was found:
    // 1, 3 with equal weights.
    matrices const X = xt::zeros<float>({3, 1, 1}), zeros = xt::zeros<float>({1, 1, 1});
    matrices const W{{{0, 0}, {0, 0}, {0, 0}, {0, 1}}}, R = xt::zeros<float>({1, 4, 1});
    xt::xtensor<float, 2> const B{{1000, 1000, 1000, 0, 0, 0, 0, 0}}, V{{1}};
    matrices const M{{{1}, {3}}};

    auto const [Y, Y_h, Y_c] =
        attn_lstm(X, {.W = W, .R = R, .B = B, .QW = zeros, .MW = zeros, .V = V, .M = M});

    CHECK(Y.shape() == std::array<std::size_t, 4>{3, 1, 1, 1});
    CHECK(Y(0, 0, 0, 0) == 0); // the first step sees no attention
    CHECK(Y(1, 0, 0, 0) == doctest::Approx(std::tanh(std::tanh(2.0))));
    CHECK(Y(2, 0, 0, 0) == doctest::Approx(std::tanh(2 * std::tanh(2.0))));
    CHECK(Y_h(0, 0, 0) == Y(2, 0, 0, 0));
    CHECK(Y_c(0, 0, 0) == doctest::Approx(2 * std::tanh(2.0)));
}

TEST_CASE("attn_lstm: alignments, and the attention that a stream goes on with")
{
    // One key is the memory itself, the query is 0: scores tanh(1) and tanh(-1).
    matrices const X = xt::zeros<float>({2, 1, 1}), zeros = xt::zeros<float>({1, 1, 1}),
                   ones = xt::ones<float>({1, 1, 1});
    matrices const W = xt::zeros<float>({1, 4, 2}), R = xt::zeros<float>({1, 4, 1});
    xt::xtensor<float, 2> const V{{1}};
    matrices const M{{{1}, {-1}}};
    attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = zeros, .MW = ones, .V = V});
    auto workspace = attention_workspace(weights, {.T = 2, .N = 1, .S = 2});
    xt::xtensor<float, 4> alignments = xt::zeros<float>({2, 1, 1, 2});
    matrices Y_attention = xt::zeros<float>({1, 1, 1});

    attn_lstm_into(X, weights, {.M = M}, {.alignments = alignments, .Y_attention = Y_attention}, workspace);

    double const first = 1 / (1 + std::exp(-2 * std::tanh(1.0)));
    for (std::size_t t = 0; t < 2; ++t) {
        CHECK(alignments(t, 0, 0, 0) == doctest::Approx(first));
        CHECK(alignments(t, 0, 0, 1) == doctest::Approx(1 - first));
    }
    CHECK(Y_attention(0, 0, 0) == doctest::Approx(2 * first - 1));
}

TEST_CASE("attn_lstm equals the textbook: any sizes, operands, direction and memory")
{
    for (unsigned seed = 0; seed < 200; ++seed)
        check_any_attention<float>(
            seed, [](auto& options, auto& sizes, auto& random) { keep_activations(options, sizes, random); });
}

TEST_CASE("attn_lstm equals the textbook with any activations")
{
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_attention<double>(seed, [](auto& options, auto& sizes, auto& random) {
            options.activations = random_activations(random, sizes.D, 3);
            if (random() % 4 != 0)
                options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
            sizes.T = std::min<std::size_t>(sizes.T, 5);
        });
}

TEST_CASE("attn_lstm: any operand omitted")
{
    for (unsigned which = 0; which <= with_all; ++which) {
        std::mt19937 random(which);
        textbook::attn_lstm_options options;
        options.direction = direction_names[which % 3];
        auto const in = random_attn_lstm<float>(
            random, {4, 3, 2, 5, options.direction == "bidirectional" ? 2u : 1u}, {3, 4, 5, 6}, which);
        CAPTURE(which);
        CHECK(difference(call_attn_lstm(in, options), textbook_attn_lstm(in, options)) < 4e-6);
    }
}

TEST_CASE("attn_lstm: clip limits the gates' sums, not c, and not f where f = 1 - i")
{
    std::mt19937 random(6);
    auto const in =
        random_attn_lstm<float>(random, {6, 2, 3, 5}, {4, 3, 5, 7}, with_all, {.weights = 3, .inputs = 5});
    for (bool const input_forget : {false, true})
        for (double const clip : {0.25, 1.0, 1e30}) {
            textbook::attn_lstm_options options;
            options.clip = clip;
            options.input_forget = input_forget;
            CAPTURE(clip);
            auto const expected = textbook_attn_lstm(in, options);
            CHECK(difference(call_attn_lstm(in, options), expected) < 1e-4);
            if (clip == 0.25)
                CHECK(*std::max_element(expected.Y_c.items.begin(), expected.Y_c.items.end()) > 0.3);
        }
}

TEST_CASE("attn_lstm: alphas and betas are taken in order, and com.microsoft's defaults where they run out")
{
    std::mt19937 random(7);
    auto const in = random_attn_lstm<double>(random, {3, 2, 3, 5, 2}, {4, 3, 5, 7});
    attn_lstm_tensors<double> const tensors(in);
    auto const check = [&](attn_lstm_options options, std::vector<activation_function> const& activations) {
        options.direction = direction::bidirectional;
        auto const [Y, Y_h, Y_c] = attn_lstm(tensors.X, tensors.inputs(), options);
        textbook::attn_lstm_options expected;
        expected.direction = "bidirectional";
        expected.activations = activations;
        CHECK(difference(attn_lstm_arrays<double>{to_array(Y), to_array(Y_h), to_array(Y_c)},
                  textbook_attn_lstm(in, expected)) < 1e-12);
    };
    check({.activations = {"HARDSIGMOID", "scaledTanh", "leakyrelu", "Sigmoid", "Tanh", "elu"},
              .activation_alpha = {0.3, 0.7, 0.2, 0.4, 9},
              .activation_beta = {0.4, 0.9, 5}},
        {{activation::hard_sigmoid, 0.3, 0.4}, {activation::scaled_tanh, 0.7, 0.9},
            {activation::leaky_relu, 0.2}, {activation::sigmoid}, {activation::tanh},
            {activation::elu, 0.4}});
    check({.activations = {"HardSigmoid", "LeakyRelu", "Elu", "Affine", "ThresholdedRelu", "ScaledTanh"}},
        {{activation::hard_sigmoid, 0.2, 0.5}, {activation::leaky_relu, 0.01}, {activation::elu, 1},
            {activation::affine, 0, 0}, {activation::thresholded_relu, 0}, {activation::scaled_tanh, 0, 0}});
}

TEST_CASE("attn_lstm: what is empty")
{
    std::mt19937 random(10);
    auto const check = [&](recurrent_sizes const& rows, attention_sizes const& attention,
                           unsigned which = with_all) {
        auto const in = random_attn_lstm<float>(random, rows, attention, which);
        auto const both =
            random_attn_lstm<float>(random, {rows.T, rows.N, rows.I, rows.H, 2}, attention, which);
        CAPTURE(rows.T);
        CAPTURE(rows.N);
        CAPTURE(attention.S);
        CAPTURE(attention.Md);
        CHECK(difference(call_attn_lstm(in), textbook_attn_lstm(in)) < 4e-6);
        CHECK(difference(call_attn_lstm(both, {.direction = "bidirectional"}),
                  textbook_attn_lstm(both, {.direction = "bidirectional"})) < 4e-6);
    };
    for (unsigned const which :
        {unsigned(with_all), with_all & ~unsigned(with_AW), unsigned(with_attention)}) {
        check({0, 3, 2, 5}, {3, 4, 5, 6}, which); // no steps
        check({3, 0, 2, 5}, {3, 4, 5, 6}, which); // no rows
        check({3, 3, 0, 5}, {3, 4, 5, 6}, which); // no input but the attention
        check({3, 3, 2, 5}, {0, 4, 5, 6}, which); // no memory
        check({3, 3, 2, 5}, {3, 0, 5, 6}, which); // memory of nothing
        check({3, 3, 2, 5}, {3, 4, 0, 6}, which); // keys of nothing: every score is 0
        check({3, 3, 2, 5}, {3, 4, 5, 0}, which); // a layer to nothing
        check({0, 0, 0, 1}, {0, 0, 0, 0}, which);
    }
}

TEST_CASE("attn_lstm: a row without steps keeps its states; one without memory finds zeros")
{
    std::mt19937 random(11);
    auto in = random_attn_lstm<float>(random, {3, 2, 2, 5}, {4, 3, 5, 6}, with_all & ~unsigned(with_AW));
    in.sequence_lens = {0, 3};
    in.memory_seq_lens = {4, 0};
    auto const found = call_attn_lstm(in);
    for (std::size_t j = 0; j < 5; ++j) {
        CHECK(found.Y_h.items[j] == in.initial_h.items[j]);
        CHECK(found.Y_c.items[j] == in.initial_c.items[j]);
        for (std::size_t t = 0; t < 3; ++t)
            CHECK(found.Y.items[10 * t + j] == 0);
    }
    for (std::size_t e = 0; e < 3; ++e) {
        CHECK(found.Y_attention.items[e] == in.initial_attention.items[e]);
        CHECK(found.Y_attention.items[3 + e] == 0);
    }
    for (std::size_t m = 0; m < 4; ++m) {
        CHECK(found.Y_alignment.items[m] == in.initial_alignment.items[m]);
        CHECK(found.Y_alignment.items[4 + m] == 0);
        for (std::size_t t = 0; t < 3; ++t) {
            CHECK(found.alignments.items[8 * t + m] == 0);
            CHECK(found.alignments.items[8 * t + 4 + m] == 0);
        }
    }
}

} // namespace attn_lstm_test
