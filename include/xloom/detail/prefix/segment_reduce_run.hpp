#pragma once
// The run of segment_reduce: the total of each segment.

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/check/row_splits.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/row_total.hpp>
#include <xloom/detail/kernel/sequence_total.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/operands.hpp>
#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The segments [begin, end) of a call, and the result of those that are empty; null if none is.
template <class V>
struct segment_range {
    row_split_list const& splits;
    std::size_t begin;
    std::size_t end;
    V const* empty;
};

/// Reduces `width` neighbours. Element t of neighbour c is access.read(t, c), and its result of segment s is
/// written by access.write(s, c, v).
template <bool IsUnrolled, class V, class Op, class Access>
void reduce_elements(Access const& access, segment_range<V> const& segments, std::size_t width, Op const& op)
{
    kernel::sequence_total<V, Op, IsUnrolled> const total{op};
    auto const read = [&](std::size_t t, std::size_t c) -> decltype(auto) { return access.read(t, c); };
    for (std::size_t s = segments.begin; s < segments.end; ++s)
        if (std::size_t const length = segments.splits.length(s); length != 0)
            total(segments.splits.begin(s), length, width, read,
                [&](std::size_t c, V const& value) { access.write(s, c, value); });
        else
            for (std::size_t c = 0; c < width; ++c)
                access.write(s, c, *segments.empty);
}

/// Reduces segments of contiguous numbers.
template <class Ops, class T>
void reduce_contiguous(T const* x, strip_items<T> const& y, segment_range<T> const& segments)
{
    kernel::contiguous_total<Ops> const total;
    for (std::size_t s = segments.begin; s < segments.end; ++s) {
        std::size_t const length = segments.splits.length(s);
        y(s, 0) = length == 0 ? *segments.empty : total(x + segments.splits.begin(s), length);
    }
}

/// The operands of a reduction of segments.
template <class T>
struct segment_operands {
    using offsets = sequences<2>::offsets;

    T const* x;
    T* y;
    sequences<2> const& all;

    /// Returns x or y, which is operand k, from neighbour c on.
    template <class Item>
    strip_items<Item> items(Item* first, offsets const& at, std::size_t k, std::size_t c) const
    {
        return {detail::moved_by(first, at[k] + static_cast<std::ptrdiff_t>(c) * all.beside()[k]),
            all.time()[k], all.beside()[k]};
    }
};

/// The part of a reduction of segments that is done in vectors. Reduce is add, mul, max or min.
template <class T, class Reduce>
struct lane_segments {
    using item = T;
    using offsets = typename segment_operands<T>::offsets;
    using ops = kernel::lane_reduction<Reduce, T>;

    segment_operands<T> const& of;

    /// Reduces neighbours from sequence i on, and returns their number.
    std::size_t operator()(std::size_t i, segment_range<T> const& segments) const
    {
        offsets const at = of.all(i);
        if (of.all.time()[0] == 1)
            return run_contiguous(at, segments);
        return detail::are_consecutive(of.all.beside(), 1) ? run_neighbours(at, segments) : 0;
    }

private:
    std::size_t run_contiguous(offsets const& at, segment_range<T> const& segments) const
    {
        for (std::size_t c = 0; c < of.all.neighbours(); ++c)
            detail::reduce_contiguous<ops>(
                of.items(of.x, at, 0, c).first, of.items(of.y, at, 1, c), segments);
        return of.all.neighbours();
    }
    /// Reduces rows of a vector or more, in strips.
    std::size_t run_neighbours(offsets const& at, segment_range<T> const& segments) const
    {
        using total = kernel::row_total<T, ops>;
        constexpr std::size_t lanes = kernel::lane_count<T>;
        std::size_t const width = of.all.neighbours(), strips = ceil_div(width, total::max_vectors * lanes);
        if (width < lanes)
            return 0;
        total combine{};
        strip_items<T const> const x = of.items(of.x, at, 0, 0);
        strip_items<T> const y = of.items(of.y, at, 1, 0);
        for (std::size_t s = segments.begin; s < segments.end; ++s) {
            std::size_t const first = segments.splits.begin(s), length = segments.splits.length(s);
            for (std::size_t strip = 0; strip < strips; ++strip) {
                auto const [begin, end] = range_of_part(strip, strips, width);
                if (length != 0)
                    combine(&x(first, begin), x.time, length, end - begin, &y(s, begin));
                else
                    std::fill_n(&y(s, begin), end - begin, *segments.empty);
            }
        }
        return width;
    }
};

