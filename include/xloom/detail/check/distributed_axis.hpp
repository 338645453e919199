#pragma once
// Requirements on operands whose axis is divided among ranks.

#include <cstddef>
#include <string_view>

#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires that an operand has this rank's part of a divided axis.
///
/// Errors    shape_error
template <communicator C>
void check_own_part(std::string_view op, std::string_view operand, shape const& dims, std::size_t axis,
    distributed_axis<C> const& part)
{
    std::size_t const length = part.own_length();
    if (dims[axis] != length)
        fail<shape_error>(op, ": the divided axis must have the length that distributed_axis was made with, ",
            length, ", but axis ", axis, " of ", operand, " has ", dims[axis],
            ". Make a distributed_axis of that length on all ranks.");
}

/// Returns a digest of what all ranks share of a divided axis: the parts, and the size of the buffers.
template <communicator C>
call_digest digest_of(distributed_axis<C> const& part)
{
    call_digest digest;
    digest.add(part.buffer_bytes());
    for (std::size_t rank = 0; rank < part.ranks().size(); ++rank)
        digest.add(part.end(rank));
    return digest;
}

/// Returns a digest of the axis and of the dimensions that all ranks share: all but the divided one.
template <communicator C>
call_digest digest_of(distributed_axis<C> const& part, shape const& dims, std::size_t divided)
{
    call_digest digest = digest_of(part);
    digest.add(divided);
    digest.add_all(drop_axis(dims, divided));
    return digest;
}

} // namespace xloom::inline XLOOM_ABI::detail
