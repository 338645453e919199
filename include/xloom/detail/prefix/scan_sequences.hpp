#pragma once
// The choice of a kernel for a parallel scan, by layout, element type and operator.

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/access.hpp>
#include <xloom/detail/prefix/strips.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// An operator on elements of type V, by reference: it is called by several threads.
template <class V, class Op>
struct operator_ref {
    Op* op;

    V operator()(V const& a, V const& b) const { return static_cast<V>((*op)(a, b)); }
};

/// The operator by which a kernel combines elements of type V: that of a reduction has no members.
template <class V, class Op>
using element_operator = std::conditional_t<kernel::has_lane_form<std::remove_const_t<Op>>,
    kernel::scanned_by<V, std::remove_const_t<Op>>, operator_ref<V, Op>>;

template <class V, class Op>
element_operator<V, Op> element_operator_of(Op& op)
{
    if constexpr (std::is_empty_v<element_operator<V, Op>>)
        return {};
    else
        return {&op};
}

/// True if the operator is a reduction of numbers, so that it costs less than to read a prefix again.
template <class V, class Op>
inline constexpr bool is_cheap =
    kernel::has_lane_form<std::remove_const_t<Op>> &&
    (std::is_arithmetic_v<V> || kernel::order_rule<element_operator<V, Op>, V>::is_ordered);

/// True if the threads of a scan keep prefixes, so that they call the operator as often as one thread does:
/// numbers take longer to write and read again than to combine.
template <class V, class Op>
inline constexpr bool keeps_prefixes = !is_cheap<V, Op> && !std::is_arithmetic_v<V>;

/// Returns the number of parts for a scan: at least 1.
template <class V, class Op, class Policy>
std::size_t scan_parts(std::size_t elements, Policy const& policy)
{
    constexpr std::size_t least =
        is_cheap<V, Op> ? tuning::elements_per_thread : tuning::scanned_elements_per_thread;
    return detail::parts_for(policy, elements, least);
}

/// The strips of at most `width` neighbours into which `neighbours` of each row are divided.
class strip_grid {
public:
    strip_grid(std::size_t neighbours, std::size_t width)
        : neighbours_(neighbours), width_(width), per_row_(ceil_div(neighbours, width))
    {}

    std::size_t per_row() const { return per_row_; }
    std::size_t row(std::size_t strip) const { return per_row_ == 1 ? strip : strip / per_row_; }
    std::size_t begin(std::size_t strip) const { return per_row_ == 1 ? 0 : strip % per_row_ * width_; }
    std::size_t size(std::size_t strip) const { return (std::min)(width_, neighbours_ - begin(strip)); }

private:
    std::size_t neighbours_, width_, per_row_;
};

/// Makes strips of the neighbours begin .. end - 1 of every row of sequences, and runs them along the axis.
/// make(at, length, width) makes one: at its first elements, with `width` neighbours.
template <class Sequences>
struct whole_axis {
    Sequences const& all;
    std::size_t parts;
    policy_ref policy;

    bool suits_vectors() const { return all.length() >= kernel::elements_per_group; }

    template <class Make>
    void operator()(std::size_t begin, std::size_t end, std::size_t width, Make const& make) const
    {
        if (begin == end)
            return;
        strip_grid const grid{end - begin, width};
        std::size_t const rows = all.count() / all.neighbours();
        detail::run_strips(
            rows * grid.per_row(), parts,
            [&](std::size_t i) {
                std::size_t const first = grid.row(i) * all.neighbours() + begin + grid.begin(i);
                return make(all(first), all.length(), grid.size(i));
            },
            policy);
    }
};

/// True if the elements of operands K follow each other at this stride; of all operands if none is named.
template <std::size_t... K, std::size_t N>
bool are_consecutive(std::array<std::ptrdiff_t, N> const& strides, std::ptrdiff_t stride)
{
    if constexpr (sizeof...(K) == 0)
        return std::all_of(
            strides.begin(), strides.end(), [&](std::ptrdiff_t each) { return each == stride; });
    else
        return ((strides[K] == stride) && ...);
}

/// The function that runs the part of a scan that is done in vectors, and returns the number of neighbours of
/// each row that are done.
template <class Scan, class... Arguments>
struct vector_functions {
    using item = typename Scan::item;

    static constexpr bool has_integers = true;

    std::size_t (*scan)(Scan const&, Arguments const&...);

    static constexpr vector_functions compiled() noexcept
    {
        return {[](Scan const& of, Arguments const&... arguments) { return of(arguments...); }};
    }
};

template <class Scan, class... Arguments>
std::size_t run_in_vectors(vector_level const& level, Scan const& scan, Arguments const&... arguments)
{
    return level.template functions<vector_functions<Scan, Arguments...>>().scan(scan, arguments...);
}

/// Makes the scans of sequences of which all items are consecutive.
template <class T, class Ops, bool Reverse>
struct consecutive_scans {
    using access = consecutive_access<T, Reverse>;
    using strip = kernel::lane_prefix<Ops, access>;

    T const* x;
    T* y;
    T start;
    bool exclusive;

    strip operator()(sequences<2>::offsets const& at, std::size_t length, std::size_t) const
    {
        return strip(access{{x + at[0]}, {y + at[1]}, start}, length, exclusive);
    }
    /// Returns the scan of a padded sequence into other memory.
    strip padded(sequences<2>::offsets const& at, std::size_t length, T* results) const
    {
        return strip(access{{x + at[0]}, {results}, start, true}, length, exclusive);
    }
};

/// The part of a scan of x into y that is done in vectors. Reduce is add, mul, max or min.
template <class T, class Reduce>
struct vector_part {
    using item = T;
    using offsets = sequences<2>::offsets;
    using ops = kernel::lane_reduction<Reduce, T>;

