#pragma once
// The execution of a call of ScatterND's derivative, reduction by reduction, on contiguous operands.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/indexed/gather_run.hpp>
#include <xloom/detail/indexed/named_slice_sets.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/indexed/scatter_vjp_call.hpp>
#include <xloom/detail/kernel/scatter_gradients.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Calls f with a value of the smallest type that counts this number of updates and one more value.
///
/// Why: counts of single items take as much memory as the items, and so as much time.
template <class F>
void with_count_type(std::size_t updates, F const& f)
{
    if (updates < (std::numeric_limits<std::uint32_t>::max)())
        f(std::uint32_t());
    else
        f(std::size_t());
}

/// Memory for intermediate values, uninitialised if T is trivial; large memory is in huge pages, because each
/// call touches all of it once.
template <class T>
using value_memory = xt::uvector<T, cache_aligned_allocator<T>>;

template <class T>
value_memory<T> make_values(std::size_t count)
{
    return value_memory<T>(count);
}

/// Calls f(begin, end) for parts of `count` slices or items, each of `size` elements.
template <class Policy, class F>
void for_each_range(Policy const& policy, std::size_t count, std::size_t size, F const& f)
{
    std::size_t const parts = parts_for(policy, count * size);
    policy.for_each(parts, [&](std::size_t part) {
        f(begin_of_part(part, parts, count), begin_of_part(part + 1, parts, count));
    });
}

template <class T, class Policy>
void copy_values(T const* from, T* to, std::size_t count, Policy const& policy)
{
    if (from != to)
        detail::for_each_range(policy, count, 1,
            [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
}

/// Writes zeros for dropped updates, if there may be any.
template <class Call, class T, class Policy>
void clear_dropped(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    if (call.options().bounds == bounds::drop)
        detail::for_each_range(policy, call.count() * at.size, 1, [&](std::size_t begin, std::size_t end) {
            std::fill(at.ct_updates + begin, at.ct_updates + end, T{});
        });
}

/// The order in which the updates of a slice are visited.
enum class visiting : unsigned char { forward, backward };

/// Visits the updates that are not dropped, those of a slice in order and by one thread at a time. All memory
/// is allocated by the constructor.
template <visiting Order, class Policy>
class update_visits {
public:
    /// `read` gives the offsets of slices of `size` elements.
    template <class Call>
    update_visits(Call const& call, kernel::offset_reader const& read, std::size_t size, Policy const& policy)
        : read_(is_backward ? read.backward() : read), run_(read_, call.options(), size, policy)
    {}
    update_visits(update_visits const&) = delete;

    /// Calls visit(offset of the slice, position of the update). Elements of `slices` are prefetched.
    template <class Item, class Visit>
    void operator()(Item* slices, Visit const& visit)
    {
        Item const* const no_values = nullptr;
        if constexpr (is_backward) {
            auto const visit_backward = [&, last = read_.count() - 1](std::ptrdiff_t offset,
                                            std::size_t number) { visit(offset, last - number); };
            run_(slices, no_values, kernel::visited_updates<decltype(visit_backward)>{visit_backward},
                reduce_none);
        } else {
            run_(slices, no_values, kernel::visited_updates<Visit>{visit}, reduce_none);
        }
    }

private:
    static constexpr bool is_backward = Order == visiting::backward;

    kernel::offset_reader read_;
    update_runner<Policy> run_;
};

/// The index tuples of a call for contiguous data, and a reader of their offsets.
template <class Call>
struct item_offsets {
    strides steps;
    kernel::index_tuples<typename Call::index> tuples;
    kernel::offset_reader read;

    explicit item_offsets(Call const& call)
        : steps(row_major_strides(call.data_shape())),
          tuples(call.tuples(steps)),
          read(call.reader(tuples, steps))
    {}
    item_offsets(item_offsets const&) = delete;
    item_offsets& operator=(item_offsets const&) = delete;
};

/// Writes the gradients by updates: the slices of `from`.
template <class Call, class T, class Policy>
void gather_updates(Call const& call, T const* from, scatter_gradients<T> const& at, Policy const& policy)
{
    item_offsets const offsets(call);
    detail::clear_dropped(call, at, policy);
    detail::run_gather(offsets.read, {{at.size}, {1}}, from, at.ct_updates, policy);
}

/// Returns the slices that updates name.
template <class Call, class Policy>
named_slice_sets find_named_slices(Call const& call, Policy const& policy)
{
    named_slice_sets sets(call.slices(), parts_for(policy, call.count()));
    sets.insert(call.reader(), policy);
    return sets;
}

/// Writes the gradient by data where named slices have none.
template <class T, class Policy>
void copy_unnamed(
    named_slice_sets const& sets, std::size_t slices, scatter_gradients<T> const& at, Policy const& policy)
{
    detail::for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::copy_except(sets.all(), begin, end, at.ct, at.ct_data, at.size);
    });
}

