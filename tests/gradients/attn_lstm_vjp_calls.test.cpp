// The backward pass of AttnLSTM as a call: threads, omitted operands, and errors.

#include <doctest/doctest.h>

#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/interop/threads.hpp>

#include "support/attn_lstm_vjp_calls.hpp"
#include "support/lstm_vjp_calls.hpp"

namespace attn_lstm_vjp_calls_test {

using namespace xloom;
using family = attn_lstm_vjp_family;

namespace {

template <class T>
struct problem {
    textbook::attn_lstm_operands<T> in;
    textbook::attn_lstm_options options{};
    attn_lstm_arrays<T> ct;

    problem(unsigned seed, recurrent_sizes const& sizes, attention_sizes const& attention,
        std::string const& direction = "forward", unsigned which = with_all)
    {
        options.direction = direction;
        std::mt19937 random(seed);
        in = random_attn_lstm<T>(random, sizes, attention, which, {.weights = 0.2});
        ct = random_attn_lstm_cotangents(random, in);
    }
    textbook::attn_lstm_operands<T> gradients(vjp_call const& as = {}) const
    {
        return family::vjp<T>(in, options, ct, as);
    }
};

/// Row n of an array, with an axis of length 1 in the place of the rows.
template <class T>
textbook::array<T> row_along(textbook::array<T> const& from, std::size_t axis, std::size_t n)
{
    std::size_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < from.shape.size(); ++i)
        (i < axis ? outer : inner) *= i == axis ? 1 : from.shape[i];
    textbook::array<T> row{from.shape, {}};
    row.shape[axis] = 1;
    for (std::size_t i = 0; i < outer; ++i)
        for (std::size_t k = 0; k < inner; ++k)
            row.items.push_back(from.items[(i * from.shape[axis] + n) * inner + k]);
    return row;
}

/// A call with operands that a test damages.
struct damaged_call {
    problem<float> from{9, {3, 2, 2, 4, 1}, {5, 3, 4, 2}};
    attn_lstm_tensors<float> given{from.in};
    attn_lstm_weights<float> weights{given.constants(), options_of(from.options), for_training};
    attn_lstm_residuals<float> residuals{};
    attention_workspace<float> workspace{};

    damaged_call() { attn_lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace); }
    std::string error(attn_lstm_cotangents<float> const& ct, attn_lstm_gradients<float> const& gradients)
    {
        return error(ref_of(std::as_const(given.M)), ct, gradients);
    }
    std::string error(tensor_ref<float const> const& M, attn_lstm_cotangents<float> const& ct,
        attn_lstm_gradients<float> const& gradients)
    {
        try {
            attn_lstm_vjp_into(given.X, M, weights, residuals, ct, gradients, workspace);
        } catch (std::exception const& e) {
            return e.what();
        }
        return "";
    }
};

} // namespace

TEST_CASE("attn_lstm_forward_into has the bits of attn_lstm_into")
{
    for (unsigned seed = 0; seed < 12; ++seed) {
        std::string const direction = direction_names[seed % 3];
        problem<float> const each(seed, {7, 5, 3, 17, direction == "bidirectional" ? 2u : 1u}, {6, 5, 9, 4},
            direction, seed % 2 == 0 ? with_all : with_all - with_AW);
        attn_lstm_tensors<float> const given(each.in);
        attn_lstm_weights<float> const weights(given.constants(), options_of(each.options));
        attn_lstm_places<float> out(shapes_of_outputs(each.in), placement::row_major, all_outputs);
        attn_lstm_residuals<float> residuals;
        attention_workspace<float> workspace;
        attn_lstm_forward_into(given.X, weights, given.start(), out.outputs(), residuals, workspace,
            thread_policy{1 + seed % 3});
        CHECK(have_same_bits(out.arrays(), call_attn_lstm<float>(each.in, each.options)));
        CHECK(residuals.bytes() >= 4 * 5 * 17);
    }
}

TEST_CASE("attn_lstm_vjp_into: the bits of one thread on any number of threads")
{
    for (std::string const& direction : direction_names) {
        problem<float> const each(
            1, {20, 13, 17, 40, direction == "bidirectional" ? 2u : 1u}, {50, 21, 33, 19}, direction);
        auto const expected = each.gradients();
        for (std::size_t const threads : {2u, 3u, 4u})
            CHECK(have_same_gradients<family, float>(
                family::vjp<float>(each.in, each.options, each.ct, {}, thread_policy{threads}), expected));
    }
}

