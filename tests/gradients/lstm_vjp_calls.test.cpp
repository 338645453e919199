// The backward pass of LSTM as a call: threads, omitted operands, pieces of a sequence, sums, and errors.

#include <doctest/doctest.h>

#include <atomic>
#include <limits>

#include <xloom/interop/threads.hpp>

#include "support/lstm_vjp_calls.hpp"
#include "support/threads_or_backwards.hpp"

namespace lstm_vjp_calls_test {

using namespace xloom;
using family = lstm_vjp_family;

namespace {

template <class T>
struct problem {
    textbook::lstm_operands<T> in;
    textbook::lstm_options options{};
    recurrent_arrays<T> ct;

    problem(unsigned seed, recurrent_sizes const& sizes, textbook::lstm_options const& how,
        unsigned which = with_all)
        : options(how)
    {
        std::mt19937 random(seed);
        in = family::draw<T>(random, sizes, which, {.weights = 0.2});
        ct = random_cotangents<T>(random, family::textbook<T>(in, options));
    }
    textbook::lstm_operands<T> gradients(vjp_call const& as = {}) const
    {
        return family::vjp<T>(in, options, ct, as);
    }
};

} // namespace

TEST_CASE("lstm_forward_into has the bits of lstm_into")
{
    for (unsigned seed = 0; seed < 12; ++seed) {
        std::mt19937 random(seed);
        family::options options;
        options.direction = any_of(random, direction_names);
        recurrent_sizes sizes{25, 13, 9, 33, options.direction == "bidirectional" ? 2u : 1u};
        options.input_forget = seed % 4 == 1;
        if (seed % 3 == 0)
            draw_activations<family>(options, sizes, random);
        auto const in = family::draw<float>(random, sizes, seed % 2 == 0 ? with_all : with_B);
        auto const expected = family::call<float>(in, options);
        lstm_tensors<float> const given(in);
        output_tensors<float> out(
            arrays_of(family::textbook<float>(in, options)), placement::row_major, {true, true, true});
        lstm_residuals<float> residuals;
        recurrent_workspace<float> workspace;
        lstm_weights<float> const weights(given.constants(), family::options_of(options));
        std::size_t const threads = 1 + seed % 3;
        std::atomic<std::size_t> parts = 0;
        lstm_forward_into(given.X, weights, given.start(), {out.Y, out.Y_h, out.Y_c}, residuals, workspace,
            threads_or_backwards{threads, false, &parts});
        CHECK((threads == 1 || parts >= threads)); // each direction has parts of its own
        CHECK(have_same_bits<float>({to_array(out.Y), to_array(out.Y_h), to_array(out.Y_c)}, expected));
        CHECK(residuals.bytes() >= 4 * 13 * 33);
    }
}

TEST_CASE("lstm_vjp_into: the bits of one thread on any number of threads")
{
    for (std::string const& direction : direction_names) {
        textbook::lstm_options options;
        options.direction = direction;
        problem<float> const each(1, {40, 13, 33, 40, direction == "bidirectional" ? 2u : 1u}, options);
        auto const expected = each.gradients();
        for (std::size_t const threads : {2u, 4u}) {
            auto const found = family::vjp<float>(each.in, options, each.ct, {}, thread_policy{threads});
            CHECK(have_same_gradients<family, float>(found, expected));
        }
    }
}

TEST_CASE("lstm_vjp_into: floats and storage floats are close to doubles")
{
    textbook::lstm_options options;
    options.direction = "bidirectional";
    problem<double> const each(2, {20, 7, 16, 16, 2}, options);
    auto const expected = each.gradients();
    auto const floats = converted_operands<family, float, double>(each.in);
    recurrent_arrays<float> const ct{converted_array<float>(each.ct.Y), converted_array<float>(each.ct.Y_h),
        converted_array<float>(each.ct.Y_c)};
    auto const found = family::vjp<float>(floats, options, ct);
    CHECK(gradient_difference<family, float>(found, expected) < 1e-5);

    // Of the same numbers, float16 gives float's gradients rounded once.
    auto const halves = converted_operands<family, float16, double>(each.in);
    recurrent_arrays<float16> const half_ct{converted_array<float16>(each.ct.Y),
        converted_array<float16>(each.ct.Y_h), converted_array<float16>(each.ct.Y_c)};
    auto const rounded = family::vjp<float16>(halves, options, half_ct);
    auto const exact = family::vjp<float>(converted_operands<family, float, float16>(halves), options,
        {converted_array<float>(half_ct.Y), converted_array<float>(half_ct.Y_h),
            converted_array<float>(half_ct.Y_c)});
    CHECK(have_same_gradients<family, float16>(rounded, converted_operands<family, float16, float>(exact)));
}

TEST_CASE("lstm_vjp_into: any gradient may be omitted, and any cotangent, which is zeros then")
{
    textbook::lstm_options options;
    options.direction = "bidirectional";
    problem<float> each(3, {6, 5, 3, 17, 2}, options);
    auto const all = each.gradients();
    for (unsigned wanted = 0; wanted < 128; wanted += wanted < 8 ? 1 : 13) {
        auto const some = each.gradients({.wanted = wanted});
        for (std::size_t i = 0; i < 7; ++i)
            if (wanted >> i & 1)
                CHECK(have_same_bits(*family::parts(some)[i], *family::parts(all)[i]));
    }
    for (unsigned given = 0; given < 8; ++given) {
        recurrent_arrays<float> ct = each.ct, zeros = each.ct;
        std::size_t i = 0;
        for (auto const& [one, zero] :
            {std::pair(&ct.Y, &zeros.Y), std::pair(&ct.Y_h, &zeros.Y_h), std::pair(&ct.Y_c, &zeros.Y_c)})
            if (!(given >> i++ & 1)) {
                *one = {};
                zero->items.assign(zero->items.size(), 0);
            }
        CHECK(
            gradient_difference<family, float>(family::vjp<float>(each.in, options, ct),
                converted_operands<family, double, float>(family::vjp<float>(each.in, options, zeros))) == 0);
    }
}

TEST_CASE("lstm_vjp_into: the gradients of B and P where the forward pass has none")
{
    problem<double> without(4, {5, 3, 2, 4, 1}, {}, with_sequence_lens | with_initial_h | with_initial_c);
    auto with = without;
    with.in.B = {{1, 32}, std::vector<double>(32)};
    with.in.P = {{1, 12}, std::vector<double>(12)};
    auto const found = without.gradients(), expected = with.gradients();
    CHECK(difference(found.B, expected.B) < 1e-14);
    CHECK(difference(found.P, expected.P) < 1e-14);
    CHECK(found.P.items[0] != 0);
}

TEST_CASE("lstm_vjp_into: linear in the cotangents")
{
    problem<double> each(5, {7, 4, 3, 5, 1}, {});
    std::mt19937 random(1);
    auto const other = random_cotangents<double>(random, family::textbook<double>(each.in, {}));
    recurrent_arrays<double> mixed = each.ct;
    for (auto const& [to, from] :
        {std::pair(&mixed.Y, &other.Y), std::pair(&mixed.Y_h, &other.Y_h), std::pair(&mixed.Y_c, &other.Y_c)})
        for (std::size_t k = 0; k < to->items.size(); ++k)
            to->items[k] = 2 * to->items[k] - 3 * from->items[k];
    auto expected = each.gradients();
    auto const of_other = family::vjp<double>(each.in, {}, other);
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t k = 0; k < family::parts(expected)[i]->items.size(); ++k)
            family::parts(expected)[i]->items[k] =
                2 * family::parts(expected)[i]->items[k] - 3 * family::parts(of_other)[i]->items[k];
    CHECK(gradient_difference<family, double>(family::vjp<double>(each.in, {}, mixed), expected) < 1e-13);
}

