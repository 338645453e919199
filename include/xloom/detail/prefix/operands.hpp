#pragma once
// The arguments of a parallel scan: its operator (a reduction by name, a callable, or a monoid), and its
// operands and results with their names, memory and items.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/prefix.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/monoid.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>
#include <xloom/detail/tensor/operands.hpp>

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

/// True for the reductions that a parallel scan takes.
constexpr bool can_scan(reduction kind)
{
    return kind == reduction::add || kind == reduction::mul || kind == reduction::max ||
           kind == reduction::min;
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
        if (!can_scan(op))
            fail<option_error>(name, ": the reduction must be add, mul, max or min, but it is ", name_of(op),
                ". Choose one of them.");
        if (!kernel::has_reduction<V>(op))
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

constexpr identity_use identity_of_exclusive(bool is_exclusive) noexcept
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
    else if constexpr (kernel::has_lane_form<Op>)
        fail<option_error>(name, ": ", use.reason,
            ", but that of this reduction is not known for the elements. Pass xloom::monoid{op, identity}; "
            "in "
            "place of a cumulative sum or product, call associative_scan with it.");
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

inline constexpr std::string_view in_place = "the same tensor";

/// The operands and results of a call, which are as many. Their names in error texts are given; if they are
/// tuples, such as xs, followed by [0] and so on. With `in_place` a result may be the tensor
/// of an operand.
template <bool IsTuple, class Xs, class Ys>
class scanned_operands;

template <bool IsTuple, class... Xs, class... Ys>
class scanned_operands<IsTuple, std::tuple<Xs...>, std::tuple<Ys&...>> {
public:
    static constexpr std::size_t count = sizeof...(Xs) + sizeof...(Ys);

    std::tuple<item_t<Xs> const*...> x;
    std::tuple<item_t<Ys>*...> y;

    /// Errors    shape_error: over max_rank.
    scanned_operands(std::string_view op, std::string_view x_name, std::tuple<Xs...> const& xs,
        std::string_view y_name, std::tuple<Ys&...> const& ys, std::string_view may_be = {})
        : x(std::apply(
              [](auto const&... each) {
                  return std::tuple<item_t<Xs> const*...>(enable_tensor<bare<Xs>>::data(each)...);
              },
              xs)),
          y(std::apply(
              [](auto&... each) {
                  return std::tuple<item_t<Ys>*...>(enable_tensor<bare<Ys>>::data(each)...);
              },
              ys))
    {
        refer(op, 0, x_name, xs, may_be);
        refer(op, sizeof...(Xs), y_name, ys, may_be);
    }
    scanned_operands(scanned_operands const&) = delete;

    std::span<operand_memory const, count> operands() const { return operands_; }
    auto inputs() const { return operands().template first<sizeof...(Xs)>(); }
    auto results() const { return operands().template last<sizeof...(Ys)>(); }

    std::array<strided_layout, count> layouts() const
    {
        std::array<strided_layout, count> layouts;
        for (std::size_t k = 0; k < count; ++k)
            layouts[k] = operands_[k].layout();
        return layouts;
    }

private:
    template <class Operands>
    void refer(std::string_view op, std::size_t begin, std::string_view name, Operands const& operands,
        std::string_view may_be)
    {
        detail::for_each_leaf(operands, [&](auto i, auto const& operand) {
            names_[begin + i] = IsTuple ? concat(name, "[", std::size_t{i}, "]") : std::string(name);
            check_rank(op, names_[begin + i], detail::rank_of(operand));
            memory_[begin + i] = detail::memory_of(operand);
            operands_[begin + i] = {names_[begin + i], memory_[begin + i], may_be};
        });
    }

    std::array<std::string, count> names_;
    std::array<memory_block, count> memory_;
    std::array<operand_memory, count> operands_;
};

/// Returns a new tensor of the shape of another one, which an error text calls `name`, followed by [i] if
/// there are several.
template <class X>
owned_t<X> make_like(
    std::string_view op, std::string_view name, X const& x, std::optional<std::size_t> i = {})
{
    check_rank(op, name, detail::rank_of(x), i);
    return make_tensor<owned_t<X>>(op, "the result", detail::shape_of(x));
}

/// Returns a tuple of new tensors of the shapes of x, or of those of a tuple xs.
template <bool IsTuple, class... Xs>
std::tuple<owned_t<Xs>...> make_all_like(std::string_view op, std::tuple<Xs...> const& inputs)
{
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<owned_t<Xs>...>(detail::make_like(op, IsTuple ? "xs" : "x", std::get<I>(inputs),
            IsTuple ? std::optional<std::size_t>(I) : std::nullopt)...);
    }(std::index_sequence_for<Xs...>{});
}

/// Returns the results of a call as the operands came: one tensor, or a std::tuple of them.
template <class Xs, class Results>
auto results_like(Results&& results)
{
    if constexpr (is_tuple<Xs>)
        return std::forward<Results>(results);
    else
        return std::get<0>(std::forward<Results>(results));
}

} // namespace xloom::inline XLOOM_ABI::detail
