#pragma once
// The derivatives of scatters: of those that reduce, function objects that visit the updates, and loops over
// all items; of those that replace slices, which updates take effect, and the cotangents of those.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Function objects that write a gradient, or add it to what the caller's gradient holds.
struct write_gradient {
    template <class T>
    void operator()(T& to, T const& gradient) const
    {
        to = gradient;
    }
};
struct add_gradient {
    template <class T>
    void operator()(T& to, T const& gradient) const
    {
        to = static_cast<T>(reduce_add(to, gradient));
    }
};

/// A function object that calls visit(offset of the slice, position of the update) for each update, where
/// kernel::scatter_nd expects one that applies updates.
template <class Visit>
struct visited_updates {
    Visit visit;

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T*, T const*, Reduce&) const
    {
        updates.for_each(visit);
    }
};

/// Calls f with the size of a slice, which for single items is a compile-time constant.
template <class F>
void with_slice_size(std::size_t size, F const& f)
{
    if (size == 1)
        f(std::integral_constant<std::size_t, 1>());
    else
        f(size);
}

/// A function object that adds slices of `size` contiguous items to the output; the `copy` of
/// kernel::gather_nd.
struct add_slices {
    std::size_t size;

    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        with_slice_size(size, [&](auto length) {
            slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const from = data + offset;
                T* __restrict const to = output + number * length;
                for (std::size_t i = 0; i < length; ++i)
                    add_gradient{}(to[i], from[i]);
            });
        });
    }
};

/// True if two values tie; NaN ties with NaN, and -0 with 0.
template <class T>
constexpr bool is_tied(T const& a, T const& b)
{
    bool const are_equal = !static_cast<bool>(a != b), is_nan_a = static_cast<bool>(a != a),
               is_nan_b = static_cast<bool>(b != b);
    return (are_equal | (is_nan_a & is_nan_b)) != 0; // no branch, which could not be predicted
}

/// Writes ct / count for items `from` .. `to` - 1 of contiguous slices of `size` items; `more` is added to
/// the count of each slice, and a count of 0 is taken as 1. `output` may be `ct`. Allocates nothing.
template <class T, class Count>
void divide_slices(Count const* counts, std::size_t more, std::size_t from, std::size_t to, T const* ct,
    T* output, std::size_t size)
{
    constexpr xloom::detail::divide_by_count divide;
    with_slice_size(size, [&](auto length) {
        for (std::size_t slice = from; slice < to; ++slice) {
            std::size_t const count = (std::max<std::size_t>)(counts[slice] + more, 1);
            for (std::size_t i = slice * length; i < (slice + 1) * length; ++i)
                output[i] = divide(ct[i], count);
        }
    });
}

/// Writes zeros to those of slices `from` .. `to` - 1 whose count is not 0. Allocates nothing.
template <class T, class Count>
void clear_counted(Count const* counts, std::size_t from, std::size_t to, T* output, std::size_t size)
{
    for (std::size_t slice = from; slice < to; ++slice)
        if (counts[slice] != 0)
            std::fill_n(output + slice * size, size, T{});
}

/// True for NaN. A complex number with an infinite part is infinite, whatever the other, as in C (Annex G).
template <class P>
constexpr bool is_nan(P const& x)
{
    return x != x;
}
template <class T>
bool is_nan(std::complex<T> const& x)
{
    return x != x && !std::isinf(x.real()) && !std::isinf(x.imag());
}

/// Returns a product, in which 0 times infinity is 0: the infinity may be a product that has overflowed.
template <class P>
constexpr P zero_or_product(P const& a, P const& b)
{
    P const product = static_cast<P>(a * b);
    if constexpr (rounded_number<P>)
        if (product != product && !is_nan(a) && !is_nan(b) && (a == P{} || b == P{}))
            return P{};
    return product;
}

/// Writes the products of the values before an update of `length` items, and multiplies them by the update.
template <class Length, class Product, class T>
void multiply_before(
    Length length, Product* __restrict running, Product* __restrict before, T const* __restrict update)
{
    for (std::size_t i = 0; i < length; ++i) {
        before[i] = running[i];
        running[i] = zero_or_product(running[i], static_cast<Product>(update[i]));
    }
}

/// Writes the gradient of an update: ct times the products of the values before and after it. If Product is
/// T, `gradient` holds the former instead of `before`. Then multiplies the products of the values after it by
/// the update.
template <class Length, class Product, class T>
void multiply_after(Length length, Product* __restrict after, T const* ct,
    [[maybe_unused]] Product const* before, T const* __restrict update, T* gradient)
{
    T* __restrict const to = gradient;
    for (std::size_t i = 0; i < length; ++i) {
        if constexpr (std::is_same_v<T, Product>) // gradient is before
            to[i] = zero_or_product(ct[i], zero_or_product(to[i], after[i]));
        else
            to[i] = static_cast<T>(
                zero_or_product(static_cast<Product>(ct[i]), zero_or_product(before[i], after[i])));
        after[i] = zero_or_product(static_cast<Product>(update[i]), after[i]);
    }
}

