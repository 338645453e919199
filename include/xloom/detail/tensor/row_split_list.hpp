#pragma once
// The row_splits of a call: rows that are divided into segments, checked.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/row_splits.hpp>
#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a tensor, or a lazy expression, that may hold row_splits: integers of rank 1.
template <class Splits>
inline constexpr bool is_row_splits = (tensor<Splits> || lazy<Splits>)&&counting_integer<item_t<Splits>>;

/// Requires row_splits or segment_ids: integers along one axis.
template <class Splits>
struct splits_of_rows {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_row_splits<Splits>;
        static_assert(is_valid,
            "row_splits and segment_ids must be tensors of integers with one axis, row_splits after the "
            "inputs");
        return is_valid;
    }
};

/// The segments of N rows: segment s has the rows [begin(s), begin(s + 1)). Refers to the operand where its
/// items are contiguous and have the type of std::size_t, or the signed one; copies others.
class row_split_list {
public:
    /// Errors    shape_error, index_error
    template <class Splits>
    row_split_list(std::string_view op, Splits const& splits, std::size_t rows)
    {
        check_rank(op, "row_splits", detail::rank_of(splits));
        strided_layout const layout = detail::layout_of(splits);
        check_row_splits_shape(op, layout.dims);
        auto const* const items = enable_tensor<bare<Splits>>::data(splits);
        std::size_t const count = layout.dims[0];
        auto const at = [&](std::size_t s) {
            return items[static_cast<std::ptrdiff_t>(s) * layout.strides[0]];
        };
        using item = std::make_unsigned_t<item_t<Splits>>;
        if constexpr (std::same_as<item, std::size_t>)
            if (layout.strides[0] == 1 || count == 1)
                splits_ = {reinterpret_cast<std::size_t const*>(items), count};
        if (splits_.empty()) {
            copy_.resize(count);
            for (std::size_t s = 0; s < count; ++s) // a negative one is larger than any number of rows
                copy_[s] = static_cast<std::size_t>(
                    (std::min<std::uintmax_t>)(static_cast<std::uintmax_t>(at(s)), ~std::size_t{0}));
            splits_ = copy_;
        }
        if (!are_row_splits(splits_, rows))
            fail_row_splits(op, splits_, rows, at);
    }
    row_split_list(row_split_list const&) = delete;

    std::size_t size() const noexcept { return splits_.size() - 1; }
    std::span<std::size_t const> all() const noexcept { return splits_; }
    std::size_t begin(std::size_t s) const noexcept { return splits_[s]; }
    std::size_t length(std::size_t s) const noexcept { return splits_[s + 1] - splits_[s]; }

    /// True if a segment has no rows.
    bool has_empty() const noexcept
    {
        bool is_found = false;
        for (std::size_t s = 0; s < size(); ++s)
            is_found = is_found | (length(s) == 0);
        return is_found;
    }

    /// Returns the length of the longest segment; 0 if there is none.
    std::size_t longest() const noexcept
    {
        std::size_t most = 0;
        for (std::size_t s = 0; s < size(); ++s)
            most = (std::max)(most, length(s));
        return most;
    }

    /// Calls f(part, begin, end) for the segments [begin, end) of each part on the threads of a policy. Parts
    /// have about the same number of rows.
    template <class Policy, class F>
    void for_each_part(Policy const& policy, std::size_t parts, F const& f) const
    {
        policy.for_each(parts,
            [&](std::size_t part) { f(part, begin_of_part(part, parts), begin_of_part(part + 1, parts)); });
    }

    /// Returns the first segment of part `part` of `parts`, which have about the same number of rows.
    std::size_t begin_of_part(std::size_t part, std::size_t parts) const
    {
        if (part == parts)
            return size();
        std::size_t const row = detail::begin_of_part(part, parts, splits_.back() + size());
        std::size_t first = 0;
        for (std::size_t count = size(); count != 0;) { // which s + begin(s) is at least row?
            std::size_t const half = count / 2;
            if (first + half + begin(first + half) < row) {
                first += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        return first;
    }

private:
    std::vector<std::size_t> copy_{};
    std::span<std::size_t const> splits_{};
};

/// Requires results that share no memory with row_splits.
///
/// Errors    overlap_error
template <class Splits>
void check_apart_from_splits(
    std::string_view op, std::span<operand_memory const> results, Splits const& row_splits)
{
    memory_block const memory = detail::memory_of(row_splits);
    check_written(op, results, std::array{operand_memory("row_splits", memory)});
}

/// Returns the number of segments that row_splits have.
///
/// Errors    shape_error
template <class Splits>
std::size_t segments_of(std::string_view op, Splits const& splits)
{
    check_rank(op, "row_splits", detail::rank_of(splits));
    shape const dims = detail::shape_of(splits);
    check_row_splits_shape(op, dims);
    return dims[0] - 1;
}

/// The container of row splits.
using owned_splits = typename temporary_of<std::int64_t, std::array<std::size_t, 1>>::type;

/// Counts the ids that are less than each segment.
///
/// Errors    shape_error, index_error
template <class Ids>
owned_splits splits_of_ids(std::string_view op, Ids const& segment_ids, std::size_t num_segments)
{
    check_rank(op, "segment_ids", detail::rank_of(segment_ids));
    strided_layout const layout = detail::layout_of(segment_ids);
    check_segment_ids_shape(op, layout.dims);
    auto const* const items = enable_tensor<bare<Ids>>::data(segment_ids);
    auto const at = [&](std::size_t n) { return +items[static_cast<std::ptrdiff_t>(n) * layout.strides[0]]; };
    std::size_t const count = (std::max)(num_segments + 1, num_segments); // the latter, if + 1 overflows
    auto splits = make_tensor<owned_splits>(op, "row_splits", shape{count}, "Pass the number of segments.");
    std::size_t next = 0; // the first segment whose first row is not known yet
    for (std::size_t n = 0; n < layout.dims[0]; ++n) {
        if (std::cmp_less(at(n), 0) || std::cmp_greater_equal(at(n), num_segments) ||
            (n != 0 && at(n) < at(n - 1)))
            fail_segment_id(op, n, at, num_segments);
        for (auto const id = static_cast<std::size_t>(at(n)); next <= id; ++next)
            splits(next) = static_cast<std::int64_t>(n);
    }
    for (; next <= num_segments; ++next)
        splits(next) = static_cast<std::int64_t>(layout.dims[0]);
    return splits;
}

} // namespace xloom::inline XLOOM_ABI::detail