TEST_CASE("lstm_vjp_into: a sequence in two pieces, the second one's states handed on")
{
    problem<double> whole(6, {8, 3, 2, 5, 1}, {}, with_B | with_P | with_initial_h | with_initial_c);
    auto const expected = whole.gradients();
    std::size_t const cut = 3, row = 3 * 2, out = 3 * 5;
    auto first = whole, second = whole;
    auto const piece = [](auto& array, std::size_t begin, std::size_t end, std::size_t size) {
        auto const at = [&](std::size_t t) {
            return array.items.begin() + static_cast<std::ptrdiff_t>(t * size);
        };
        array.items = std::vector<double>(at(begin), at(end));
        array.shape[0] = end - begin;
    };
    piece(first.in.X, 0, cut, row);
    piece(first.ct.Y, 0, cut, out);
    piece(second.in.X, cut, 8, row);
    piece(second.ct.Y, cut, 8, out);
    auto const after = family::call<double>(first.in, {});
    second.in.initial_h = after.Y_h;
    second.in.initial_c = after.Y_c;
    auto const of_second = second.gradients();
    first.ct.Y_h = of_second.initial_h;
    first.ct.Y_c = of_second.initial_c;
    auto const of_first = first.gradients();
    CHECK(have_same_bits(of_first.initial_h, expected.initial_h));
    CHECK(have_same_bits(of_first.initial_c, expected.initial_c));
    auto X = of_first.X;
    X.items.insert(X.items.end(), of_second.X.items.begin(), of_second.X.items.end());
    CHECK(X.items == expected.X.items);
    auto sums = of_first;
    for (auto const& [to, from] : {std::pair(&sums.W, &of_second.W), std::pair(&sums.R, &of_second.R),
             std::pair(&sums.B, &of_second.B), std::pair(&sums.P, &of_second.P)})
        for (std::size_t k = 0; k < to->items.size(); ++k)
            to->items[k] += from->items[k];
    CHECK(difference(sums.W, expected.W) < 1e-13);
    CHECK(difference(sums.R, expected.R) < 1e-13);
    CHECK(difference(sums.B, expected.B) < 1e-13);
    CHECK(difference(sums.P, expected.P) < 1e-13);
}