/// Adds 1 to the count of each item of an update that ties with the result, and writes T(1) to `tied` for it,
/// otherwise zero. Nothing is written to a null pointer.
template <class Length, class Count, class T>
void count_ties(Length length, Count* __restrict counts, T const* __restrict results,
    T const* __restrict update, T* __restrict tied)
{
    T const choice[] = {T{}, T(1)}; // no branch, which could not be predicted
    if (tied != nullptr)
        for (std::size_t i = 0; i < length; ++i)
            tied[i] = choice[is_tied(update[i], results[i])];
    for (std::size_t i = 0; i < length; ++i)
        counts[i] += is_tied(update[i], results[i]) ? 1u : 0u;
}

/// Writes, for items `from` .. `to` - 1, a count of 1 where the old value ties with the result, otherwise 0.
template <class T, class Count>
void count_old(T const* __restrict old, T const* __restrict results, std::size_t from, std::size_t to,
    Count* __restrict counts)
{
    for (std::size_t i = from; i < to; ++i)
        counts[i] = is_tied(old[i], results[i]) ? 1 : 0;
}

/// Writes ct / count for items `from` .. `to` - 1; a count of 0 is taken as 1.
template <class T, class Count>
void divide_items(T const* __restrict ct, Count const* __restrict counts, std::size_t from, std::size_t to,
    T* __restrict parts)
{
    constexpr xloom::detail::divide_by_count divide;
    for (std::size_t i = from; i < to; ++i)
        parts[i] = divide(ct[i], (std::max<std::size_t>)(counts[i], 1));
}

/// Writes, for items `from` .. `to` - 1, the part where the old value ties with the result, otherwise zero.
/// `output` may be `parts`.
template <class T>
void take_tied(T const* old, T const* results, T const* parts, std::size_t from, std::size_t to, T* output)
{
    for (std::size_t i = from; i < to; ++i) {
        T const part = parts[i]; // read in any case, so that the loop can be vectorised
        output[i] = is_tied(old[i], results[i]) ? part : T{};
    }
}

/// Writes, for items `from` .. `to` - 1, zero where `indexed` is not 0, otherwise ct. `output` may be `ct`.
template <class T, class Indexed>
void take_unindexed(Indexed const* indexed, T const* ct, std::size_t from, std::size_t to, T* output)
{
    for (std::size_t i = from; i < to; ++i) {
        T const value = ct[i];
        output[i] = indexed[i] != 0 ? T{} : value;
    }
}

/// Writes the gradient of an update of `length` items where it is the first value to tie with the result, and
/// notes that in `given`. Nothing is written to a null pointer.
template <class Length, class T>
void give_tied(
    Length length, unsigned char* given, T const* ct, T const* results, T const* update, T* gradient)
{
    for (std::size_t i = 0; i < length; ++i) {
        bool const gets = given[i] == 0 && is_tied(update[i], results[i]);
        if (gradient != nullptr)
            gradient[i] = gets ? ct[i] : T{};
        given[i] = static_cast<unsigned char>(given[i] | static_cast<unsigned char>(gets));
    }
}

/// A function object that gathers the parts of updates, where the output holds what count_ties wrote, and
/// zeros for updates that do not tie; the `copy` of kernel::gather_nd with the parts as data.
struct tied_parts {
    std::size_t size;

    template <class Slices, class T>
    void operator()(Slices const& slices, T const* parts, T* output) const
    {
        if (size == 1)
            slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
                T const zero{};
                T const* const choice[] = {&zero, parts + offset}; // no branch, as above
                output[number] = *choice[static_cast<bool>(output[number] != zero)];
            });
        else
            slices.for_each([=, count = size](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const part = parts + offset;
                T* __restrict const gradient = output + number * count;
                for (std::size_t i = 0; i < count; ++i) {
                    T const value = part[i]; // read in any case, so that the loop can be vectorised
                    gradient[i] = static_cast<bool>(gradient[i] != T{}) ? value : T{};
                }
            });
    }
};

/// A set of slices by their positions. One thread at a time may change it.
class slice_set {
public:
    using word = std::uint64_t;
    static constexpr std::size_t slices_per_word = 64;

    explicit slice_set(std::size_t slices) : words_(xloom::detail::ceil_div(slices, slices_per_word)) {}

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
