#pragma once
// How the kernels of parallel scans and linear recurrences read and write sequences: items, tuples of items,
// vectors of neighbours, and vectors of consecutive items.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lanes.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns p + offset. A null pointer, of a tensor without elements, stays null.
template <class T>
T* moved_by(T* p, std::ptrdiff_t offset)
{
    return p == nullptr ? nullptr : p + offset;
}

/// An operand of a strip: element t of its sequence c.
template <class T>
struct strip_items {
    T* first;
    std::ptrdiff_t time;
    std::ptrdiff_t beside;

    T& operator()(std::size_t t, std::size_t c) const
    {
        return first[static_cast<std::ptrdiff_t>(t) * time + static_cast<std::ptrdiff_t>(c) * beside];
    }
    T* lanes(std::size_t t, std::size_t c) const
    {
        return first + static_cast<std::ptrdiff_t>(t) * time +
               static_cast<std::ptrdiff_t>(c * kernel::lane_count<std::remove_const_t<T>>);
    }
    /// Returns the same, and prefetches it for a later row: hardware prefetching ends with a strip.
    T* stream(std::size_t t, std::size_t c) const
    {
        T* const vector = lanes(t, c);
        prefetch_ahead<2>(vector, time, tuning::scan_prefetch_rows);
        return vector;
    }
};

/// Sequences of items.
template <class T>
struct item_access {
    strip_items<T const> x;
    strip_items<T> y;
    T const* start; ///< the value before the first element, or null

    bool has_initial() const { return start != nullptr; }
    T const& initial(std::size_t) const { return *start; }
    T const& read(std::size_t t, std::size_t c) const { return x(t, c); }
    void write(std::size_t t, std::size_t c, T const& value) const { y(t, c) = value; }
    T const& kept(std::size_t t, std::size_t c) const { return y(t, c); }
    void keep(std::size_t t, std::size_t c, T const& value) const { y(t, c) = value; }
};

/// Sequences of tuples, of which each operand holds one member.
template <class... Ts>
struct tuple_access {
    using tuple = std::tuple<Ts...>;

    std::tuple<strip_items<Ts const>...> x;
    std::tuple<strip_items<Ts>...> y;
    tuple const* start;

    bool has_initial() const { return start != nullptr; }
    tuple const& initial(std::size_t) const { return *start; }
    tuple read(std::size_t t, std::size_t c) const { return members(x, t, c); }
    tuple kept(std::size_t t, std::size_t c) const { return members(y, t, c); }
    void keep(std::size_t t, std::size_t c, tuple const& value) const { write(t, c, value); }
    void write(std::size_t t, std::size_t c, tuple const& value) const
    {
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            ((std::get<K>(y)(t, c) = std::get<K>(value)), ...);
        }(std::index_sequence_for<Ts...>{});
    }

private:
    template <class Items>
    static tuple members(Items const& items, std::size_t t, std::size_t c)
    {
        return std::apply([&](auto const&... each) { return tuple(each(t, c)...); }, items);
    }
};

/// Neighbours in whole vectors.
struct whole_vectors {
    explicit whole_vectors(std::size_t) {}

    template <class T>
    kernel::lanes_t<T> load(T const* from, std::size_t, T) const
    {
        return kernel::load_lanes(from);
    }
    template <class T>
    void store(T* to, std::size_t, kernel::lanes_t<T> const& value) const
    {
        kernel::store_lanes(to, value);
    }
};

/// As many neighbours as there are, by masks; the other lanes of the last vector have one value.
struct partial_vectors {
    std::size_t neighbours;

    /// Loads vector c.
    template <class T>
    kernel::lanes_t<T> load(T const* from, std::size_t c, T others) const
    {
        return kernel::load_first_lanes(
            from, neighbours - c * kernel::lane_count<T>, kernel::broadcast(others));
    }
    template <class T>
    void store(T* to, std::size_t c, kernel::lanes_t<T> const& value) const
    {
        kernel::store_first_lanes(to, value, neighbours - c * kernel::lane_count<T>);
    }
};

