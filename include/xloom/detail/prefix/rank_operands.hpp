#pragma once
// The operands of a scan over ranks: how their elements are read and written one by one, and in strips.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lane_prefix.hpp>
#include <xloom/detail/kernel/lane_reduction.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/access.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>
#include <xloom/detail/prefix/sequences.hpp>
#include <xloom/detail/prefix/whole_blocks.hpp>

namespace xloom::inline XLOOM_ABI::detail {

// Each of these types has
//
//     value_type, op()         the values and the operation
//     state, count             the index of the state among the operands, and their number; the last operand
//                              is the result
//     moved(offsets)           the same scan of operands that begin at other elements
//     has_initial(), initial(offsets)
//     access(offsets, sequences)       elements one by one
//     with_strips(sequences, f)        calls f(strips...), which together are all sequences

/// Returns p + offset. A null pointer, of a rank without elements, stays null.
template <class T>
T* moved_by(T* p, std::ptrdiff_t offset)
{
    return p == nullptr ? nullptr : p + offset;
}

/// A scan of one operand x into y.
template <class T, class Op>
struct rank_item_scan {
    using value_type = T;
    static constexpr std::size_t state = 1, count = 3;
    using all_sequences = sequences<count>;
    using offsets = typename all_sequences::offsets;

    T const* x;
    T* y;
    T const* start; ///< the value before the first element, or null
    bool exclusive;
    Op* function;

    /// The scan of operands that begin at other elements.
    rank_item_scan moved(offsets const& to) const
    {
        return {detail::moved_by(x, to[0]), detail::moved_by(y, to[2]), start, exclusive, function};
    }

    element_operator<T, Op> op() const { return detail::element_operator_of<T>(*function); }
    bool has_initial() const { return start != nullptr; }
    T const& initial(offsets const&) const { return *start; }

    item_access<T> access(offsets const& at, all_sequences const& all) const
    {
        return {{x + at[0], all.time()[0], all.beside()[0]}, {y + at[2], all.time()[2], all.beside()[2]},
            nullptr};
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        if constexpr (kernel::has_lane_form<std::remove_const_t<Op>> && kernel::has_lanes<T>) {
            if (all.time()[0] == 1 && all.time()[2] == 1)
                return f(consecutive<false>(all));
            if (all.time()[0] == -1 && all.time()[2] == -1)
                return f(consecutive<true>(all));
            if (all.beside()[0] == 1 && all.beside()[2] == 1) {
                std::size_t const whole = all.neighbours() / kernel::lane_count<T> * kernel::lane_count<T>;
                return f(vectors(all, whole), items(all, whole));
            }
        }
        f(items(all, 0));
    }

private:
    auto items(all_sequences const& all, std::size_t begin) const
    {
        using strip = kernel::strip_prefix<T, element_operator<T, Op>, item_access<T>, !is_cheap<T, Op>>;
        return strips_between<T>(begin, all.neighbours(), kernel::strip_width<T>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip(op(), access(at, all), length, width, exclusive);
            });
    }
    template <bool Reverse>
    auto consecutive(all_sequences const& all) const
    {
        using ops = kernel::lane_reduction<std::remove_const_t<Op>, T>;
        using lane_access = consecutive_access<T, Reverse>;
        return strips_between<T>(
            0, all.neighbours(), 1,
            [this](offsets const& at, std::size_t length, std::size_t) {
                return kernel::lane_prefix<ops, lane_access>(
                    lane_access{{x + at[0]}, {y + at[2]}, ops::neutral()}, length, exclusive);
            },
            ops::neutral());
    }
    auto vectors(all_sequences const& all, std::size_t end) const
    {
        using ops = kernel::lane_reduction<std::remove_const_t<Op>, T>;
        using lanes = kernel::lanes_t<T>;
        return strips_between<lanes>(
            0, end, kernel::lane_count<T> * kernel::row_width<lanes>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return kernel::row_prefix<lanes, ops, lane_access<T>>(ops{},
                    {{x + at[0], all.time()[0], 1}, {y + at[2], all.time()[2], 1}, ops::neutral()}, length,
                    width / kernel::lane_count<T>, exclusive);
            },
            kernel::broadcast(ops::neutral()));
    }
};

/// A scan of tuples, of which each operand holds one member.
template <class Op, class... Ts>
struct rank_tuple_scan {
    using value_type = std::tuple<Ts...>;
    static constexpr std::size_t state = sizeof...(Ts), count = 2 * sizeof...(Ts) + 1;
    using all_sequences = sequences<count>;
    using offsets = typename all_sequences::offsets;

