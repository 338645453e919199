// Rules of lstm, gru and rnn that hold bit for bit, whatever the weights.

#include <doctest/doctest.h>

#include <limits>
#include <tuple>
#include <type_traits>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"

namespace property_recurrent_test {

using textbook::axis_to_front;
using textbook::part_of;

namespace {

using array = textbook::array<float>;

/// The first axis [T, .., N, ..] with each row's first `length` steps in reverse; what is beyond them
/// stays.
array reversed(array const& from, std::vector<std::int32_t> const& lengths, std::size_t row_axis)
{
    array to = from;
    for (std::size_t flat = 0; flat < to.items.size(); ++flat) {
        textbook::dims position = textbook::position_of(flat, to.shape);
        auto const length = static_cast<std::size_t>(lengths[position[row_axis]]);
        if (position[0] < length)
            position[0] = length - 1 - position[0];
        to.items[flat] = from.items[textbook::flat_of(position, from.shape)];
    }
    return to;
}

/// f(x) for each operand that has a direction as its first axis.
template <class Operands, class F>
void for_each_of_direction(Operands& in, F const& f)
{
    for (array* const each : {&in.W, &in.R, &in.B, &in.initial_h})
        f(*each);
    if constexpr (requires { in.P; }) {
        f(in.P);
        f(in.initial_c);
    }
}

/// f(x) for the initial states.
template <class Operands, class F>
void for_each_state(Operands& in, F const& f)
{
    f(in.initial_h);
    if constexpr (requires { in.initial_c; })
        f(in.initial_c);
}

/// LSTM without peepholes and clip, which goes a way of its own.
struct plain_lstm_family : lstm_family {
    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all)
    {
        return lstm_family::draw<T>(random, sizes, which & ~unsigned(with_P));
    }
};

/// GRU with linear_before_reset.
struct linear_gru_family : gru_family {};

/// Options under which much can go wrong.
template <class Family>
typename Family::options some_options(std::string const& direction)
{
    typename Family::options options;
    options.direction = direction;
    if constexpr (!std::is_same_v<Family, plain_lstm_family>)
        options.clip = 1.5;
    if constexpr (std::is_same_v<Family, linear_gru_family>)
        options.linear_before_reset = true;
    return options;
}

/// T, N, I and H on both sides of what the kernels take together.
constexpr recurrent_sizes some_sizes[] = {
    {1, 1, 1, 1, 1}, {5, 7, 3, 9, 1}, {41, 3, 2, 4, 1}, {9, 13, 5, 17, 1}, {3, 97, 1, 3, 1}};

recurrent_sizes both_directions(recurrent_sizes sizes)
{
    sizes.D = 2;
    return sizes;
}

} // namespace

TEST_CASE_TEMPLATE("reverse is forward on reversed sequences, with Y reversed", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(1);
        auto in = Family::template draw<float>(random, sizes);
        auto const backwards = Family::call(in, some_options<Family>("reverse"));
        in.X = reversed(in.X, in.sequence_lens, 1);
        auto forwards = Family::call(in, some_options<Family>("forward"));
        forwards.Y = reversed(forwards.Y, in.sequence_lens, 2);
        CHECK(have_same_bits(backwards, forwards));
    }
}

TEST_CASE_TEMPLATE("bidirectional is its two directions", Family, lstm_family, plain_lstm_family, gru_family,
    linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(2);
        auto const in = Family::template draw<float>(random, both_directions(sizes));
        auto const both = Family::call(in, some_options<Family>("bidirectional"));
        for (std::size_t d = 0; d < 2; ++d) {
            auto one = in;
            for_each_of_direction(one, [d](array& each) { each = part_of(each, 0, d, d + 1); });
            auto const alone = Family::call(one, some_options<Family>(d == 0 ? "forward" : "reverse"));
            CHECK(have_same_bits(part_of(both.Y, 1, d, d + 1), alone.Y));
            CHECK(have_same_bits(part_of(both.Y_h, 0, d, d + 1), alone.Y_h));
            CHECK(have_same_bits(part_of(both.Y_c, 0, d, d + 1), alone.Y_c));
        }
    }
}

