#pragma once
// The thresholds and constants of the cost models. A wrong value costs speed, never a bit of a result,
// except rows_per_gradient and channels_per_gradient.
//
// They were chosen with scripts/bench on AMD Zen 3 with AVX2 and Zen 4 with AVX-512, g++ 12 -O3. The register
// tiles of products depend on the vector unit (kernel/panels.hpp).

#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::tuning {

/// The assumed size of a core's L1 data cache in bytes, a lower bound.
inline constexpr std::size_t l1_cache_size = std::size_t{32} << 10;

/// The assumed size of a core's private L2 cache in bytes, an upper bound: larger data is read from L3 or
/// memory in every pass over it.
inline constexpr std::size_t l2_cache_size = std::size_t{2} << 20;

/// The minimum number of elements copied or reduced that justifies another thread.
inline constexpr std::size_t elements_per_thread = std::size_t{1} << 14;

/// The minimum number of elements scanned by a callable, or of elements that are no numbers, that justifies
/// another thread.
inline constexpr std::size_t scanned_elements_per_thread = std::size_t{1} << 10;

/// The size in bytes of the elements that a thread scans at once, at most: they stay in the L2 cache until it
/// writes their results.
inline constexpr std::size_t scanned_bytes_per_chunk = std::size_t{1} << 18;

/// The minimum number of multiply-adds that justifies another thread.
inline constexpr std::size_t products_per_thread = std::size_t{1} << 18;

/// The minimum number of multiply-adds of one product that justifies another thread: one that waits for it in
/// a team, and one that is started and joined for this product alone.
inline constexpr std::size_t products_per_share = std::size_t{1} << 16;
inline constexpr std::size_t products_per_join = std::size_t{1} << 20;

/// The minimum distance in elements between the writes of two threads: more than a cache line.
inline constexpr std::size_t thread_distance = 64;

/// The number of offsets that scatter and gather compute at once: they stay in the L1 cache.
inline constexpr std::size_t offsets_per_block = 512;

/// The largest slice, in elements, that has a loop with a length known at compile time.
inline constexpr std::size_t max_small_slice = 4;

/// The minimum length of a row of which single items are gathered in groups: a short row ends before the
/// loads of a group are in flight.
inline constexpr std::size_t items_in_groups = 32;

/// The prefetch distance in slices: a slice is prefetched that many slices before it is used.
constexpr std::size_t prefetch_distance(std::size_t slice_size)
{
    return slice_size <= max_small_slice ? 32 : 16;
}

/// The minimum size in bytes of data of which single items are prefetched: it exceeds a core's L2 cache, and
/// its share of L3 in part.
inline constexpr std::size_t prefetched_data_bytes = std::size_t{6} << 20;

/// The minimum number of elements of short sequences beside each other that are scanned in vectors, where the
/// last vector is masked, and where its neighbours are scanned one by one.
inline constexpr std::size_t elements_in_masked_vectors = 64;
inline constexpr std::size_t elements_in_whole_vectors = 128;

/// The prefetch distance in bytes of scans along contiguous memory.
inline constexpr std::size_t scan_prefetch_bytes = 4096;

/// The prefetch distances in rows of scans, which read row by row, and of totals, which read a group of rows
/// vector by vector.
inline constexpr std::size_t scan_prefetch_rows = 8;
inline constexpr std::size_t total_prefetch_rows = 32;

/// The prefetch distance in updates where they are fused with the copy of data.
inline constexpr std::size_t update_prefetch_distance = 2;

/// The minimum sizes in bytes of a slice and of data for which the copy and the updates are fused.
inline constexpr std::size_t fused_slice_bytes = 1024;
inline constexpr std::size_t fused_data_bytes = std::size_t{1} << 20;

/// The cost model of sorting updates by owner, in units of one element's reduction: sorting an update costs
/// `sorting_cost`, applying one costs its slice and `applying_cost`. Sorting must reduce the time to
/// `worthwhile_fraction`.
inline constexpr double sorting_cost = 50;
inline constexpr double applying_cost = 11;
inline constexpr double worthwhile_fraction = 0.75;

/// The maximum number of updates that a thread sorts at once: they fit in the L2 cache.
inline constexpr std::size_t updates_per_share = std::size_t{1} << 13;

/// The maximum number of ranges to which updates for other ranks are distributed before each range is sorted:
/// the end of each range stays in the L2 cache.
inline constexpr std::size_t sorting_ranges = std::size_t{1} << 12;

/// The maximum number of threads that find out which updates take effect: each has a bit per slice, so that
/// all of them have at most an integer per slice.
inline constexpr std::size_t max_slice_sets = 64;

/// The maximum size in bytes of a buffer for elements that are not contiguous.
inline constexpr std::size_t element_buffer_bytes = std::size_t{1} << 20;

/// The maximum size in bytes of what a rank holds for other ranks at a time, unless the caller chooses.
inline constexpr std::size_t exchange_bytes = std::size_t{4} << 20;

/// The maximum size in bytes of outputs that a loop reserves for its maximum trip count, and the number of
/// iterations that it reserves where they would be larger.
inline constexpr std::size_t reserved_output_bytes = std::size_t{1} << 20;
inline constexpr std::size_t reserved_iterations = 16;

/// The maximum number of rows for which the inputs of several time steps are multiplied with W together.
inline constexpr std::size_t rows_per_product = 96;

/// The minimum number of such rows: with fewer, the product takes the time to read W.
inline constexpr std::size_t min_rows_per_product = 3;

/// The number of blocks of steps in which a layer of a stack runs, behind the layer below it: each reads W,
/// which removes R from the L2 cache. And the minimum for it, because the threads wait for a block at the
/// beginning and at the end.
inline constexpr std::size_t blocks_per_layer = 8;
inline constexpr std::size_t min_blocks_per_layer = 4;

/// The number of rows, of all steps of a block, whose cotangents a backward pass multiplies together. Unlike
/// the other constants, it decides about bits: sums over rows are accumulated block by block.
inline constexpr std::size_t rows_per_gradient = 512;

/// The number of channels over which one thread adds up the gradients of a selective scan's B and C. It
/// decides about bits as well: the sums of these groups are added up in order.
inline constexpr std::size_t channels_per_gradient = 256;

} // namespace xloom::inline XLOOM_ABI::tuning

namespace xloom::inline XLOOM_ABI::detail {

/// The size of a cache line in bytes.
inline constexpr std::size_t cache_line = 64;

/// The number of elements per cache line; at least 1.
template <class T>
inline constexpr std::size_t elements_per_cache_line = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

} // namespace xloom::inline XLOOM_ABI::detail
