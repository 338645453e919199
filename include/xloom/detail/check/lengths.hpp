#pragma once
// The check of the lengths of sequences, one for each row of a batch.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if a length is in [0, most]. One above std::int64_t's maximum is negative here.
constexpr bool is_length(std::int64_t length, std::size_t most) noexcept
{
    return length >= 0 && static_cast<std::uint64_t>(length) <= most;
}

template <class Lengths>
fact_list describe_wrong_lengths(
    std::string_view operand, Lengths const& lengths, std::size_t N, std::size_t most)
{
    fact_list wrong;
    for (std::size_t n = 0; n < N; ++n)
        if (!is_length(lengths[n], most))
            wrong.add(operand, "[", n, "] is ", lengths.text(n));
    return wrong;
}

/// Checks lengths [N], each in [0, most], where ONNX has `symbol` for `most` and `rows` for N.
///
/// Errors    shape_error: not one length for each row. index_error: a length outside [0, most].
template <class Lengths>
constexpr void check_lengths(std::string_view op, std::string_view operand, Lengths const& lengths,
    std::size_t N, std::string_view symbol, std::size_t most, std::string_view rows = "N")
{
    if (!lengths.is_given())
        return;
    if (lengths.shape() != shape{N})
        fail<shape_error>(op, ": ", operand, " must have the shape [", rows, "] = [", N, "], but it is ",
            lengths.shape(), ". Give a length for each row.");
    bool are_lengths = true;
    for (std::size_t n = 0; n < N; ++n)
        are_lengths = are_lengths && is_length(lengths[n], most);
    if (!are_lengths)
        fail<index_error>(op, ": lengths must be in [0, ", symbol, "] = [0, ", most, "], but ",
            describe_wrong_lengths(operand, lengths, N, most), ". Correct it.");
}

} // namespace xloom::inline XLOOM_ABI::detail
