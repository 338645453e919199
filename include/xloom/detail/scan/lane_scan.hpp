#pragma once
// The engine of scans whose sequences are lanes: groups of sequences, whose items are adjacent where the
// body is called, in the operands themselves or in a buffer in the L1 cache.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/column_copy.hpp>
#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/body.hpp>
#include <xloom/detail/scan/lane_operands.hpp>
#include <xloom/detail/scan/lanes.hpp>

namespace xloom::inline XLOOM_ABI::detail {

using byte_arena = kernel::arena<std::byte>;

template <class T>
T* take(byte_arena& memory, std::size_t count)
{
    return reinterpret_cast<T*>(memory.take(saturating_mul(count, sizeof(T))));
}

/// Lanes of consecutive steps, `stride` items apart: 0 for a parameter.
template <class T>
struct lane_steps {
    T* first = nullptr;
    std::ptrdiff_t stride = 0;

    template <std::size_t N>
    XLOOM_ALWAYS_INLINE auto load(std::size_t t) const
    {
        return lanes<std::remove_const_t<T>, N>::load(at(t));
    }
    T* at(std::size_t t) const { return first + static_cast<std::ptrdiff_t>(t) * stride; }
};

/// Copies the columns of `valid` sequences to N, of which the others are copies of the last.
template <std::size_t N, class T>
void pack_lanes(kernel::item_rows<T const> const& from, T* to, std::size_t rows, std::size_t valid)
{
    kernel::pack_columns<T>(from, {to, static_cast<std::ptrdiff_t>(N), 1}, rows, valid);
    for (std::size_t t = 0; t < rows; ++t)
        std::fill_n(to + t * N + valid, N - valid, to[t * N + valid - 1]);
}

template <std::size_t N, class T>
void unpack_lanes(T const* from, kernel::item_rows<T> const& to, std::size_t rows, std::size_t valid)
{
    kernel::unpack_columns<T>({from, static_cast<std::ptrdiff_t>(N), 1}, to, rows, valid);
}

/// True if the lanes of a step can be loaded and stored in the operand.
template <std::size_t N, class T>
bool is_adjacent(kernel::item_rows<T> const& items, std::size_t valid)
{
    return items.column == 1 && valid == N;
}

/// The number of steps that are packed at once, so that those of an operand take at most 4,096 items.
template <std::size_t N>
inline constexpr std::size_t packed_steps = (std::max)(std::size_t{64}, 2048 / N);

/// The number of steps that are run at once where nothing is packed: lanes of 32 bits count them.
inline constexpr std::size_t most_steps = std::size_t{1} << 30;

/// Copies a state.
template <class State>
XLOOM_ALWAYS_INLINE inline void copy_state(State const& from, State& to)
{
    if constexpr (is_lanes<State>)
        to = from;
    else
        std::ranges::copy(from, to.begin());
}

/// Says that all lanes are active at every step.
struct all_active {};

/// The active lanes of a step, of sequences of unequal lengths.
template <std::size_t N>
class shorter_lanes {
public:
    /// `lengths` are the steps of each sequence that are left, at most most_steps.
    explicit shorter_lanes(std::int64_t const* lengths)
        : of_eight_(lanes<std::int64_t, N>::load(lengths)), of_four_(of_eight_)
    {}

    /// Returns `yes` in the lanes that are active at step t, `no` in the others.
    template <class T>
    XLOOM_ALWAYS_INLINE lanes<T, N> choose(
        std::size_t t, lanes<T, N> const& yes, std::type_identity_t<lanes<T, N>> const& no) const
    {
        if constexpr (sizeof(T) == 8)
            return select(lanes<std::int64_t, N>(static_cast<std::int64_t>(t)) < of_eight_, yes, no);
        else
            return select(lanes<std::int32_t, N>(static_cast<std::int32_t>(t)) < of_four_, yes, no);
    }