/// Reduction none: the update that takes effect is the last or the first one of its slice, the first one that
/// is visited.
///
/// Cost: a bit per slice and thread.
template <class Call, class T, class Policy>
void run_none_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    bool const is_backward = call.options().duplicates != duplicates::first;
    kernel::offset_reader const read = is_backward ? call.reader().backward() : call.reader();
    std::size_t const count = read.count();
    named_slice_sets sets(call.slices(), parts_for(policy, count * at.size));
    std::size_t const parts = sets.parts();
    if (at.ct_updates == nullptr || parts > 1)
        sets.insert(read, policy);
    if (at.ct_updates != nullptr) {
        detail::clear_dropped(call, at, policy);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = begin_of_part(part, parts, count),
                              end = begin_of_part(part + 1, parts, count);
            kernel::effective_updates<T>{sets.of(part), at.ct, at.ct_updates, at.size}(
                kernel::named_updates{read, begin, end, is_backward});
        });
    }
    if (at.ct_data != nullptr)
        detail::copy_unnamed(sets, call.slices(), at, policy);
}

/// Reduction add: a gather.
template <class Call, class T, class Policy>
void run_add_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    std::optional<named_slice_sets> replaced;
    if (at.ct_data != nullptr && !call.options().include_self)
        replaced.emplace(detail::find_named_slices(call, policy));
    if (at.ct_updates != nullptr)
        detail::gather_updates(call, at.ct, at, policy);
    if (replaced)
        detail::copy_unnamed(*replaced, call.slices(), at, policy);
    else if (at.ct_data != nullptr)
        detail::copy_values(at.ct, at.ct_data, call.slices() * at.size, policy);
}

/// The mean: the cotangent divided by the number of values.
///
/// Cost: a count per slice; if the gradient by data is omitted, also an item per item of data.
template <class Count, class Call, class T, class Policy>
void run_mean_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const slices = call.slices();
    bool const include_self = call.options().include_self;
    aligned_vector<Count> counts(slices);
    std::optional<value_memory<T>> buffer;
    if (at.ct_data == nullptr)
        buffer.emplace(make_values<T>(slices * at.size));
    T* const divided = buffer ? buffer->data() : at.ct_data;

    update_visits<visiting::forward, Policy>(call, call.reader(), 1, policy)(
        counts.data(), [of = counts.data()](std::ptrdiff_t slice, std::size_t) { ++of[slice]; });
    detail::for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::divide_slices(counts.data(), include_self ? 1 : 0, begin, end, at.ct, divided, at.size);
    });
    if (at.ct_updates != nullptr)
        detail::gather_updates(call, divided, at, policy);
    if (at.ct_data != nullptr && !include_self)
        detail::for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
            kernel::clear_counted(counts.data(), begin, end, at.ct_data, at.size);
        });
}

/// The product: the cotangent times the product of all other values, from the products of those before and of
/// those after an update. Nothing is divided, so zeros are exact.
///
/// Cost: a product per item of data; for storage floats also one per item of updates.
template <class Call, class T, class Policy>
void run_mul_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    using product = kernel::product_t<T>;
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    std::optional<named_slice_sets> replaced;
    if (at.ct_data != nullptr && at.old == nullptr)
        replaced.emplace(detail::find_named_slices(call, policy));
    auto products = make_values<product>(items);
    auto buffer = make_values<product>(
        std::is_same_v<T, product> || at.ct_updates == nullptr ? 0 : call.count() * at.size);
    std::optional<update_visits<visiting::forward, Policy>> visit_forward;
    if (at.ct_updates != nullptr)
        visit_forward.emplace(call, offsets.read, at.size, policy);
    update_visits<visiting::backward, Policy> visit_backward(call, offsets.read, at.size, policy);
    product* const running = products.data();
    product* before = buffer.data();
    if constexpr (std::is_same_v<T, product>)
        before = at.ct_updates;

    kernel::with_slice_size(at.size, [&](auto length) {
        if (at.ct_updates != nullptr) {
            detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    running[i] = at.old != nullptr ? static_cast<product>(at.old[i]) : product(1);
            });
            detail::clear_dropped(call, at, policy);
            (*visit_forward)(
                running, [=, updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
                    kernel::multiply_before(
                        length, running + offset, before + number * length, updates + number * length);
                });
        }
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            std::fill(running + begin, running + end, product(1));
        });
        visit_backward(running, [=, updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
            T const* const update = updates + number * length;
            product* const after = running + offset;
            if (at.ct_updates != nullptr)
                kernel::multiply_after(length, after, at.ct + offset, before + number * length, update,
                    at.ct_updates + number * length);
            else
                for (std::size_t i = 0; i < length; ++i)
                    after[i] = kernel::zero_or_product(static_cast<product>(update[i]), after[i]);
        });
    });

    if (replaced)
        detail::copy_unnamed(*replaced, call.slices(), at, policy);
    else if (at.ct_data != nullptr)
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                at.ct_data[i] = static_cast<T>(static_cast<product>(at.ct[i]) * running[i]);
        });
}