TEST_CASE("lstm_vjp_into: a row of a batch has the bits that it has alone")
{
    problem<float> const batch(7, {6, 7, 5, 19, 1}, {}, with_B | with_sequence_lens);
    auto const all = batch.gradients({.wanted = 1 | 16 | 32});
    for (std::size_t n = 0; n < 7; ++n) {
        problem<float> one = batch;
        auto const row = [n](auto& array, std::size_t axis) {
            std::size_t const inner = array.shape.back(), N = array.shape[axis];
            std::vector<float> items;
            for (std::size_t k = 0; k < array.items.size(); ++k)
                if (k / inner % N == n)
                    items.push_back(array.items[k]);
            array.items = items;
            array.shape[axis] = 1;
        };
        row(one.in.X, 1);
        row(one.ct.Y, 2);
        row(one.ct.Y_h, 1);
        row(one.ct.Y_c, 1);
        one.in.sequence_lens = {batch.in.sequence_lens[n]};
        auto const alone = one.gradients({.wanted = 1 | 16 | 32});
        auto expected = all;
        row(expected.X, 1);
        row(expected.initial_h, 1);
        row(expected.initial_c, 1);
        CHECK(have_same_gradients<family, float>(alone, expected));
    }
}

TEST_CASE("lstm_vjp_into: steps beyond a row's length are not read, and have cotangents of 0")
{
    for (std::string const& direction : direction_names) {
        textbook::lstm_options options;
        options.direction = direction;
        std::size_t const D = direction == "bidirectional" ? 2 : 1;
        problem<float> each(8, {5, 4, 3, 6, D}, options);
        each.in.sequence_lens = {5, 0, 3, 1};
        auto const expected = each.gradients();
        for (std::size_t t = 0; t < 5; ++t)
            for (std::size_t n = 0; n < 4; ++n)
                if (t >= static_cast<std::size_t>(each.in.sequence_lens[n])) {
                    for (std::size_t i = 0; i < 3; ++i) {
                        CHECK(expected.X.items[(t * 4 + n) * 3 + i] == 0);
                        each.in.X.items[(t * 4 + n) * 3 + i] = std::numeric_limits<float>::quiet_NaN();
                    }
                    for (std::size_t d = 0; d < D; ++d)
                        each.ct.Y.items[((t * D + d) * 4 + n) * 6] = std::numeric_limits<float>::quiet_NaN();
                }
        CHECK(have_same_gradients<family, float>(each.gradients(), expected));
        for (std::size_t k = 6; k < 12; ++k) { // row 1 has no step
            CHECK(expected.initial_h.items[k] == each.ct.Y_h.items[k]);
            CHECK(expected.initial_c.items[k] == each.ct.Y_c.items[k]);
        }
    }
}