    T const* x;
    T* y;
    sequences<2> const& all;
    T const* start; ///< the value before the first element, or null
    bool exclusive;

    /// Runs what is done in vectors. Returns the number of neighbours of each row that are done.
    template <class Run>
    std::size_t operator()(Run const& run) const
    {
        if (run.suits_vectors()) {
            if (detail::are_consecutive(all.time(), 1))
                return run_consecutive<false>(run);
            if (detail::are_consecutive(all.time(), -1))
                return run_consecutive<true>(run);
        }
        constexpr std::size_t least =
            kernel::has_fast_masks ? tuning::elements_in_masked_vectors : tuning::elements_in_whole_vectors;
        bool const has_vectors = run.suits_vectors() || all.length() * all.neighbours() >= least;
        return has_vectors && detail::are_consecutive(all.beside(), 1) ? run_neighbours(run) : 0;
    }

private:
    T first() const { return start != nullptr ? *start : ops::neutral(); }

    /// Scans sequences whose items are consecutive.
    template <bool Reverse, class Run>
    std::size_t run_consecutive(Run const& run) const
    {
        run(0, all.neighbours(), 1, consecutive_scans<T, ops, Reverse>{x, y, first(), exclusive});
        return all.neighbours();
    }

    /// Scans sequences whose neighbours are consecutive, in vectors of neighbours.
    template <class Run>
    std::size_t run_neighbours(Run const& run) const
    {
        using lanes = kernel::lanes_t<T>;
        return detail::run_vectors_of<T>(all.neighbours(), [&]<class Vectors>(std::size_t neighbours) {
            using strip = kernel::row_prefix<lanes, ops, lane_access<T, Vectors>>;
            run(0, neighbours, kernel::lane_count<T> * kernel::row_width<lanes>,
                [this](offsets const& at, std::size_t length, std::size_t width) {
                    return strip(ops{},
                        {{x + at[0], all.time()[0], 1}, {y + at[1], all.time()[1], 1}, first(),
                            ops::neutral(), Vectors{width}},
                        length, vectors_for<T>(width), exclusive);
                });
        });
    }
};

/// A scan of one operand x into y.
template <class T, class Op>
struct item_scan {
    using offsets = sequences<2>::offsets;

    T const* x;
    T* y;
    sequences<2> const& all;
    T const* start; ///< the value before the first element, or null
    bool exclusive;
    Op& op;

    /// Chooses kernels and runs them.
    template <class Run>
    void operator()(Run const& run) const
    {
        using reduce = std::remove_const_t<Op>;
        std::size_t done = 0;
        if constexpr (kernel::has_lane_form<reduce> && kernel::has_lanes<T>)
            done = detail::run_in_vectors(
                vector_level(), vector_part<T, reduce>{x, y, all, start, exclusive}, run);
        run_items(done, run);
    }

private:
    /// Scans the neighbours from `begin` on item by item.
    template <class Run>
    void run_items(std::size_t begin, Run const& run) const
    {
        using strip = kernel::strip_prefix<T, element_operator<T, Op>, item_access<T>, keeps_prefixes<T, Op>>;
        run(begin, all.neighbours(), kernel::strip_width<T>,
            [this](offsets const& at, std::size_t length, std::size_t width) {
                return strip(detail::element_operator_of<T>(op),
                    {{x + at[0], all.time()[0], all.beside()[0]}, {y + at[1], all.time()[1], all.beside()[1]},
                        start},
                    length, width, exclusive);
            });
    }
};

/// A scan of tuples, of which each operand holds one member.
template <class Op, class... Ts>
struct tuple_scan {
    using V = std::tuple<Ts...>;
    static constexpr std::size_t count = 2 * sizeof...(Ts);

    std::tuple<Ts const*...> const& x;
    std::tuple<Ts*...> const& y;
    sequences<count> const& all;
    V const* start;
    bool exclusive;
    Op& op;

    /// Returns the access to the tuples of a sequence and its neighbours.
    tuple_access<Ts...> access(typename sequences<count>::offsets const& at) const
    {
        auto const& time = all.time();
        auto const& beside = all.beside();
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            constexpr std::size_t results = sizeof...(Ts);
            return tuple_access<Ts...>{{{detail::moved_by(std::get<K>(x), at[K]), time[K], beside[K]}...},
                {{detail::moved_by(std::get<K>(y), at[results + K]), time[results + K],
                    beside[results + K]}...},
                start};
        }(std::index_sequence_for<Ts...>{});
    }

    template <class Run>
    void operator()(Run const& run) const
    {
        using ref = operator_ref<V, Op>;
        run(0, all.neighbours(), kernel::strip_width<V>,
            [this](auto const& at, std::size_t length, std::size_t width) {
                return kernel::strip_prefix<V, ref, tuple_access<Ts...>, true>(
                    ref{&op}, access(at), length, width, exclusive);
            });
    }
};

/// Returns the scan of the operands of a call. `start` is the value before the first element, or null.
template <bool IsTuple, class Call, class V, class Op>
auto scan_of(Call const& call, sequences<Call::count> const& all, V const* start, bool exclusive, Op& op)
{
    if constexpr (IsTuple)
        return std::apply(
            [&]<class... Ts>(Ts*...) {
                return tuple_scan<Op, Ts...>{call.x, call.y, all, start, exclusive, op};
            },
            call.y);
    else
        return item_scan<V, Op>{std::get<0>(call.x), std::get<0>(call.y), all, start, exclusive, op};
}

} // namespace xloom::inline XLOOM_ABI::detail
