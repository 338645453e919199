// The rules on AttnLSTM's attention, as far as they hold at compile time.

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

#include <xloom/detail/check/attn_lstm.hpp>

namespace check_attn_lstm_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

using maybe = std::optional<shape>;

constexpr recurrent_widths check(
    maybe const& R, maybe const& QW, maybe const& MW, maybe const& V, maybe const& AW = std::nullopt)
{
    return detail::check_attention("xloom::attn_lstm", R, QW, MW, V, AW);
}

constexpr bool are(
    recurrent_widths const& widths, std::size_t A, std::size_t E, std::size_t C, bool has_layer)
{
    return widths.A == A && widths.E == E && widths.C == C && widths.attends && widths.has_layer == has_layer;
}

constexpr bool widths_of_attention()
{
    bool right = are(check(shape{1, 8, 2}, shape{1, 2, 7}, shape{1, 6, 7}, shape{1, 7}), 7, 6, 6, false);
    right &= are(
        check(shape{1, 8, 2}, shape{1, 2, 7}, shape{1, 6, 7}, shape{1, 7}, shape{1, 8, 5}), 7, 6, 5, true);
    right &= are(
        check(shape{2, 8, 2}, shape{2, 2, 7}, shape{2, 6, 7}, shape{2, 7}, shape{2, 8, 5}), 7, 6, 5, true);
    // Any of them may be 0.
    right &= are(check(shape{1, 8, 2}, shape{1, 2, 0}, shape{1, 6, 0}, shape{1, 0}), 0, 6, 6, false);
    right &= are(check(shape{1, 8, 2}, shape{1, 2, 7}, shape{1, 0, 7}, shape{1, 7}), 7, 0, 0, false);
    right &= are(
        check(shape{1, 8, 2}, shape{1, 2, 7}, shape{1, 0, 7}, shape{1, 7}, shape{1, 2, 3}), 7, 0, 3, true);
    right &= are(
        check(shape{1, 8, 2}, shape{1, 2, 7}, shape{1, 6, 7}, shape{1, 7}, shape{1, 8, 0}), 7, 6, 0, true);
    return right;
}

/// Widths and memories whose sizes in bytes are large, and representable.
constexpr bool sizes_that_can_be_counted()
{
    constexpr int digits = std::numeric_limits<std::size_t>::digits;
    constexpr std::size_t E = std::size_t{1} << (digits / 2 - 3), S = E / 4;
    recurrent_widths const wide = check(shape{1, 8, 2}, shape{1, 2, E}, shape{1, E, E}, shape{1, E});
    detail::check_memory_sizes("xloom::attn_lstm", wide, 1, S);
    recurrent_widths twice = wide;
    twice.D = 2;
    detail::check_memory_sizes("xloom::attn_lstm", twice, S, 1);
    return are(wide, E, E, E, false);
}

/// Without attention there is no memory, whatever S is.
constexpr bool no_memory_has_any_size()
{
    detail::check_memory_sizes("xloom::attn_lstm", {}, 1, (std::numeric_limits<std::size_t>::max)());
    return true;
}

constexpr bool no_attention()
{
    recurrent_widths const none = check(shape{1, 8, 2}, std::nullopt, std::nullopt, std::nullopt);
    return none.A == 0 && none.E == 0 && none.C == 0 && !none.attends && !none.has_layer;
}

constexpr recurrent_widths with_layer{.A = 7, .E = 6, .C = 5, .attends = true, .has_layer = true},
    without_layer{.A = 7, .E = 6, .C = 6, .attends = true}, none{};

constexpr std::size_t check_memory(recurrent_widths sizes, std::size_t D, std::size_t N, maybe const& M,
    maybe const& initial_attention = std::nullopt, maybe const& initial_alignment = std::nullopt,
    bool has_lengths = false)
{
    sizes.D = D;
    return detail::check_memory(
        "xloom::attn_lstm", sizes, N, M, has_lengths, initial_attention, initial_alignment);
}

