#pragma once
// How the kernels of parallel scans read the coefficients of linear recurrences and write their states.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/prefix/access.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
template <class T>
struct affine_lane_access {
    strip_items<T const> a, b, h0;
    strip_items<T> h;

    using map = kernel::affine_map<kernel::lanes_t<T>>;

    map initial(std::size_t c) const
    {
        kernel::lanes_t<T> const zero{};
        return {zero, h0.beside == 0 ? kernel::broadcast(*h0.first) : kernel::load_lanes(h0.lanes(0, c))};
    }
    map read(std::size_t t, std::size_t c) const
    {
        return {kernel::load_lanes(a.lanes(t, c)), kernel::load_lanes(b.lanes(t, c))};
    }
    void write(std::size_t t, std::size_t c, map const& value) const
    {
        kernel::store_lanes(h.lanes(t, c), value.b);
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
