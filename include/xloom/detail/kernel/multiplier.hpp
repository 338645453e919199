#pragma once
// Products with a constant matrix on the threads of an execution policy.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/multiply.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Multiplies rows by constant matrices, on the calling thread or on those of an execution policy, each of
/// which computes columns of its own.
///
/// Why columns: one row cannot be partitioned, and the caches of two cores hold a matrix that one cannot. The
/// bits of a sum do not depend on the columns that are computed with it.
class multiplier {
public:
    multiplier() = default;
    explicit multiplier(xloom::detail::policy_ref const& policy) : policy_(policy) {}

    /// Computes sums = start + a b: see multiply.
    template <class T>
    void operator()(std::size_t rows, rows_of<std::type_identity_t<T> const> a, stored_panels<T> const& b,
        rows_of<std::type_identity_t<T> const> start, rows_of<std::type_identity_t<T>> sums,
        panel_order order = panel_order::forwards) const
    {
        constexpr std::size_t width = panels_per_row<T> * panel_width<T>;
        std::size_t const groups = (b.columns + width - 1) / width,
                          useful = rows * b.depth * b.columns / tuning::products_per_share,
                          parts = (std::min)({policy_.concurrency(), groups, useful});
        if (parts <= 1)
            return multiply<T>(rows, a, b, start, sums, order);
        policy_.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = xloom::detail::begin_of_part(part, parts, groups) * width,
                              end = (std::min)(
                                  xloom::detail::begin_of_part(part + 1, parts, groups) * width, b.columns);
            multiply<T>(rows, a, b.columns_from(begin, end - begin),
                rows_of<T const>{start.first + begin, start.step}, rows_of<T>{sums.first + begin, sums.step},
                order);
        });
    }

private:
    xloom::detail::policy_ref policy_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
