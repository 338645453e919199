// Scans over ranks: the results of the textbook for the whole axis, however it is divided.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <xloom/interop/threads.hpp>
#include <xloom/ranks/distributed_associative_scan.hpp>

#include "support/on_ranks.hpp"
#include "support/textbook_prefix.hpp"

namespace distributed_associative_scan_test {

using namespace xloom;

namespace {

/// Numbers of which some are negative; the last of several sequences is -0.
template <class T>
xt::xtensor<T, 2> some(std::size_t length, std::size_t sequences)
{
    std::mt19937 next(1);
    xt::xtensor<T, 2> x = xt::zeros<T>({length, sequences});
    for (T& each : x)
        each = static_cast<T>(static_cast<int>(next() % 201) - 100) / static_cast<T>(8);
    for (std::size_t t = 0; t < length && sequences > 1; ++t)
        x(t, sequences - 1) = -T(0);
    return x;
}

/// Replaces NaN, which equals nothing.
template <class X>
xt::xtensor<typename X::value_type, 2> comparable(X const& x)
{
    xt::xtensor<typename X::value_type, 2> y = x;
    for (auto& each : y)
        if (each != each)
            each = 77;
    return y;
}

/// The scans of all columns, by the textbook.
template <class T, class Op>
xt::xtensor<T, 2> textbook_scans(
    xt::xtensor<T, 2> const& x, Op const& op, associative_scan_options const& options, T const& identity)
{
    std::size_t const length = x.shape(0);
    xt::xtensor<T, 2> y = x;
    for (std::size_t c = 0; c < x.shape(1); ++c) {
        std::vector<T> column(length);
        for (std::size_t t = 0; t < length; ++t)
            column[t] = x(options.reverse ? length - 1 - t : t, c);
        std::vector<T> const scanned = textbook::associative_scan(
            column, op, options.exclusive ? std::optional(identity) : std::nullopt);
        for (std::size_t t = 0; t < length; ++t)
            y(options.reverse ? length - 1 - t : t, c) = scanned[t];
    }
    return y;
}

/// True on all ranks if their parts of the scan are those of the textbook.
template <class T, class Op, class Plain>
bool is_textbook(Op const& op, Plain const& plain, T const& identity, std::size_t length,
    std::size_t sequences, associative_scan_options options, division how, std::size_t buffer)
{
    xt::xtensor<T, 2> const x = some<T>(length, sequences),
                            expected = textbook_scans<T>(x, plain, options, identity);
    return on_ranks([&](auto const& ranks) {
        range const part = part_of(how, ranks, length);
        distributed_axis const axis(ranks, part.length(), buffer);
        xt::xtensor<T, 2> mine = rows_of(x, part);
        xt::xtensor<T, 2> const wanted = rows_of(expected, part);
        auto columns = in_columns(mine);
        distributed_associative_scan_into(op, columns, columns, options, axis);
        distributed_associative_scan_into(op, mine, mine, options, axis, thread_policy(2));
        return are_equal(comparable(mine), comparable(wanted)) &&
               are_equal(comparable(columns), comparable(wanted));
    });
}

constexpr auto affine = [](float a, float b) { return a * 0.5F + b; };

} // namespace

TEST_CASE("parts of any length, groups and blocks that are cut")
{
    for (std::size_t const length : {0U, 1U, 15U, 17U, 255U, 256U, 257U, 600U, 2100U})
        for (std::size_t const sequences : {1U, 3U, 21U})
            for (division const how : divisions)
                for (bool const reverse : {false, true})
                    for (bool const exclusive : {false, true}) {
                        associative_scan_options const options{.reverse = reverse, .exclusive = exclusive};
                        CAPTURE(length);
                        CAPTURE(sequences);
                        CAPTURE(static_cast<int>(how));
                        CHECK(is_textbook<float>(
                            reduction::add, reduce_add, 0, length, sequences, options, how, 1 << 20));
                    }
}

TEST_CASE("types, operators, and buffers for a few sequences")
{
    for (bool const exclusive : {false, true}) {
        associative_scan_options const options{.reverse = exclusive, .exclusive = exclusive};
        auto const holds = [&]<class T>(T, auto const& op, auto const& plain, T identity) {
            for (std::size_t const buffer : {1U, 5000U})
                if (!is_textbook<T>(op, plain, identity, 700, 7, options, division::ragged, buffer))
                    return false;
            return true;
        };
        CHECK(holds(double{}, reduce_mul, reduce_mul, 1.0));
        CHECK(holds(std::int32_t{}, reduce_max, reduce_max, std::numeric_limits<std::int32_t>::min()));
        CHECK(holds(std::uint8_t{}, reduce_add, reduce_add, std::uint8_t{0}));
        CHECK(holds(std::int64_t{}, reduction::min, reduce_min, std::numeric_limits<std::int64_t>::max()));
        CHECK(holds(float{}, monoid{affine, 2.0F}, affine, 2.0F));
    }
}

TEST_CASE("products that leave the safe range in any part")
{
    for (std::size_t const length : {17U, 300U, 2100U})
        for (std::size_t const sequences : {1U, 21U})
            for (division const how : divisions)
                for (bool const exclusive : {false, true})
                    CHECK(is_textbook<float>(reduce_mul, reduce_mul, 1.0F, length, sequences,
                        {.reverse = exclusive, .exclusive = exclusive}, how, 1 << 20));
}

TEST_CASE("tuples, whose operator does not commute")
{
    using map = std::tuple<std::int32_t, std::uint16_t>;
    auto const compose = [](map const& f, map const& g) {
        return map(std::get<0>(f) * std::get<0>(g) % 97,
            static_cast<std::uint16_t>((std::get<0>(g) * std::get<1>(f) + std::get<1>(g)) % 97));
    };
    constexpr std::size_t length = 1000;
    xt::xtensor<std::int32_t, 1> a = xt::zeros<std::int32_t>({length});
    xt::xtensor<std::uint16_t, 1> b = xt::zeros<std::uint16_t>({length});
    std::vector<map> both;
    for (std::size_t i = 0; i < length; ++i) {
        a(i) = static_cast<std::int32_t>(i % 5 + 1);
        b(i) = static_cast<std::uint16_t>(i % 7);
        both.emplace_back(a(i), b(i));
    }
    std::vector<map> const expected = textbook::associative_scan(both, compose);
    CHECK(on_ranks([&](auto const& ranks) {
        range const part = part_of(division::ragged, ranks, length);
        distributed_axis const axis(ranks, part.length());
        xt::xtensor<std::int32_t, 1> x = rows_of(a, part);
        xt::xtensor<std::uint16_t, 1> y = rows_of(b, part);
        distributed_associative_scan_into(compose, std::tie(x, y), std::tie(x, y), axis);
        for (std::size_t i = 0; i < part.length(); ++i)
            if (map(x(i), y(i)) != expected[part.begin + i])
                return false;
        return true;
    }));
}

TEST_CASE("an error of one rank is an error of all, before anything is written")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::size_t const last = ranks.size() - 1;
        xt::xtensor<float, 1> x = {1, 2, 3}, y = {7, 7, 7};
        distributed_axis const axis(ranks, 3);
        std::string const text = text_of<shape_error>([&] {
            distributed_associative_scan_into(reduce_add, x, y, {.axis = ranks.rank() == last ? 1 : 0}, axis);
        });
        return text ==
                   "rank " + std::to_string(last) +
                       ": xloom::distributed_associative_scan_into: an axis of a tensor of rank r must be "
                       "in [-r, r - 1], but options.axis is 1 and x has the shape [3]. Name an axis that "
                       "the tensor has." &&
               y == xt::xtensor<float, 1>{7, 7, 7};
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 1> x = {1, 2, 3};
        distributed_axis const axis(ranks, 2);
        return text_of<shape_error>([&] { distributed_associative_scan_into(reduce_add, x, x, axis); }) ==
               "rank 0: xloom::distributed_associative_scan_into: the divided axis must have the length that "
               "distributed_axis was made with, 2, but axis 0 of x has 3. Make a distributed_axis of that "
               "length on all ranks.";
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 1> x = {1, 2, 3};
        distributed_axis const axis(ranks, 3);
        return text_of<option_error>([&] {
            distributed_associative_scan_into(affine, x, x, {.exclusive = true}, axis);
        }) == "rank 0: xloom::distributed_associative_scan_into: an exclusive scan begins with the identity "
              "of "
              "its operator, but that of a callable is not known. Pass xloom::monoid{op, identity}.";
    }));
}

