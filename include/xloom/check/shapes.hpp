#pragma once
// Several operands whose shapes follow from a few sizes: what is wrong with any of them, in one sentence.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <xloom/core/error.hpp>
#include <xloom/core/shape.hpp>

namespace xloom::detail {

/// More bytes than a number takes up with its part of what fills a row up to whole vectors and lines of the
/// cache. Sizes that cannot be counted in so many bytes fit in no memory, and sums of those that can do not
/// overflow.
inline constexpr std::size_t padded_bytes = std::size_t{1} << 14;

/// An operand, and what its shape must be.
struct shape_requirement {
    std::string_view operand;
    std::string_view symbolic_shape; ///< of the expected shape
    shape expected;
    std::optional<shape> actual; ///< none: the operand is left out
};

/// True if both have the same axes, in another order, without those of length 1: transposing makes one of the
/// other.
constexpr bool are_transposed(shape a, shape b)
{
    auto const drop_ones = [](shape const& dims) {
        shape longer;
        for (std::size_t const dim : dims)
            if (dim != 1)
                longer.push_back(dim);
        return longer;
    };
    a = drop_ones(a);
    b = drop_ones(b);
    if (a == b)
        return false;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

/// What would make the operands right: a reshape needs as many items, a transposition the same axes.
constexpr std::string_view shape_remedy(std::span<shape_requirement const> laws)
{
    bool all_transposed = true, all_reshaped = true;
    for (shape_requirement const& law : laws)
        if (law.actual && *law.actual != law.expected) {
            bool const is_transposed = are_transposed(*law.actual, law.expected);
            bool const has_the_items = element_count(*law.actual) == element_count(law.expected);
            all_transposed &= is_transposed;
            all_reshaped &= has_the_items && !is_transposed;
        }
    return all_transposed ? ". Transpose it." : all_reshaped ? ". Reshape it." : ". Give it that shape.";
}

[[noreturn]] inline void fail_shapes(
    std::string_view op, std::string_view sizes, std::span<shape_requirement const> laws)
{
    fact_list facts;
    for (shape_requirement const& law : laws)
        if (law.actual && *law.actual != law.expected)
            facts.add(
                law.operand, " is ", *law.actual, " instead of ", law.symbolic_shape, " = ", law.expected);
    fail<shape_error>(op, ": the operands must have the shapes that ", sizes, " give them, but ", facts,
        shape_remedy(laws));
}

/// Requires every given operand to be as the law has it. `describe` says where the sizes come from.
template <class Describe>
constexpr void check_shapes(
    std::string_view op, std::span<shape_requirement const> laws, Describe const& describe)
{
    for (shape_requirement const& law : laws)
        if (law.actual && *law.actual != law.expected)
            fail_shapes(op, describe(), laws);
}

constexpr void check_given(
    std::string_view op, std::string_view operand, std::optional<shape> const& dims, std::size_t rank)
{
    if (!dims)
        fail<shape_error>(op, ": ", operand, " must be given, but it is left out. Give it ", rank, " axes.");
    if (dims->size() != rank)
        fail<shape_error>(op, ": ", operand, " must have ", rank, " axes, but its shape is ", *dims,
            ". Give it ", rank, ".");
}

} // namespace xloom::detail
