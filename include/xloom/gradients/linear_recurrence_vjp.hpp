#pragma once
// The derivative of a linear recurrence: a linear recurrence in the opposite direction.

#include <cstddef>

#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/parallel/linear_recurrence.hpp>

namespace xloom::inline XLOOM_ABI {

/// The gradients of linear_recurrence by its operands.
template <class A, class H0>
struct linear_recurrence_gradients {
    A d_a;
    A d_b;
    H0 d_h0;
};

namespace detail {

/// Returns the elements begin .. begin + count - 1 of an axis.
template <class T>
strided_operand<T> part_of_axis(strided_operand<T> x, std::size_t axis, std::size_t begin, std::size_t count)
{
    x.data += x.layout.strides[axis] * static_cast<std::ptrdiff_t>(begin);
    x.layout.dims[axis] = count;
    return x;
}

/// Returns one slice across an axis.
template <class T>
strided_operand<T> slice_of_axis(strided_operand<T> x, std::size_t axis, std::size_t index)
{
    x = detail::part_of_axis(x, axis, index, 1);
    x.layout = drop_axis(x.layout, axis);
    return x;
}

template <class From, class To, class F>
void for_each_pair(strided_operand<From> const& from, strided_operand<To> const& to, F const& f)
{
    kernel::strided_copy(to.layout.dims, from.layout.strides, to.layout.strides)
        .for_each_pair(from.data, to.data, f);
}

/// Computes d_b of recurrences of at least one step.
template <class T, class Policy>
void run_state_cotangents(strided_operand<T const> const& a, strided_operand<T const> const& ct,
    strided_operand<T> const& d_b, std::size_t axis, bool reverse, Policy const& policy)
{
    std::size_t const length = ct.layout.dims[axis], rest = length - 1, last = reverse ? 0 : rest;
    strided_operand<T const> start = detail::part_of_axis(ct, axis, last, rest);
    start.layout.strides[axis] = 0;
    std::size_t const later = reverse ? 0 : 1, earlier = 1 - later;
    detail::run_recurrences<T>(
        {detail::part_of_axis(a, axis, later, rest), detail::part_of_axis(ct, axis, earlier, rest), start,
            detail::part_of_axis(d_b, axis, earlier, rest)},
        axis, !reverse, policy_ref(policy)); // allocates first
    detail::for_each_pair(detail::slice_of_axis(ct, axis, last), detail::slice_of_axis(d_b, axis, last),
        [](T const& from, T& to) { to = from; });
}

/// Computes d_a: the state before each step times its cotangent.
template <class T, class Policy>
void run_coefficient_cotangents(strided_operand<T const> const& h0, strided_operand<T const> const& h,
    strided_operand<T const> const& d_b, strided_operand<T> const& d_a, std::size_t axis, bool reverse,
    Policy const& policy)
{
    auto const copy = [](T const& from, T& to) { to = from; };
    auto const multiply = [](T const& from, T& to) { to = kernel::product(to, from); };
    std::size_t const rest = h.layout.dims[axis] - 1, first = reverse ? rest : 0;
    strided_operand<T> const d_first = detail::slice_of_axis(d_a, axis, first);
    detail::for_each_pair(detail::slice_of_axis(h0, axis, 0), d_first, copy);
    detail::for_each_pair(detail::slice_of_axis(d_b, axis, first), d_first, multiply);
    std::size_t const parts =
        (std::min)(detail::parts_for(policy, element_count(h.layout.dims)), (std::max)(rest, std::size_t{1}));
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = detail::begin_of_part(part, parts, rest);
        std::size_t const count = detail::begin_of_part(part + 1, parts, rest) - begin;
        std::size_t const here = reverse ? begin : begin + 1, before = reverse ? begin + 1 : begin;
        auto const target = detail::part_of_axis(d_a, axis, here, count);
        detail::for_each_pair(detail::part_of_axis(h, axis, before, count), target, copy);
        detail::for_each_pair(detail::part_of_axis(d_b, axis, here, count), target, multiply);
    });
}

/// Computes the gradient by h0: a tensor, or the sum for a number that all sequences begin with.
template <class T, class DH0>
void run_initial_cotangents(strided_operand<T const> const& a, strided_operand<T const> const& d_b, DH0& d_h0,
    std::size_t axis, bool reverse)
{
    std::size_t const length = a.layout.dims[axis], first = reverse ? length - 1 : 0;
    auto const slopes = detail::slice_of_axis(a, axis, first);
    auto const cotangents = detail::slice_of_axis(d_b, axis, first);
    if constexpr (tensor<DH0>) {
        auto const target = detail::operand_of<T>(d_h0);
        detail::for_each_pair(slopes, target, [](T const& from, T& to) { to = from; });
        detail::for_each_pair(
            cotangents, target, [](T const& from, T& to) { to = kernel::product(to, from); });
    } else {
        d_h0 = T{};
        detail::for_each_pair(slopes, cotangents,
            [&](T const& slope, T const& ct) { d_h0 = static_cast<T>(d_h0 + kernel::product(slope, ct)); });
    }
}

