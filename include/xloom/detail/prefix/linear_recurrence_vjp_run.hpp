#pragma once
// The run of the derivative of a linear recurrence, and the check of its operands.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/prefix.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/prefix/linear_recurrence_run.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A reference to a tensor that is written, or to a number. {} is an omitted one.
template <class Item>
class tensor_or_number_ref {
public:
    tensor_or_number_ref() = default;
    tensor_or_number_ref(Item& number) : number_(&number) {}
    template <class X>
        requires(!std::is_same_v<bare<X>, tensor_or_number_ref> && !std::is_same_v<bare<X>, Item>)
    tensor_or_number_ref(X&& tensor) : tensor_(std::forward<X>(tensor))
    {}

    bool is_given() const noexcept { return number_ != nullptr || tensor_.is_given(); }
    std::size_t rank() const noexcept { return tensor_.rank(); }
    Item* data() const noexcept { return number_ != nullptr ? number_ : tensor_.data(); }
    memory_block block() const { return number_ != nullptr ? detail::memory_of(*number_) : tensor_.block(); }

private:
    Item* number_ = nullptr;
    tensor_ref<Item> tensor_{};
};

/// Returns the elements begin .. begin + count - 1 of an axis.
template <class T>
strided_items<T> part_of_axis(strided_items<T> x, std::size_t axis, std::size_t begin, std::size_t count)
{
    x.first += x.layout.strides[axis] * static_cast<std::ptrdiff_t>(begin);
    x.layout.dims[axis] = count;
    return x;
}

/// Returns one slice across an axis.
template <class T>
strided_items<T> slice_of_axis(strided_items<T> x, std::size_t axis, std::size_t index)
{
    x = detail::part_of_axis(x, axis, index, 1);
    x.layout = drop_axis(x.layout, axis);
    return x;
}

template <class From, class To, class F>
void for_each_pair(strided_items<From> const& from, strided_items<To> const& to, F const& f)
{
    kernel::strided_copy(to.layout.dims, from.layout.strides, to.layout.strides)
        .for_each_pair(from.first, to.first, f);
}

/// Copies one operand to another.
template <class T>
void copy_operand(strided_items<T const> const& from, strided_items<T> const& to)
{
    detail::for_each_pair(from, to, [](T const& each, T& copy) { copy = each; });
}

/// Adds one operand to another.
template <class T>
void add_operand(strided_items<T const> const& from, strided_items<T> const& to)
{
    detail::for_each_pair(from, to, [](T const& each, T& sum) { sum = static_cast<T>(sum + each); });
}

/// Multiplies the items of an operand by those of another.
template <class T>
void multiply_operand(strided_items<T> const& x, strided_items<T const> const& by)
{
    detail::for_each_pair(by, x, [](T const& factor, T& each) { each = reduce_mul(each, factor); });
}

/// The vector-Jacobian product of recurrences of at least one step, whose operands are checked.
template <class T>
struct recurrence_vjp {
    strided_items<T const> a, h0, h, ct_h; ///< h0 has the axis of time, with the stride 0
    strided_items<T> ct;                   ///< the memory of the recurrence
    std::size_t axis;
    bool reverse;

    std::size_t length() const { return h.layout.dims[axis]; }
    std::size_t first_step() const { return reverse ? length() - 1 : 0; }
    strided_items<T const> read_ct() const { return {ct.first, ct.layout}; }

    /// Computes ct, the cotangent of b: a recurrence from the last step to the first.
    void run_by_b(policy_ref const& policy) const
    {
        std::size_t const steps = length() - 1, last = reverse ? 0 : steps;
        strided_items<T const> start = detail::part_of_axis(ct_h, axis, last, steps);
        start.layout.strides[axis] = 0;
        std::size_t const later = reverse ? 0 : 1, earlier = 1 - later;
        detail::run_recurrences<T>(
            {detail::part_of_axis(a, axis, later, steps), detail::part_of_axis(ct_h, axis, earlier, steps),
                start, detail::part_of_axis(ct, axis, earlier, steps)},
            axis, !reverse, policy);
        detail::copy_operand(detail::slice_of_axis(ct_h, axis, last), detail::slice_of_axis(ct, axis, last));
    }

    /// Replaces ct by the cotangent of a: the state before each step times the cotangent of the step.
    void run_by_a(policy_ref const& policy) const
    {
        detail::multiply_operand(
            detail::slice_of_axis(ct, axis, first_step()), detail::slice_of_axis(h0, axis, 0));
        for_each_part(policy, length() - 1, [&](std::size_t begin, std::size_t count) {
            std::size_t const step = reverse ? begin : begin + 1; // h[previous] multiplies ct[step]
            std::size_t const previous = reverse ? begin + 1 : begin;
            detail::multiply_operand(
                detail::part_of_axis(ct, axis, step, count), detail::part_of_axis(h, axis, previous, count));
        });
    }

    /// Computes the cotangent of h0; that of a number which all sequences begin with is their sum.
    void run_by_h0(strided_items<T> const& ct_h0) const
    {
        auto const slopes = detail::slice_of_axis(a, axis, first_step());
        auto const cotangents = detail::slice_of_axis(ct, axis, first_step());
        if (ct_h0.layout.dims.size() == slopes.layout.dims.size()) {
            detail::copy_operand(slopes, ct_h0);
            return detail::multiply_operand(ct_h0, detail::slice_of_axis(read_ct(), axis, first_step()));
        }
        using C = compute_t<T>;
        C sum{};
        detail::for_each_pair(slopes, cotangents, [&](T const& slope, T const& each) {
            sum = kernel::product_plus(static_cast<C>(slope), static_cast<C>(each), sum);
        });
        *ct_h0.first = static_cast<T>(sum);
    }

