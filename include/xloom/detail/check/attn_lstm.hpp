#pragma once
// Shape requirements of AttnLSTM's attention.

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <xloom/detail/check/recurrent.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The name of an operand, and true if it is given.
using named_presence = std::pair<std::string_view, bool>;

[[noreturn]] inline void fail_together(
    std::string_view op, std::string_view names, std::span<named_presence const> operands)
{
    fact_list missing;
    for (auto const& operand : operands)
        if (!operand.second)
            missing.add(operand.first);
    fail<shape_error>(op, ": ", names, " must be given together, but ", missing,
        missing.size() == 1 ? " is" : " are", " omitted. Give all of them, or none for a plain LSTM.");
}

/// Requires that all of these operands are given or none; returns true if they are given.
constexpr bool check_together(
    std::string_view op, std::string_view names, std::span<named_presence const> operands)
{
    std::size_t given = 0;
    for (auto const& operand : operands)
        given += operand.second ? 1 : 0;
    if (given != 0 && given != operands.size())
        fail_together(op, names, operands);
    return given != 0;
}

/// Checks QW [D, H, A], MW [D, E, A], V [D, A] and AW [D, H + E, L], and returns A, E and C. H is
/// that of R.
constexpr recurrent_widths check_attention(
    std::string_view op, shape_ref R, shape_ref QW, shape_ref MW, shape_ref V, shape_ref AW)
{
    check_given(op, "R", R, 3);
    bool const attends = check_together(op, "QW, MW and V",
        std::array{
            named_presence{"QW", bool(QW)}, named_presence{"MW", bool(MW)}, named_presence{"V", bool(V)}});
    if (!attends) {
        if (AW)
            fail<shape_error>(op, ": an attention layer needs attention, but AW is ", *AW,
                " and QW, MW and V are omitted. Give them, or omit AW.");
        return {};
    }
    check_given(op, "MW", MW, 3);
    if (AW)
        check_given(op, "AW", AW, 3);
    std::size_t const D = (*R)[0], H = (*R)[2], E = (*MW)[1], A = (*MW)[2], L = AW ? (*AW)[2] : 0;
    if (!has_strides({D, 2, (std::max)(H, E), (std::max)(A, L)}))
        fail<shape_error>(op, ": the weights must fit in memory, but ",
            AW ? concat("R is ", *R, ", MW is ", *MW, " and AW is ", *AW)
               : concat("R is ", *R, " and MW is ", *MW),
            ". Reduce them.");
    check_shapes(op,
        std::array{
            shape_requirement{"QW", "[D, H, A]", {D, H, A}, QW},
            shape_requirement{"MW", "[D, E, A]", {D, E, A}, MW},
            shape_requirement{"V", "[D, A]", {D, A}, V},
            shape_requirement{"AW", "[D, H + E, L]", {D, H + E, L}, AW},
        },
        [&] { return concat("D = ", D, ", H = ", H, ", E = ", E, " and A = ", A); });
    return {.A = A, .E = E, .C = AW ? L : E, .attends = true, .has_layer = bool(AW)};
}

/// Requires that the sizes of keys, values and alignments do not overflow.
constexpr void check_memory_sizes(
    std::string_view op, recurrent_widths const& sizes, std::size_t N, std::size_t S)
{
    if (sizes.attends && !has_strides({sizes.D, N, S, (std::max)(sizes.A, sizes.E)}, sizeof(float)))
        fail<shape_error>(op, ": keys and alignments must fit in memory, but D = ", sizes.D, ", N = ", N,
            ", S = ", S, ", A = ", sizes.A, ", E = ", sizes.E, " and C = ", sizes.C,
            ". Choose smaller sizes.");
}

/// Checks M [N, S, E], initial_attention [D, N, C] and initial_alignment [D, N, S]. Returns S; 0 without
/// attention.
constexpr std::size_t check_memory(std::string_view op, recurrent_widths const& sizes, std::size_t N,
    shape_ref M, bool has_lengths, shape_ref initial_attention, shape_ref initial_alignment)
{
    if (!sizes.attends) {
        for (bool const is_given : {bool(M), has_lengths, bool(initial_attention), bool(initial_alignment)})
            if (is_given)
                fail<shape_error>(op,
                    ": memory is for weights with attention, but QW, MW and V are omitted and ",
                    M                   ? "M"
                    : has_lengths       ? "memory_seq_lens"
                    : initial_attention ? "initial_attention"
                                        : "initial_alignment",
                    " is given. Give them, or omit it.");
        return 0;
    }
    check_given(op, "M", M, 3);
    std::size_t const S = (*M)[1], D = sizes.D;
    check_memory_sizes(op, sizes, N, S);
    check_shapes(op,
        std::array{
            shape_requirement{"M", "[N, S, E]", {N, S, sizes.E}, M},
            shape_requirement{"initial_attention", "[D, N, C]", {D, N, sizes.C}, initial_attention},
            shape_requirement{"initial_alignment", "[D, N, S]", {D, N, S}, initial_alignment},
        },
        [&] { return concat("D = ", D, ", N = ", N, ", S = ", S, ", E = ", sizes.E, " and C = ", sizes.C); });
    return S;
}

} // namespace xloom::inline XLOOM_ABI::detail