TEST_CASE("ranks that make different calls")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 1> x = {1, 2, 3};
        distributed_axis const axis(ranks, 3);
        std::string const text = text_of<option_error>([&] {
            distributed_associative_scan_into(reduce_add, x, x, {.reverse = ranks.rank() == 1}, axis);
        });
        return text ==
               (ranks.size() == 1
                       ? ""
                       : "xloom::distributed_associative_scan_into: all ranks must make the same call, "
                         "but the operator, shapes, types or options of rank 1 are not those of rank 0. "
                         "Make them equal.");
    }));
}

TEST_CASE("bool")
{
    constexpr std::size_t length = 700;
    CHECK(on_ranks([&](auto const& ranks) {
        range const part = part_of(division::even, ranks, length);
        distributed_axis const axis(ranks, part.length());
        xt::xtensor<bool, 1> x = xt::zeros<bool>({part.length()});
        for (std::size_t i = 0; i < part.length(); ++i)
            x(i) = part.begin + i == 300;
        distributed_associative_scan_into(reduction::max, x, x, axis);
        for (std::size_t i = 0; i < part.length(); ++i)
            if (x(i) != (part.begin + i >= 300))
                return false;
        return true;
    }));
}

TEST_CASE("a callable that throws on one rank")
{
    for (std::size_t const length : {20U, 600U})
        CHECK(on_ranks([&](auto const& ranks) {
            std::size_t const last = ranks.size() - 1;
            xt::xtensor<float, 1> x = xt::ones<float>({length});
            distributed_axis const axis(ranks, length);
            auto const op = [&](float a, float b) {
                if (ranks.rank() == last)
                    throw std::domain_error("enough");
                return a + b;
            };
            auto const call = [&] { distributed_associative_scan_into(op, x, x, axis); };
            if (ranks.rank() == last)
                return text_of<std::domain_error>(call) == "enough";
            return text_of<rank_error>(call) == "rank " + std::to_string(last) + ": enough";
        }));
}

