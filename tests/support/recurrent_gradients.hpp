#pragma once
// What the backward pass of every recurrent operator is compared with: derivatives of the forward pass on
// scalars that carry them. A Family is the operator: lstm_vjp_family, gru_vjp_family, rnn_vjp_family.

#include <doctest/doctest.h>

#include <cmath>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include "recurrent_cases.hpp"

using dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// All gradients; a bit for each operand of Family::parts.
inline constexpr unsigned every_gradient = ~0u;

/// How a backward pass is called.
struct vjp_call {
    placement from = placement::row_major, to = placement::row_major;
    unsigned wanted = every_gradient;
    double content = 0; ///< of the gradients before the call
};

template <class T>
placed_tensor<T> place_if_given(textbook::array<T> const& from, placement how)
{
    return from.shape.empty() ? placed_tensor<T>() : place<T>(from, how);
}

/// A tensor for gradient i, if it is wanted, with its content before the call.
template <class T>
placed_tensor<T> gradient_like(textbook::dims const& shape, vjp_call const& as, std::size_t i)
{
    if (!(as.wanted >> i & 1))
        return {};
    textbook::array<T> const before{
        shape, std::vector<T>(textbook::size_of(shape), static_cast<T>(as.content))};
    return place<T>(before, as.to);
}

template <class T>
textbook::array<T> array_if_given(placed_tensor<T> const& from)
{
    if (from.layout.dims.empty())
        return {};
    CHECK(has_clean_gaps(from));
    return to_array(from);
}

template <class To, class From>
textbook::array<To> converted_array(textbook::array<From> const& from)
{
    textbook::array<To> to{from.shape, {}};
    for (From const& item : from.items)
        to.items.push_back(static_cast<To>(item));
    return to;
}

/// Operands whose items are those of `from`, converted.
template <class Family, class To, class From>
typename Family::template operands<To> converted_operands(
    typename Family::template operands<From> const& from)
{
    typename Family::template operands<To> to;
    auto const source = Family::parts(from);
    auto const target = Family::parts(to);
    for (std::size_t i = 0; i < source.size(); ++i)
        *target[i] = converted_array<To>(*source[i]);
    to.sequence_lens = from.sequence_lens;
    if constexpr (requires { to.memory_seq_lens; })
        to.memory_seq_lens = from.memory_seq_lens;
    return to;
}

/// Sum of a * b, and of its absolute values.
struct inner_product {
    double value = 0, size = 0;

    void add(textbook::array<double> const& a, textbook::array<double> const& b)
    {
        REQUIRE(a.items.size() == b.items.size());
        for (std::size_t i = 0; i < a.items.size(); ++i) {
            value += a.items[i] * b.items[i];
            size += std::fabs(a.items[i] * b.items[i]);
        }
    }
};

inline textbook::array<double> slopes_of(textbook::array<dual> const& from)
{
    textbook::array<double> to{from.shape, {}};
    for (dual const& item : from.items)
        to.items.push_back(item.derivative(1));
    return to;
}

/// Random cotangents for outputs of these shapes.
template <class T>
recurrent_arrays<T> random_cotangents(std::mt19937& random, recurrent_arrays<double> const& like)
{
    recurrent_arrays<T> ct{
        random_array<T>(random, like.Y.shape, 1), random_array<T>(random, like.Y_h.shape, 1)};
    if (!like.Y_c.shape.empty())
        ct.Y_c = random_array<T>(random, like.Y_c.shape, 1);
    return ct;
}

/// Compares gradients with derivatives of the forward pass along a random direction of each operand, and
/// along one item of it. Differences up to `noise` are the rounding of sums that are 0.
template <class Family, class Cotangents>
void check_gradients(std::mt19937& random, typename Family::template operands<double> const& in,
    typename Family::options const& options, typename Family::template operands<double> const& gradients,
    Cotangents const& ct, double tolerance = 1e-12, double noise = 0)
{
    auto const parts = Family::parts(in);
    auto const found = Family::parts(gradients);
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (bool const is_dense : {true, false}) {
            if (parts[i]->items.empty() || found[i]->shape.empty())
                continue;
            auto direction = random_array<double>(random, parts[i]->shape, 1);
            if (!is_dense) {
                direction.items.assign(direction.items.size(), 0);
                direction.items[random() % direction.items.size()] = 1;
            }
            auto const s = boost::math::differentiation::make_fvar<double, 1>(0.0);
            auto moved = converted_operands<Family, dual, double>(in);
            for (std::size_t k = 0; k < direction.items.size(); ++k)
                Family::parts(moved)[i]->items[k] += s * direction.items[k];
            auto const outputs = Family::template call<dual>(moved, options);
            inner_product expected, got;
            for (std::size_t k = 0; k < ct.each().size(); ++k)
                expected.add(*ct.each()[k], slopes_of(*outputs.each()[k]));
            got.add(*found[i], direction);
            CAPTURE(i);
            CAPTURE(is_dense);
            CAPTURE(expected.value);
            CAPTURE(got.value);
            CHECK(std::fabs(got.value - expected.value) <= tolerance * (got.size + expected.size) + noise);
        }
}

