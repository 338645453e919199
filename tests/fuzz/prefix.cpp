// Parallel scans: associative_scan along an axis, segment_scan and segment_reduce by row_splits; in place, or
// into another tensor.

#include <xloom/parallel/associative_scan.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>

#include "nd_choices.hpp"
#include "operators.hpp"
#include "outcome.hpp"
#include "support/textbook_prefix.hpp"

namespace fuzz {

namespace {

using array = textbook::array<float>;

enum class operation { scan, segment_scan, segment_reduce };

/// Does not commute, and is exact for small integers.
float second_plus_half(float a, float b) { return 0.5f * a + b; }

struct call {
    operation what;
    bool is_reduction; ///< add, whose identity is known; else a callable
    bool has_identity;
    std::int64_t axis;
    bool reverse, exclusive;
    array x;
    textbook::array<std::int64_t> splits;
};

call choose(decoder& bytes)
{
    call chosen{.what = bytes.pick({operation::scan, operation::segment_scan, operation::segment_reduce}),
        .is_reduction = bytes.flag(),
        .has_identity = bytes.flag(),
        .axis = bytes.rarely() ? bytes.between(-4, 4) : bytes.between(-1, 0),
        .reverse = bytes.flag(),
        .exclusive = bytes.flag(),
        .x = {},
        .splits = {}};
    chosen.x.shape = bytes.dims(3, 6);
    if (!chosen.x.shape.empty() && bytes.flag())
        chosen.x.shape[bytes.below(chosen.x.shape.size())] =
            bytes.pick({15u, 16u, 17u, 40u, 255u, 256u, 257u});
    for (std::size_t i = 0; i < textbook::size_of(chosen.x.shape); ++i)
        chosen.x.items.push_back(static_cast<float>(i % 7) - 3);
    auto const rows = static_cast<std::int64_t>(chosen.x.shape.empty() ? 0 : chosen.x.shape[0]);
    chosen.splits.items = {0};
    for (std::size_t s = bytes.below(6); s > 0 && chosen.splits.items.back() < rows; --s)
        chosen.splits.items.push_back(
            std::min(rows, chosen.splits.items.back() + static_cast<std::int64_t>(bytes.below(40))));
    chosen.splits.items.push_back(rows);
    if (bytes.rarely())
        chosen.splits.items[bytes.below(chosen.splits.items.size())] += bytes.between(-2, 2);
    chosen.splits.shape = {chosen.splits.items.size()};
    return chosen;
}

expected_outcome outcome_of(call const& chosen)
{
    auto const rank = static_cast<std::int64_t>(chosen.x.shape.size());
    expected_outcome outcome;
    outcome.shape =
        rank == 0 || (chosen.what == operation::scan && (chosen.axis < -rank || chosen.axis >= rank));
    bool is_empty = false;
    if (chosen.what != operation::scan && rank != 0) {
        auto const& splits = chosen.splits.items;
        outcome.index = splits.front() != 0 || splits.back() != static_cast<std::int64_t>(chosen.x.shape[0]);
        for (std::size_t s = 1; s < splits.size(); ++s) {
            outcome.index = outcome.index || splits[s] < splits[s - 1];
            is_empty = is_empty || splits[s] == splits[s - 1];
        }
    }
    bool const uses_identity = chosen.what == operation::segment_reduce ? is_empty : chosen.exclusive;
    outcome.option = uses_identity && !chosen.is_reduction && !chosen.has_identity;
    return outcome;
}

/// Requires a legal call.
array reference(call const& chosen)
{
    auto const& x = chosen.x;
    bool const is_reduce = chosen.what == operation::segment_reduce;
    std::size_t const rank = x.shape.size();
    std::size_t const axis = chosen.what != operation::scan ? 0 : xloom::wrap_axis(chosen.axis, rank);
    std::vector<std::int64_t> splits = chosen.splits.items;
    if (chosen.what == operation::scan)
        splits = {0, static_cast<std::int64_t>(x.shape[axis])};
    array y{x.shape, {}};
    if (is_reduce)
        y.shape[0] = splits.size() - 1;
    y.items.resize(textbook::size_of(y.shape));
    float const identity = chosen.is_reduction ? 0.0f : 2.0f;
    auto const op = [&](float a, float b) { return chosen.is_reduction ? a + b : second_plus_half(a, b); };
    textbook::dims others = x.shape;
    others[axis] = 1;
    for (std::size_t other = 0; other < textbook::size_of(others); ++other)
        for (std::size_t s = 0; s + 1 < splits.size(); ++s) {
            auto const begin = static_cast<std::size_t>(splits[s]),
                       end = static_cast<std::size_t>(splits[s + 1]);
            textbook::dims at = textbook::position_of(other, others);
            std::vector<float> sequence;
            for (std::size_t t = begin; t < end; ++t) {
                at[axis] = t;
                sequence.push_back(x.items[textbook::flat_of(at, x.shape)]);
            }
            bool const reverse = chosen.reverse && !is_reduce;
            if (reverse)
                std::reverse(sequence.begin(), sequence.end());
            auto results = textbook::associative_scan<float>(
                sequence, op, chosen.exclusive && !is_reduce ? std::optional<float>(identity) : std::nullopt);
            if (is_reduce) {
                at[0] = s;
                y.items[textbook::flat_of(at, y.shape)] = results.empty() ? identity : results.back();
                continue;
            }
            if (reverse)
                std::reverse(results.begin(), results.end());
            for (std::size_t t = begin; t < end; ++t) {
                at[axis] = t;
                y.items[textbook::flat_of(at, y.shape)] = results[t - begin];
            }
        }
    return y;
}

template <class Op, class Y>
void run(call const& chosen, Op const& op, placed_tensor<float> const& x,
    placed_tensor<std::int64_t> const& splits, Y& y)
{
    switch (chosen.what) {
    case operation::scan:
        return xloom::associative_scan_into(
            op, x, y, {.axis = chosen.axis, .reverse = chosen.reverse, .exclusive = chosen.exclusive});
    case operation::segment_scan:
        return xloom::segment_scan_into(
            op, x, splits, y, {.reverse = chosen.reverse, .exclusive = chosen.exclusive});
    default:
        return xloom::segment_reduce_into(op, x, splits, y);
    }
}

} // namespace

bool try_prefix(decoder bytes)
{
    call const chosen = choose(bytes);
    expected_outcome outcome = outcome_of(chosen);
    auto x = place<float>(chosen.x, bytes.where());
    auto const splits = place<std::int64_t>(chosen.splits, bytes.where());
    array before{chosen.x.shape, {}};
    if (chosen.what == operation::segment_reduce && !before.shape.empty())
        before.shape[0] = chosen.splits.items.size() - 1;
    if (bytes.rarely()) {
        textbook::dims const other = bytes.damaged(before.shape);
        outcome.shape = outcome.shape || other != before.shape;
        before.shape = other;
    }
    before.items.assign(textbook::size_of(before.shape), -1);
    auto y = place<float>(before, bytes.where());
    bool const in_place = chosen.what != operation::segment_reduce && bytes.flag();
    auto& result = in_place ? x : y;
    if (in_place)
        outcome.shape = outcome_of(chosen).shape;
    auto const memory = result.memory;
    bool const has_run = runs(outcome, [&] {
        if (chosen.is_reduction)
            run(chosen, xloom::reduction::add, x, splits, result);
        else if (chosen.has_identity)
            run(chosen, xloom::monoid{second_plus_half, 2.0f}, x, splits, result);
        else
            run(chosen, second_plus_half, x, splits, result);
    });
    if (has_run) {
        require(are_same(to_array(result).items, reference(chosen).items),
            "parallel scan: another result than the textbook's");
        require(has_clean_gaps(result), "parallel scan: written beside the result");
    } else {
        require(
            are_same(result.memory, memory), "parallel scan: the result was written, then the call refused");
    }
    return has_run;
}

} // namespace fuzz