/// A reduction of the segments of one operand x into y.
template <class T, class Op>
struct item_reduction {
    segment_operands<T> of;
    Op& op;
    [[no_unique_address]] vector_level level{}; ///< of the call: the same for all parts

    /// Reduces sequence i and its neighbours: in vectors where the operator and the layout permit it.
    void operator()(std::size_t i, segment_range<T> const& segments) const
    {
        using reduce = std::remove_const_t<Op>;
        if constexpr (kernel::order_rule<element_operator<T, Op>, T>::is_ordered)
            reduce_in_order(i, segments);
        else
            reduce_in_any_order<reduce>(i, segments);
    }

private:
    template <class Reduce>
    void reduce_in_any_order(std::size_t i, segment_range<T> const& segments) const
    {
        std::size_t done = 0;
        if constexpr (kernel::has_lane_form<Reduce> && kernel::has_lanes<T>)
            done = detail::run_in_vectors(level, lane_segments<T, Reduce>{of}, i, segments);
        if (done == of.all.neighbours())
            return;
        auto const at = of.all(i);
        item_access<T> const access{of.items(of.x, at, 0, done), of.items(of.y, at, 1, done), nullptr};
        detail::reduce_elements<std::is_arithmetic_v<T>>(
            access, segments, of.all.neighbours() - done, detail::element_operator_of<T>(op));
    }

    /// Reduces products, whose scan may be computed in order: each result of the scan of a segment is written
    /// in the same place, so that the last one stays.
    void reduce_in_order(std::size_t i, segment_range<T> const& segments) const
    {
        using strip = kernel::strip_prefix<T, element_operator<T, Op>, item_access<T>, false>;
        auto const at = of.all(i);
        strip_grid const grid{of.all.neighbours(), strip::max_width};
        for (std::size_t s = segments.begin; s < segments.end; ++s)
            for (std::size_t part = 0; part < grid.per_row(); ++part) {
                strip_items<T> y = of.items(of.y, at, 1, grid.begin(part));
                y = {&y(s, 0), 0, y.beside};
                std::size_t const length = segments.splits.length(s), width = grid.size(part);
                if (length != 0) {
                    strip_items<T const> x = of.items(of.x, at, 0, grid.begin(part));
                    x.first = &x(segments.splits.begin(s), 0);
                    detail::scan_strip(
                        strip(detail::element_operator_of<T>(op), {x, y, nullptr}, length, width, false));
                } else {
                    for (std::size_t c = 0; c < width; ++c)
                        y(0, c) = *segments.empty;
                }
            }
    }
};

/// Reduces the segments of one operand, or of tuples of several.
template <bool IsTuple, class V, class Call, class Op, class Policy>
void reduce_segments(Call const& call, sequences<Call::count> const& all, row_split_list const& splits,
    V const* empty, Op& op, Policy const& policy)
{
    std::size_t const parts = detail::scan_parts<V, Op>(all.length() * all.count() + splits.size(), policy);
    auto const run = [&](auto const& reduce) { // for each row of neighbours, which begins with sequence i
        splits.for_each_part(policy, parts, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = 0; i < all.count(); i += all.neighbours())
                reduce(i, segment_range<V>{splits, begin, end, empty});
        });
    };
    if constexpr (IsTuple)
        run([&](std::size_t i, segment_range<V> const& segments) {
            detail::reduce_elements<false>(
                detail::scan_of<true, Call, V>(call, all, nullptr, false, op).access(all(i)), segments,
                all.neighbours(), operator_ref<V, Op>{&op});
        });
    else
        run(item_reduction<V, Op>{{std::get<0>(call.x), std::get<0>(call.y), all}, op});
}