/// Compares the gradient of each item of each operand with the central difference of the textbook.
template <class Family>
void check_central_differences(
    typename Family::template operands<double> const& in, typename Family::options const& options)
{
    std::mt19937 random(7);
    auto const ct = random_cotangents<double>(random, Family::template textbook<double>(in, options));
    auto const gradients = Family::template vjp<double>(in, options, ct);
    auto const value_at = [&](std::size_t i, std::size_t k, double step) {
        auto moved = in;
        Family::parts(moved)[i]->items[k] += step;
        auto const y = Family::template textbook<double>(moved, options);
        inner_product all;
        for (std::size_t output = 0; output < ct.each().size(); ++output)
            all.add(*ct.each()[output], *y.each()[output]);
        return all.value;
    };
    for (std::size_t i = 0; i < Family::parts(in).size(); ++i)
        for (std::size_t k = 0; k < Family::parts(in)[i]->items.size(); ++k) {
            double const step = 1e-6;
            CAPTURE(i);
            CAPTURE(k);
            CHECK(Family::parts(gradients)[i]->items[k] ==
                  doctest::Approx((value_at(i, k, step) - value_at(i, k, -step)) / (2 * step))
                      .epsilon(1e-7)
                      .scale(1));
        }
}

/// A call by chance: sizes, operands, every option, layout and memory. set(options, sizes, random) adds
/// options.
template <class Family, class Set>
void check_any_gradient(unsigned seed, Set const& set)
{
    std::mt19937 random(seed);
    std::size_t const some_H[] = {1, 3, 4, 5, 9};
    recurrent_sizes sizes{random() % 6, random() % 5, random() % 5, any_of(random, some_H), 1};
    unsigned const which = random_choice(random);
    typename Family::options options;
    options.direction = any_of(random, direction_names);
    sizes.D = options.direction == "bidirectional" ? 2 : 1;
    options.layout = static_cast<int>(random() % 2);
    set(options, sizes, random);
    auto const in = Family::template draw<double>(random, sizes, which, {.layout = options.layout});
    vjp_call const call{any_of(random, every_placement), any_of(random, every_placement)};
    std::string const text = text_of(sizes, which, options.direction, options.layout, call.from);
    CAPTURE(seed);
    CAPTURE(text);
    auto const ct = random_cotangents<double>(random, Family::template textbook<double>(in, options));
    auto const gradients = Family::template vjp<double>(in, options, ct, call);
    check_gradients<Family>(random, in, options, gradients, ct);

    // Gradients are added to.
    vjp_call sums = call;
    sums.content = 0.75;
    auto const more = Family::template vjp<double>(in, options, ct, sums);
    for (std::size_t i = 0; i < Family::parts(in).size(); ++i)
        for (std::size_t k = 0; k < Family::parts(more)[i]->items.size(); ++k)
            CHECK(
                std::fabs(Family::parts(more)[i]->items[k] - 0.75 - Family::parts(gradients)[i]->items[k]) <=
                1e-12 * (1 + std::fabs(Family::parts(gradients)[i]->items[k])));
}

/// True if all gradients have the same bits.
template <class Family, class T>
bool have_same_gradients(
    typename Family::template operands<T> const& a, typename Family::template operands<T> const& b)
{
    auto const parts = Family::parts(a), others = Family::parts(b);
    bool is_same = true;
    for (std::size_t i = 0; i < parts.size(); ++i)
        is_same = is_same && have_same_bits(*parts[i], *others[i]);
    return is_same;
}

/// The largest difference of gradients, relative where they are above 1.
template <class Family, class T>
double gradient_difference(typename Family::template operands<T> const& found,
    typename Family::template operands<double> const& expected)
{
    auto const parts = Family::parts(found);
    auto const others = Family::parts(expected);
    double largest = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
        largest = std::fmax(largest, difference(*parts[i], *others[i]));
    return largest;
}