TEST_CASE_TEMPLATE("a batch is its rows alone", Family, lstm_family, plain_lstm_family, gru_family,
    linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(3);
        auto const in = Family::template draw<float>(random, both_directions(sizes));
        auto const options = some_options<Family>("bidirectional");
        auto const all = Family::call(in, options);
        for (std::size_t n = 0; n<sizes.N; n += sizes.N> 50 ? 9 : 1) {
            auto row = in;
            row.X = part_of(in.X, 1, n, n + 1);
            row.sequence_lens = {in.sequence_lens[n]};
            for_each_state(row, [n](array& each) { each = part_of(each, 1, n, n + 1); });
            auto const alone = Family::call(row, options);
            CAPTURE(n);
            CHECK(have_same_bits(part_of(all.Y, 2, n, n + 1), alone.Y));
            CHECK(have_same_bits(part_of(all.Y_h, 1, n, n + 1), alone.Y_h));
            CHECK(have_same_bits(part_of(all.Y_c, 1, n, n + 1), alone.Y_c));
        }
    }
}

TEST_CASE_TEMPLATE("a row that ends early is the row that was cut there", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    std::mt19937 random(4);
    auto in = Family::template draw<float>(random, {9, 1, 3, 9, 2});
    in.sequence_lens = {4};
    auto const options = some_options<Family>("bidirectional");
    auto const early = Family::call(in, options);
    in.X = part_of(in.X, 0, 0, 4);
    in.sequence_lens = {};
    auto const cut = Family::call(in, options);
    CHECK(have_same_bits(part_of(early.Y, 0, 0, 4), cut.Y));
    CHECK(have_same_bits(early.Y_h, cut.Y_h));
    CHECK(have_same_bits(early.Y_c, cut.Y_c));
    CHECK(part_of(early.Y, 0, 4, 9).items == std::vector<float>(5 * 2 * 9));
}

TEST_CASE_TEMPLATE("layout 1 is layout 0 transposed", Family, lstm_family, plain_lstm_family, gru_family,
    linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(5);
        auto in = Family::template draw<float>(random, both_directions(sizes));
        auto options = some_options<Family>("bidirectional");
        auto const plain = Family::call(in, options);
        in.X = axis_to_front(in.X, 1);
        for_each_state(in, [](array& each) { each = axis_to_front(each, 1); });
        options.layout = 1;
        auto const turned = Family::call(in, options);
        CHECK(have_same_bits(
            turned, {axis_to_front(plain.Y, 2), axis_to_front(plain.Y_h, 1), axis_to_front(plain.Y_c, 1)}));
    }
}

TEST_CASE_TEMPLATE("packed weights are the weights as they are, in any memory", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(6);
        auto const in = Family::template draw<float>(random, both_directions(sizes));
        auto const options = some_options<Family>("bidirectional");
        auto const expected = Family::call(in, options);
        using weights = typename Family::template weights<float>;
        auto const pack = [&] {
            typename Family::template tensors<float> const gone(in, placement::spread);
            return weights(gone.constants(), Family::options_of(options));
        };
        weights const packed = pack();
        CHECK(have_same_bits(Family::template call<float>(in, packed), expected));
        CHECK(have_same_bits(Family::template call<float>(in, weights(packed)), expected));
        for (placement const where : every_placement)
            CHECK(have_same_bits(Family::call(in, options, where), expected));
    }
}