    /// Restores a state in the lanes that are not active at step t.
    template <class State>
    XLOOM_ALWAYS_INLINE void restore(std::size_t t, State& state, State const& before) const
    {
        if constexpr (is_lanes<State>)
            state = choose(t, state, before);
        else
            for (std::size_t k = 0; k < state.size(); ++k)
                state[k] = choose(t, state[k], before[k]);
    }

private:
    lanes<std::int64_t, N> of_eight_;
    lanes<std::int32_t, N> of_four_;
};

/// The call of the body: body(state&..., element const&..., output&...).
template <std::size_t N, class Body, class States, class Inputs, class Outputs>
struct lane_scan_call;
template <std::size_t N, class Body, class... S, class... X, class... Y>
struct lane_scan_call<N, Body, std::tuple<S...>, std::tuple<X...>, std::tuple<Y...>>
    : call_of<Body, std::tuple<typename S::template held<N>&..., lanes<typename X::item, N> const&...,
                        lanes<typename Y::item, N>&...>> {};

/// The number of vectors of 32-bit items whose steps a processor runs at once: the latency of one is hidden
/// by the others, even where not all states are in registers.
template <class... S>
constexpr std::size_t vectors_at_once()
{
    constexpr std::size_t registers = kernel::lane_bytes == 64 ? 32 : 16;
    constexpr std::size_t of_states = (std::size_t{0} + ... + (sizeof(typename S::item) / 4));
    if constexpr (fewest_lanes == 1)
        return 1;
    else if constexpr ((S::is_array || ...))
        return 2;
    else
        return std::clamp<std::size_t>(registers / (2 * std::max<std::size_t>(of_states, 1)), 3, 4);
}

/// A scan of N sequences at once, with memory for them.
template <std::size_t N, class Body, class States, class Inputs, class Outputs>
class lane_group;
template <std::size_t N, class Body, class... S, class... X, class... Y>
class lane_group<N, Body, std::tuple<S...>, std::tuple<X...>, std::tuple<Y...>> {
    using held_states = std::tuple<typename S::template held<N>...>;
    using input_steps = std::tuple<lane_steps<typename X::item const>...>;
    using output_steps = std::tuple<lane_steps<typename Y::item>...>;

public:
    lane_group(std::tuple<S...> const& states, byte_arena& memory)
        : held_(take_states(states, memory)),
          before_(take_states(states, memory)),
          packed_inputs_{take<typename X::item>(memory, packed_steps<N> * N)...},
          packed_outputs_{take<typename Y::item>(memory, packed_steps<N> * N)...}
    {}

    /// Runs `valid` sequences, of which `first` is the number of the first.
    void run(Body const& body, std::tuple<S...> const& states, std::tuple<X...> const& inputs,
        std::tuple<Y...> const& outputs, batch_rows const& rows, std::size_t first, std::size_t valid)
    {
        std::int64_t lengths[N]{};
        for (std::size_t n = 0; n < valid; ++n)
            lengths[n] = static_cast<std::int64_t>(rows.length(first + n));
        auto const [least, most] = std::minmax_element(lengths, lengths + valid);
        auto const shortest = static_cast<std::size_t>(*least), longest = static_cast<std::size_t>(*most);
        bool const is_packed =
            std::apply([&](auto const&... x) { return (... || is_packed_input(x, valid)); }, inputs) ||
            std::apply([&](auto const&... y) { return (... || is_packed_output(y, valid)); }, outputs);
        load_states(states, valid);
        for (std::size_t begin = 0; begin < longest;) {
            std::size_t const whole = begin < shortest ? shortest - begin : longest - begin;
            std::size_t const steps = (std::min)(whole, is_packed ? packed_steps<N> : most_steps);
            run_chunk(body, inputs, outputs, valid, begin, steps, begin < shortest, lengths);
            begin += steps;
        }
        clear_outputs(outputs, valid, longest, rows.longest());
        store_states(states, valid);
    }

private:
    static held_states take_states(std::tuple<S...> const& states, byte_arena& memory)
    {
        return std::apply(
            [&](S const&... state) { return held_states{take_state(state, memory)...}; }, states);
    }
    template <class State>
    static auto take_state(State const& state, byte_arena& memory)
    {
        using held = typename State::template held<N>;
        if constexpr (State::is_array) {
            auto* const items = take<typename held::value_type>(memory, state.count);
            return items == nullptr ? held() : held(items, state.count);
        } else {
            return held();
        }
    }

