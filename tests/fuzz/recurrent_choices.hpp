#pragma once
// What the calls of recurrent operators have in common: options, lengths, and what damages them.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "decoder.hpp"
#include "outcome.hpp"
#include "support/recurrent_calls.hpp"

namespace fuzz {

/// Of outputs of calls with bounded activations.
template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-10;

/// Bounded ones in float, so that the tolerance holds.
template <class T>
std::vector<xloom::activation_function> choose_activations(
    decoder& bytes, std::mt19937& random, std::size_t D, std::size_t count)
{
    if (std::is_same_v<T, float> || bytes.flag())
        return {};
    return random_activations(random, D, count);
}

template <class T>
void damage_shape(decoder& bytes, textbook::array<T>& operand)
{
    operand.shape = bytes.damaged(operand.shape);
    operand.items.assign(textbook::size_of(operand.shape), T(0.25));
}

inline void damage_lengths(decoder& bytes, std::vector<std::int32_t>& lengths)
{
    if (lengths.empty())
        lengths.push_back(0);
    else if (bytes.flag())
        lengths.pop_back();
    else
        lengths[bytes.below(lengths.size())] =
            bytes.pick({-1, 7, std::numeric_limits<std::int32_t>::max(), 0});
}

/// Another of four options, which may be none.
template <class Options>
void damage_option(std::size_t which, decoder& bytes, Options& options)
{
    switch (which) {
    case 0:
        options.clip = bytes.pick(
            {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()});
        return;
    case 1:
        options.hidden_size = bytes.pick(
            {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, std::numeric_limits<std::int64_t>::max()});
        return;
    case 2:
        options.direction = static_cast<xloom::direction>(bytes.below(256));
        return;
    default:
        options.activations = decltype(options.activations)(
            bytes.below(xloom::detail::max_activations + 1), bytes.flag() ? "Tanh" : "Sine");
    }
}

/// What the damage left of the options is told to the textbook.
template <class To, class Options>
void read_damaged(To& to, Options const& options)
{
    to.direction = direction_names[static_cast<std::size_t>(options.direction)];
    to.clip = options.clip.value_or(textbook::no_clip);
    if (std::all_of(
            options.activations.begin(), options.activations.end(), [](auto name) { return name == "Tanh"; }))
        to.activations.assign(options.activations.size(), {xloom::activation::tanh});
}

template <class Options>
std::size_t directions_of(Options const& options)
{
    return options.direction == xloom::direction::bidirectional ? 2 : 1;
}

/// Is an option wrong, beside R and the number of activations?
template <class Options, class T>
bool is_refused(Options const& options, std::size_t activations, textbook::array<T> const& R)
{
    bool const has_names = std::all_of(options.activations.begin(), options.activations.end(),
        [](std::string_view name) { return name != "Sine"; });
    return static_cast<unsigned>(options.direction) > 2 || !has_names ||
           (options.clip && !(*options.clip > 0)) ||
           (!options.activations.empty() && options.activations.size() != activations) ||
           (R.shape.size() == 3 && options.hidden_size &&
               (*options.hidden_size < 1 || *options.hidden_size != static_cast<std::int64_t>(R.shape[2])));
}

inline bool lie_within(std::vector<std::int32_t> const& lengths, std::size_t most)
{
    return std::all_of(lengths.begin(), lengths.end(),
        [most](std::int64_t length) { return 0 <= length && length <= static_cast<std::int64_t>(most); });
}

/// Does the operand have this shape, if it is there?
template <class T>
bool fits(textbook::array<T> const& operand, textbook::dims const& shape)
{
    return textbook::is_absent(operand) || operand.shape == shape;
}

} // namespace fuzz