TEST_CASE_TEMPLATE("a stream in pieces, its state in place, is one call", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes :
        {recurrent_sizes{41, 3, 2, 4, 1}, {7, 13, 5, 17, 1}, {4, 97, 1, 3, 1}}) {
        std::mt19937 random(7);
        auto in = Family::template draw<float>(random, sizes, with_all & ~unsigned(with_sequence_lens));
        auto const options = some_options<Family>("forward");
        auto const whole = Family::call(in, options);

        typename Family::template weights<float> const packed(
            typename Family::template tensors<float>(in).constants(), Family::options_of(options));
        auto workspace = Family::template workspace<float>(packed, {sizes.T, sizes.N});
        placed_tensor<float> h = place<float>(in.initial_h), c = h;
        if constexpr (requires { in.initial_c; })
            c = place<float>(in.initial_c);
        std::size_t begin = 0;
        for (std::size_t const length : {std::size_t{1}, std::size_t{0}, std::size_t{2}, sizes.T - 3}) {
            auto piece = in;
            piece.X = part_of(in.X, 0, begin, begin + length);
            output_tensors<float> states(
                {{{length, 1, sizes.N, sizes.H}, {}}}, placement::row_major, {true, false, false});
            states.Y_h = h;
            states.Y_c = c;
            Family::template stream<float>(
                typename Family::template tensors<float>(piece), packed, states, workspace);
            CAPTURE(begin);
            CHECK(have_same_bits(to_array(states.Y), part_of(whole.Y, 0, begin, begin + length)));
            h = states.Y_h;
            c = states.Y_c;
            begin += length;
        }
        CHECK(have_same_bits(to_array(h), whole.Y_h));
        if constexpr (requires { in.initial_c; })
            CHECK(have_same_bits(to_array(c), whole.Y_c));
    }
}

TEST_CASE_TEMPLATE("a ragged stream in pieces, its states elsewhere, is one call", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    std::mt19937 random(8);
    auto const in = Family::template draw<float>(random, {9, 5, 3, 7, 1});
    auto const options = some_options<Family>("forward");
    auto const whole = Family::call(in, options);
    auto piece = in;
    for (std::size_t begin = 0; begin < 9; begin += 3) {
        piece.X = part_of(in.X, 0, begin, begin + 3);
        for (std::size_t n = 0; n < 5; ++n)
            piece.sequence_lens[n] = std::clamp(in.sequence_lens[n] - static_cast<std::int32_t>(begin), 0, 3);
        auto const next = Family::call(piece, options);
        CHECK(have_same_bits(next.Y, part_of(whole.Y, 0, begin, begin + 3)));
        piece.initial_h = next.Y_h;
        if constexpr (requires { piece.initial_c; })
            piece.initial_c = next.Y_c;
    }
    CHECK(have_same_bits(piece.initial_h, whole.Y_h));
    if constexpr (requires { piece.initial_c; })
        CHECK(have_same_bits(piece.initial_c, whole.Y_c));
}

TEST_CASE_TEMPLATE("lstm is scan_into over lstm_cell, both ways", Family, lstm_family, plain_lstm_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(9);
        auto const in = Family::template draw<float>(
            random, both_directions(sizes), with_all & ~unsigned(with_sequence_lens));
        auto const options = some_options<Family>("bidirectional");
        auto const whole = lstm_family::call(in, options);
        xloom::lstm_weights<float> const weights(
            lstm_tensors<float>(in).constants(), lstm_family::options_of(options));
        auto const X = to_tensor<xt::xtensor<float, 3>>(in.X);
        for (std::size_t d = 0; d < 2; ++d) {
            xloom::lstm_cell<float> cell(weights, sizes.N, d);
            auto h = to_tensor<xt::xtensor<float, 3>>(part_of(in.initial_h, 0, d, d + 1));
            auto c = to_tensor<xt::xtensor<float, 3>>(part_of(in.initial_c, 0, d, d + 1));
            auto Y = xt::xtensor<float, 4>::from_shape({sizes.T, 1, sizes.N, sizes.H});
            xloom::direction const way = d == 0 ? xloom::direction::forward : xloom::direction::reverse;
            xloom::scan_into(cell, std::tie(h, c), X, Y,
                {.scan_input_directions = {way}, .scan_output_directions = {way}});
            CHECK(have_same_bits(to_array(Y), part_of(whole.Y, 1, d, d + 1)));
            CHECK(have_same_bits(to_array(h), part_of(whole.Y_h, 0, d, d + 1)));
            CHECK(have_same_bits(to_array(c), part_of(whole.Y_c, 0, d, d + 1)));
        }
    }
}

