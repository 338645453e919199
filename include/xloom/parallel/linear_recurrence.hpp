#pragma once
// Linear recurrences: a scan of affine maps, on one thread or several with the same bits.

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/prefix/linear_recurrence_run.hpp>
#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of linear_recurrence.
struct linear_recurrence_options {
    std::int64_t axis = 0; ///< the axis of time; negative: from the back
    bool reverse = false;  ///< from the end of the axis: h[t] = a[t] h[t+1] + b[t]
};

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
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Errors    before the first write: shape_error, overlap_error, std::bad_alloc.
/// Order     that of associative_scan, with op((a, b), (c, d)) = (c a, c b + d). Every product and sum is
///           rounded, on any processor; complex products by the textbook's formula. From the first element on
///           whose |a| exceeds 9/8 (float; else 2) or whose |b| exceeds 2^60 (double: 2^508), the rest of a
///           block of 256 elements is computed by the loop, and all of it if the state before it exceeds 2^60
///           (2^508); so no product of a overflows where the states do not. User-defined scalars have the
///           operations of their type, and no such rule.
/// Cost      one pass over a, b and h. Several threads on few sequences read a and b once more from their
///           caches.
/// Real time on one thread, after a call of the same sizes. Not with lazy operands.
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
template <class A, class B, class H0, class H, class Options = linear_recurrence_options, class... Env>
void linear_recurrence_into(A const& a, B const& b, H0 const& h0, H&& h, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<linear_recurrence_options, Options, Env...>,
                      detail::recurrence_types<A, B, H0>, detail::written<H>,
                      detail::one_element_type<A, H>>()) {
        auto const [a_tensor, b_tensor] = detail::evaluated_inputs(std::tie(a, b));
        decltype(auto) initial = detail::initial_state<detail::item_t<A>>(h0);
        detail::run_linear_recurrence("xloom::linear_recurrence_into", a_tensor, b_tensor, initial, h,
            detail::options_of<linear_recurrence_options>(options), detail::policy_of(options, env...));
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
template <class A, class B, class H0, class Options = linear_recurrence_options, class... Env>
auto linear_recurrence(A const& a, B const& b, H0 const& h0, Options&& options = {}, Env&&... env)
{
    detail::owned_t<B> h;
    if constexpr (detail::satisfied<detail::options_and_policy<linear_recurrence_options, Options, Env...>,
                      detail::recurrence_types<A, B, H0>>()) {
        static constexpr std::string_view op = "xloom::linear_recurrence";
        auto const [a_tensor, b_tensor] = detail::evaluated_inputs(std::tie(a, b));
        decltype(auto) initial = detail::initial_state<detail::item_t<A>>(h0);
        detail::check_rank(op, "b", detail::rank_of(b_tensor));
        h = detail::make_tensor<detail::owned_t<B>>(op, "h", detail::shape_of(b_tensor));
        detail::run_linear_recurrence(op, a_tensor, b_tensor, initial, h,
            detail::options_of<linear_recurrence_options>(options), detail::policy_of(options, env...));
    }
    return h;
}

} // namespace xloom::inline XLOOM_ABI