TEST_CASE("attn_lstm_vjp_into: the same bits with the memory of calls of other sizes")
{
    attn_lstm_residuals<float> residuals;
    attention_workspace<float> workspace;
    for (std::size_t const size : {9u, 4u, 11u, 2u}) {
        problem<float> const each(static_cast<unsigned>(size), {size, size + 1, 3, 5 + size, 1},
            {size + 2, 4 + size, 3 + size, 2 + size});
        attn_lstm_tensors<float> const given(each.in);
        attn_lstm_weights<float> const weights(given.constants(), options_of(each.options));
        attn_lstm_forward_into(given.X, weights, given.start(), {}, residuals, workspace);
        CHECK(have_same_gradients<family, float>(family::backward(given, family::shapes(each.in),
                                                     each.options, residuals, each.ct, workspace, {}, serial),
            each.gradients()));
    }
}

TEST_CASE("attn_lstm_vjp_into: floats and storage floats are close to doubles")
{
    problem<double> const each(2, {12, 7, 16, 16, 2}, {11, 16, 16, 16}, "bidirectional");
    auto const expected = each.gradients();
    auto const cotangents = [&each]<class T>(T) {
        attn_lstm_arrays<T> ct;
        for (std::size_t i = 0; i < 6; ++i)
            *ct.each()[i] = converted_array<T>(*each.ct.each()[i]);
        return ct;
    };
    auto floats = converted_operands<family, float, double>(each.in);
    CHECK(gradient_difference<family, float>(
              family::vjp<float>(floats, each.options, cotangents(0.0f)), expected) < 1e-5);

    // Of the same numbers, float16 gives float's gradients rounded once.
    auto const halves = converted_operands<family, float16, double>(each.in);
    auto const half_ct = cotangents(float16());
    attn_lstm_arrays<float> ct;
    for (std::size_t i = 0; i < 6; ++i)
        *ct.each()[i] = converted_array<float>(*half_ct.each()[i]);
    CHECK(have_same_gradients<family, float16>(family::vjp<float16>(halves, each.options, half_ct),
        converted_operands<family, float16, float>(
            family::vjp<float>(converted_operands<family, float, float16>(halves), each.options, ct))));
}

TEST_CASE("attn_lstm_vjp_into: any gradient may be omitted, and any cotangent, which is zeros then")
{
    problem<float> const each(3, {6, 5, 3, 17, 2}, {4, 3, 5, 7}, "bidirectional");
    auto const all = each.gradients();
    for (unsigned wanted = 1; wanted < 1u << 14; wanted = wanted * 3 + 1) {
        auto const some = each.gradients({.wanted = wanted});
        for (std::size_t i = 0; i < 14; ++i)
            if (wanted >> i & 1)
                CHECK(have_same_bits(*family::parts(some)[i], *family::parts(all)[i]));
    }
    for (unsigned given = 0; given < 64; given += 5) {
        attn_lstm_arrays<float> ct = each.ct, zeros = each.ct;
        for (std::size_t i = 0; i < 6; ++i)
            if (!(given >> i & 1)) {
                *ct.each()[i] = {};
                zeros.each()[i]->items.assign(zeros.each()[i]->items.size(), 0);
            }
        CHECK(gradient_difference<family, float>(family::vjp<float>(each.in, each.options, ct),
                  converted_operands<family, double, float>(
                      family::vjp<float>(each.in, each.options, zeros))) == 0);
    }
}

TEST_CASE("attn_lstm_vjp_into without attention has the bits of lstm_vjp_into")
{
    problem<float> const each(4, {5, 3, 2, 9, 1}, {1, 1, 1, 1}, "reverse", with_all - with_attention);
    auto const found = each.gradients();
    textbook::lstm_operands<float> const plain{each.in.X, each.in.W, each.in.R, each.in.B,
        each.in.sequence_lens, each.in.initial_h, each.in.initial_c, each.in.P};
    textbook::lstm_options options;
    options.direction = "reverse";
    auto const expected = lstm_vjp_family::vjp<float>(plain, options, {each.ct.Y, each.ct.Y_h, each.ct.Y_c});
    for (std::size_t i = 0; i < 7; ++i)
        CHECK(have_same_bits(*family::parts(found)[i], *lstm_vjp_family::parts(expected)[i]));
}

TEST_CASE("attn_lstm_vjp_into: linear in the cotangents")
{
    problem<double> each(5, {7, 4, 3, 5, 1}, {6, 3, 4, 2});
    auto const one = each.gradients();
    for (auto* ct : each.ct.each())
        for (double& item : ct->items)
            item *= 2;
    auto const two = each.gradients();
    for (std::size_t i = 0; i < 14; ++i)
        for (std::size_t k = 0; k < family::parts(one)[i]->items.size(); ++k)
            CHECK(family::parts(two)[i]->items[k] == 2 * family::parts(one)[i]->items[k]);
}

