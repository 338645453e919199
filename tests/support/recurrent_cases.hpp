#pragma once
// What every recurrent operator is compared with its textbook on. A Family is the operator: lstm_family,
// gru_family, rnn_family.

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "recurrent_calls.hpp"

/// The bounds that float and double keep in what follows; double's leave room for activations that let
/// numbers grow.
template <class T>
inline constexpr double case_tolerance = std::is_same_v<T, float> ? 4e-6 : 1e-12;

inline constexpr std::size_t every_H[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 33};
inline constexpr std::size_t every_I[] = {0, 1, 2, 5, 8, 17};
inline constexpr std::size_t every_N[] = {0, 1, 2, 5, 6, 7, 13, 97}; ///< 97 rows: steps are taken one by one
inline constexpr std::size_t every_T[] = {
    0, 1, 2, 7, 40}; ///< 40 steps of 5 rows: many together, several times

template <class Item, std::size_t Count>
Item const& any_of(std::mt19937& random, Item const (&choices)[Count])
{
    return choices[random() % Count];
}

/// Sizes whose textbook does not take long.
inline recurrent_sizes random_sizes(std::mt19937& random)
{
    recurrent_sizes sizes{any_of(random, every_T), any_of(random, every_N), any_of(random, every_I),
        any_of(random, every_H), 1};
    std::size_t const step = sizes.N * sizes.H * (sizes.I + sizes.H);
    while (sizes.T > 1 && sizes.T * step > 100'000)
        sizes.T /= 2;
    return sizes;
}

inline std::string text_of(
    recurrent_sizes const& sizes, unsigned which, std::string const& direction, int layout, placement where)
{
    std::ostringstream text;
    text << "T " << sizes.T << ", N " << sizes.N << ", I " << sizes.I << ", H " << sizes.H << ", "
         << direction << ", which " << which << ", layout " << layout << ", placement "
         << static_cast<int>(where);
    return text.str();
}

/// A call with packed weights into the caller's outputs, any of them omitted, in memory by chance.
template <class Family, class T>
void check_call_into(std::mt19937& random, typename Family::template operands<T> const& in,
    typename Family::options const& options, placement where, recurrent_arrays<double> const& expected)
{
    placement const to = any_of(random, every_placement);
    typename Family::template tensors<T> const tensors(in, where);
    typename Family::template weights<T> const weights(tensors.constants(), Family::options_of(options));
    output_tensors<T> out(expected, to, {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0});
    xloom::recurrent_workspace<T> workspace;
    Family::template call_into<T>(tensors, weights, out, workspace);
    CHECK(out.difference_from(expected) < case_tolerance<T>);
    CHECK(out.has_clean_gaps());
}

/// A call on random operands.
template <class Family, class T>
void check_call(std::mt19937& random, recurrent_sizes const& sizes, unsigned which,
    typename Family::options const& options)
{
    auto const in = Family::template draw<T>(random, sizes, which);
    CHECK(difference(Family::template call<T>(in, options), Family::template textbook<T>(in, options)) <
          case_tolerance<T>);
}

/// A call like any other: sizes, operands, direction, layout and memory by chance. set(options, random) adds
/// options of its own.
template <class Family, class T, class Set>
void check_any_call(unsigned seed, Set const& set)
{
    std::mt19937 random(seed);
    recurrent_sizes sizes = random_sizes(random);
    unsigned const which = random_choice(random);
    typename Family::options options;
    options.direction = any_of(random, direction_names);
    sizes.D = options.direction == "bidirectional" ? 2 : 1;
    options.layout = static_cast<int>(random() % 2);
    placement const where = any_of(random, every_placement);
    set(options, sizes, random);
    auto const in = Family::template draw<T>(random, sizes, which, {.layout = options.layout});
    std::string const call = text_of(sizes, which, options.direction, options.layout, where);
    CAPTURE(seed);
    CAPTURE(call);
    auto const expected = Family::template textbook<T>(in, options);
    CHECK(difference(Family::template call<T>(in, options, where), expected) < case_tolerance<T>);

    check_call_into<Family, T>(random, in, options, where, expected);
}

/// Activations by chance, kept from growing too far by clip.
template <class Family, class Options>
void draw_activations(Options& options, recurrent_sizes& sizes, std::mt19937& random)
{
    options.activations = random_activations(random, sizes.D, Family::activations);
    if (random() % 4 != 0)
        options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
    sizes.T = std::min<std::size_t>(sizes.T, 7);
}

/// The default activations.
template <class Options>
void keep_activations(Options& options, recurrent_sizes&, std::mt19937& random)
{
    if (random() % 4 == 0)
        options.clip = 0.1 + static_cast<double>(random() % 8) / 4;
}

/// One row of few units, which has an engine of its own: in any memory, layout and direction, with its length
/// and its initial states given or omitted.
template <class Family, class T>
void check_one_row()
{
    std::mt19937 random(3);
    for (std::size_t const H : every_H)
        for (std::size_t const I : every_I)
            for (std::size_t const steps : {std::size_t{1}, std::size_t{3}}) {
                typename Family::options options;
                options.direction = any_of(random, direction_names);
                options.layout = static_cast<int>(random() % 2);
                recurrent_sizes const sizes{steps, 1, I, H, options.direction == "bidirectional" ? 2u : 1u};
                unsigned const which = random_choice(random) & ~unsigned(with_P);
                placement const where = any_of(random, every_placement);
                auto const in = Family::template draw<T>(random, sizes, which, {.layout = options.layout});
                std::string const call = text_of(sizes, which, options.direction, options.layout, where);
                CAPTURE(call);
                auto const expected = Family::template textbook<T>(in, options);
                check_call_into<Family, T>(random, in, options, where, expected);
            }
}