TEST_CASE("lstm_vjp_into: nothing to do gives zeros")
{
    for (recurrent_sizes const& sizes : {recurrent_sizes{0, 3, 2, 4, 1}, {3, 0, 2, 4, 1}, {3, 2, 0, 4, 1}}) {
        problem<float> const each(9, sizes, {}, with_B);
        auto const found = each.gradients();
        for (float const item : found.W.items)
            CHECK(item == 0);
        if (sizes.T == 0) {
            CHECK(have_same_bits(found.initial_h, each.ct.Y_h));
            CHECK(found.B.items == std::vector<float>(32));
            CHECK(found.P.items == std::vector<float>(12));
        }
    }
}

TEST_CASE("lstm_vjp_into: memory that is used again, and gradients that are added to")
{
    problem<float> const each(10, {4, 3, 2, 5, 1}, {});
    auto const expected = each.gradients();
    lstm_tensors<float> const given(each.in);
    lstm_weights<float> const weights(given.constants(), {}, for_training);
    lstm_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace);
    auto const Y = place<float>(each.ct.Y);

    // A forward pass that updates its states in place: the residuals have kept the initial ones.
    auto h = place<float>(each.in.initial_h), c = place<float>(each.in.initial_c);
    lstm_forward_into(given.X, weights, {given.lengths(), h, c}, {.Y_h = h, .Y_c = c}, residuals, workspace);
    auto R =
        place<float>(textbook::array<float>{expected.R.shape, std::vector<float>(expected.R.items.size())});
    std::size_t const bytes = residuals.bytes();
    for (int i = 0; i < 2; ++i) {
        auto const ct = place<float>(each.ct.Y_h), of_c = place<float>(each.ct.Y_c);
        lstm_vjp_into(given.X, weights, residuals, {Y, ct, of_c}, {.R = R}, workspace);
        for (std::size_t k = 0; k < expected.R.items.size(); ++k)
            CHECK(to_array(R).items[k] ==
                  doctest::Approx(static_cast<float>(i + 1) * expected.R.items[k]).epsilon(1e-6).scale(1e-1));
        lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace);
    }
    CHECK(residuals.bytes() == bytes);
}