    template <class Input>
    static bool is_packed_input(Input const& input, std::size_t valid)
    {
        return !input.is_parameter && !is_adjacent<N>(input.items, valid);
    }
    template <class Output>
    static bool is_packed_output(Output const& output, std::size_t valid)
    {
        return !is_adjacent<N>(output.items, valid);
    }

    void load_states(std::tuple<S...> const& states, std::size_t valid)
    {
        detail::for_each_leaf(states, [&]<class State>(auto i, State const& state) {
            for (std::size_t k = 0; k < state.count; ++k) {
                typename State::item items[N];
                pack_lanes<N>(kernel::item_rows<typename State::item const>{state.items.at(k, 0), 0,
                                  state.items.column},
                    items, 1, valid);
                item_of(std::get<i>(held_), k) = lanes<typename State::item, N>::load(items);
            }
        });
    }
    void store_states(std::tuple<S...> const& states, std::size_t valid) const
    {
        detail::for_each_leaf(states, [&]<class State>(auto i, State const& state) {
            for (std::size_t k = 0; k < state.count; ++k) {
                typename State::item items[N];
                item_of(std::get<i>(held_), k).store(items);
                unpack_lanes<N>(items, state.items.from_row(k), 1, valid);
            }
        });
    }
    template <class Held>
    static auto& item_of(Held& held, [[maybe_unused]] std::size_t k)
    {
        if constexpr (is_lanes<std::remove_const_t<Held>>)
            return held;
        else
            return held[k];
    }

    void run_chunk(Body const& body, std::tuple<X...> const& inputs, std::tuple<Y...> const& outputs,
        std::size_t valid, std::size_t begin, std::size_t steps, bool are_all_active,
        std::int64_t (&lengths)[N])
    {
        input_steps in;
        output_steps out;
        detail::for_each_leaf(inputs, [&](auto i, auto const& input) {
            auto* const packed = std::get<i>(packed_inputs_);
            auto const from = input.is_parameter ? input.items : input.items.from_row(begin);
            if (is_adjacent<N>(input.items, valid)) {
                std::get<i>(in) = {from.first, from.row};
            } else {
                pack_lanes<N>(from, packed, input.is_parameter ? 1 : steps, valid);
                std::get<i>(in) = {packed, input.is_parameter ? 0 : static_cast<std::ptrdiff_t>(N)};
            }
        });
        detail::for_each_leaf(outputs, [&](auto i, auto const& output) {
            if (is_adjacent<N>(output.items, valid))
                std::get<i>(out) = {output.items.at(begin, 0), output.items.row};
            else
                std::get<i>(out) = {std::get<i>(packed_outputs_), static_cast<std::ptrdiff_t>(N)};
        });
        if (are_all_active) {
            run_steps(body, in, out, steps, all_active());
        } else {
            std::int64_t left[N];
            std::transform(lengths, lengths + N, left, [&](std::int64_t length) {
                return std::clamp<std::int64_t>(
                    length - static_cast<std::int64_t>(begin), 0, static_cast<std::int64_t>(steps));
            });
            run_steps(body, in, out, steps, shorter_lanes<N>(left));
        }
        detail::for_each_leaf(outputs, [&](auto i, auto const& output) {
            if (!is_adjacent<N>(output.items, valid))
                unpack_lanes<N>(std::get<i>(packed_outputs_), output.items.from_row(begin), steps, valid);
        });
    }

