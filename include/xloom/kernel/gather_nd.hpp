#pragma once
// GatherND over raw memory: copies of the slices that index tuples name, one after the other.

#include <xloom/kernel/offset_blocks.hpp>
#include <xloom/kernel/strided_copy.hpp>

namespace xloom::kernel {

/// How a slice becomes `step` items side by side, according to where its own lie.
struct copy_packed_items {
    std::size_t count;

    template <class T>
    void operator()(T const* __restrict from, T* __restrict to) const
    {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = from[i];
    }
};

template <std::size_t Count>
struct copy_few_items {
    template <class T>
    void operator()(T const* from, T* to) const
    {
        for (std::size_t i = 0; i < Count; ++i)
            to[i] = from[i];
    }
};

/// Copies the slices of tuples `from` .. `to` - 1 to their places in `output`, which are `step` items apart; those of tuples that are left
/// out stay as they are. `copy(slice, place)` copies one. Allocates nothing.
template <class T, class Copy>
void gather_nd(offset_reader const& read, std::size_t from, std::size_t to, T const* data, T* output, std::size_t step, Copy const& copy)
{
    for_each_offset(
        read, from, to, data, step, [&](std::ptrdiff_t offset, std::size_t number) { copy(data + offset, output + number * step); });
}

namespace detail {

template <std::size_t Count, class T, std::integral Index>
void gather_few(index_tuples<Index> const& tuples, std::size_t from, std::size_t to, T const* data, T* output)
{
    with_tuple_offset(tuples, [=, &tuples](auto const offset_of) {
        Index const* __restrict const indices = tuples.first;
        T const* __restrict const slices = data;
        T* __restrict const places = output;
        std::size_t const width = offset_of.width();
        for_each_slice(
            from, to, [=](std::size_t i) { return slices + offset_of(indices + i * width); },
            [=](T const* slice, std::size_t i) { copy_few_items<Count>{}(slice, places + i * Count); });
    });
}

} // namespace detail

/// The same for slices of 1 to most_few_items items side by side, with no index out of range and no batch.
template <class T, std::integral Index>
void gather_few(index_tuples<Index> const& tuples, std::size_t from, std::size_t to, std::size_t count, T const* data, T* output)
{
    switch (count) {
    case 1:
        return detail::gather_few<1>(tuples, from, to, data, output);
    case 2:
        return detail::gather_few<2>(tuples, from, to, data, output);
    case 3:
        return detail::gather_few<3>(tuples, from, to, data, output);
    default:
        return detail::gather_few<4>(tuples, from, to, data, output);
    }
}

} // namespace xloom::kernel