TEST_CASE("attn_lstm_vjp_into: a batch gives the bits of its rows, and the sums of their weights' gradients")
{
    problem<double> const all(6, {7, 4, 3, 5, 2}, {6, 3, 4, 2}, "bidirectional");
    auto const expected = all.gradients();
    // The axis of the rows of each part and of each cotangent; weights have none.
    constexpr std::size_t none = 9,
                          parts[] = {1, none, none, none, 1, 1, none, none, none, none, 0, none, 1, 1},
                          cotangents[] = {2, 1, 1, 2, 1, 1};
    auto sums = expected;
    for (auto* part : family::parts(sums))
        part->items.assign(part->items.size(), 0);
    for (std::size_t n = 0; n < 4; ++n) {
        problem<double> row = all;
        for (std::size_t i = 0; i < 14; ++i)
            if (parts[i] != none)
                *family::parts(row.in)[i] = row_along(*family::parts(all.in)[i], parts[i], n);
        for (std::size_t i = 0; i < 6; ++i)
            *row.ct.each()[i] = row_along(*all.ct.each()[i], cotangents[i], n);
        row.in.sequence_lens = {all.in.sequence_lens[n]};
        row.in.memory_seq_lens = {all.in.memory_seq_lens[n]};
        auto const found = row.gradients();
        for (std::size_t i = 0; i < 14; ++i)
            if (parts[i] != none)
                CHECK(have_same_bits(
                    *family::parts(found)[i], row_along(*family::parts(expected)[i], parts[i], n)));
            else
                for (std::size_t k = 0; k < family::parts(found)[i]->items.size(); ++k)
                    family::parts(sums)[i]->items[k] += family::parts(found)[i]->items[k];
    }
    for (std::size_t i = 0; i < 14; ++i)
        if (parts[i] == none)
            CHECK(difference(*family::parts(expected)[i], *family::parts(sums)[i]) < 1e-14);
}

TEST_CASE("attn_lstm_vjp_into: errors")
{
    damaged_call call;
    auto const M = ref_of(std::as_const(call.given.M));
    xt::xtensor<float, 3> ct_M = xt::zeros<float>({2, 5, 3});
    xt::xtensor<float, 3> const wrong = xt::zeros<float>({2, 5, 4});
    xt::xtensor<float, 4> const ct_alignments = xt::zeros<float>({3, 1, 2, 4});

    CHECK(
        call.error({.alignments = ct_alignments}, {}) ==
        "xloom::attn_lstm_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1, H = 4, "
        "S = 5, A = 4, E = 3 and C = 2 give them, but ct_alignments is [3, 1, 2, 4] instead of [T, D, N, S] "
        "= [3, 1, 2, 5]. Give it that shape.");
    CHECK(call.error({}, {.MW = ct_M}) ==
          "xloom::attn_lstm_vjp_into: the operands must have the shapes that T = 3, N = 2, D = 1, H = 4, "
          "S = 5, A = 4, E = 3 and C = 2 give them, but ct_MW is [2, 5, 3] instead of [D, E, A] = [1, 3, 4]. "
          "Give it that shape.");
    CHECK(call.error(wrong, {}, {}) ==
          "xloom::attn_lstm_vjp_into: the operands must have the shapes that D = 1, N = 2, S = 5, E = 3 "
          "and C = 2 give them, but M is [2, 5, 4] instead of [N, S, E] = [2, 5, 3]. Give it that shape.");
    CHECK(call.error(tensor_ref<float const>(), {}, {}) ==
          "xloom::attn_lstm_vjp_into: M must be given, but it is omitted. Give it 3 axes.");
    CHECK(call.error(M, {}, {.M = ref_of(call.given.M)}) ==
          "xloom::attn_lstm_vjp_into: an operand that is written must have memory of its own, but ct_M "
          "overlaps M. Copy one of the two.");

    call.residuals = {};
    CHECK(call.error({}, {.M = ct_M}) ==
          "xloom::attn_lstm_vjp_into: the residuals must be those of a forward pass, but none has finished "
          "with them. Call xloom::attn_lstm_forward_into first.");
    CHECK(ct_M(0, 0, 0) == 0);

    problem<float> const other(9, {3, 2, 2, 4, 1}, {5, 3, 7, 2});
    attn_lstm_tensors<float> const others(other.in);
    attn_lstm_forward_into(others.X, attn_lstm_weights<float>(others.constants()), others.start(), {},
        call.residuals, call.workspace);
    CHECK(call.error({}, {.M = ct_M}) ==
          "xloom::attn_lstm_vjp_into: residuals must be those of a forward pass of the same sizes, but "
          "they have A = 7, E = 3, C = 2, and the weights A = 4, E = 3, C = 2. Run the forward pass with "
          "these weights.");
}

} // namespace attn_lstm_vjp_calls_test