/// Neighbours in whole vectors and a partial one after them.
///
/// Why not masks for all: on a Zen 5 a masked access that crosses cache lines takes about twice as long as
/// another one where the lines come from memory.
struct whole_and_partial_vectors {
    std::size_t neighbours;

    template <class T>
    kernel::lanes_t<T> load(T const* from, std::size_t c, T others) const
    {
        return is_whole<T>(c) ? kernel::load_lanes(from) : partial_vectors{neighbours}.load(from, c, others);
    }
    template <class T>
    void store(T* to, std::size_t c, kernel::lanes_t<T> const& value) const
    {
        is_whole<T>(c) ? kernel::store_lanes(to, value) : partial_vectors{neighbours}.store(to, c, value);
    }

private:
    template <class T>
    bool is_whole(std::size_t c) const
    {
        return (c + 1) * kernel::lane_count<T> <= neighbours;
    }
};

/// The number of vectors that hold `items`.
template <class T>
constexpr std::size_t vectors_for(std::size_t items)
{
    return ceil_div(items, kernel::lane_count<T>);
}

/// Runs the neighbours in vectors by run.operator()<Vectors>(count): all of them where masks are fast, else
/// whole vectors. Returns the number of neighbours that are done.
template <class T, class Run>
std::size_t run_vectors_of(std::size_t neighbours, Run const& run)
{
    std::size_t const rest = neighbours % kernel::lane_count<T>;
    if constexpr (kernel::has_fast_masks)
        if (rest != 0) {
            if (rest == neighbours)
                run.template operator()<partial_vectors>(neighbours);
            else
                run.template operator()<whole_and_partial_vectors>(neighbours);
            return neighbours;
        }
    run.template operator()<whole_vectors>(neighbours - rest);
    return neighbours - rest;
}

/// Sequences of vectors, whose lanes are neighbours.
template <class T, class Vectors>
struct lane_access {
    strip_items<T const> x;
    strip_items<T> y;
    T start;
    T neutral; ///< of the operator: what lanes without an item have
    Vectors vectors;

    using lanes = kernel::lanes_t<T>;

    lanes initial(std::size_t) const { return kernel::broadcast(start); }
    XLOOM_ALWAYS_INLINE lanes read(std::size_t t, std::size_t c) const
    {
        return vectors.load(x.stream(t, c), c, neutral);
    }
    XLOOM_ALWAYS_INLINE void write(std::size_t t, std::size_t c, lanes const& value) const
    {
        vectors.store(y.lanes(t, c), c, value);
    }
};

/// Consecutive items as vectors. In a reverse sequence their addresses decrease: item i is first[-i].
template <class T, bool Reverse>
struct consecutive_items {
    T* first;

    using item = std::remove_const_t<T>;
    using lanes = kernel::lanes_t<item>;
    static constexpr std::size_t count = kernel::lane_count<item>;

    lanes load(std::size_t i) const
    {
        if constexpr (Reverse)
            return kernel::reverse_lanes<item>(
                kernel::load_lanes<item>(first - static_cast<std::ptrdiff_t>(i + count - 1)));
        else
            return kernel::load_lanes<item>(first + i);
    }
    void store(std::size_t i, lanes const& value) const
    {
        if constexpr (Reverse)
            kernel::store_lanes<item>(
                first - static_cast<std::ptrdiff_t>(i + count - 1), kernel::reverse_lanes<item>(value));
        else
            kernel::store_lanes<item>(first + i, value);
    }
    /// Prefetches what is loaded some vectors later.
    void prefetch(std::size_t i) const
    {
        prefetch_ahead<3>(first, Reverse ? -1 : 1, i + tuning::scan_prefetch_bytes / sizeof(item));
    }
    /// Loads the first items of a vector, as many as there are; other lanes are 0.
    lanes load_first(std::size_t i, std::size_t items) const
    {
        if constexpr (!Reverse)
            return kernel::load_first_lanes<item>(first + i, items, lanes{});
        lanes value{};
        for (std::size_t k = 0; k < count && k < items; ++k)
            value[k] = at(i + k);
        return value;
    }
    void store_first(std::size_t i, lanes const& value, std::size_t items) const
    {
        if constexpr (!Reverse)
            return kernel::store_first_lanes<item>(first + i, value, items);
        for (std::size_t k = 0; k < count && k < items; ++k)
            at(i + k) = value[k];
    }

private:
    T& at(std::size_t i) const
    {
        auto const offset = static_cast<std::ptrdiff_t>(i);
        return first[Reverse ? -offset : offset];
    }
};

