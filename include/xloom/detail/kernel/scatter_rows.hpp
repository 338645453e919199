#pragma once
// A fused copy and ScatterND, which applies each slice's updates while the slice is in cache.

#include <xloom/detail/core/cache.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/updates_by_slice.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// Computes to = reduce(old, update), where `to` may be `old`, and prefetches a cache line of `next_update`
/// for each one computed.
///
/// Why one at a time: slices are contiguous but updates are not, and prefetches issued all at once delay each
/// other.
template <class T, class Reduce>
void apply_to_row(
    T const* old, T const* update, T const* next_update, T* to, std::size_t count, Reduce& reduce)
{
    constexpr std::size_t line = elements_per_cache_line<T>;
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
        __builtin_prefetch(next_update + i, 0, 2);
        T items[line];
        for (std::size_t j = 0; j < line; ++j)
            items[j] = static_cast<T>(reduce(T(old[i + j]), update[i + j]));
        for (std::size_t j = 0; j < line; ++j)
            to[i + j] = items[j];
    }
    for (; i < count; ++i)
        to[i] = static_cast<T>(reduce(T(old[i]), update[i]));
}

} // namespace detail

/// Writes slices `from` .. `to` - 1 of `output`: those of data, of `size` contiguous items, with their
/// updates applied. Allocates nothing.
template <class T, class Reduce>
void scatter_rows(updates_by_slice const& order, std::size_t from, std::size_t to, T const* data,
    T const* updates, T* output, std::size_t size, Reduce& reduce)
{
    constexpr auto keep = [](T item, T const&) { return item; };
    for (std::size_t slice = from; slice < to; ++slice) {
        T const* old = data + slice * size;
        T* const row = output + slice * size;
        if (order.first(slice) == order.end(slice))
            detail::apply_to_row(old, old, old, row, size, keep);
        for (std::size_t i = order.first(slice); i < order.end(slice); ++i, old = row)
            kernel::with_reduction<T>(reduce, [&](auto& function) {
                detail::apply_to_row(old, updates + order.number(i) * size,
                    updates + order.number(i + tuning::update_prefetch_distance) * size, row, size, function);
            });
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