TEST_CASE_TEMPLATE("NaN and infinity beyond a row's length never reach a result", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    for (recurrent_sizes const& sizes : some_sizes) {
        std::mt19937 random(10);
        auto in = Family::template draw<float>(random, both_directions(sizes));
        auto const options = some_options<Family>("bidirectional");
        auto const expected = Family::call(in, options);
        for (float const poison :
            {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            for (std::size_t n = 0; n < sizes.N; ++n)
                for (auto t = static_cast<std::size_t>(in.sequence_lens[n]); t < sizes.T; ++t)
                    for (std::size_t i = 0; i < sizes.I; ++i)
                        in.X.items[(t * sizes.N + n) * sizes.I + i] = poison;
            CHECK(have_same_bits(Family::call(in, options), expected));
        }
    }
}

TEST_CASE_TEMPLATE("NaN elsewhere stays NaN: in its row from its step on, and nowhere else", Family,
    lstm_family, plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    std::mt19937 random(11);
    auto in = Family::template draw<float>(random, {7, 3, 2, 5, 2}, with_all & ~unsigned(with_sequence_lens));
    auto const options = some_options<Family>("bidirectional");
    auto const expected = Family::call(in, options);
    in.X.items[(4 * 3 + 1) * 2] = std::numeric_limits<float>::quiet_NaN(); // t = 4, n = 1
    auto const found = Family::call(in, options);
    for (std::size_t flat = 0; flat < found.Y.items.size(); ++flat) {
        textbook::dims const at = textbook::position_of(flat, found.Y.shape); // t, d, n, unit
        bool const is_reached = at[2] == 1 && (at[1] == 0 ? at[0] >= 4 : at[0] <= 4);
        CAPTURE(flat);
        CHECK((is_reached ? std::isnan(found.Y.items[flat]) : found.Y.items[flat] == expected.Y.items[flat]));
    }
    for (std::size_t flat = 0; flat < found.Y_h.items.size(); ++flat)
        CHECK(std::isnan(found.Y_h.items[flat]) == (textbook::position_of(flat, found.Y_h.shape)[1] == 1));
    for (std::size_t flat = 0; flat < found.Y_c.items.size(); ++flat)
        CHECK(std::isnan(found.Y_c.items[flat]) == (textbook::position_of(flat, found.Y_c.shape)[1] == 1));
}

TEST_CASE_TEMPLATE("a NaN among the weights of a unit, or in a state, stays NaN", Family, lstm_family,
    plain_lstm_family, gru_family, linear_gru_family, rnn_family)
{
    std::mt19937 random(12);
    auto const in =
        Family::template draw<float>(random, {3, 2, 2, 5, 1}, with_all & ~unsigned(with_sequence_lens));
    auto const options = some_options<Family>("forward");
    std::size_t const weights = in.R.shape[1]; // gates * H
    for (std::size_t const row : {std::size_t{0}, weights / 2, weights - 1}) {
        auto poisoned = in;
        poisoned.W.items[row * 2] = std::numeric_limits<float>::quiet_NaN();
        auto const found = Family::call(poisoned, options);
        for (std::size_t n = 0; n < 2; ++n)
            CHECK(std::isnan(found.Y.items[n * 5 + row % 5]));
    }
    auto poisoned = in;
    poisoned.initial_h.items[5] = std::numeric_limits<float>::quiet_NaN(); // n = 1
    auto const found = Family::call(poisoned, options);
    for (std::size_t j = 0; j < 5; ++j) {
        CHECK(!std::isnan(found.Y_h.items[j]));
        CHECK(std::isnan(found.Y_h.items[5 + j]));
    }
}

} // namespace property_recurrent_test
