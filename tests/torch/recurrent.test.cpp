// LSTM, GRU and RNN and their backward passes beside those of libtorch. Its GRU is ONNX's with
// linear_before_reset = 1.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "differences.hpp"
#include "oracle.hpp"
#include "support/projected_lstm.hpp"
#include "support/single_state_vjp_calls.hpp"

namespace torch_recurrent_test {

using namespace xloom;
using torch_oracle::network;

namespace {

template <class Operands>
torch_oracle::network_operands operands_of(Operands const& in)
{
    torch_oracle::network_operands out{in.X, in.W, in.R, in.B, in.initial_h};
    if constexpr (requires { in.initial_c; }) {
        out.initial_c = in.initial_c;
        out.projection = in.projection;
    }
    out.sequence_lens.assign(in.sequence_lens.begin(), in.sequence_lens.end());
    return out;
}

template <class Family>
typename Family::options options_like_torch(std::string const& direction)
{
    typename Family::options options;
    options.direction = direction;
    if constexpr (requires { options.linear_before_reset; })
        options.linear_before_reset = true;
    return options;
}

/// Compares outputs and gradients, but those of omitted operands, which libtorch does not have.
template <class Family>
void check_network(network kind, std::mt19937& random, recurrent_sizes const& sizes,
    std::string const& direction, unsigned which)
{
    auto in = Family::template draw<double>(random, sizes, which, {.shortest = 1});
    std::sort(in.sequence_lens.begin(), in.sequence_lens.end(), std::greater<>());
    std::string const call = text_of(sizes, which, direction, 0, placement::row_major);
    CAPTURE(call);
    auto const options = options_like_torch<Family>(direction);
    auto const ct = random_cotangents<double>(random, Family::template textbook<double>(in, options));
    auto const expected = torch_oracle::run(kind, operands_of(in), direction, {ct.Y, ct.Y_h, ct.Y_c});

    auto const found = Family::template call<double>(in, options);
    CHECK(torch_oracle::difference(found.Y, expected.Y) <= torch_oracle::tolerance);
    CHECK(torch_oracle::difference(found.Y_h, expected.Y_h) <= torch_oracle::tolerance);
    CHECK(torch_oracle::difference(found.Y_c, expected.Y_c) <= torch_oracle::tolerance);

    auto const gradients = operands_of(Family::template vjp<double>(in, options, ct));
    auto const check = [](char const* name, textbook::array<double> const& d,
                           textbook::array<double> const& of_torch) {
        CAPTURE(name);
        if (!of_torch.shape.empty())
            CHECK(torch_oracle::difference(d, of_torch) <= torch_oracle::tolerance);
    };
    check("X", gradients.X, expected.gradients.X);
    check("W", gradients.W, expected.gradients.W);
    check("R", gradients.R, expected.gradients.R);
    check("B", gradients.B, expected.gradients.B);
    check("initial_h", gradients.initial_h, expected.gradients.initial_h);
    check("initial_c", gradients.initial_c, expected.gradients.initial_c);
    check("projection", gradients.projection, expected.gradients.projection);
}

/// Every direction, with and without biases, initial states and lengths, for sizes that fill vectors and
/// blocks of steps or do not.
template <class Family>
void check_family(network kind)
{
    std::mt19937 random(11);
    for (recurrent_sizes sizes : {recurrent_sizes{1, 1, 1, 1}, {5, 3, 4, 3}, {7, 2, 1, 9}, {3, 6, 17, 8},
             {90, 7, 5, 4}, {40, 19, 2, 5}})
        for (std::string const& direction : direction_names) {
            sizes.D = direction == "bidirectional" ? 2 : 1;
            unsigned const no_peepholes = with_all & ~with_P;
            for (unsigned const omitted :
                {0u, unsigned{with_B}, with_initial_h | with_initial_c, with_sequence_lens | 0u})
                if (direction != "reverse" ||
                    omitted & with_sequence_lens) // libtorch has none of ragged rows
                    check_network<Family>(kind, random, sizes, direction, no_peepholes & ~omitted);
        }
}

/// libtorch requires a projection shorter than h.
struct shortened_lstm_family : lstm_vjp_family {
    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        ++sizes.H;
        auto in = lstm_vjp_family::draw<T>(random, sizes, which, ranges);
        project(random, in, 1 + random() % (sizes.H - 1), ranges);
        return in;
    }
};

} // namespace

TEST_CASE("LSTM") { check_family<lstm_vjp_family>(network::lstm); }
TEST_CASE("LSTM with a projection") { check_family<shortened_lstm_family>(network::lstm); }
TEST_CASE("GRU") { check_family<gru_vjp_family>(network::gru); }
TEST_CASE("RNN") { check_family<rnn_vjp_family>(network::rnn); }

} // namespace torch_recurrent_test
