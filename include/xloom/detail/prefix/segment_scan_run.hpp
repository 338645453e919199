#pragma once
// The run of segment_scan: a parallel scan of each segment.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/row_splits.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/scan_run.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Scans of short segments, whose results wait in a buffer: so vectors are read and written whole, whatever
/// the segments' lengths. Make makes the scans; those that are not in vectors have no buffer, nor have those
/// of processors whose masks do the same.
template <class Make>
class buffered_scans {
public:
    explicit buffered_scans(Make const&) {}

    /// Scans the segment that the last `rest` rows begin with, unless it is too long or followed by too few.
    template <class Offsets>
    static bool scan(Offsets const&, std::size_t, std::size_t)
    {
        return false;
    }
};
template <class T, class Ops, bool Reverse>
    requires(!kernel::has_fast_masks)
class buffered_scans<consecutive_scans<T, Ops, Reverse>> {
public:
    explicit buffered_scans(consecutive_scans<T, Ops, Reverse> const& make) : make_(make) {}
    buffered_scans(buffered_scans const&) = delete;
    ~buffered_scans() { write(); }

    XLOOM_ALWAYS_INLINE bool scan(sequences<2>::offsets const& at, std::size_t length, std::size_t rest)
    {
        if (length > longest || rest - length < kernel::elements_per_group) {
            write();
            return false;
        }
        if (count_ == 0)
            results_ = make_.y + at[1];
        detail::scan_strip(make_.padded(at, length, item(count_)));
        count_ += length;
        if (count_ > most - longest)
            write();
        return true;
    }

private:
    static constexpr std::size_t longest = kernel::elements_per_block, most = 8 * longest;

    T* item(std::size_t i)
    {
        return Reverse ? items_ + most + kernel::elements_per_group - 1 - i : items_ + i;
    }
    void write()
    {
        if (count_ == 0)
            return;
        if constexpr (Reverse)
            std::copy_n(item(count_ - 1), count_, results_ - (count_ - 1));
        else
            std::copy_n(item(0), count_, results_);
        count_ = 0;
    }

    consecutive_scans<T, Ops, Reverse> const make_;
    T* results_ = nullptr; ///< item 0 of the results that wait
    std::size_t count_ = 0;
    T items_[most + kernel::elements_per_group];
};

/// Makes strips of the neighbours begin .. end - 1 of every row of sequences, and runs them along each
/// segment; make as for whole_axis.
template <class Sequences, class Policy>
struct each_segment {
    Sequences const& all;
    row_split_list const& splits;
    bool reverse;
    std::size_t parts;
    Policy const& policy;

    /// Why all of them: results of short segments are buffered, so that vectors pay off.
    static constexpr bool suits_vectors() { return true; }

    template <class Make>
    void operator()(std::size_t begin, std::size_t end, std::size_t width, Make const& make) const
    {
        if (begin == end)
            return;
        strip_grid const grid{end - begin, width};
        std::size_t const strips = all.count() / all.neighbours() * grid.per_row();
        splits.for_each_part(policy, parts, [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t i = 0; i < strips; ++i)
                run_strip(make, all(grid.row(i) * all.neighbours() + begin + grid.begin(i)), all.time(),
                    grid.size(i), splits.all().subspan(first, last - first + 1));
        });
    }

private:
    using offsets = typename Sequences::offsets;

    /// Runs a strip, which begins at `at`, along the segments that have these splits.
    ///
    /// Why a function, and values: so they stay in registers, whatever is written.
    template <class Make>
    XLOOM_NOINLINE void run_strip(Make const make, offsets at, offsets const time, std::size_t width,
        std::span<std::size_t const> const ends) const
    {
        bool const is_reverse = reverse;
        std::size_t rest = ends.back() - ends.front();
        auto const move_on = [&](std::size_t elements) {
            for (std::size_t k = 0; k < at.size(); ++k)
                at[k] += static_cast<std::ptrdiff_t>(elements) * time[k];
        };
        move_on(is_reverse ? all.length() - ends.back() : ends.front());
        buffered_scans<Make> buffer(make);
        for (std::size_t s = 1; s < ends.size(); ++s) {
            std::size_t const end = is_reverse ? ends.size() - s : s, length = ends[end] - ends[end - 1];
            if (length == 0)
                continue;
            if (!buffer.scan(at, length, rest))
                detail::scan_strip(make(at, length, width));
            rest -= length;
            move_on(length);
        }
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
        check_apart_from_splits(name, call.results(), row_splits);
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
        auto results = detail::make_all_like<is_tuple<Xs>>(name, inputs);
        detail::scan_segments<Xs>(name, op, inputs, row_splits, detail::leaves(results),
            detail::options_of<Options>(first), policy_of(first, env...));
        return detail::results_like<Xs>(std::move(results));
    } else {
        return owned_t<Xs>();
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