TEST_CASE("lstm_vjp_into: errors, before anything is written")
{
    std::mt19937 random(1);
    auto const in = family::draw<float>(random, {3, 2, 4, 5, 1}, with_B);
    lstm_tensors<float> const given(in);
    lstm_weights<float> const weights(given.constants(), {}, for_training);
    lstm_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    xt::xtensor<float, 3> X = xt::ones<float>({3, 2, 4}), ct_X = 7 * X, ct_h = xt::ones<float>({1, 2, 5});
    auto const backward_with = [&](auto const& from, auto const& cotangents, auto const& gradients) {
        lstm_vjp_into(X, from, residuals, cotangents, gradients, workspace);
    };
    using cotangents = lstm_cotangents<float>;
    using gradients = lstm_gradients<float>;

    CHECK_THROWS_WITH_AS(
        backward_with(lstm_weights<float>(given.constants()), cotangents{.Y_h = ct_h}, gradients{.X = ct_X}),
        "xloom::lstm_vjp_into: weights must be packed for the backward pass, but they are packed for the "
        "forward pass only. Construct them with xloom::for_training.",
        option_error);
    CHECK_THROWS_WITH_AS(backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.X = ct_X}),
        "xloom::lstm_vjp_into: the residuals must be those of a forward pass, but none has finished with "
        "them. Call xloom::lstm_forward_into first.",
        option_error);
    lstm_forward_into(X, weights, {}, {}, residuals, workspace);

    xt::xtensor<float, 3> const wrong = xt::ones<float>({1, 5, 2});
    CHECK_THROWS_WITH_AS(backward_with(weights, cotangents{.Y_h = wrong}, gradients{.X = ct_X}),
        "xloom::lstm_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1 and H = 5 "
        "give "
        "them, but ct_Y_h is [1, 5, 2] instead of [D, N, H] = [1, 2, 5]. Transpose it.",
        shape_error);
    xt::xtensor<float, 4> const wrong_Y = xt::ones<float>({3, 1, 2, 6});
    CHECK_THROWS_AS(backward_with(weights, cotangents{.Y = wrong_Y}, gradients{.X = ct_X}), shape_error);
    CHECK_THROWS_AS(backward_with(weights, cotangents{.Y_c = wrong}, gradients{.X = ct_X}), shape_error);
    xt::xtensor<float, 2> short_B = xt::ones<float>({1, 20});
    CHECK_THROWS_WITH_AS(backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.X = ct_X, .B = short_B}),
        "xloom::lstm_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1 and H = 5 "
        "give "
        "them, but ct_B is [1, 20] instead of [D, 8H] = [1, 40]. Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.X = X}), overlap_error);
    CHECK_THROWS_AS(
        backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.initial_c = ct_h}), overlap_error);
    for (auto const& [t, n, i] : {std::array<std::size_t, 3>{0, 0, 0}, {2, 1, 3}, {1, 1, 0}}) {
        X(t, n, i) += 1;
        CHECK_THROWS_WITH_AS(backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.X = ct_X}),
            "xloom::lstm_vjp_into: residuals must be those of the forward pass of X, but items of X "
            "differ from those of that pass. Run the forward pass with this X.",
            option_error);
        X(t, n, i) -= 1;
    }

    CHECK_THROWS_WITH_AS(backward_with(lstm_weights<float>(given.constants(), {.clip = 1}, for_training),
                             cotangents{.Y_h = ct_h}, gradients{.X = ct_X}),
        "xloom::lstm_vjp_into: residuals must be those of a forward pass with the same attributes, but "
        "its "
        "direction, activations, clip or another attribute differs. Give both weights the same options.",
        option_error);
    CHECK_THROWS_AS(
        backward_with(lstm_weights<float>(given.constants(), {.direction = direction::reverse}, for_training),
            cotangents{.Y_h = ct_h}, gradients{.X = ct_X}),
        option_error);
    xt::xtensor<float, 3> longer = xt::ones<float>({4, 2, 4}), ct_longer = longer;
    CHECK_THROWS_WITH_AS(
        lstm_vjp_into(longer, weights, residuals, {.Y_h = ct_h}, {.X = ct_longer}, workspace),
        "xloom::lstm_vjp_into: residuals must be those of a forward pass of the same sizes, but they "
        "have T "
        "= 3, N = 2, D = 1, I = 4 and H = 5, and the operands T = 4, N = 2, D = 1, I = 4 and H = 5. Run the "
        "forward pass with these operands.",
        shape_error);
    xt::xtensor<float, 3> const narrow = xt::ones<float>({3, 2, 3});
    CHECK_THROWS_AS(lstm_vjp_into(narrow, weights, residuals, {}, {.X = ct_X}, workspace), shape_error);
    CHECK(ct_X == 7 * X);
    CHECK(ct_h == xt::xtensor<float, 3>(xt::ones<float>({1, 2, 5})));

    // A forward pass that is refused leaves the residuals as they were.
    CHECK_THROWS_AS(lstm_forward_into(narrow, weights, {}, {}, residuals, workspace), shape_error);
    backward_with(weights, cotangents{.Y_h = ct_h}, gradients{.X = ct_X});
    CHECK(ct_X != 7 * X);
}

} // namespace lstm_vjp_calls_test
