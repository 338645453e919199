#pragma once
// Linear recurrences: a scan of affine maps, on one thread or several with the same bits.

#include <array>
#include <type_traits>

#include <xloom/detail/check/linear_recurrence.hpp>
#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/prefix/linear_recurrence_run.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/parallel/linear_recurrence_options.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// A tensor with elements of type T, or a number.
template <class H0, class T>
inline constexpr bool is_initial_state = std::is_convertible_v<H0, T>;
template <class H0, class T>
    requires(tensor<H0> || lazy<bare<H0>>)
inline constexpr bool is_initial_state<H0, T> = std::same_as<item_t<H0>, T>;

/// True if the types of a call of linear_recurrence are valid, otherwise a compile-time error of one
/// sentence.
template <class A, class B, class H0, class Policy>
consteval bool is_valid_linear_recurrence()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::linear_recurrence: the arguments are linear_recurrence(a, b, "
                                     "h0[, options][, policy])");
    else if constexpr (!(tensor<A> || lazy<bare<A>>) || !(tensor<B> || lazy<bare<B>>))
        static_assert(never<A>,
            "xloom::linear_recurrence: a and b must be tensors with at least one axis; wrap "
            "a std::vector by xt::adapt");
    else if constexpr (!std::same_as<item_t<A>, item_t<B>> || !is_initial_state<H0, item_t<A>>)
        static_assert(
            never<B>, "xloom::linear_recurrence: a, b and h0 must have one element type; convert them first");
    else if constexpr (!differentiable<item_t<A>>)
        static_assert(never<A>, "xloom::linear_recurrence: the elements must be floating-point or complex "
                                "numbers, or user-defined scalars with +, * and /");
    else
        return true;
    return false;
}

template <class A, class B, class H0, class H, class Policy>
consteval bool is_valid_linear_recurrence_into()
{
    if constexpr (!is_valid_linear_recurrence<A, B, H0, Policy>())
        return false;
    else if constexpr (!tensor<H> || !outlives_call<H> || !is_writable<std::remove_reference_t<H>>::value)
        static_assert(never<H>, "xloom::linear_recurrence_into: h is written, so it must be a tensor that is "
                                "a variable, not const");
    else if constexpr (!std::same_as<item_t<H>, item_t<A>>)
        static_assert(never<H>, "xloom::linear_recurrence_into: h must have the element type of a and b");
    else
        return true;
    return false;
}

template <class T, class X>
strided_operand<T> operand_of(X& x)
{
    return {enable_tensor<bare<X>>::data(x), detail::layout_of(x)};
}

/// Returns a number as a tensor of rank 0, or a tensor of the caller as it is.
template <class T, class H0>
decltype(auto) initial_state(H0 const& h0)
{
    if constexpr (tensor<H0>)
        return (h0);
    else if constexpr (lazy<H0>)
        return owned_t<H0>(h0);
    else
        return xt::xtensor_fixed<T, xt::xshape<>>(static_cast<T>(h0));
}

/// Checks the operands and runs the recurrences. Requires valid types and no lazy operands.
template <class A, class B, class H0, class H, class Policy>
void run_linear_recurrence(std::string_view op, A const& a, B const& b, H0 const& h0, H& h,
    linear_recurrence_options const& options, Policy const& policy)
{
    using T = item_t<A>;
    detail::check_named_ranks(op, {"a", "b", "h0", "h"}, std::tie(a, b, h0, h));
    scan_operand const initial{"h0", detail::memory_of(h0)};
    std::array<scan_operand, 3> const operands{
        {{"a", detail::memory_of(a)}, {"b", detail::memory_of(b)}, {"h", detail::memory_of(h)}}};
    shape const& dims = operands[0].dims();
    std::size_t const axis = check_scanned_axis(op, operands, options.axis);
    check_initial_state(op, initial, dims, axis);
    check_scan_memory(op, std::span(operands).first(2), std::span(operands).last(1));
    check_no_overlap(op, operands[2], initial);
    strided_operand<T const> first = detail::operand_of<T const>(h0);
    first.layout = layout_in_time(first.layout, dims, axis);
    detail::run_recurrences<T>(
        {detail::operand_of<T const>(a), detail::operand_of<T const>(b), first, detail::operand_of<T>(h)},
        axis, options.reverse, policy_ref(policy));
}

} // namespace detail

