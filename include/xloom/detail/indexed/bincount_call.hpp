#pragma once
// A call of bincount: the checked integers, and the execution on threads.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/kernel/bin_counts.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns an empty bin for each integer less than `bins`.
///
/// Errors    shape_error: more bins than fit in memory.
template <class Sum>
xt::xtensor<Sum, 1> zeros(std::string_view op, std::size_t bins)
{
    auto result = make_tensor<xt::xtensor<Sum, 1>>(op, "the result", {bins}, "Ask for fewer bins.");
    std::fill_n(result.data(), bins, Sum{});
    return result;
}

/// The integers of a bincount, in row-major order.
template <class X>
class bincount_call {
public:
    using index = item_t<X>;

    /// Errors    shape_error: x has not one axis.
    bincount_call(std::string_view op, X const& x, std::size_t minlength)
        : op_(op), count_(checked_count(op, x)), items_(x), minlength_(minlength)
    {}

    std::size_t count() const { return count_; }

    /// Returns the number of bins, from the largest integer.
    ///
    /// Errors    index_error: a negative integer.  shape_error: more bins than fit in memory.
    std::size_t bins() const
    {
        if (count_ == 0)
            return minlength_;
        kernel::index_range<index> const range = kernel::range_of(items_.data(), count_);
        if (range.least < index{})
            fail_negative();
        require_bins(range.largest);
        return (std::max)(static_cast<std::size_t>(range.largest) + 1, minlength_);
    }

    /// Returns the counts.
    ///
    /// Errors    as bins().
    template <class Policy>
    xt::xtensor<std::int64_t, 1> run(Policy const& policy) const
    {
        std::size_t const parts = parts_for(policy, count_);
        if (parts > 1) {
            std::size_t const all = bins();
            if (all <= count_ / parts)
                return run_on_threads(all, parts, policy);
        }
        kernel::bin_counts counts;
        if (!counts.add(items_.data(), count_))
            static_cast<void>(bins()); // throws
        auto result = zeros<std::int64_t>(op_, (std::max)(counts.bins(), minlength_));
        counts.add_to(result.data());
        return result;
    }

private:
    static std::size_t checked_count(std::string_view op, X const& x)
    {
        shape const dims = detail::shape_of(x);
        if (dims.size() != 1)
            fail<shape_error>(op, ": x must have one axis, but its shape is ", dims, ". Flatten it.");
        return dims[0];
    }

    void require_bins(index largest) const
    {
        if (static_cast<std::uintmax_t>(largest) > kernel::largest_bin)
            fail<shape_error>(op_, ": the size of a result must fit in memory, but x holds ", largest,
                ", which would be the last bin. Count smaller integers.");
    }

    template <class Policy>
    xt::xtensor<std::int64_t, 1> run_on_threads(
        std::size_t bins, std::size_t parts, Policy const& policy) const
    {
        std::vector<kernel::bin_counts> counts(parts);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = begin_of_part(part, parts, count_);
            counts[part].add(items_.data() + begin, begin_of_part(part + 1, parts, count_) - begin);
        });
        auto result = zeros<std::int64_t>(op_, bins);
        for (kernel::bin_counts const& each : counts)
            each.add_to(result.data());
        return result;
    }

    [[noreturn]] void fail_negative() const
    {
        fact_list facts;
        for (std::size_t i = 0; i < count_; ++i)
            if (items_.data()[i] < index{})
                facts.add("x[", i, "] is ", items_.data()[i]);
        fail<index_error>(op_, ": the integers that are counted must not be negative, but ", facts,
            ". Add an offset to all.");
    }

    std::string_view op_;
    std::size_t count_;
    row_major_items<X> items_;
    std::size_t minlength_;
};

} // namespace xloom::inline XLOOM_ABI::detail