/// A sequence of consecutive items. If it is padded, there are items past its end, and vectors are read
/// and written whole.
template <class T, bool Reverse>
struct consecutive_access {
    consecutive_items<T const, Reverse> x;
    consecutive_items<T, Reverse> y;
    T start;
    bool is_padded = false;

    using lanes = kernel::lanes_t<T>;

    T initial(std::size_t) const { return start; }
    lanes load(std::size_t i) const { return x.load(i); }
    void prefetch(std::size_t i) const { x.prefetch(i); }
    lanes load_first(std::size_t i, std::size_t items) const
    {
        return is_padded ? x.load(i) : x.load_first(i, items);
    }
    void store(std::size_t i, lanes const& value) const { y.store(i, value); }
    void store_first(std::size_t i, lanes const& value, std::size_t items) const
    {
        if (is_padded)
            y.store(i, value);
        else
            y.store_first(i, value, items);
    }
};

/// Recurrences item by item. The state before the first element is h0 of each sequence.
template <class T>
struct affine_access {
    strip_items<T const> a, b, h0;
    strip_items<T> h;

    using C = compute_t<T>;
    using map = kernel::affine_map<C>;

    static constexpr bool has_initial() { return true; }
    map initial(std::size_t c) const { return {C{}, static_cast<C>(h0(0, c))}; }
    map read(std::size_t t, std::size_t c) const
    {
        return {static_cast<C>(a(t, c)), static_cast<C>(b(t, c))};
    }
    void write(std::size_t t, std::size_t c, map const& value) const { h(t, c) = static_cast<T>(value.b); }
};

/// Recurrences in vectors, whose lanes are neighbours. If neighbours begin with the same h0, its stride is 0.
template <class T, class Vectors>
struct affine_lane_access {
    strip_items<T const> a, b, h0;
    strip_items<T> h;
    Vectors vectors;

    using map = kernel::affine_map<kernel::lanes_t<T>>;

    map initial(std::size_t c) const
    {
        kernel::lanes_t<T> const zero{};
        return {zero, h0.beside == 0 ? kernel::broadcast(*h0.first) : vectors.load(h0.lanes(0, c), c, T{})};
    }
    XLOOM_ALWAYS_INLINE map read(std::size_t t, std::size_t c) const
    {
        return {vectors.load(a.stream(t, c), c, T{}), vectors.load(b.stream(t, c), c, T{})};
    }
    XLOOM_ALWAYS_INLINE void write(std::size_t t, std::size_t c, map const& value) const
    {
        vectors.store(h.lanes(t, c), c, value.b);
    }
};

/// A recurrence whose items are consecutive.
template <class T, bool Reverse>
struct affine_consecutive_access {
    consecutive_items<T const, Reverse> a, b;
    consecutive_items<T, Reverse> h;
    T h0;

    using map = kernel::affine_map<kernel::lanes_t<T>>;

    kernel::affine_map<T> initial(std::size_t) const { return {T{}, h0}; }
    map load(std::size_t i) const { return {a.load(i), b.load(i)}; }
    void prefetch(std::size_t i) const
    {
        a.prefetch(i);
        b.prefetch(i);
    }
    map load_first(std::size_t i, std::size_t items) const
    {
        return {a.load_first(i, items), b.load_first(i, items)};
    }
    void store(std::size_t i, map const& value) const { h.store(i, value.b); }
    void store_first(std::size_t i, map const& value, std::size_t items) const
    {
        h.store_first(i, value.b, items);
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