constexpr bool steps_of_memory()
{
    bool right = check_memory(with_layer, 1, 2, shape{2, 4, 6}) == 4;
    right &= check_memory(with_layer, 2, 2, shape{2, 4, 6}, shape{2, 2, 5}, shape{2, 2, 4}, true) == 4;
    right &= check_memory(without_layer, 1, 2, shape{2, 4, 6}, shape{1, 2, 6}) == 4;
    right &= check_memory(with_layer, 1, 0, shape{0, 4, 6}, shape{1, 0, 5}, shape{1, 0, 4}) == 4;
    right &= check_memory(with_layer, 1, 2, shape{2, 0, 6}, std::nullopt, shape{1, 2, 0}) == 0;
    right &= check_memory(none, 1, 2, std::nullopt) == 0;
    return right;
}

constexpr bool together()
{
    using operand = std::pair<std::string_view, bool>;
    bool right = detail::check_together("op", "a and b", std::array{operand("a", true), operand("b", true)});
    right &= !detail::check_together("op", "a and b", std::array{operand("a", false), operand("b", false)});
    return right;
}

} // namespace

TEST_CASE("check_attention tells A, E and C")
{
    static_assert(widths_of_attention());
    CHECK(widths_of_attention());
    static_assert(sizes_that_can_be_counted());
    CHECK(sizes_that_can_be_counted());
    static_assert(no_memory_has_any_size());
    CHECK(no_memory_has_any_size());
    static_assert(no_attention());
    CHECK(no_attention());
}

TEST_CASE("check_memory tells S")
{
    static_assert(steps_of_memory());
    CHECK(steps_of_memory());
}

TEST_CASE("check_together requires all or none")
{
    static_assert(together());
    CHECK(together());
    using operand = std::pair<std::string_view, bool>;
    CHECK_THROWS_WITH_AS(detail::check_together("op", "a, b and c",
                             std::array{operand("a", true), operand("b", false), operand("c", true)}),
        "op: a, b and c must be given together, but b is omitted. Give all of them, or none for a plain "
        "LSTM.",
        shape_error);
    CHECK_THROWS_WITH_AS(detail::check_together("op", "a, b and c",
                             std::array{operand("a", false), operand("b", false), operand("c", true)}),
        "op: a, b and c must be given together, but a and b are omitted. Give all of them, or none for a "
        "plain LSTM.",
        shape_error);
}

TEST_CASE("check_attention requires R first, from which H comes")
{
    CHECK_THROWS_WITH_AS(check(std::nullopt, std::nullopt, std::nullopt, std::nullopt),
        "xloom::attn_lstm: R must be given, but it is omitted. Give it 3 axes.", shape_error);
    CHECK_THROWS_WITH_AS(check(shape{8, 2}, shape{1, 2, 7}, shape{1, 6, 7}, shape{1, 7}),
        "xloom::attn_lstm: R must have 3 axes, but its shape is [8, 2]. Give it 3.", shape_error);
}

TEST_CASE("check_attention names every constant of another shape")
{
    CHECK_THROWS_WITH_AS(check(shape{1, 8, 2}, shape{1, 3, 7}, shape{1, 6, 7}, shape{1, 8}, shape{1, 6, 5}),
        "xloom::attn_lstm: the operands must have the shapes that D = 1, H = 2, E = 6 and A = 7 give them, "
        "but QW is [1, 3, 7] instead of "
        "[D, H, A] = [1, 2, 7], V is [1, 8] instead of [D, A] = [1, 7] and AW is [1, 6, 5] instead of [D, H "
        "+ E, L] = [1, 8, 5]. Give it "
        "that shape.",
        shape_error);
}

TEST_CASE("check_memory refuses a memory where there is no attention, and one of another size")
{
    CHECK_THROWS_WITH_AS(check_memory(none, 1, 2, std::nullopt, std::nullopt, std::nullopt, true),
        "xloom::attn_lstm: memory is for weights with attention, but QW, MW and V are omitted and "
        "memory_seq_lens is given. Give them, or omit it.",
        shape_error);
    CHECK_THROWS_WITH_AS(check_memory(with_layer, 1, 2, shape{2, 4, 5}, shape{1, 2, 6}, shape{1, 2, 3}),
        "xloom::attn_lstm: the operands must have the shapes that D = 1, N = 2, S = 4, E = 6 and C = 5 give "
        "them, but M is [2, 4, 5] "
        "instead of [N, S, E] = [2, 4, 6], initial_attention is [1, 2, 6] instead of [D, N, C] = [1, 2, 5] "
        "and initial_alignment is [1, 2, "
        "3] instead of [D, N, S] = [1, 2, 4]. Give it that shape.",
        shape_error);
}

} // namespace check_attn_lstm_test
