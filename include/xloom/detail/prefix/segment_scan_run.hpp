#pragma once
// The run of segment_scan: a parallel scan of each segment.

#include <string_view>
#include <tuple>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/scan_operands.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>
#include <xloom/parallel/segment_scan_options.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Makes strips of the neighbours begin .. end - 1 of every row of sequences, and runs them along each
/// segment; make as for whole_axis.
template <class Sequences, class Policy>
struct each_segment {
    Sequences const& all;
    row_split_list const& splits;
    bool reverse;
    std::size_t parts;
    Policy const& policy;

    bool is_long() const { return all.length() / splits.size() >= kernel::elements_per_group; }

    template <class Make>
    void operator()(std::size_t begin, std::size_t end, std::size_t width, Make const& make) const
    {
        if (begin == end)
            return;
        strip_grid const grid{end - begin, width};
        std::size_t const strips = all.count() / all.neighbours() * grid.per_row();
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const first_segment = splits.begin_of_part(part, parts),
                              last_segment = splits.begin_of_part(part + 1, parts);
            for (std::size_t i = 0; i < strips; ++i) {
                auto const at = all(i / grid.per_row() * all.neighbours() + begin + grid.begin(i));
                for (std::size_t s = first_segment; s < last_segment; ++s)
                    if (std::size_t const length = splits.length(s); length != 0)
                        detail::scan_strip(make(moved(at, first_of(s)), length, grid.size(i)));
            }
        });
    }

private:
    /// Returns the element of the axis, in the direction of the scan, that segment s begins with.
    std::size_t first_of(std::size_t s) const
    {
        return reverse ? all.length() - splits.begin(s) - splits.length(s) : splits.begin(s);
    }
    auto moved(typename Sequences::offsets at, std::size_t elements) const
    {
        for (std::size_t k = 0; k < at.size(); ++k)
            at[k] += static_cast<std::ptrdiff_t>(elements) * all.time()[k];
        return at;
    }
};
template <class Sequences, class Policy>
each_segment(Sequences const&, row_split_list const&, bool, std::size_t, Policy const&)
    -> each_segment<Sequences, Policy>;

/// Checks the operands and scans the segments. Requires valid types.
template <bool IsTuple, class V, class Op, class Xs, class Splits, class Ys, class Policy>
void run_segment_scan(std::string_view name, Op& op, Xs const& xs, Splits const& row_splits, Ys const& ys,
    segment_scan_options const& options, Policy const& policy)
{
    detail::check_ranks(name, "xs", xs);
    detail::check_ranks(name, "ys", ys);
    scanned_operands<IsTuple, Xs, Ys> const call(IsTuple ? "xs" : "x", xs, IsTuple ? "ys" : "y", ys);
    std::size_t const rows = check_segmented_rows(name, call.operands());
    row_split_list const splits(name, row_splits, rows);
    check_scan_memory(name, call.inputs(), call.results());
    check_splits_memory(name, detail::memory_of(row_splits), call.results());
    detail::check_scan_operator<V>(name, op);
    sequences<call.count> const all(call.layouts(), 0, options.reverse);
    std::size_t const count = rows * all.count();
    detail::with_scan_operator<V>(
        name, op, first_result(options.exclusive), [&]<class Function>(Function& function, V const* start) {
            if (count == 0)
                return;
            auto const scan = detail::scan_of<IsTuple>(call, all, start, options.exclusive, function);
            scan(each_segment{all, splits, options.reverse, detail::scan_parts<V, Function>(count, policy),
                policy_ref(policy)});
        });
}

template <class Op, class Xs, class Splits, class Ys, class Policy>
void segment_scan_into(std::string_view name, Op& op, Xs const& xs, Splits const& row_splits, Ys& ys,
    segment_scan_options const& options, Policy const& policy)
{
    auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
    detail::run_segment_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, detail::evaluated_inputs(xs), splits, detail::leaves(ys), options, policy);
}

template <class Op, class Xs, class Splits, class Policy>
auto segment_scan(std::string_view name, Op& op, Xs const& xs, Splits const& row_splits,
    segment_scan_options const& options, Policy const& policy)
{
    auto const inputs = detail::evaluated_inputs(xs);
    auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
    auto results = detail::make_all_like(name, inputs);
    detail::run_segment_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, inputs, splits, detail::leaves(results), options, policy);
    if constexpr (is_tuple<Xs>)
        return results;
    else
        return std::get<0>(std::move(results));
}

} // namespace xloom::inline XLOOM_ABI::detail