/// Checks the operands and reduces the segments. Requires valid types.
template <bool IsTuple, class V, class Op, class Xs, class Splits, class Ys, class Policy>
void run_segment_reduce(std::string_view name, Op& op, Xs const& values, Splits const& row_splits,
    Ys const& ys, Policy const& policy)
{
    scanned_operands<IsTuple, Xs, Ys> const call(name, "values", values, IsTuple ? "ys" : "y", ys);
    std::size_t const rows = check_segmented_rows(name, call.inputs());
    row_split_list const splits(name, row_splits, rows);
    check_segment_results(name, call.inputs().front().dims(), splits.size(), call.results());
    check_written(name, call.results(), call.inputs());
    check_apart_from_splits(name, call.results(), row_splits);
    detail::check_scan_operator<V>(name, op);
    identity_use const use{splits.has_empty() ? "an empty segment has the identity of its operator" : ""};
    auto layouts = call.layouts();
    for (strided_layout& layout : layouts)
        layout.dims = layouts[0].dims; // of a result, the stride of the segments is that of time
    sequences<call.count> const all(layouts, 0, false);
    detail::with_scan_operator<V>(name, op, use, [&](auto& function, V const* empty) {
        detail::reduce_segments<IsTuple>(call, all, splits, empty, function, policy);
    });
}

/// Reduces segments of values into ys, if the types of the call are valid.
template <class Op, class Xs, class Splits, class Ys, class... Env>
void segment_reduce_into(
    std::string_view name, Op& op, Xs const& values, Splits const& row_splits, Ys&& ys, Env&&... env)
{
    if constexpr (satisfied<at_most_a_policy<Env...>, splits_of_rows<Splits>,
                      scan_into_types<Op, Xs, Ys>>()) {
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        detail::run_segment_reduce<is_tuple<Xs>, scanned_t<Xs>>(
            name, op, detail::evaluated_inputs(values), splits, detail::leaves(ys), policy_of(env...));
    }
}

/// Returns a new tensor with one element for each segment. It has the type of the values, unless that fixes
/// their number.
template <class X>
auto make_segments(std::string_view name, X const& values, std::size_t segments)
{
    using owner = owned_t<X>;
    using result_type = std::conditional_t<is_fixed_shape<shape_type_t<owner>>,
        typename enable_tensor<owner>::template rebind<enable_tensor<owner>::rank>, owner>;
    check_rank(name, "values", detail::rank_of(values));
    shape dims = detail::shape_of(values);
    if (!dims.empty()) // which is an error, thrown later
        dims[0] = segments;
    return make_tensor<result_type>(name, "the result", dims);
}

/// Returns the reduction of segments of values; a value if the types of the call are not valid, so that one
/// mistake gives one error.
template <class Op, class Xs, class Splits, class... Env>
auto segment_reduce(std::string_view name, Op& op, Xs const& values, Splits const& row_splits, Env&&... env)
{
    if constexpr (satisfied<at_most_a_policy<Env...>, splits_of_rows<Splits>, scan_types<Op, Xs>>()) {
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        auto const inputs = detail::evaluated_inputs(values);
        std::size_t const segments = detail::segments_of(name, splits);
        auto results = std::apply(
            [&](auto const&... x) { return std::tuple(detail::make_segments(name, x, segments)...); },
            inputs);
        detail::run_segment_reduce<is_tuple<Xs>, scanned_t<Xs>>(
            name, op, inputs, splits, detail::leaves(results), policy_of(env...));
        return detail::results_like<Xs>(std::move(results));
    } else {
        return owned_t<Xs>();
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
