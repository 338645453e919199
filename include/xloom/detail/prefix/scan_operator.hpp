#pragma once
// The operator argument of a parallel scan: a reduction by name, a callable, or a monoid.

#include <optional>
#include <string_view>
#include <tuple>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/monoid.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The type of the elements that an operator combines: the items of one operand, or tuples of the items of
/// several.
template <class Xs>
struct scanned {
    using type = item_t<Xs>;
};
template <class... Xs>
struct scanned<std::tuple<Xs...>> {
    using type = std::tuple<item_t<Xs>...>;
};
template <class Xs>
using scanned_t = typename scanned<bare<Xs>>::type;

/// True if op(V const&, V const&) gives a V.
template <class V, class Op>
inline constexpr bool combines = requires(Op& op, V const& a, V const& b) { static_cast<V>(op(a, b)); };
template <class V>
inline constexpr bool combines<V, reduction> = !is_tuple<V>; // decided at run time
template <class V, class Op, class Value>
inline constexpr bool combines<V, monoid<Op, Value>> = combines<V, Op> && std::is_convertible_v<Value, V>;
template <class V, class Op>
inline constexpr bool combines<V, Op const> = combines<V, Op>;
template <class V, class F>
    requires(!is_monoid<F> && !std::same_as<F, reduction>)
inline constexpr bool combines<V, F const> =
    requires(F const& op, V const& a, V const& b) { static_cast<V>(op(a, b)); };

/// True if a reduction scans elements of type V.
template <class V>
constexpr bool can_scan(reduction kind)
{
    switch (kind) {
    case reduction::add:
        return kernel::can_reduce<reduce_add_t, V>;
    case reduction::mul:
        return kernel::can_reduce<reduce_mul_t, V>;
    case reduction::max:
        return kernel::can_reduce<reduce_max_t, V>;
    case reduction::min:
        return kernel::can_reduce<reduce_min_t, V>;
    default:
        return false;
    }
}

/// Requires a reduction that is associative and defined for the elements.
///
/// Errors    option_error
template <class V, class Op>
void check_scan_operator(std::string_view name, Op const& op)
{
    if constexpr (is_monoid<Op>) {
        detail::check_scan_operator<V>(name, op.op);
    } else if constexpr (std::same_as<Op, reduction>) {
        if (op != reduction::add && op != reduction::mul && op != reduction::max && op != reduction::min)
            fail<option_error>(name, ": the reduction must be add, mul, max or min, but it is ", name_of(op),
                ". Choose one of them.");
        if (!can_scan<V>(op))
            fail<option_error>(name, ": the reduction must be defined for the elements, but ", name_of(op),
                " is not. Choose another.");
    }
}

/// The reason for which a call needs the identity of its operator, as the beginning of an error text; empty
/// if it does not.
struct identity_use {
    std::string_view reason{};

    explicit operator bool() const noexcept { return !reason.empty(); }
};

/// An exclusive scan begins with the identity.
constexpr identity_use first_result(bool is_exclusive) noexcept
{
    return {is_exclusive ? "an exclusive scan begins with the identity of its operator" : ""};
}

/// Returns the identity of an operator.
///
/// Errors    option_error: it is not known.
template <class V, class Op>
V identity_for(std::string_view name, Op const& op, identity_use use)
{
    if constexpr (has_identity<Op, V>)
        return detail::identity_of<V>(op);
    else
        fail<option_error>(name, ": ", use.reason,
            ", but that of a callable is not known. Pass xloom::monoid{op, identity}.");
}

/// Calls f(operator, identity) for the operator that the argument names; the identity is null if it is not
/// used.
template <class V, class Op, class F>
void with_scan_operator(std::string_view name, Op& op, identity_use use, F const& f)
{
    std::optional<V> identity;
    auto const call = [&](auto& function) {
        f(function, identity ? &*identity : static_cast<V const*>(nullptr));
    };
    if constexpr (is_monoid<std::remove_const_t<Op>>) {
        if (use)
            identity = static_cast<V>(op.identity);
        kernel::with_reduction<V>(op.op, call);
    } else {
        kernel::with_reduction<V>(op, [&]<class Function>(Function& function) {
            if (use)
                identity = detail::identity_for<V, std::remove_const_t<Function>>(name, function, use);
            call(function);
        });
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
