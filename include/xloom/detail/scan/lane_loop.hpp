#pragma once
// The engine of loops whose sequences are lanes: lanes whose loops have ended take the next sequences.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/scan/lane_scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the condition holds in a lane.
template <std::size_t Bytes, std::size_t N>
bool any_lane(lane_mask<Bytes, N> const& condition)
{
    lane_mask<Bytes, N> const others = !condition;
    bool are_all_false = true;
    for (std::size_t i = 0; i < others.parts; ++i)
        are_all_false = are_all_false && kernel::all_of(others[i]);
    return !are_all_false;
}

/// Returns a condition of lanes whose items have another size.
template <std::size_t To, std::size_t From, std::size_t N>
XLOOM_ALWAYS_INLINE inline lane_mask<To, N> resized(lane_mask<From, N> const& condition)
{
    if constexpr (To == From) {
        return condition;
    } else {
        lanes<signed_integer<From>, N> const truth =
            select(condition, signed_integer<From>(1), signed_integer<From>(0));
        return lanes<signed_integer<To>, N>(truth) != lanes<signed_integer<To>, N>(0);
    }
}

template <class Condition>
inline constexpr std::size_t mask_bytes = 0;
template <std::size_t Bytes, std::size_t N>
inline constexpr std::size_t mask_bytes<lane_mask<Bytes, N>> = Bytes;

/// Loops of N sequences at once.
template <std::size_t N, class Body, class States, class Parameters>
class lane_loops;
template <std::size_t N, class Body, class... S, class... P>
class lane_loops<N, Body, std::tuple<S...>, std::tuple<P...>> {
    using call = lane_scan_call<N, Body, std::tuple<S...>, std::tuple<P...>, std::tuple<>>;
    using integer = signed_integer<mask_bytes<bare<typename call::result>>>;

public:
    /// trip_counts may be omitted.
    lane_loops(Body const& body, std::tuple<S...> const& states, std::tuple<P...> const& parameters,
        kernel::item_rows<std::int64_t> const& trip_counts, std::int64_t max_trip_count)
        : body_(body),
          states_(states),
          parameters_(parameters),
          trip_counts_(trip_counts),
          max_trip_count_(max_trip_count)
    {}

    /// Runs the loops of the sequences [first, last). Requires max_trip_count > 0.
    void run(std::size_t first, std::size_t last)
    {
        next_ = first;
        for (std::size_t n = 0; n < N; ++n)
            take(n, last);
        while (running_ != 0) {
            run_round();
            for (std::size_t n = 0; n < N; ++n)
                if (is_taken_[n] && active_[n] == 0) {
                    finish(n);
                    take(n, last);
                }
        }
    }

private:
    /// The number of iterations after which lanes whose loops have ended take other sequences.
    static constexpr std::size_t round = 16;

    /// Gives lane n the next sequence, if there is one.
    void take(std::size_t n, std::size_t last)
    {
        is_taken_[n] = next_ < last;
        active_[n] = is_taken_[n] ? 1 : 0;
        if (!is_taken_[n])
            return;
        sequence_[n] = next_++;
        count_[n] = 0;
        ++running_;
        auto const load = [&](auto const& from, auto& to) {
            detail::for_each_leaf(from,
                [&](auto i, auto const& each) { std::get<i>(to)[n] = *each.items.at(0, sequence_[n]); });
        };
        load(states_, held_);
        load(parameters_, given_);
    }

    void finish(std::size_t n)
    {
        --running_;
        if (trip_counts_.first != nullptr)
            *trip_counts_.at(0, sequence_[n]) = count_[n];
        detail::for_each_leaf(
            states_, [&](auto i, auto const& to) { *to.items.at(0, sequence_[n]) = std::get<i>(held_)[n]; });
    }

    /// Runs a round of the lanes that are active.
    XLOOM_NOINLINE XLOOM_FLATTEN void run_round()
    {
        integer left[N], counted[N];
        for (std::size_t n = 0; n < N; ++n)
            left[n] = static_cast<integer>(
                (std::min)(max_trip_count_ - count_[n], static_cast<std::int64_t>(round) + 1));
        auto const limit = lanes<integer, N>::load(left);
        auto active = lanes<integer, N>::load(active_) != integer(0);
        lanes<integer, N> count = integer(0);
        [&]<std::size_t... s, std::size_t... p>(std::index_sequence<s...>, std::index_sequence<p...>) {
            std::tuple states(lanes<typename S::item, N>::load(std::get<s>(held_).data())...);
            std::tuple const parameters(lanes<typename P::item, N>::load(std::get<p>(given_).data())...);
            for (std::size_t k = 0; k < round && any_lane(active); ++k) {
                auto const before = states;
                auto const goes_on = body_(std::get<s>(states)..., std::get<p>(parameters)...);
                ((std::get<s>(states) = select(
                      resized<sizeof(typename S::item)>(active), std::get<s>(states), std::get<s>(before))),
                    ...);
                count = count + select(active, integer(1), integer(0));
                active = active & goes_on & (count < limit);
            }
            (std::get<s>(states).store(std::get<s>(held_).data()), ...);
        }(std::index_sequence_for<S...>(), std::index_sequence_for<P...>());
        count.store(counted);
        select(active, lanes<integer, N>(integer(1)), lanes<integer, N>(integer(0))).store(active_);
        for (std::size_t n = 0; n < N; ++n)
            count_[n] += counted[n];
    }

    Body const& body_;
    std::tuple<S...> states_;
    std::tuple<P...> parameters_;
    kernel::item_rows<std::int64_t> trip_counts_;
    std::int64_t max_trip_count_;
    std::size_t next_ = 0, running_ = 0;
    std::tuple<std::array<typename S::item, N>...> held_{};
    std::tuple<std::array<typename P::item, N>...> given_{};
    std::array<std::size_t, N> sequence_{};
    std::array<std::int64_t, N> count_{};
    std::array<bool, N> is_taken_{};
    integer active_[N]{};
};

/// Runs loops whose sequences are lanes, on the threads of a policy. Requires checked operands; trip_counts
/// may be omitted.
template <class Body, class... S, class... P, class Policy>
void run_lane_loops(Body const& body, std::size_t sequences, std::tuple<S...> const& states,
    std::tuple<P...> const& parameters, kernel::item_rows<std::int64_t> const& trip_counts,
    std::int64_t max_trip_count, Policy const& policy)
{
    constexpr std::size_t N = fewest_lanes * vectors_at_once<S...>();
    if (max_trip_count > 0)
        detail::for_parts(lane_groups{sequences, 1}, policy, [&](std::size_t first, std::size_t last) {
            lane_loops<N, Body, std::tuple<S...>, std::tuple<P...>>(
                body, states, parameters, trip_counts, max_trip_count)
                .run(first, last);
        });
    else if (trip_counts.first != nullptr)
        for (std::size_t n = 0; n < sequences; ++n)
            *trip_counts.at(0, n) = 0;
}

} // namespace xloom::inline XLOOM_ABI::detail
