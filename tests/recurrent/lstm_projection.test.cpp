// An LSTM whose h is projected, as PyTorch's with proj_size: calls, cells, stacks, storages and errors.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/stack.hpp>

#include "support/projected_lstm.hpp"
#include "support/recurrent_cases.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"

namespace lstm_projection_test {

using namespace xloom;

using family = projected_lstm_family;

TEST_CASE("a projected LSTM equals the textbook: any sizes, operands, layout, memory and direction")
{
    auto const set = [](textbook::recurrent_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        family::set_own(options, random() % 2 == 0);
        keep_activations(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 100; ++seed) {
        check_any_call<family, float>(seed, set);
        check_any_call<family, double>(seed + 1000, set);
    }
}

TEST_CASE("a projected LSTM: the rows of a batch, pieces of a sequence, and threads have the same bits")
{
    for (recurrent_sizes const& sizes : {recurrent_sizes{9, 13, 20, 37, 2}, {6, 1, 9, 256}}) {
        std::mt19937 random(3);
        auto in = random_lstm<float>(random, sizes, with_B | with_initial_h | with_initial_c);
        project(random, in, 160, {.weights = 0.2});
        lstm_tensors<float> const tensors(in);
        lstm_weights<float> const weights(
            tensors.constants(), {.direction = sizes.D == 2 ? direction::bidirectional : direction::forward});
        auto const expected = family::call<float>(in, weights);
        CHECK(have_same_bits(expected, family::call<float>(in, weights, threads_or_backwards{5, true})));
        CHECK(have_same_bits(expected, family::call<float>(in, weights, threads_policy(2))));
        if (sizes.D == 2)
            continue;
        auto piece = in;
        recurrent_arrays<float> last;
        for (std::size_t t = 0; t < sizes.T; ++t) {
            piece.X = part_of(in.X, 0, t, t + 1);
            last = family::call<float>(piece, weights);
            piece.initial_h = last.Y_h;
            piece.initial_c = last.Y_c;
        }
        CHECK(have_same_bits(last.Y_h, expected.Y_h));
        CHECK(have_same_bits(last.Y_c, expected.Y_c));
    }
    std::mt19937 random(4);
    auto in = random_lstm<float>(random, {3, 7, 5, 20}, with_B);
    project(random, in, 6, {});
    lstm_weights<float> const weights(lstm_tensors<float>(in).constants());
    auto const all = family::call<float>(in, weights);
    for (std::size_t n = 0; n < 7; ++n) {
        auto row = in;
        row.X = part_of(in.X, 1, n, n + 1);
        CHECK(have_same_bits(family::call<float>(row, weights).Y, part_of(all.Y, 2, n, n + 1)));
    }
}

TEST_CASE("cells of a projected LSTM have the bits of a call, with each storage")
{
    constexpr std::size_t T = 4, I = 6, H = 37, K = 11;
    for (std::size_t const N : {1u, 3u}) {
        std::mt19937 random(11);
        auto in = random_lstm<float>(random, {T, N, I, H}, with_B);
        project(random, in, K, {});
        lstm_tensors<float> const tensors(in);
        for (weight_storage const storage : weight_storages) {
            CAPTURE(name_of(storage));
            lstm_weights<float> const weights(tensors.constants(), {}, storage);
            auto const expected = family::call<float>(in, weights);
            bool const rounds = storage != weight_storage::full && storage != weight_storage::block_sparse;
            double const error = difference(expected, family::textbook<float>(in, {}));
            CHECK(error < (rounds ? 0.05 : 2e-6));
            CHECK((error > 1e-5) == rounds);
            lstm_cell<float> cell(weights, N);
            std::vector<float> h(N * K), c(N * H), y(N * K);
            for (std::size_t t = 0; t < T; ++t)
                cell(h, c, std::span<float const>(in.X.items).subspan(t * N * I, N * I), y);
            CHECK(h == expected.Y_h.items);
            CHECK(c == expected.Y_c.items);
            CHECK(y == h);
        }
    }
}

TEST_CASE("a stack of projected LSTMs is one call after the other, at once too")
{
    constexpr std::size_t T = 40, N = 2, I = 5, H = 64, K = 24;
    for (std::size_t const D : {1u, 2u}) {
        std::mt19937 random(5);
        auto first = random_lstm<float>(random, {T, N, I, H, D}, with_B),
             second = random_lstm<float>(random, {T, N, D * K, H, D}, with_B);
        for (auto* const each : {&first, &second})
            project(random, *each, K, {.weights = 0.2});
        lstm_options const options{.direction = D == 2 ? direction::bidirectional : direction::forward};
        std::vector<lstm_weights<float>> layers;
        layers.emplace_back(lstm_tensors<float>(first).constants(), options);
        layers.emplace_back(lstm_tensors<float>(second).constants(), options);
        auto const below = family::call<float>(first, layers[0]);
        second.X.shape = {T, N, D * K};
        for (std::size_t t = 0; t < T; ++t)
            for (std::size_t n = 0; n < N; ++n)
                for (std::size_t d = 0; d < D; ++d)
                    for (std::size_t k = 0; k < K; ++k)
                        second.X.items[(t * N + n) * D * K + d * K + k] =
                            below.Y.items[((t * D + d) * N + n) * K + k];
        auto const above = family::call<float>(second, layers[1]);
        lstm_tensors<float> const tensors(first);
        auto const check = [&](auto const& policy) {
            auto const [Y, Y_h, Y_c] = lstm_stack(tensors.X, layers, {}, policy);
            CHECK(have_same_bits(to_array(Y), above.Y));
            CHECK(Y_h.shape() == std::array<std::size_t, 3>{2 * D, N, K});
            CHECK(Y_c.shape() == std::array<std::size_t, 3>{2 * D, N, H});
            CHECK(std::equal(below.Y_h.items.begin(), below.Y_h.items.end(), Y_h.begin()));
            CHECK(std::equal(above.Y_c.items.rbegin(), above.Y_c.items.rend(), Y_c.rbegin()));
        };
        check(serial);
        check(threads_policy(2));
    }
}

namespace {

using matrices = xt::xtensor<float, 3>;

} // namespace

TEST_CASE("a projected LSTM: shapes, and the operands that do not have them")
{
    matrices const X = xt::zeros<float>({5, 2, 3}), W = xt::zeros<float>({1, 16, 3}),
                   R = xt::zeros<float>({1, 16, 2}), projection = xt::zeros<float>({1, 2, 4}),
                   h = xt::zeros<float>({1, 2, 2}), c = xt::zeros<float>({1, 2, 4});
    auto const [Y, Y_h, Y_c] =
        lstm(X, {.W = W, .R = R, .initial_h = h, .initial_c = c, .projection = projection});
    CHECK(Y.shape() == std::array<std::size_t, 4>{5, 1, 2, 2});
    CHECK(Y_h.shape() == std::array<std::size_t, 3>{1, 2, 2});
    CHECK(Y_c.shape() == std::array<std::size_t, 3>{1, 2, 4});

    CHECK(
        error_of([&] { lstm(X, {.W = W, .R = R, .initial_h = c, .projection = projection}); }) ==
        "xloom::lstm: the operands must have the shapes that T = 5, N = 2, D = 1, H = 4 and K = 2 give them, "
        "but initial_h is [1, 2, 4] instead of [D, N, K] = [1, 2, 2]. Give it that shape.");
    CHECK(
        error_of([&] { lstm(X, {.W = W, .R = R, .initial_c = h, .projection = projection}); }) ==
        "xloom::lstm: the operands must have the shapes that T = 5, N = 2, D = 1, H = 4 and K = 2 give them, "
        "but initial_c is [1, 2, 2] instead of [D, N, H] = [1, 2, 4]. Give it that shape.");
    matrices const other = xt::zeros<float>({1, 3, 4}), empty = xt::zeros<float>({1, 2, 0});
    CHECK(error_of([&] { lstm(X, {.W = W, .R = R, .projection = other}); }) ==
          "xloom::lstm: the operands must have the shapes that D = 1, I = 3, H = 4 and K = 2 give them, but "
          "projection is [1, 3, 4] instead of [D, K, H] = [1, 2, 4]. Give it that shape.");
    CHECK(error_of([&] { lstm(X, {.W = W, .R = R, .projection = empty}); }) ==
          "xloom::lstm: H must be at least 1, but projection is [1, 2, 0]. Give the states a length.");
    matrices const no_h = xt::zeros<float>({1, 16, 0});
    CHECK(error_of([&] { lstm(X, {.W = W, .R = no_h, .projection = projection}); }) ==
          "xloom::lstm: K must be at least 1, but R is [1, 16, 0]. Give the states a length.");
    xt::xtensor<float, 2> const flat = xt::zeros<float>({2, 4});
    CHECK(error_of([&] { lstm(X, {.W = W, .R = R, .projection = flat}); }).find("projection") !=
          std::string::npos);
    CHECK(error_of([&] { lstm(X, {.W = W, .R = R, .projection = projection}, {.hidden_size = 2}); }) ==
          "xloom::lstm: hidden_size must be projection's last dimension, but hidden_size is 2 and "
          "projection is [1, 2, 4]. Correct one of them.");

    lstm_weights<float> const weights({.W = W, .R = R, .projection = projection}, {.hidden_size = 4});
    CHECK(
        error_of([&] {
            auto wide = xt::xtensor<float, 4>::from_shape({5, 1, 2, 4});
            lstm_into(X, weights, {}, {.Y = wide});
        }) ==
        "xloom::lstm_into: the operands must have the shapes that T = 5, N = 2, D = 1, H = 4 and K = 2 give "
        "them, but Y is [5, 1, 2, 4] instead of [T, D, N, K] = [5, 1, 2, 2]. Give it that shape.");
    lstm_cell<float> cell(weights);
    std::vector<float> x(3), two(2), four(4);
    CHECK(
        error_of([&] { cell(four, four, x); }) ==
        "xloom::lstm_cell: the operands of a step must have the sizes that the cell was made for, but h has "
        "4 items instead of N K = 2. Resize it.");
    cell(two, four, x);

    matrices const square = xt::zeros<float>({1, 16, 4});
    lstm_weights<float> const plain({.W = W, .R = square});
    CHECK(
        error_of([&] {
            std::vector const layers{weights, plain};
            lstm_stack(X, layers);
        }) ==
        "xloom::lstm_stack: a layer must have the D and H of the first one, D = 1 and H = 4, its K = 2, and "
        "I = D K, but layers[1] has D = 1, I = 3 and H = 4. Give weights of these sizes.");
}

} // namespace lstm_projection_test
