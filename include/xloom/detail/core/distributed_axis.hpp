#pragma once
// An axis that is divided among ranks.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/communicator.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/rank_attempt.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/tuning.hpp>

namespace xloom::inline XLOOM_ABI {

/// An axis that is divided among the ranks of a communicator, in their order: rank r has the elements
/// begin(r) .. end(r) - 1. Parts have any lengths, also 0; those of even() differ by at most one. The axis
/// knows the communicator, which must outlive it, and the size of the buffers by which the operators exchange
/// elements; copies are equal.
///
/// The constructor is called by all ranks, each with the length of its own part and all with one buffer size;
/// even() with the length of the whole axis. Both allocate one integer per rank.
///
/// Errors    on all ranks: option_error (buffer sizes that are not equal), shape_error (a length that
///           overflows), std::bad_alloc of one of them as a rank_error of the others.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xloom::distributed_axis const rows(alone, 5);
/// rows.length(); // = 5
/// ```
template <communicator C>
class distributed_axis {
public:
    using communicator_type = C;

    distributed_axis(
        C const& ranks, std::size_t own_length, std::size_t buffer_bytes = tuning::exchange_bytes)
        : ranks_(&ranks), buffer_bytes_(buffer_bytes)
    {
        detail::rank_attempt attempt;
        attempt([&] { begins_.resize(ranks.size() + 1); });
        attempt.agree(ranks, "xloom::distributed_axis", detail::call_digest{}.add(buffer_bytes));
        ranks.all_gather(std::as_bytes(std::span(&own_length, 1)),
            std::as_writable_bytes(std::span(begins_.data() + 1, ranks.size())));
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            begins_[rank + 1] = detail::saturating_add(begins_[rank], begins_[rank + 1]);
            if (begins_[rank + 1] > most)
                detail::fail<shape_error>("xloom::distributed_axis: the length of all parts together must "
                                          "not overflow, but that of the first ",
                    rank + 1, " does. Give them their own lengths.");
        }
    }
    distributed_axis(C const&&, std::size_t, std::size_t = 0) = delete;

    /// Returns an axis of this length in equal parts; the larger ones, by one element, are first.
    static distributed_axis even(
        C const& ranks, std::size_t length, std::size_t buffer_bytes = tuning::exchange_bytes)
    {
        std::size_t const rank = ranks.rank(), size = ranks.size();
        return {ranks,
            detail::begin_of_part(rank + 1, size, length) - detail::begin_of_part(rank, size, length),
            buffer_bytes};
    }
    static distributed_axis even(C const&&, std::size_t, std::size_t = 0) = delete;

    C const& ranks() const noexcept { return *ranks_; }
    std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }

    /// Returns the length of the whole axis.
    std::size_t length() const noexcept { return begins_.back(); }
    /// Returns the range of a rank.
    std::size_t begin(std::size_t rank) const { return begins_[rank]; }
    std::size_t end(std::size_t rank) const { return begins_[rank + 1]; }
    /// Returns the range of this rank.
    std::size_t begin() const { return begin(ranks_->rank()); }
    std::size_t end() const { return end(ranks_->rank()); }
    std::size_t own_length() const { return end() - begin(); }

    /// Returns the rank that has an element. Requires element < length().
    std::size_t owner(std::size_t element) const
    {
        auto const after = std::upper_bound(begins_.begin(), begins_.end(), element);
        return static_cast<std::size_t>(after - begins_.begin()) - 1;
    }

private:
    static constexpr auto most = static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)());

    C const* ranks_;
    std::vector<std::size_t> begins_{};
    std::size_t buffer_bytes_;
};

namespace detail {

template <class C>
inline constexpr bool is_of_kind<a_rank_axis, distributed_axis<C>> = true;
template <class C>
inline constexpr bool is_of_kind<a_rank_axis, distributed_axis<C> const> = true;
template <class C>
inline constexpr bool is_of_kind<a_rank_axis, distributed_axis<C>&> = true;
template <class C>
inline constexpr bool is_of_kind<a_rank_axis, distributed_axis<C> const&> = true;

/// Requires the divided axis of an operator over ranks, and at most a policy beside it.
template <class... Env>
struct environment<takes<a_rank_axis, a_policy>, Env...> {
    static consteval bool holds()
    {
        constexpr std::size_t policies = count_of_kind<a_policy, Env...>;
        constexpr bool is_valid =
            count_of_kind<a_rank_axis, Env...> == 1 && policies <= 1 && sizeof...(Env) == 1 + policies;
        static_assert(is_valid,
            "after the operands, outputs and options of an operator over ranks come a distributed_axis and "
            "at most one policy, in any order");
        return is_valid;
    }
};

/// Requires that nothing but a divided axis and at most a policy follows the options.
template <class... Env>
using over_ranks = environment<takes<a_rank_axis, a_policy>, Env...>;

/// Requires that a call's arguments after its operands are Options or none, then a divided axis and at most
/// a policy.
template <class Options, class First, class... Env>
using options_over_ranks = after_operands<Options, takes<a_rank_axis, a_policy>, First, Env...>;

/// Returns the divided axis of an environment that has one.
template <class... Env>
auto const& rank_axis_of(Env const&... env) noexcept
{
    return detail::first_of_kind<a_rank_axis>(serial, env...);
}

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

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