    /// Calls the body for `steps` steps. The states are local, so that no store can change them.
    template <class Active>
    XLOOM_NOINLINE XLOOM_FLATTEN void run_steps(Body const& shared, input_steps const in,
        output_steps const out, std::size_t steps, Active const active)
    {
        constexpr bool are_all_active = std::is_same_v<Active, all_active>;
        using local = std::conditional_t<std::is_trivially_copyable_v<Body>, Body const, Body const&>;
        local body = shared;
        held_states states = held_;
        [&]<std::size_t... s, std::size_t... x, std::size_t... y>(
            std::index_sequence<s...>, std::index_sequence<x...>, std::index_sequence<y...>) {
            for (std::size_t t = 0; t < steps; ++t) {
                std::tuple<lanes<typename Y::item, N>...> values;
                if constexpr (!are_all_active)
                    (copy_state(std::get<s>(states), std::get<s>(before_)), ...);
                body(std::get<s>(states)...,
                    static_cast<lanes<typename X::item, N> const&>(std::get<x>(in).template load<N>(t))...,
                    std::get<y>(values)...);
                if constexpr (!are_all_active) {
                    (active.restore(t, std::get<s>(states), std::get<s>(before_)), ...);
                    ((std::get<y>(values) = active.choose(t, std::get<y>(values), 0)), ...);
                }
                (std::get<y>(values).store(std::get<y>(out).at(t)), ...);
            }
        }(std::index_sequence_for<S...>(), std::index_sequence_for<X...>(), std::index_sequence_for<Y...>());
        held_ = states;
    }

    static void clear_outputs(
        std::tuple<Y...> const& outputs, std::size_t valid, std::size_t begin, std::size_t end)
    {
        detail::for_each_leaf(outputs, [&](auto, auto const& output) {
            kernel::clear_matrix(output.items.from_row(begin), end - begin, valid);
        });
    }

    held_states held_, before_;
    std::tuple<typename X::item*...> packed_inputs_;
    std::tuple<typename Y::item*...> packed_outputs_;
};

/// Returns the operands from a sequence on.
template <class... Operands>
std::tuple<Operands...> from_sequence(std::tuple<Operands...> const& operands, std::size_t sequence)
{
    return std::apply([&](auto const&... each) { return std::tuple(each.from(sequence)...); }, operands);
}

/// Groups of `width` sequences, divided among threads.
struct lane_groups {
    std::size_t sequences, width;

    std::size_t size() const { return ceil_div(sequences, width); }
    std::size_t begin_of_part(std::size_t part, std::size_t parts) const
    {
        return detail::begin_of_part(part, parts, size());
    }
};

/// Runs a scan whose sequences are lanes, on the threads of a policy. Requires checked operands.
template <class Body, class... S, class... X, class... Y, class Policy>
void run_lanes(Body const& body, batch_rows const& rows, std::tuple<S...> const& states,
    std::tuple<X...> const& inputs, std::tuple<Y...> const& outputs, Policy const& policy)
{
    constexpr std::size_t wide = fewest_lanes * vectors_at_once<S...>();
    using wide_group = lane_group<wide, Body, std::tuple<S...>, std::tuple<X...>, std::tuple<Y...>>;
    using group = lane_group<fewest_lanes, Body, std::tuple<S...>, std::tuple<X...>, std::tuple<Y...>>;
    byte_arena size;
    wide_group(states, size);
    group(states, size);
    lane_groups const groups{rows.size(), wide};
    detail::for_parts(groups, policy, [&](std::size_t first, std::size_t last) {
        aligned_vector<std::byte> items(size.used());
        byte_arena memory(items.data());
        wide_group many(states, memory);
        group few(states, memory);
        auto const run = [&](auto& by, std::size_t begin, std::size_t count) {
            by.run(body, detail::from_sequence(states, begin), detail::from_sequence(inputs, begin),
                detail::from_sequence(outputs, begin), rows, begin, count);
        };
        std::size_t begin = first * wide, end = (std::min)(last * wide, rows.size());
        for (; begin + wide <= end; begin += wide)
            run(many, begin, wide);
        for (; begin < end; begin += fewest_lanes)
            run(few, begin, (std::min)(fewest_lanes, end - begin));
    });
}

} // namespace xloom::inline XLOOM_ABI::detail