    /// Adds ct to a gradient.
    void add_to(strided_items<T> const& gradient, policy_ref const& policy) const
    {
        for_each_part(policy, length(), [&](std::size_t begin, std::size_t count) {
            detail::add_operand(detail::part_of_axis(read_ct(), axis, begin, count),
                detail::part_of_axis(gradient, axis, begin, count));
        });
    }

private:
    /// Calls f(begin, count) for parts of `steps` steps, on the threads of the policy.
    template <class F>
    void for_each_part(policy_ref const& policy, std::size_t steps, F const& f) const
    {
        std::size_t const parts = (std::min)(
            detail::parts_for(policy, element_count(h.layout.dims)), (std::max)(steps, std::size_t{1}));
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = detail::begin_of_part(part, parts, steps);
            f(begin, detail::begin_of_part(part + 1, parts, steps) - begin);
        });
    }
};

/// The operands of a call, checked, and its axis of time. A gradient that is omitted has a null pointer.
template <class T>
struct recurrence_vjp_call {
    strided_items<T const> a, h0, h, ct_h; ///< h0 has the axis of time, with the stride 0
    strided_items<T> ct_a, ct_b, ct_h0;
    std::size_t axis;

    shape const& dims() const { return h.layout.dims; }
};

/// Checks the operands of a call. Requires valid types and no lazy operands. `gradients` has a reference to
/// each of the gradients by a, b and h0, in this order.
template <class A, class B, class H0, class H, class CtH, class Gradients>
recurrence_vjp_call<item_t<A>> checked_recurrence_vjp(std::string_view op, A const& a, B const& b,
    H0 const& h0, H const& h, CtH const& ct_h, Gradients const& gradients, std::int64_t time_axis)
{
    using T = item_t<A>;
    auto const& [ct_a, ct_b, ct_h0] = gradients;
    detail::check_named_ranks(op, {"a", "b", "h0", "h", "ct_h"}, std::tie(a, b, h0, h, ct_h));
    check_rank(op, "ct_a", ct_a.rank());
    check_rank(op, "ct_b", ct_b.rank());
    check_rank(op, "ct_h0", ct_h0.rank());
    std::array const memory{detail::memory_of(a), detail::memory_of(h), detail::memory_of(ct_h),
        detail::memory_of(b), detail::memory_of(h0)};
    memory_block const by_h0 = ct_h0.block();
    std::array<operand_memory, 4> const read{
        {{"a", memory[0]}, {"h", memory[1]}, {"ct_h", memory[2]}, {"h0", memory[4]}}};
    std::array<operand_memory, 3> const written{{{"ct_b", block_if_given(ct_b)},
        {"ct_a", block_if_given(ct_a)}, {"ct_h0", ct_h0.is_given() ? &by_h0 : nullptr}}};
    static_vector<operand_memory, 6> of_one_shape(read.begin(), read.begin() + 3);
    of_one_shape.push_back({"b", memory[3]});
    if (ct_b.is_given())
        of_one_shape.push_back(written[0]);
    if (ct_a.is_given())
        of_one_shape.push_back(written[1]);
    check_operand_size(op, "a", read[0].dims(), sizeof(T));
    std::size_t const axis = check_scanned_axis(op, of_one_shape, time_axis);
    check_initial_state(op, read[3], read[0].dims(), axis);
    if (ct_h0.is_given() && by_h0.layout.dims != read[3].dims())
        fail<shape_error>(op, ": ct_h0 must have the shape of h0, ", read[3].dims(), ", but it has ",
            by_h0.layout.dims, ". Give it that shape.");
    check_written(op, written, read);
    strided_items<T const> first = detail::items_in<T const>(h0);
    first.layout = detail::layout_in_time(first.layout, read[0].dims(), axis);
    return {detail::items_in<T const>(a), first, detail::items_in<T const>(h),
        detail::items_in<T const>(ct_h), {ct_a.data(), ct_a.block().layout},
        {ct_b.data(), ct_b.block().layout}, {ct_h0.data(), by_h0.layout}, axis};
}

/// Computes the gradients: if `is_added`, those that are given are added to, else all are written.
template <class T>
void run_recurrence_vjp(
    recurrence_vjp_call<T> const& call, bool is_added, bool reverse, policy_ref const& policy)
{
    std::size_t const count = element_count(call.dims());
    if (count == 0) {
        if (!is_added)
            detail::for_each_pair(call.ct_h0, call.ct_h0, [](T const&, T& to) { to = T{}; });
        return;
    }
    shape const& dims_of_h0 = call.ct_h0.layout.dims;
    aligned_vector<T> scratch(is_added ? count + element_count(dims_of_h0) : 0);
    recurrence_vjp<T> const vjp{call.a, call.h0, call.h, call.ct_h,
        is_added ? strided_items<T>{scratch.data(), {call.dims(), row_major_strides(call.dims())}}
                 : call.ct_a,
        call.axis, reverse};
    flush_subnormals const flushing;
    vjp.run_by_b(policy);
    if (!is_added) {
        detail::copy_operand(vjp.read_ct(), call.ct_b);
        vjp.run_by_h0(call.ct_h0);
        return vjp.run_by_a(policy);
    }
    if (call.ct_b.first != nullptr)
        vjp.add_to(call.ct_b, policy);
    if (call.ct_h0.first != nullptr) {
        strided_items<T> const sums{scratch.data() + count, {dims_of_h0, row_major_strides(dims_of_h0)}};
        vjp.run_by_h0(sums);
        detail::add_operand<T>({sums.first, sums.layout}, call.ct_h0);
    }
    if (call.ct_a.first != nullptr) {
        vjp.run_by_a(policy);
        vjp.add_to(call.ct_a, policy);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
