#pragma once
// The derivative of a scatter that replaces slices: which updates take effect, and the cotangents of those.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/scatter_gradients.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A set of slices by their positions. One thread at a time may change it.
class slice_set {
public:
    using word = std::uint64_t;
    static constexpr std::size_t slices_per_word = 64;

    explicit slice_set(std::size_t slices) : words_((slices + slices_per_word - 1) / slices_per_word) {}

    bool contains(std::size_t slice) const
    {
        return (words_[slice / slices_per_word] >> slice % slices_per_word & 1) != 0;
    }

    /// Inserts a slice; returns true if it was not in the set.
    bool insert(std::size_t slice)
    {
        word& bits = words_[slice / slices_per_word];
        word const before = bits;
        bits |= word{1} << slice % slices_per_word;
        return bits != before;
    }

    /// Returns the number of words. Threads may access different words concurrently.
    std::size_t words() const { return words_.size(); }
    word& at(std::size_t i) { return words_[i]; }
    word at(std::size_t i) const { return words_[i]; }

private:
    std::vector<word> words_;
};

/// A function object that writes or adds the cotangents of updates in the order in which they are visited:
/// that of its slice to an update that is the first one to name the slice, if the slice was not in
/// `visited`, otherwise zeros. Inserts the slices into `visited`.
template <class T, class Store>
struct effective_updates {
    slice_set& visited;
    T const* ct;
    T* gradients;
    std::size_t size; ///< items of a slice

    /// Writes the cotangents. `updates.for_each(f)` calls f(position of the slice, position of the update).
    template <class Updates>
    void operator()(Updates const& updates) const
    {
        if (size == 1)
            updates.for_each([&](std::ptrdiff_t slice, std::size_t number) {
                T const zero{};
                T const* const choice[] = {&zero, ct + slice}; // no branch, which could not be predicted
                Store{}(gradients[number], *choice[visited.insert(static_cast<std::size_t>(slice))]);
            });
        else
            updates.for_each([&](std::ptrdiff_t slice, std::size_t number) {
                T* const gradient = gradients + number * size;
                T const* const from = ct + static_cast<std::size_t>(slice) * size;
                if (visited.insert(static_cast<std::size_t>(slice)))
                    for (std::size_t i = 0; i < size; ++i)
                        Store{}(gradient[i], from[i]);
                else if constexpr (std::is_same_v<Store, write_gradient>)
                    std::fill_n(gradient, size, T{});
            });
    }
};

/// The updates that a reader of slice positions reads, with their numbers if it reads backward.
struct indexed_updates {
    offset_reader const& read;
    std::size_t from;
    std::size_t to;
    bool is_backward;

    /// Calls f(position of the slice, position of the update) for each update that is not dropped, in order.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t const last = read.count() - 1;
        for_each_indexed(read, from, to, [&](std::ptrdiff_t slice, std::size_t number) {
            f(slice, is_backward ? last - number : number);
        });
    }
};

/// Inserts the slices of updates `from` .. `to` - 1 that are not dropped. Allocates nothing.
inline void insert_slices(offset_reader const& read, std::size_t from, std::size_t to, slice_set& set)
{
    for_each_indexed(read, from, to,
        [&](std::ptrdiff_t slice, std::size_t) { set.insert(static_cast<std::size_t>(slice)); });
}

/// Writes slices `from` .. `to` - 1, of `size` contiguous items, of `ct` to `output`, with zeros for those
/// in the set, or adds them. Allocates nothing.
template <class Store, class T>
void store_except(
    slice_set const& set, std::size_t from, std::size_t to, T const* ct, T* output, std::size_t size)
{
    if (size != 1) {
        for (std::size_t slice = from; slice < to; ++slice)
            if (!set.contains(slice))
                for (std::size_t i = slice * size; i < (slice + 1) * size; ++i)
                    Store{}(output[i], ct[i]);
            else if constexpr (std::is_same_v<Store, write_gradient>)
                std::fill_n(output + slice * size, size, T{});
        return;
    }
    for (std::size_t begin = from; begin < to;) {
        constexpr std::size_t bits_of_word = slice_set::slices_per_word;
        std::size_t const first = begin % bits_of_word, count = (std::min)(bits_of_word - first, to - begin);
        slice_set::word const bits = set.at(begin / bits_of_word) >> first;
        for (std::size_t i = 0; i < count; ++i)
            Store{}(output[begin + i], (bits >> i & 1) != 0 ? T{} : ct[begin + i]);
        begin += count;
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