/// True if the types of a call of linear_recurrence_vjp are valid, otherwise a compile-time error of one
/// sentence.
template <class A, class H0, class H, class Ct, class Policy>
consteval bool is_valid_linear_recurrence_vjp()
{
    if constexpr (!is_valid_linear_recurrence<A, Ct, H0, Policy>())
        return false;
    else if constexpr (!std::same_as<item_t<H>, item_t<A>>)
        static_assert(never<H>,
            "xloom::linear_recurrence_vjp: a, h0, h and ct must have one element type; convert them first");
    else
        return true;
    return false;
}

template <class X, class T>
inline constexpr bool is_gradient = false;
template <class X, class T>
    requires tensor<X>
inline constexpr bool is_gradient<X, T> =
    outlives_call<X> && is_writable<std::remove_reference_t<X>>::value && std::same_as<item_t<X>, T>;

/// As is_valid_linear_recurrence_vjp, with gradients that are written: tensors, or for d_h0 also a number.
template <class A, class H0, class H, class Ct, class DA, class DB, class DH0, class Policy>
consteval bool is_valid_linear_recurrence_vjp_into()
{
    using T = item_t<A>;
    if constexpr (!is_valid_linear_recurrence_vjp<A, H0, H, Ct, Policy>())
        return false;
    else if constexpr (!is_gradient<DA, T> || !is_gradient<DB, T> ||
                       !(is_gradient<DH0, T> || (std::same_as<DH0, T&> && !tensor<H0> && !lazy<H0>)))
        static_assert(never<DA>, "xloom::linear_recurrence_vjp_into: d_a, d_b and d_h0 are written, so they "
                                 "must be tensors of a's "
                                 "element type that are variables, not const; d_h0 of a number is a number");
    else
        return true;
    return false;
}

/// Requires that a gradient shares no memory with another operand, except that d_b may be ct.
///
/// Errors    overlap_error
inline void check_separate_gradients(
    std::string_view op, std::span<scan_operand const> read, std::span<scan_operand const> written)
{
    check_scan_memory(op, read, written);
    for (scan_operand const& gradient : written)
        for (scan_operand const& other : read)
            if (gradient.name != "d_b" || other.name != "ct")
                check_no_overlap(op, gradient, other);
}

/// Checks the operands and writes the gradients. Requires valid types and no lazy operands.
template <class A, class H0, class H, class Ct, class DA, class DB, class DH0, class Policy>
void run_linear_recurrence_vjp(std::string_view op, A const& a, H0 const& h0, H const& h, Ct const& ct,
    DA& d_a, DB& d_b, DH0& d_h0, linear_recurrence_options const& options, Policy const& policy)
{
    using T = item_t<A>;
    detail::check_named_ranks(op, {"a", "h0", "h", "ct", "d_a", "d_b"}, std::tie(a, h0, h, ct, d_a, d_b));
    std::array<scan_operand, 5> const operands{{{"a", detail::memory_of(a)}, {"h", detail::memory_of(h)},
        {"ct", detail::memory_of(ct)}, {"d_a", detail::memory_of(d_a)}, {"d_b", detail::memory_of(d_b)}}};
    auto const [in, states, cotangents, by_a, by_b] = operands;
    scan_operand const initial{"h0", detail::memory_of(h0)};
    shape const dims = in.dims();
    std::size_t const axis = check_scanned_axis(op, operands, options.axis);
    check_initial_state(op, initial, dims, axis);
    std::array const read{in, states, cotangents, initial};
    if constexpr (tensor<DH0>) {
        check_rank(op, "d_h0", detail::rank_of(d_h0));
        scan_operand const by_h0{"d_h0", detail::memory_of(d_h0)};
        if (by_h0.dims() != initial.dims())
            fail<shape_error>(op, ": d_h0 must have the shape of h0, ", initial.dims(), ", but it has ",
                by_h0.dims(), ". Give it that shape.");
        check_separate_gradients(op, read, std::array{by_a, by_b, by_h0});
    } else {
        check_separate_gradients(op, read, std::array{by_a, by_b});
    }
    if (element_count(dims) == 0) {
        if constexpr (tensor<DH0>) {
            auto const target = detail::operand_of<T>(d_h0);
            detail::for_each_pair(target, target, [](T const&, T& to) { to = T{}; });
        } else {
            d_h0 = T{};
        }
        return;
    }
    auto const a_in = detail::operand_of<T const>(a);
    auto const d_b_out = detail::operand_of<T>(d_b);
    strided_operand<T const> const d_b_in{d_b_out.data, d_b_out.layout};
    strided_operand<T const> first = detail::operand_of<T const>(h0);
    first.layout = detail::layout_in_time(first.layout, dims, axis);
    detail::run_state_cotangents<T>(
        a_in, detail::operand_of<T const>(ct), d_b_out, axis, options.reverse, policy);
    detail::run_coefficient_cotangents<T>(first, detail::operand_of<T const>(h), d_b_in,
        detail::operand_of<T>(d_a), axis, options.reverse, policy);
    detail::run_initial_cotangents<T>(a_in, d_b_in, d_h0, axis, options.reverse);
}

} // namespace detail

