// Linear recurrences over ranks: those of the textbook for the whole axis.

#include <doctest/doctest.h>

#include <complex>
#include <random>
#include <vector>

#include <xloom/interop/threads.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/on_ranks.hpp"
#include "support/textbook_prefix.hpp"

namespace distributed_linear_recurrence_test {

using namespace xloom;

namespace {

template <class T, class C>
bool is_textbook(std::size_t length, std::size_t sequences, bool reverse, division how, std::size_t buffer,
    float largest = 1)
{
    std::mt19937 next(1);
    auto const some = [&] {
        xt::xtensor<T, 2> x = xt::zeros<T>({length, sequences});
        for (T& each : x)
            each = static_cast<T>(C(static_cast<float>(static_cast<int>(next() % 201) - 100) / 100));
        return x;
    };
    xt::xtensor<T, 2> a = some(), b = some();
    for (std::size_t i = 7; i < a.size(); i += 401) // of some blocks of some sequences
        a.data()[i] = static_cast<T>(C(largest));
    auto h0 = xt::xtensor<T, 1>::from_shape({sequences});
    for (std::size_t c = 0; c < sequences; ++c)
        h0(c) = static_cast<T>(C(static_cast<float>(c) + 0.5F));
    xt::xtensor<T, 2> expected = a;
    for (std::size_t c = 0; c < sequences; ++c) {
        auto const at = [&](std::size_t t) { return reverse ? length - 1 - t : t; };
        std::vector<textbook::map<C>> maps;
        for (std::size_t t = 0; t < length; ++t)
            maps.push_back({static_cast<C>(a(at(t), c)), static_cast<C>(b(at(t), c))});
        auto const h = textbook::linear_recurrence<C>(maps, static_cast<C>(h0(c)));
        for (std::size_t t = 0; t < length; ++t)
            expected(at(t), c) = static_cast<T>(h[t]);
    }
    return on_ranks([&](auto const& ranks) {
        range const part = part_of(how, ranks, length);
        distributed_axis const axis(ranks, part.length(), buffer);
        xt::xtensor<T, 2> const my_a = rows_of(a, part), my_b = rows_of(b, part),
                                wanted = rows_of(expected, part);
        xt::xtensor<T, 2> h = my_a;
        distributed_linear_recurrence_into(my_a, my_b, h0, h, {.reverse = reverse}, axis);
        auto const a_columns = in_columns(my_a), b_columns = in_columns(my_b);
        auto h_columns = a_columns;
        distributed_linear_recurrence_into(
            a_columns, b_columns, h0, h_columns, {.reverse = reverse}, thread_policy(2), axis);
        return are_equal(h, wanted) && are_equal(h_columns, wanted);
    });
}

} // namespace

TEST_CASE("recurrences over ranks")
{
    for (std::size_t const length : {0U, 1U, 17U, 300U, 2100U})
        for (std::size_t const sequences : {1U, 19U})
            for (division const how : divisions)
                for (bool const reverse : {false, true}) {
                    CAPTURE(length);
                    CAPTURE(sequences);
                    CHECK(is_textbook<float, float>(length, sequences, reverse, how, 1 << 20));
                }
    CHECK(is_textbook<float, float>(9000, 19, true, division::even, 1 << 20)); // for two threads a rank
    for (division const how : divisions)
        for (float const largest : {2.5F, 1e20F}) {
            CHECK(is_textbook<float, float>(2100, 19, false, how, 1 << 20, largest));
            CHECK(is_textbook<float, float>(300, 2, true, how, 1, largest));
            CHECK(is_textbook<double, double>(600, 1, false, how, 900, largest));
        }
    CHECK(is_textbook<double, double>(900, 5, false, division::ragged, 1));
    CHECK(is_textbook<std::complex<double>, std::complex<double>>(600, 2, true, division::ragged, 900));
    CHECK(is_textbook<bfloat16, float>(900, 5, false, division::ragged, 900));
}

TEST_CASE("recurrences over ranks: states that decay have the bits of one rank")
{
    std::size_t const length = 3000;
    xt::xtensor<float, 1> const a = 0.95F * xt::ones<float>({length}), silence = xt::zeros<float>({length});
    xt::xtensor<float, 1> const expected = linear_recurrence(a, silence, 1.0F);
    CHECK(on_ranks([&](auto const& ranks) {
        range const part = part_of(division::even, ranks, length);
        distributed_axis const axis(ranks, part.length());
        xt::xtensor<float, 1> const my_a = rows_of(a, part), my_b = rows_of(silence, part);
        xt::xtensor<float, 1> h = my_a;
        distributed_linear_recurrence_into(my_a, my_b, 1.0F, h, axis);
        return are_equal(h, rows_of(expected, part));
    }));
}

TEST_CASE("a first state of another shape on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 2> const a = {{1, 2}}, b = {{1, 2}};
        xt::xtensor<float, 2> h = {{7, 7}};
        xt::xtensor<float, 1> const h0 = xt::zeros<float>({ranks.rank() == 0 ? 3 : 2});
        distributed_axis const axis(ranks, 1);
        return text_of<shape_error>([&] {
            distributed_linear_recurrence_into(a, b, h0, h, axis);
        }) == "rank 0: xloom::distributed_linear_recurrence_into: h0 must be a number or have the shape of "
              "a without the axis of time, [2], but it has [3]. Give it that shape." &&
               h == xt::xtensor<float, 2>{{7, 7}};
    }));
}

TEST_CASE("lazy operands that throw on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 2> const a = {{1, 2}}, b = {{1, 2}};
        xt::xtensor<float, 1> const h0 = {1, 2};
        xt::xtensor<float, 2> h = {{7, 7}};
        distributed_axis const axis(ranks, 1);
        return is_failure_of_last(ranks, [&] {
            distributed_linear_recurrence_into(a, fails_on_last(ranks, b), h0, h, axis);
        }) && is_failure_of_last(ranks, [&] {
            distributed_linear_recurrence_into(a, b, fails_on_last(ranks, h0), h, axis);
        }) && h == xt::xtensor<float, 2>{{7, 7}};
    }));
}

TEST_CASE("ranks whose types differ")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float16, 1> h = {float16(1)};
        xt::xtensor<bfloat16, 1> other = {bfloat16(1)};
        distributed_axis const axis(ranks, 1);
        return is_refused_as_different(ranks, "distributed_linear_recurrence_into", [&] {
            if (ranks.rank() == 1)
                distributed_linear_recurrence_into(other, other, bfloat16(0), other, axis);
            else
                distributed_linear_recurrence_into(h, h, float16(0), h, axis);
        });
    }));
}

} // namespace distributed_linear_recurrence_test
