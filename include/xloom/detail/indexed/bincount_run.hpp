#pragma once
// The run of bincount: counts of parts, or a scatter of weights.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/along_axis.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/scatter.hpp>
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
        check_bins(range.largest);
        return (std::max)(static_cast<std::size_t>(range.largest) + 1, minlength_);
    }

    /// Returns the counts.
    ///
    /// Errors    as bins().
    template <class Policy>
    xt::xtensor<std::int64_t, 1> run(Policy const& policy) const
    {
        constexpr std::size_t few = std::size_t{1} << 16;
        std::size_t const parts = parts_for(policy, count_);
        auto counts = count_parts(parts, parts > 1 ? count_ / parts - 1 : (std::max)(count_, few), policy);
        if (counts.empty()) // checked as a whole before bins take memory that x does not justify
            counts = count_parts(1, bins() - 1, serial);
        std::size_t size = minlength_;
        for (kernel::bin_counts<> const& each : counts)
            size = (std::max)(size, each.bins());
        auto result = zeros<std::int64_t>(op_, size);
        for (kernel::bin_counts<> const& each : counts)
            each.add_to(result.data());
        return result;
    }

private:
    using counts_of_parts = std::vector<kernel::bin_counts<>>;

    static std::size_t checked_count(std::string_view op, X const& x)
    {
        shape const dims = detail::shape_of(x);
        if (dims.size() != 1)
            fail<shape_error>(op, ": x must have one axis, but its shape is ", dims, ". Flatten it.");
        return dims[0];
    }

    void check_bins(index largest) const
    {
        if (static_cast<std::uintmax_t>(largest) > kernel::largest_bin)
            fail<shape_error>(op_, ": the size of a result must fit in memory, but x holds ", largest,
                ", which would be the last bin. Count smaller integers.");
    }

    /// Returns the counts of each part of x, or none if an integer is negative or larger than `largest`.
    template <class Policy>
    counts_of_parts count_parts(std::size_t parts, std::uintmax_t largest, Policy const& policy) const
    {
        counts_of_parts counts(parts, kernel::bin_counts<>(largest));
        std::atomic<bool> fits = true;
        policy.for_each(parts, [&](std::size_t part) {
            auto const [begin, end] = range_of_part(part, parts, count_);
            if (!counts[part].add(items_.data() + begin, end - begin))
                fits.store(false, std::memory_order_relaxed);
        });
        if (!fits)
            counts.clear();
        return counts;
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
    row_major_items<index> items_;
    std::size_t minlength_;
};

/// Returns weights as double, in memory.
template <class Weights>
xt::xtensor<double, 1> weights_as_doubles(Weights const& weights)
{
    row_major_items<item_t<Weights>> const items(weights);
    std::size_t const count = element_count(detail::shape_of(weights));
    check_fits_in_memory<double>(count);
    auto result = xt::xtensor<double, 1>::from_shape({count});
    for (std::size_t i = 0; i < count; ++i)
        result.data()[i] = static_cast<double>(+items.data()[i]);
    return result;
}

/// Adds each weight to its bin, in order.
template <class X, class Weights, class Policy>
xt::xtensor<double, 1> weighted_bincount(
    std::string_view op, X const& x, Weights const& weights, std::size_t bins, Policy const& policy)
{
    if constexpr (!std::is_same_v<item_t<Weights>, double>) {
        return detail::weighted_bincount(op, x, weights_as_doubles(weights), bins, policy);
    } else {
        xt::xtensor<double, 1> sums = zeros<double>(op, bins);
        detail::scatter<true>(op, check_at, reduce_add, sums, x, xloom::broadcast(weights),
            {{.bounds = bounds::assume}}, policy);
        return sums;
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
