#pragma once
// ScatterND over raw memory: updates meet the slices that index tuples name, the updates of a slice in their order.

#include <utility>

#include <xloom/kernel/offset_blocks.hpp>
#include <xloom/kernel/strided_copy.hpp>

namespace xloom::kernel {

/// How one update meets one slice, according to where the slice's items lie.
template <std::size_t Count>
struct few_items {
    template <class T, class Reduce>
    void operator()(T* old, T const* update, Reduce& reduce) const
    {
        for (std::size_t i = 0; i < Count; ++i)
            old[i] = static_cast<T>(reduce(std::move(old[i]), update[i]));
    }
};

struct packed_items {
    std::size_t count;

    template <class T, class Reduce>
    void operator()(T* __restrict old, T const* __restrict update, Reduce& reduce) const
    {
        for (std::size_t i = 0; i < count; ++i)
            old[i] = static_cast<T>(reduce(std::move(old[i]), update[i]));
    }
};

struct strided_items {
    strided_copy pairs; ///< from an update to a slice

    template <class T, class Reduce>
    void operator()(T* old, T const* update, Reduce& reduce) const
    {
        pairs.for_each_pair(update, old, [&](T const& from, T& to) { to = static_cast<T>(reduce(std::move(to), from)); });
    }
};

/// Applies updates `from` .. `to` - 1, of `step` items each, to the slices of `data` that `read` names. Allocates nothing.
template <class T, class Meet, class Reduce>
void scatter_nd(offset_reader const& read, std::size_t from, std::size_t to, T* data, T const* updates, std::size_t step, Meet const& meet,
    Reduce& reduce)
{
    for_each_offset(read, from, to, data, step,
        [&](std::ptrdiff_t offset, std::size_t number) { meet(data + offset, updates + number * step, reduce); });
}

namespace detail {

template <std::size_t Count, class T, std::integral Index, class Reduce>
void scatter_few(index_tuples<Index> const& tuples, T* data, T const* updates, Reduce& reduce)
{
    with_tuple_offset(tuples, [&](auto const offset_of) {
        Index const* __restrict const indices = tuples.first;
        T* __restrict const slices = data;
        T const* __restrict const from = updates;
        std::size_t const width = offset_of.width();
        for_each_slice(
            0, tuples.count, [=](std::size_t i) { return slices + offset_of(indices + i * width); },
            [&](T* slice, std::size_t i) { few_items<Count>{}(slice, from + i * Count, reduce); });
    });
}

} // namespace detail

/// The same for all updates, of slices of 1 to most_few_items items side by side, with no index out of range.
template <class T, std::integral Index, class Reduce>
void scatter_few(index_tuples<Index> const& tuples, std::size_t count, T* data, T const* updates, Reduce& reduce)
{
    switch (count) {
    case 1:
        return detail::scatter_few<1>(tuples, data, updates, reduce);
    case 2:
        return detail::scatter_few<2>(tuples, data, updates, reduce);
    case 3:
        return detail::scatter_few<3>(tuples, data, updates, reduce);
    default:
        return detail::scatter_few<4>(tuples, data, updates, reduce);
    }
}

} // namespace xloom::kernel
