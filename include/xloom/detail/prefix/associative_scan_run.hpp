#pragma once
// The run of a parallel scan of one operand, or of tuples of several.

#include <string_view>
#include <tuple>

#include <xloom/detail/check/associative_scan.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/prefix/associative_scan_types.hpp>
#include <xloom/detail/prefix/scan_operands.hpp>
#include <xloom/detail/prefix/scanned_operands.hpp>
#include <xloom/parallel/associative_scan_options.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the operands and scans them. Requires valid types.
template <bool IsTuple, class V, class Op, class Xs, class Ys, class Policy>
void run_associative_scan(std::string_view name, Op& op, Xs const& xs, Ys const& ys,
    associative_scan_options const& options, Policy const& policy)
{
    detail::check_ranks(name, "xs", xs);
    detail::check_ranks(name, "ys", ys);
    scanned_operands<IsTuple, Xs, Ys> const call(IsTuple ? "xs" : "x", xs, IsTuple ? "ys" : "y", ys);
    std::size_t const axis = check_scanned_axis(name, call.operands(), options.axis);
    check_scan_memory(name, call.inputs(), call.results());
    detail::check_scan_operator<V>(name, op);
    sequences<call.count> const all(call.layouts(), axis, options.reverse);
    std::size_t const count = all.length() * all.count();
    detail::with_scan_operator<V>(
        name, op, first_result(options.exclusive), [&]<class Function>(Function& function, V const* start) {
            if (count == 0)
                return;
            auto const scan = detail::scan_of<IsTuple>(call, all, start, options.exclusive, function);
            detail::scan_whole_axis(
                scan, all, detail::scan_parts<V, Function>(count, policy), policy_ref(policy));
        });
}

template <class Op, class Xs, class Ys, class Policy>
void associative_scan_into(std::string_view name, Op& op, Xs const& xs, Ys& ys,
    associative_scan_options const& options, Policy const& policy)
{
    detail::run_associative_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, detail::evaluated_inputs(xs), detail::leaves(ys), options, policy);
}

template <class Op, class Xs, class Policy>
auto associative_scan(std::string_view name, Op& op, Xs const& xs, associative_scan_options const& options,
    Policy const& policy)
{
    auto const inputs = detail::evaluated_inputs(xs);
    auto results = detail::make_all_like(name, inputs);
    detail::run_associative_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, inputs, detail::leaves(results), options, policy);
    if constexpr (is_tuple<Xs>)
        return results;
    else
        return std::get<0>(std::move(results));
}

} // namespace xloom::inline XLOOM_ABI::detail
