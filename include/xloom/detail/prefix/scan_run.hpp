#pragma once
// The run of a parallel scan of one operand, or of tuples of several.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/operands.hpp>
#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The axis of a scan, and how it runs along it.
struct scanned_axis {
    std::int64_t axis;
    bool reverse, exclusive;
};

/// Checks the operands and scans them. `make_run` checks what else the call has, given its operands, and
/// returns the function that runs a scan: run(scan, sequences, parts). Requires valid types.
template <bool IsTuple, class V, class Op, class Xs, class Ys, class Policy, class MakeRun>
void run_parallel_scan(std::string_view name, Op& op, Xs const& xs, Ys const& ys, scanned_axis const& along,
    Policy const& policy, MakeRun const& make_run)
{
    scanned_operands<IsTuple, Xs, Ys> const call(
        name, IsTuple ? "xs" : "x", xs, IsTuple ? "ys" : "y", ys, in_place);
    std::size_t const axis = check_scanned_axis(name, call.operands(), along.axis);
    auto const run = make_run(call);
    check_written(name, call.results(), call.inputs());
    detail::check_scan_operator<V>(name, op);
    sequences<call.count> const all(call.layouts(), axis, along.reverse);
    std::size_t const count = all.length() * all.count();
    detail::with_scan_operator<V>(name, op, identity_of_exclusive(along.exclusive),
        [&]<class Function>(Function& function, V const* start) {
            if (count != 0)
                run(detail::scan_of<IsTuple>(call, all, start, along.exclusive, function), all,
                    detail::scan_parts<V, Function>(count, policy));
        });
}

/// Scans the operands of a call whose types are valid along whole sequences.
template <class Xs, class Op, class Inputs, class Ys, class Options, class Policy>
void scan_whole(std::string_view name, Op& op, Inputs const& inputs, Ys const& ys, Options const& options,
    Policy const& policy)
{
    detail::run_parallel_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, inputs, ys, {options.axis, options.reverse, options.exclusive}, policy, [&](auto const&) {
            return [&]<class Sequences>(auto const& scan, Sequences const& all, std::size_t parts) {
                scan(whole_axis<Sequences>{all, parts, policy_ref(policy)});
            };
        });
}

/// Scans xs into ys along whole sequences, if the types of the call are valid.
template <class Options, class Op, class Xs, class Ys, class First, class... Env>
void associative_scan_into(std::string_view name, Op& op, Xs const& xs, Ys&& ys, First&& first, Env&&... env)
{
    if constexpr (satisfied<options_and_policy<Options, First, Env...>, scan_into_types<Op, Xs, Ys>>())
        detail::scan_whole<Xs>(name, op, detail::evaluated_inputs(xs), detail::leaves(ys),
            detail::options_of<Options>(first), policy_of(first, env...));
}

/// Returns a scan of xs along whole sequences; a value of the same type if the types of the call are not
/// valid, so that one mistake gives one error.
template <class Options, class Op, class Xs, class First, class... Env>
auto associative_scan(std::string_view name, Op& op, Xs const& xs, First&& first, Env&&... env)
{
    if constexpr (satisfied<options_and_policy<Options, First, Env...>, scan_types<Op, Xs>>()) {
        auto const inputs = detail::evaluated_inputs(xs);
        auto results = detail::make_all_like<is_tuple<Xs>>(name, inputs);
        detail::scan_whole<Xs>(name, op, inputs, detail::leaves(results), detail::options_of<Options>(first),
            policy_of(first, env...));
        return detail::results_like<Xs>(std::move(results));
    } else {
        return owned_t<Xs>(xs);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
