// The lengths of the rows of a batch: what the check accepts, in constant expressions too, and the text of
// every refusal.

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include <xloom/detail/check/lengths.hpp>

#include "infer/is_constant.hpp"

namespace check_lengths_test {

using namespace xloom;

namespace {

/// A reference to lengths, as a tensor of these dimensions.
struct some_lengths {
    std::initializer_list<std::int64_t> items{};
    xloom::shape dims{items.size()};
    bool given = true;

    constexpr bool is_given() const { return given; }
    constexpr xloom::shape const& shape() const { return dims; }
    constexpr std::int64_t operator[](std::size_t n) const { return items.begin()[n]; }
    std::string text(std::size_t n) const { return std::to_string(items.begin()[n]); }
};

constexpr bool check(some_lengths const& lengths, std::size_t N, std::size_t S)
{
    detail::check_lengths("xloom::op", "memory_seq_lens", lengths, N, "S", S);
    return true;
}

constexpr bool lengths_within_a_row()
{
    return check({{0, 7, 3}}, 3, 7) && check({{}}, 0, 7) && check({{0}}, 1, 0);
}

// Nothing is known of an omitted operand.
constexpr bool lengths_may_be_omitted() { return check({{9}, {1}, false}, 3, 7); }

} // namespace

TEST_CASE("check_lengths: lengths in [0, most], or none")
{
    static_assert(lengths_within_a_row());
    CHECK(lengths_within_a_row());
    static_assert(lengths_may_be_omitted());
    CHECK(lengths_may_be_omitted());
}

TEST_CASE("check_lengths: a length for each row")
{
    constexpr auto short_one = [] { return check({{1, 2}}, 3, 7); };
    constexpr auto long_one = [] { return check({{1, 2, 3}}, 2, 4); };
    constexpr auto column = [] { return check({{}, {2, 1}}, 2, 4); };
    constexpr auto scalar = [] { return check({{}, {}}, 1, 4); };
    static_assert(
        !is_constant<short_one> && !is_constant<long_one> && !is_constant<column> && !is_constant<scalar>);
    CHECK_THROWS_WITH_AS(short_one(),
        "xloom::op: memory_seq_lens must have the shape [N] = [3], but it is [2]. Give a length for each "
        "row.",
        shape_error);
    CHECK_THROWS_WITH_AS(long_one(),
        "xloom::op: memory_seq_lens must have the shape [N] = [2], but it is [3]. Give a length for each "
        "row.",
        shape_error);
    CHECK_THROWS_WITH_AS(column(),
        "xloom::op: memory_seq_lens must have the shape [N] = [2], but it is [2, 1]. Give a length for each "
        "row.",
        shape_error);
    constexpr auto of_batch = [] {
        detail::check_lengths("xloom::op", "sequence_lens", some_lengths{{1}}, 2, "T", 3, "B");
        return true;
    };
    static_assert(!is_constant<of_batch>);
    CHECK_THROWS_WITH_AS(of_batch(),
        "xloom::op: sequence_lens must have the shape [B] = [2], but it is [1]. Give a length for each row.",
        shape_error);
    CHECK_THROWS_WITH_AS(scalar(),
        "xloom::op: memory_seq_lens must have the shape [N] = [1], but it is []. Give a length for each row.",
        shape_error);
}

TEST_CASE("check_lengths: every one that is out of range")
{
    constexpr auto too_long = [] { return check({{5, 4}}, 2, 4); };
    constexpr auto negative = [] { return check({{8, 7, -1}}, 3, 7); };
    constexpr auto extreme = [] { return check({{-1, 0, std::numeric_limits<std::int64_t>::max()}}, 3, 4); };
    constexpr auto many = [] { return check({{1, 1, 1, 1, 1, 0}}, 6, 0); };
    static_assert(
        !is_constant<too_long> && !is_constant<negative> && !is_constant<extreme> && !is_constant<many>);
    CHECK_THROWS_WITH_AS(too_long(),
        "xloom::op: lengths must be in [0, S] = [0, 4], but memory_seq_lens[0] is 5. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(negative(),
        "xloom::op: lengths must be in [0, S] = [0, 7], but memory_seq_lens[0] is 8 and memory_seq_lens[2] "
        "is -1. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(extreme(),
        "xloom::op: lengths must be in [0, S] = [0, 4], but memory_seq_lens[0] is -1 and memory_seq_lens[2] "
        "is 9223372036854775807. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(many(),
        "xloom::op: lengths must be in [0, S] = [0, 0], but memory_seq_lens[0] is 1, memory_seq_lens[1] is "
        "1, memory_seq_lens[2] is 1, memory_seq_lens[3] is 1 and 1 more. Correct it.",
        index_error);
}

} // namespace check_lengths_test
