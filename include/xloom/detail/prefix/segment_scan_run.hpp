#pragma once
// The run of segment_scan: a parallel scan of each segment.

#include <string_view>
#include <tuple>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/scan_run.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

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

/// The segments along which the operands of a call are scanned, which the constructor checks.
template <class Policy>
struct scanned_segments {
    row_split_list const splits;
    bool reverse;
    Policy const& policy;

    template <class Call, class Splits>
    scanned_segments(std::string_view name, Call const& call, Splits const& row_splits, bool is_reverse,
        Policy const& runs_on)
        : splits(name, row_splits, check_segmented_rows(name, call.operands())),
          reverse(is_reverse),
          policy(runs_on)
    {
        memory_block const memory = detail::memory_of(row_splits);
        check_written(name, call.results(), std::array{operand_memory("row_splits", memory)});
    }

    template <class Scan, class Sequences>
    void operator()(Scan const& scan, Sequences const& all, std::size_t parts) const
    {
        scan(each_segment<Sequences, policy_ref>{all, splits, reverse, parts, policy_ref(policy)});
    }
};

/// Scans the operands of a call whose types are valid along segments.
template <class Xs, class Op, class Inputs, class Splits, class Ys, class Options, class Policy>
void scan_segments(std::string_view name, Op& op, Inputs const& inputs, Splits const& row_splits,
    Ys const& ys, Options const& options, Policy const& policy)
{
    auto const splits = detail::evaluated_inputs(std::tie(row_splits));
    detail::run_parallel_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, inputs, ys, {0, options.reverse, options.exclusive}, policy, [&](auto const& call) {
            return scanned_segments<Policy>(name, call, std::get<0>(splits), options.reverse, policy);
        });
}

/// Scans xs into ys along segments, if the types of the call are valid.
template <class Options, class Op, class Xs, class Splits, class Ys, class First, class... Env>
void segment_scan_into(std::string_view name, Op& op, Xs const& xs, Splits const& row_splits, Ys&& ys,
    First&& first, Env&&... env)
{
    if constexpr (satisfied<options_and_policy<Options, First, Env...>, splits_of_rows<Splits>,
                      scan_into_types<Op, Xs, Ys>>())
        detail::scan_segments<Xs>(name, op, detail::evaluated_inputs(xs), row_splits, detail::leaves(ys),
            detail::options_of<Options>(first), policy_of(first, env...));
}

/// Returns a scan of xs along segments; a value of the same type if the types of the call are not valid, so
/// that one mistake gives one error.
template <class Options, class Op, class Xs, class Splits, class First, class... Env>
auto segment_scan(
    std::string_view name, Op& op, Xs const& xs, Splits const& row_splits, First&& first, Env&&... env)
{
    if constexpr (satisfied<options_and_policy<Options, First, Env...>, splits_of_rows<Splits>,
                      scan_types<Op, Xs>>()) {
        auto const inputs = detail::evaluated_inputs(xs);
        auto results = detail::make_all_like(name, inputs);
        detail::scan_segments<Xs>(name, op, inputs, row_splits, detail::leaves(results),
            detail::options_of<Options>(first), policy_of(first, env...));
        return detail::results_like<Xs>(std::move(results));
    } else {
        return owned_t<Xs>();
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
