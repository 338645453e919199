#pragma once
// The check of several operands whose shapes follow from a few sizes, with one error text for all of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires that the size in bytes of a tensor of Ts, and its strides, are representable in std::ptrdiff_t.
///
/// Errors    shape_error
template <class T>
constexpr void check_fits_in_memory(shape const& dims)
{
    if (!has_strides(dims, sizeof(T)))
        fail<shape_error>("xloom: the buffers of an operator must fit in memory, but its sizes need more "
                          "bytes than std::ptrdiff_t can count. Choose smaller sizes.");
}

/// As above, of `count` numbers. The largest std::size_t stands for all counts that are larger.
template <class T>
constexpr void check_fits_in_memory(std::size_t count)
{
    check_fits_in_memory<T>(shape{count});
}

/// Requires that `axis`, an option, is an axis of `operand`, and returns it, counted from the front.
///
/// Errors    shape_error: an axis out of range.
constexpr std::size_t check_axis_option(
    std::string_view op, std::string_view operand, shape const& dims, std::int64_t axis)
{
    if (!is_axis(axis, dims.size()))
        fail_axis(op, "options.axis is ", axis, " and ", operand, " has the shape ", dims);
    return wrap_axis(axis, dims.size());
}

/// A non-owning reference to the shape of an operand that may be omitted: then it is false.
class shape_ref {
public:
    constexpr shape_ref() = default;
    constexpr shape_ref(shape const& dims) : dims_(&dims) {}
    constexpr shape_ref(std::optional<shape> const& dims) : dims_(dims ? &*dims : nullptr) {}

    constexpr explicit operator bool() const noexcept { return dims_ != nullptr; }
    constexpr shape const& operator*() const noexcept { return *dims_; }
    constexpr shape const* operator->() const noexcept { return dims_; }

private:
    shape const* dims_ = nullptr;
};

/// An operand with its expected and its actual shape.
struct shape_requirement {
    std::string_view operand;
    std::string_view symbolic_shape; ///< of the expected shape, such as [D, N, H]
    shape expected;
    shape_ref actual;
};

/// True if both have the same axes in another order, not counting those of length 1: one is a transposition
/// of the other.
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

/// Returns the remedy: a reshape requires the same number of items, a transposition the same axes.
constexpr std::string_view shape_remedy(std::span<shape_requirement const> requirements)
{
    bool all_transposed = true, all_reshaped = true;
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected) {
            bool const is_transposed = are_transposed(*requirement.actual, requirement.expected);
            bool const has_the_items =
                element_count(*requirement.actual) == element_count(requirement.expected);
            all_transposed &= is_transposed;
            all_reshaped &= has_the_items && !is_transposed;
        }
    return all_transposed ? ". Transpose it." : all_reshaped ? ". Reshape it." : ". Give it that shape.";
}

[[noreturn]] inline void fail_shapes(
    std::string_view op, std::string_view sizes, std::span<shape_requirement const> requirements)
{
    fact_list facts;
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected)
            facts.add(requirement.operand, " is ", *requirement.actual, " instead of ",
                requirement.symbolic_shape, " = ", requirement.expected);
    fail<shape_error>(op, ": the operands must have the shapes that ", sizes, " give them, but ", facts,
        shape_remedy(requirements));
}

/// Requires that every given operand has its expected shape. `describe` returns the sizes for the error text.
template <class Describe>
constexpr void check_shapes(
    std::string_view op, std::span<shape_requirement const> requirements, Describe const& describe)
{
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected)
            fail_shapes(op, describe(), requirements);
}

constexpr void check_given(std::string_view op, std::string_view operand, shape_ref dims, std::size_t rank)
{
    if (!dims)
        fail<shape_error>(op, ": ", operand, " must be given, but it is omitted. Give it ", rank, " axes.");
    if (dims->size() != rank)
        fail<shape_error>(op, ": ", operand, " must have ", rank, " axes, but its shape is ", *dims,
            ". Give it ", rank, ".");
}

} // namespace xloom::inline XLOOM_ABI::detail