/// Computes the vector-Jacobian product of linear_recurrence into the caller's gradients by a, b and h0,
/// where ct is the cotangent of h.
///
///     for t in reversed(range(T)):
///         d_b[t] = ct[t] + a[t+1] * d_b[t+1]     # 0 beyond the end
///         d_a[t] = d_b[t] * h[t-1]               # h[-1] = h0
///     d_h0 = d_b[0] * a[0]
///
/// Shapes    a, h0 as for linear_recurrence; h, its result, and ct as a. d_a and d_b as a, d_h0 as h0; for a
///           number h0 a number, the sum over the sequences.
/// Types     those of linear_recurrence. Complex numbers are not conjugated, as in jax.vjp.
/// Options   axis (0), reverse (false): those of the recurrence.
/// Policy    serial, or one with threads (tbb_policy): results are bitwise equal to those of serial.
/// Errors    before the first write: shape_error, overlap_error, std::bad_alloc.
/// Order     d_b is linear_recurrence in the opposite direction; the products are rounded once.
/// Cost      that recurrence, and one pass over h, d_b and d_a. Allocates what linear_recurrence_into does.
/// Aliasing  d_b may be the tensor ct. Any other overlap with a gradient is an overlap_error.
/// Example   linear_recurrence_vjp has one.
template <class A, class H0, class H, class Ct, class DA, class DB, class DH0, class Policy = serial_policy>
void linear_recurrence_vjp_into(A const& a, H0 const& h0, H const& h, Ct const& ct, DA&& d_a, DB&& d_b,
    DH0&& d_h0, linear_recurrence_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_linear_recurrence_vjp_into<A, H0, H, Ct, DA, DB, DH0, Policy>()) {
        auto const [slopes, states, cotangents] = detail::evaluated_inputs(std::tie(a, h, ct));
        decltype(auto) initial = detail::initial_state<detail::item_t<A>>(h0);
        detail::run_linear_recurrence_vjp("xloom::linear_recurrence_vjp_into", slopes, initial, states,
            cotangents, d_a, d_b, d_h0, options, policy);
    }
}

/// Returns the gradients of linear_recurrence_vjp_into.
///
/// Errors    shape_error, std::bad_alloc.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const a = {2, 3}, b = {1, 1}, ct = {0, 1};
/// auto const h = xloom::linear_recurrence(a, b, 5.0); // h = {11, 34}
/// auto const [d_a, d_b, d_h0] = xloom::linear_recurrence_vjp(a, 5.0, h, ct);
/// d_a; // = [15, 11]
/// d_b; // = [3, 1]
/// d_h0; // = 6
/// ```
template <class A, class H0, class H, class Ct, class Policy = serial_policy>
auto linear_recurrence_vjp(A const& a, H0 const& h0, H const& h, Ct const& ct,
    linear_recurrence_options const& options = {}, Policy const& policy = {})
{
    using T = detail::item_t<A>;
    using d_h0_type = std::conditional_t<tensor<H0> || detail::lazy<H0>, detail::owned_t<H0>, T>;
    linear_recurrence_gradients<detail::owned_t<A>, d_h0_type> gradients{};
    if constexpr (detail::is_valid_linear_recurrence_vjp<A, H0, H, Ct, Policy>()) {
        static constexpr std::string_view op = "xloom::linear_recurrence_vjp";
        auto const [slopes, states, cotangents] = detail::evaluated_inputs(std::tie(a, h, ct));
        decltype(auto) initial = detail::initial_state<T>(h0);
        detail::check_named_ranks(op, {"a", "h0"}, std::tie(slopes, initial));
        gradients.d_a = detail::make_tensor<detail::owned_t<A>>(op, "d_a", detail::shape_of(slopes));
        gradients.d_b = detail::make_tensor<detail::owned_t<A>>(op, "d_b", detail::shape_of(slopes));
        if constexpr (tensor<d_h0_type>)
            gradients.d_h0 = detail::make_tensor<d_h0_type>(op, "d_h0", detail::shape_of(initial));
        detail::run_linear_recurrence_vjp(op, slopes, initial, states, cotangents, gradients.d_a,
            gradients.d_b, gradients.d_h0, options, policy);
    }
    return gradients;
}

} // namespace xloom::inline XLOOM_ABI
