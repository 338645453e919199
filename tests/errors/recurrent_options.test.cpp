// Lists that are too long, lengths beyond std::int64_t, and which of two mistakes is told.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/rnn.hpp>

#include "support/refused_calls.hpp"

namespace errors_recurrent_options_test {

using namespace xloom;
using refused_calls::refuse;

namespace {

using matrices = xt::xtensor<float, 3>;

matrices const X = xt::ones<float>({5, 2, 3});

/// W and R for this number of gates of two units.
struct constants {
    matrices W, R;
    explicit constants(std::size_t gates)
        : W(xt::ones<float>({std::size_t{1}, 2 * gates, std::size_t{3}})),
          R(xt::ones<float>({std::size_t{1}, 2 * gates, std::size_t{2}}))
    {}
};

/// All four operators, with right weights and these options.
template <class Error, class Set>
void refuse_options(std::string const& text, Set const& set)
{
    constants const four(4), three(3), one(1);
    auto const with = [&](auto options) {
        set(options);
        return options;
    };
    refuse<Error>("xloom::lstm: " + text, [&] { lstm(X, {.W = four.W, .R = four.R}, with(lstm_options())); });
    refuse<Error>("xloom::attn_lstm: " + text,
        [&] { attn_lstm(X, {.W = four.W, .R = four.R}, with(attn_lstm_options())); });
    refuse<Error>("xloom::gru: " + text, [&] { gru(X, {.W = three.W, .R = three.R}, with(gru_options())); });
    refuse<Error>("xloom::rnn: " + text, [&] { rnn(X, {.W = one.W, .R = one.R}, with(rnn_options())); });
}

} // namespace

TEST_CASE("recurrent operators say how many activations they were given, be they more than any takes")
{
    constants const four(4), three(3), one(1);
    refuse<option_error>("xloom::lstm: there must be 3 activations for each direction, but direction is "
                         "forward and activations has 7. "
                         "Give 3 or none.",
        [&] {
            lstm(X, {.W = four.W, .R = four.R},
                {.activations = {"Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh"}});
        });
    refuse<option_error>("xloom::gru: there must be 2 activations for each direction, but direction is "
                         "bidirectional and activations has 7. "
                         "Give 4 or none.",
        [&] {
            matrices const W = xt::ones<float>({2, 6, 3}), R = xt::ones<float>({2, 6, 2});
            gru(X, {.W = W, .R = R},
                {.direction = direction::bidirectional,
                    .activations = {"Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh"}});
        });
    std::vector<std::string_view> const many(1000, "Tanh");
    refuse<option_error>("xloom::rnn_weights: there must be 1 activations for each direction, but direction "
                         "is forward and activations has "
                         "1000. Give 1 or none.",
        [&] {
            rnn_weights<float>({.W = one.W, .R = one.R}, {.activations = {many.begin(), many.end()}});
        });
}

TEST_CASE("recurrent operators name a list of numbers that is too long")
{
    std::vector<double> const many(33, 0.5);
    refuse_options<option_error>(
        "activation_alpha may have at most 32 numbers, but it has 33. Give fewer.", [&](auto& options) {
            options.activation_alpha = {many.begin(), many.end()};
        });
    refuse_options<option_error>(
        "activation_beta may have at most 32 numbers, but it has 34. Give fewer.", [&](auto& options) {
            options.activation_beta = {many.begin(), many.end()};
            options.activation_beta.push_back(1);
        });
}

TEST_CASE("recurrent operators tell lengths beyond std::int64_t as they are")
{
    xt::xtensor<std::uint64_t, 1> const lengths{18446744073709551615u, 9223372036854775808u};
    std::string const text = "lengths must be in [0, T] = [0, 5], but sequence_lens[0] is "
                             "18446744073709551615 and sequence_lens[1] is 9223372036854775808. Correct it.";
    constants const four(4), three(3);
    refuse<index_error>(
        "xloom::lstm: " + text, [&] { lstm(X, {.W = four.W, .R = four.R, .sequence_lens = lengths}); });
    refuse<index_error>(
        "xloom::gru: " + text, [&] { gru(X, {.W = three.W, .R = three.R, .sequence_lens = lengths}); });
    xt::xtensor<std::int8_t, 1> const small{-1, 5};
    refuse<index_error>(
        "xloom::lstm: lengths must be in [0, T] = [0, 5], but sequence_lens[0] is -1. Correct it.",
        [&] { lstm(X, {.W = four.W, .R = four.R, .sequence_lens = small}); });
}

TEST_CASE("of two mistakes in the options recurrent operators tell the same one with every compiler: clip "
          "before activations")
{
    refuse_options<option_error>(
        "clip must be greater than 0, but clip is -1.000000. Omit it for no limit.", [](auto& options) {
            options.clip = -1;
            options.activations = {"Sine"};
        });
}

} // namespace errors_recurrent_options_test