    std::tuple<Ts const*...> x;
    std::tuple<Ts*...> y;
    value_type const* start;
    bool exclusive;
    Op* function;

    rank_tuple_scan moved(offsets const& to) const
    {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return rank_tuple_scan{{detail::moved_by(std::get<K>(x), to[K])...},
                {detail::moved_by(std::get<K>(y), to[state + 1 + K])...}, start, exclusive, function};
        }(std::index_sequence_for<Ts...>{});
    }

    operator_ref<value_type, Op> op() const { return {function}; }
    bool has_initial() const { return start != nullptr; }
    value_type const& initial(offsets const&) const { return *start; }

    tuple_access<Ts...> access(offsets const& at, all_sequences const& all) const
    {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            constexpr std::size_t first = state + 1;
            return tuple_access<Ts...>{{{std::get<K>(x) + at[K], all.time()[K], all.beside()[K]}...},
                {{std::get<K>(y) + at[first + K], all.time()[first + K], all.beside()[first + K]}...},
                nullptr};
        }(std::index_sequence_for<Ts...>{});
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        using strip =
            kernel::strip_prefix<value_type, operator_ref<value_type, Op>, tuple_access<Ts...>, true>;
        f(strips_between<value_type>(0, all.neighbours(), kernel::strip_width<value_type>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip(op(), access(at, all), length, width, exclusive);
            }));
    }
};

/// Linear recurrences with the coefficients a and b, the first states h0 and the states h.
template <class T>
struct rank_recurrence {
    using number = typename affine_access<T>::C;
    using value_type = kernel::affine_map<number>;
    static constexpr std::size_t state = 3, count = 5;
    static constexpr bool exclusive = false;
    using all_sequences = sequences<count>;
    using offsets = all_sequences::offsets;

    T const* a;
    T const* b;
    T const* h0;
    T* h;

    rank_recurrence moved(offsets const& to) const
    {
        return {detail::moved_by(a, to[0]), detail::moved_by(b, to[1]), detail::moved_by(h0, to[2]),
            detail::moved_by(h, to[4])};
    }

    static constexpr kernel::compose op() { return {}; }
    static constexpr bool has_initial() { return true; }
    value_type initial(offsets const& at) const { return {number{}, static_cast<number>(h0[at[2]])}; }

    affine_access<T> access(offsets const& at, all_sequences const& all) const
    {
        auto const& time = all.time();
        auto const& beside = all.beside();
        return {{a + at[0], time[0], beside[0]}, {b + at[1], time[1], beside[1]}, {h0 + at[2], 0, beside[2]},
            {h + at[4], time[4], beside[4]}};
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        if constexpr (kernel::has_lanes<T>) {
            auto const are_all = [](offsets const& steps, std::ptrdiff_t step) {
                return steps[0] == step && steps[1] == step && steps[4] == step;
            };
            if (are_all(all.time(), 1))
                return f(consecutive<false>(all));
            if (are_all(all.time(), -1))
                return f(consecutive<true>(all));
            if (are_all(all.beside(), 1)) {
                std::size_t const whole = all.neighbours() / kernel::lane_count<T> * kernel::lane_count<T>;
                return f(vectors(all, whole), items(all, whole));
            }
        }
        f(items(all, 0));
    }

private:
    auto items(all_sequences const& all, std::size_t begin) const
    {
        using strip = kernel::strip_prefix<value_type, kernel::compose, affine_access<T>, false>;
        return strips_between<value_type>(begin, all.neighbours(), kernel::strip_width<value_type>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip({}, access(at, all), length, width, false);
            });
    }
    template <bool Reverse>
    auto consecutive(all_sequences const& all) const
    {
        using lane_access = affine_consecutive_access<T, Reverse>;
        return strips_between<value_type>(
            0, all.neighbours(), 1, [this](offsets const& at, std::size_t length, std::size_t) {
                return kernel::lane_prefix<kernel::lane_compose<T>, lane_access>(
                    lane_access{{a + at[0]}, {b + at[1]}, {h + at[4]}, T{}}, length, false);
            });
    }
    auto vectors(all_sequences const& all, std::size_t end) const
    {
        using map = kernel::affine_map<kernel::lanes_t<T>>;
        using strip = kernel::row_prefix<map, kernel::compose, affine_lane_access<T>>;
        return strips_between<map>(0, end, kernel::lane_count<T> * strip::max_width,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                auto const& time = all.time();
                return strip({},
                    {{a + at[0], time[0], 1}, {b + at[1], time[1], 1}, {h0 + at[2], 0, 0},
                        {h + at[4], time[4], 1}},
                    length, width / kernel::lane_count<T>, false);
            });
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