/// Computes the linear recurrence h[t] = a[t] h[t-1] + b[t] into the caller's h, for any number of sequences.
///
///     for t in range(T):
///         h[t] = a[t] * h[t-1] + b[t]            # h[-1] = h0
///
/// It is what associative_scan computes of the maps h -> a h + b, and applies to h0. Filters, discounted
/// returns and the states of models such as Mamba, minGRU and RG-LRU are such recurrences.
///
/// Shapes    a, b and h of one shape, rank >= 1, any layout, a and b lazy expressions too; h0 a number, or a
///           tensor of that shape without the axis of time.
/// Types     float, double, long double, their complex numbers, storage floats (computed in float, each h[t]
///           rounded once), user-defined scalars. All operands have one type.
/// Options   axis (0; negative: from the back), reverse (false).
/// Policy    serial, or one with threads (tbb_policy): results are bitwise equal to those of serial.
/// Errors    before the first write: shape_error, overlap_error, std::bad_alloc.
/// Order     that of associative_scan, with op((a, b), (c, d)) = (a c, c b + d). Every product and sum is
///           rounded, on any processor; complex products by the textbook's formula. From the first element on
///           whose |a| exceeds 9/8 (float; else 2) or whose |b| exceeds 2^60 (double: 2^508), the rest of a
///           block of 256 elements is computed by the loop, and all of it if the state before it exceeds 2^60
///           (2^508); so no product of a overflows where the states do not. User-defined scalars have the
///           operations of their type, and no such rule.
/// Cost      one pass over a, b and h. Several threads on few sequences read a and b twice.
/// Aliasing  h may be the tensor a or b. Any other overlap is an overlap_error.
/// Differs   from the serial loop: where a product of decays underflows, a state may have an error of 2^-100
///           (double: 2^-800) times the largest earlier state or b of its block.
/// Source    Blelloch 1990, "Prefix sums and their applications", section 1.4.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const a = {0.5, 0.5, 0.5}, b = {1, 1, 1};
/// auto h = xt::xtensor<double, 1>::from_shape({3});
/// xloom::linear_recurrence_into(a, b, 4.0, h);
/// h; // = [3, 2.5, 2.25]
/// ```
template <class A, class B, class H0, class H, class Policy = serial_policy>
void linear_recurrence_into(A const& a, B const& b, H0 const& h0, H&& h,
    linear_recurrence_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_linear_recurrence_into<A, B, H0, H, Policy>()) {
        auto const [a_tensor, b_tensor] = detail::evaluated_inputs(std::tie(a, b));
        decltype(auto) initial = detail::initial_state<detail::item_t<A>>(h0);
        detail::run_linear_recurrence(
            "xloom::linear_recurrence_into", a_tensor, b_tensor, initial, h, options, policy);
    }
}

/// Returns the states of linear_recurrence_into, of the shape of b.
///
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const a = {{2, 0}, {2, 0}}, b = {{1, 1}, {1, 1}};
/// xloom::linear_recurrence(a, b, xt::xtensor<double, 1>{0, 5}); // = [[1, 1], [3, 1]]
/// xloom::linear_recurrence(a, b, 0.0, {.reverse = true}); // = [[3, 1], [1, 1]]
/// ```
template <class A, class B, class H0, class Policy = serial_policy>
auto linear_recurrence(A const& a, B const& b, H0 const& h0, linear_recurrence_options const& options = {},
    Policy const& policy = {})
{
    detail::owned_t<B> h;
    if constexpr (detail::is_valid_linear_recurrence<A, B, H0, Policy>()) {
        static constexpr std::string_view op = "xloom::linear_recurrence";
        auto const [a_tensor, b_tensor] = detail::evaluated_inputs(std::tie(a, b));
        decltype(auto) initial = detail::initial_state<detail::item_t<A>>(h0);
        detail::check_rank(op, "b", detail::rank_of(b_tensor));
        h = detail::make_tensor<detail::owned_t<B>>(op, "h", detail::shape_of(b_tensor));
        detail::run_linear_recurrence(op, a_tensor, b_tensor, initial, h, options, policy);
    }
    return h;
}

} // namespace xloom::inline XLOOM_ABI