TEST_CASE("a lazy operand that throws on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 1> const x = {1, 2, 3};
        xt::xtensor<float, 1> y = {7, 7, 7};
        distributed_axis const axis(ranks, 3);
        return is_failure_of_last(ranks, [&] {
            distributed_associative_scan_into(reduce_add, fails_on_last(ranks, x), y, axis);
        }) && y == xt::xtensor<float, 1>{7, 7, 7};
    }));
}

TEST_CASE("ranks whose types, operators or axes differ")
{
    std::string const op = "distributed_associative_scan_into";
    CHECK(on_ranks([&](auto const& ranks) {
        bool const is_other = ranks.rank() == 1;
        xt::xtensor<float, 1> x = {1, 2, 3};
        xt::xtensor<std::int32_t, 1> i = {1, 2, 3};
        distributed_axis const axis(ranks, 3), other(ranks, is_other ? 3 : 5);
        return is_refused_as_different(ranks, op,
                   [&] {
                       if (is_other)
                           distributed_associative_scan_into(reduce_add, i, i, axis);
                       else
                           distributed_associative_scan_into(reduce_add, x, x, axis);
                   }) &&
               is_refused_as_different(ranks, op,
                   [&] {
                       if (is_other)
                           distributed_associative_scan_into(reduce_max, x, x, axis);
                       else
                           distributed_associative_scan_into(reduction::add, x, x, axis);
                   }) &&
               is_refused_as_different(ranks, op,
                   [&] {
                       if (is_other)
                           distributed_associative_scan_into([](float, float b) { return b; }, x, x, axis);
                       else
                           distributed_associative_scan_into([](float a, float) { return a; }, x, x, axis);
                   }) &&
               is_refused_as_different(ranks, op,
                   [&] {
                       xt::xtensor<float, 1> part = xt::ones<float>({is_other || ranks.size() == 1 ? 3 : 5});
                       distributed_associative_scan_into(
                           reduce_add, part, part, is_other || ranks.size() == 1 ? axis : other);
                   }) &&
               (ranks.size() == 1 ||
                   (x == xt::xtensor<float, 1>{1, 2, 3} && i == xt::xtensor<std::int32_t, 1>{1, 2, 3}));
    }));
}

TEST_CASE("a reduction may be named in two ways")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<std::int32_t, 1> x = {1};
        distributed_axis const axis(ranks, 1);
        if (ranks.rank() == 0)
            distributed_associative_scan_into(reduce_add, x, x, axis);
        else
            distributed_associative_scan_into(reduction::add, x, x, axis);
        return x(0) == static_cast<std::int32_t>(ranks.rank()) + 1;
    }));
}

} // namespace distributed_associative_scan_test