/// Writes the gradient by data of a maximum or a minimum: the part where the old value of a slot equals the
/// result. If old values take no part, slots with updates, for which `named` is not 0, have none.
template <class T, class Named, class Policy>
void write_tied_data(T const* results, Named const* named, T const* parts, std::size_t items,
    scatter_gradients<T> const& at, Policy const& policy)
{
    detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        if (at.old != nullptr)
            kernel::take_tied(at.old, results, parts, begin, end, at.ct_data);
        else
            kernel::take_unnamed(named, at.ct, begin, end, at.ct_data);
    });
}

/// Divides the cotangent of each slot evenly among the values that equal its result.
///
/// Cost: a Count and an item per item of data.
template <class Count, class Call, class T, class Policy>
void split_evenly(Call const& call, T const* results, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    aligned_vector<Count> counts(items);
    auto parts = make_values<T>(items);
    update_visits<visiting::forward, Policy> visit(call, offsets.read, at.size, policy);
    if (at.old != nullptr)
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            kernel::count_old(at.old, results, begin, end, counts.data());
        });
    if (at.ct_updates != nullptr)
        detail::clear_dropped(call, at, policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit(counts.data(),
            [=, of = counts.data(), updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
                kernel::count_ties(length, of + offset, results + offset, updates + number * length,
                    at.ct_updates == nullptr ? nullptr : at.ct_updates + number * length);
            });
    });
    detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        kernel::divide_items(at.ct, counts.data(), begin, end, parts.data());
    });
    if (at.ct_updates != nullptr)
        detail::run_copies(
            offsets.read, std::as_const(parts).data(), at.ct_updates, kernel::tied_parts{at.size}, policy);
    if (at.ct_data != nullptr)
        detail::write_tied_data(results, counts.data(), parts.data(), items, at, policy);
}

/// Gives the cotangent of each slot to the first value that equals its result.
///
/// Cost: a byte per item of data.
template <class Call, class T, class Policy>
void give_to_first(Call const& call, T const* results, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    aligned_vector<unsigned char> given(items);
    update_visits<visiting::forward, Policy> visit(call, offsets.read, at.size, policy);
    if (at.old != nullptr)
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            kernel::count_old(at.old, results, begin, end, given.data());
        });
    if (at.ct_updates != nullptr)
        detail::clear_dropped(call, at, policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit(given.data(), [=, is_given = given.data(), updates = call.updates()](
                                std::ptrdiff_t offset, std::size_t number) {
            kernel::give_tied(length, is_given + offset, at.ct + offset, results + offset,
                updates + number * length,
                at.ct_updates == nullptr ? nullptr : at.ct_updates + number * length);
        });
    });
    if (at.ct_data != nullptr)
        detail::write_tied_data(results, given.data(), at.ct, items, at, policy);
}

/// The maximum or the minimum: the cotangent goes to the values that equal the result, which is computed as
/// by scatter_nd.
///
/// Cost: an item per item of data, and that of split_evenly or give_to_first.
template <class Call, class T, class Reduce, class Policy>
void run_extremum_vjp(
    Call const& call, scatter_gradients<T> const& at, ties rule, Reduce const& reduce, Policy const& policy)
{
    using results_type = xt::xarray_container<value_memory<T>, xt::layout_type::row_major>;
    auto results = enable_tensor<results_type>::make(call.data_shape());
    if (at.old != nullptr)
        detail::copy_values(at.old, results.data(), call.slices() * at.size, policy);
    detail::run_scatter_nd(call, results, reduce, policy);
    T const* const result = results.data();
    if (rule == ties::first)
        detail::give_to_first(call, result, at, policy);
    else
        with_count_type(
            call.count(), [&]<class Count>(Count) { detail::split_evenly<Count>(call, result, at, policy); });
}

/// Writes the gradients that are not omitted.
template <class Call, class T, class Policy>
void run_scatter_vjp(Call const& call, scatter_gradients<T> const& at, ties rule, Policy const& policy)
{
    if (call.is_empty()) { // every update, if any, is dropped
        if (at.ct_data != nullptr)
            detail::copy_values(at.ct, at.ct_data, call.slices() * at.size, policy);
        if (at.ct_updates != nullptr)
            std::fill_n(at.ct_updates, call.count() * at.size, T{});
        return;
    }
    switch (call.options().reduction) {
    case reduction::none:
        return detail::run_none_vjp(call, at, policy);
    case reduction::add:
        return detail::run_add_vjp(call, at, policy);
    case reduction::mean:
        return with_count_type(
            call.count(), [&]<class Count>(Count) { detail::run_mean_vjp<Count>(call, at, policy); });
    case reduction::mul:
        return detail::run_mul_vjp(call, at, policy);
    case reduction::max:
        if constexpr (kernel::can_reduce<reduce_max_t, T>)
            detail::run_extremum_vjp(call, at, rule, reduce_max, policy);
        return;
    case reduction::min:
        if constexpr (kernel::can_reduce<reduce_min_t, T>)
            detail::run_extremum_vjp(call, at, rule, reduce_min, policy);
        return;
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
