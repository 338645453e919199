// Packed weights that are assigned other constants: their results, in any storage; copies keep the old ones.

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/attn_lstm_vjp_calls.hpp"
#include "support/gru_calls.hpp"
#include "support/lstm_vjp_calls.hpp"
#include "support/rnn_calls.hpp"

namespace recurrent_assign_test {

using namespace xloom;

namespace {

/// The operands and options of a call, and their tensors.
template <class Family>
struct recurrent_call {
    typename Family::options options{};
    typename Family::template operands<float> in;
    typename Family::template tensors<float> tensors;

    recurrent_call(unsigned seed, recurrent_sizes const& sizes, unsigned which = with_all)
        : in(draw(seed, sizes, which)), tensors(in)
    {
        options.direction = sizes.D == 2 ? "bidirectional" : "reverse";
    }

    typename Family::template weights<float> packed(weight_storage storage = weight_storage::full) const
    {
        return {tensors.constants(), Family::options_of(options), storage};
    }
    void assign_to(typename Family::template weights<float>& weights) const
    {
        weights.assign(tensors.constants(), Family::options_of(options));
    }
    bool is_result_of(typename Family::template weights<float> const& weights) const
    {
        return difference(Family::template call<float>(in, weights), Family::textbook(in, options)) < 2e-6;
    }

private:
    static auto draw(unsigned seed, recurrent_sizes const& sizes, unsigned which)
    {
        std::mt19937 random(seed);
        return Family::template draw<float>(random, sizes, which);
    }
};

} // namespace

TEST_CASE_TEMPLATE(
    "assigned weights give the results of the other constants, of the same sizes and of others", Family,
    lstm_family, gru_family, rnn_family)
{
    recurrent_call<Family> const first(1, {3, 2, 4, 5});
    // Then the same, as much memory with another padding, other parts, a second direction, the first sizes.
    auto weights = first.packed();
    for (auto const& next_case : {std::pair(recurrent_sizes{3, 2, 4, 5}, with_all + 0u),
             std::pair(recurrent_sizes{3, 2, 5, 4}, with_all + 0u),
             std::pair(recurrent_sizes{2, 1, 5, 4}, with_none + 0u),
             std::pair(recurrent_sizes{3, 2, 4, 19, 2}, with_all + 0u),
             std::pair(recurrent_sizes{3, 2, 4, 5}, with_all + 0u)}) {
        recurrent_sizes const sizes = next_case.first;
        CAPTURE(sizes.H);
        recurrent_call<Family> const next(7, sizes, next_case.second);
        next.assign_to(weights);
        CHECK(weights.sizes().H == sizes.H);
        CHECK(next.is_result_of(weights));
    }
}

TEST_CASE_TEMPLATE(
    "copies of weights keep the constants that they had", Family, lstm_family, gru_family, rnn_family)
{
    recurrent_call<Family> const first(1, {3, 2, 4, 5}), next(2, {3, 2, 4, 5});
    auto weights = first.packed();
    auto const copy = weights;
    next.assign_to(weights);
    CHECK(next.is_result_of(weights));
    CHECK(first.is_result_of(copy));
}

TEST_CASE_TEMPLATE(
    "assigned weights have the storage of the old ones", Family, lstm_family, gru_family, rnn_family)
{
    recurrent_call<Family> const first(1, {3, 2, 4, 21}), next(2, {3, 2, 7, 21});
    for (weight_storage const storage : weight_storages) {
        auto weights = first.packed(storage);
        next.assign_to(weights);
        CHECK(weights.storage() == storage);
        CHECK(have_same_bits(Family::template call<float>(next.in, weights),
            Family::template call<float>(next.in, next.packed(storage))));
    }
}

TEST_CASE("constants that cannot be assigned leave the weights as they were")
{
    recurrent_call<lstm_family> const first(1, {3, 2, 4, 5});
    recurrent_call<lstm_family> huge(2, {3, 2, 4, 5});
    huge.tensors.R.memory[3] = 1e6f;
    auto weights = first.packed(), narrow = first.packed(weight_storage::float16);
    auto const before = lstm_family::call<float>(first.in, narrow);
    CHECK(error_of([&] {
        weights.assign({huge.tensors.constants().R, huge.tensors.constants().R}, {.hidden_size = 4});
    }).starts_with("xloom::lstm_weights: "));
    CHECK(first.is_result_of(weights));
    CHECK(error_of([&] { huge.assign_to(narrow); }).starts_with("xloom::lstm_weights: "));
    CHECK(have_same_bits(before, lstm_family::call<float>(first.in, narrow)));
}

TEST_CASE("assigned weights of an AttnLSTM give the results of the other constants")
{
    std::mt19937 random(3);
    attn_lstm_tensors<float> const first(
        random_attn_lstm<float>(random, {4, 3, 5, 21}, {6, 11, 13, 9}, with_all));
    auto const in = random_attn_lstm<float>(random, {4, 3, 7, 12}, {6, 5, 13, 9}, with_all & ~with_AW);
    attn_lstm_tensors<float> const next(in);
    attn_lstm_weights<float> weights(first.constants(), options_of(textbook::attn_lstm_options{}));
    weights.assign(next.constants(), options_of(textbook::attn_lstm_options{}));
    auto const [Y, Y_h, Y_c] = attn_lstm(next.X, weights, next.start());
    CHECK(difference(attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)},
              textbook_attn_lstm(in)) < 2e-6);
}

TEST_CASE("assigned weights of a backward pass give the gradients of the other constants")
{
    recurrent_call<lstm_family> const first(1, {4, 3, 2, 5}), next(2, {4, 3, 7, 11});
    auto const options = lstm_family::options_of(next.options);
    lstm_weights<float> weights(first.tensors.constants(), {}, for_training);
    weights.assign(next.tensors.constants(), options);
    lstm_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    lstm_forward_into(next.tensors.X, weights, next.tensors.start(), {}, residuals, workspace);
    auto const ct = textbook::array<float>{{4, 1, 3, 11}, std::vector<float>(4 * 3 * 11, 0.5f)};
    auto const ct_Y = place<float>(ct, placement::row_major);
    auto ct_X =
        place<float>(textbook::array<float>{next.in.X.shape, std::vector<float>(next.in.X.items.size())},
            placement::row_major);
    lstm_vjp_into(next.tensors.X, weights, residuals, {.Y = ref_of(ct_Y)}, {.X = ref_of(ct_X)}, workspace);
    auto const expected = lstm_vjp_family::vjp<float>(next.in, next.options, {ct, {}, {}});
    CHECK(have_same_bits(to_array(ct_X), expected.X));
}

} // namespace recurrent_assign_test
