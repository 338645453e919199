#pragma once
// The execution of ScatterND's derivative, reduction by reduction, on contiguous operands.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <xloom/detail/check/indexed_vjp.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/gradient_output.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/kernel/scatter_gradients.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the gradients of a reduction depend on the values of data and updates.
constexpr bool depends_on_values(reduction kind)
{
    return kind == reduction::mul || kind == reduction::max || kind == reduction::min;
}

/// A call of ScatterND's derivative: its slices, and the contiguous items of its operands and of the
/// gradients. Store is kernel::write_gradient or, for gradients that are added to and depend on no values,
/// kernel::add_gradient.
template <class T, class Store>
struct scatter_vjp_call {
    scatter_rules rules;
    kernel::offset_reader offsets; ///< of slices in contiguous data
    kernel::offset_reader numbers; ///< of slices
    std::size_t slices;            ///< the number of slices in data
    std::size_t size;              ///< items of a slice
    T const* ct;
    T const* old;     ///< the values of data; nullptr if they take no part
    T const* updates; ///< nullptr if the gradients do not depend on them
    T* ct_data;       ///< nullptr if it is omitted
    T* ct_updates;    ///< nullptr if it is omitted

    std::size_t count() const { return offsets.count(); }
};

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

/// The slices that some updates have, part by part.
///
/// Cost: a bit per slice and part.
class indexed_slice_sets {
public:
    /// Makes empty sets for at most `parts` parts.
    indexed_slice_sets(std::size_t slices, std::size_t parts)
        : parts_((std::min)(parts, tuning::max_slice_sets)),
          sets_(parts_ == 1 ? 1 : parts_ + 1, kernel::slice_set(slices))
    {}

    std::size_t parts() const { return parts_; }
    kernel::slice_set& of(std::size_t part) { return sets_[part]; }

    /// Returns the set of all slices, which for one part is that of the part.
    kernel::slice_set const& all() const { return sets_.back(); }

    /// Inserts the slices of all updates into all(), and into the set of each part those of the parts before
    /// it; if there is one part, those of all.
    template <class Policy>
    void insert(kernel::offset_reader const& read, Policy const& policy)
    {
        policy.for_each(parts_, [&](std::size_t part) {
            auto const [begin, end] = range_of_part(part, parts_, read.count());
            kernel::insert_slices(read, begin, end, sets_[part]);
        });
        if (parts_ == 1)
            return;
        detail::for_each_range(policy, all().words(), parts_, [&](std::size_t begin, std::size_t end) {
            for (std::size_t word = begin; word < end; ++word) {
                kernel::slice_set::word sum = 0;
                for (kernel::slice_set& set : sets_)
                    sum |= std::exchange(set.at(word), sum);
            }
        });
    }

private:
    std::size_t parts_;
    std::vector<kernel::slice_set> sets_;
};

/// Writes zeros to the gradients of dropped updates, if there may be any and the gradients are not omitted.
template <class T, class Store, class Policy>
void clear_dropped(scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    if (std::is_same_v<Store, kernel::write_gradient> && at.rules.bounds == bounds::drop &&
        at.ct_updates != nullptr)
        detail::for_each_range(policy, at.count() * at.size, 1, [&](std::size_t begin, std::size_t end) {
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
    update_visits(
        scatter_rules const& rules, kernel::offset_reader const& read, std::size_t size, Policy const& policy)
        : read_(is_backward ? read.backward() : read), run_(read_, rules, size, policy)
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

/// Writes the gradients by updates: the slices of `from`.
template <class Index, class T, class Store, class Policy>
void gather_updates(slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, T const* from,
    Policy const& policy)
{
    detail::clear_dropped(at, policy);
    if constexpr (std::is_same_v<Store, kernel::write_gradient>)
        detail::gather_slices(
            index, strided_items<T const>{from, row_major_layout(index.data_shape())}, at.ct_updates, policy);
    else
        detail::run_copies(at.offsets, from, at.ct_updates, kernel::add_slices{at.size}, policy);
}

/// Returns the slices that have updates.
template <class T, class Store, class Policy>
indexed_slice_sets find_indexed_slices(scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    indexed_slice_sets sets(at.slices, parts_for(policy, at.count()));
    sets.insert(at.numbers, policy);
    return sets;
}

/// Writes the gradient by data where slices with updates have none.
template <class T, class Store, class Policy>
void store_unindexed(
    indexed_slice_sets const& sets, scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    detail::for_each_range(policy, at.slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::store_except<Store>(sets.all(), begin, end, at.ct, at.ct_data, at.size);
    });
}

/// Reduction none: the update that takes effect is the last or the first one of its slice, the first one that
/// is visited.
///
/// Cost: a bit per slice and thread.
template <class T, class Store, class Policy>
void run_none_vjp(scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    bool const is_backward = at.rules.duplicates != duplicates::first;
    kernel::offset_reader const read = is_backward ? at.numbers.backward() : at.numbers;
    std::size_t const count = read.count();
    indexed_slice_sets sets(at.slices, parts_for(policy, count * at.size));
    std::size_t const parts = sets.parts();
    if (at.ct_updates == nullptr || parts > 1)
        sets.insert(read, policy);
    if (at.ct_updates != nullptr) {
        detail::clear_dropped(at, policy);
        policy.for_each(parts, [&](std::size_t part) {
            auto const [begin, end] = range_of_part(part, parts, count);
            kernel::effective_updates<T, Store>{sets.of(part), at.ct, at.ct_updates, at.size}(
                kernel::indexed_updates{read, begin, end, is_backward});
        });
    }
    if (at.ct_data != nullptr)
        detail::store_unindexed(sets, at, policy);
}

/// Reduction add: a gather.
template <class Index, class T, class Store, class Policy>
void run_add_vjp(slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    std::optional<indexed_slice_sets> replaced;
    if (at.ct_data != nullptr && !at.rules.include_self)
        replaced.emplace(detail::find_indexed_slices(at, policy));
    if (at.ct_updates != nullptr)
        detail::gather_updates(index, at, at.ct, policy);
    if (replaced)
        detail::store_unindexed(*replaced, at, policy);
    else if (at.ct_data != nullptr)
        detail::store_values<Store>(at.ct, at.ct_data, at.slices * at.size, policy);
}

/// The mean: the cotangent divided by the number of values.
///
/// Cost: a count per slice; if the gradient by data is omitted, also an item per item of data.
template <class Count, class Index, class T, class Store, class Policy>
void run_mean_vjp(slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    std::size_t const slices = at.slices;
    bool const include_self = at.rules.include_self;
    aligned_vector<Count> counts(slices);
    constexpr bool is_added = std::is_same_v<Store, kernel::add_gradient>;
    std::optional<item_buffer<T>> buffer;
    if (is_added || at.ct_data == nullptr)
        buffer.emplace(slices * at.size);
    T* const divided = buffer ? buffer->data() : at.ct_data;

    update_visits<visiting::forward, Policy>(at.rules, at.numbers, 1, policy)(
        counts.data(), [of = counts.data()](std::ptrdiff_t slice, std::size_t) { ++of[slice]; });
    detail::for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::divide_slices(counts.data(), include_self ? 1 : 0, begin, end, at.ct, divided, at.size);
    });
    if (at.ct_updates != nullptr)
        detail::gather_updates(index, at, divided, policy);
    if (at.ct_data != nullptr && !include_self)
        detail::for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
            kernel::clear_counted(counts.data(), begin, end, divided, at.size);
        });
    if (is_added && at.ct_data != nullptr)
        detail::store_values<Store>(divided, at.ct_data, slices * at.size, policy);
}

/// Writes to `before` the product of the values before each update: of the old value, and of earlier updates.
/// `running` has a product for each item of data.
template <class Length, class T, class Store, class Visits, class Product, class Policy>
void multiply_forwards(Length length, scatter_vjp_call<T, Store> const& at, Visits& visit, Product* running,
    Product* before, Policy const& policy)
{
    detail::for_each_range(policy, at.slices * at.size, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            running[i] = at.old != nullptr ? static_cast<Product>(at.old[i]) : Product(1);
    });
    detail::clear_dropped(at, policy);
    visit(running, [=, updates = at.updates](std::ptrdiff_t offset, std::size_t number) {
        kernel::multiply_before(
            length, running + offset, before + number * length, updates + number * length);
    });
}

/// The product: the cotangent times the product of all other values, from the products of those before and of
/// those after an update. Nothing is divided, so zeros are exact.
///
/// Cost: a product per item of data; for storage floats also one per item of updates.
template <class T, class Store, class Policy>
void run_mul_vjp(scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    using product = compute_t<T>;
    std::size_t const items = at.slices * at.size;
    std::optional<indexed_slice_sets> replaced;
    if (at.ct_data != nullptr && at.old == nullptr)
        replaced.emplace(detail::find_indexed_slices(at, policy));
    item_buffer<product> products(items);
    item_buffer<product> buffer(
        std::is_same_v<T, product> || at.ct_updates == nullptr ? 0 : at.count() * at.size);
    std::optional<update_visits<visiting::forward, Policy>> visit_forward;
    if (at.ct_updates != nullptr)
        visit_forward.emplace(at.rules, at.offsets, at.size, policy);
    update_visits<visiting::backward, Policy> visit_backward(at.rules, at.offsets, at.size, policy);
    product* const running = products.data();
    product* before = buffer.data();
    if constexpr (std::is_same_v<T, product>)
        before = at.ct_updates;

    kernel::with_slice_size(at.size, [&](auto length) {
        if (at.ct_updates != nullptr)
            detail::multiply_forwards(length, at, *visit_forward, running, before, policy);
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            std::fill(running + begin, running + end, product(1));
        });
        visit_backward(running, [=, updates = at.updates](std::ptrdiff_t offset, std::size_t number) {
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
        detail::store_unindexed(*replaced, at, policy);
    else if (at.ct_data != nullptr)
        detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                at.ct_data[i] =
                    static_cast<T>(kernel::zero_or_product(static_cast<product>(at.ct[i]), running[i]));
        });
}

/// Counts the old values that are the results, and clears the gradients of dropped updates.
template <class T, class Count, class Store, class Policy>
void start_ties(scatter_vjp_call<T, Store> const& at, T const* results, Count* counts, Policy const& policy)
{
    if (at.old != nullptr)
        detail::for_each_range(policy, at.slices * at.size, 1, [&](std::size_t begin, std::size_t end) {
            kernel::count_old(at.old, results, begin, end, counts);
        });
    detail::clear_dropped(at, policy);
}

/// Writes the gradient by data of a maximum or a minimum: the part where the old value of a slot equals the
/// result. If old values take no part, slots with updates, for which `counts` is not 0, have none.
template <class T, class Count, class Store, class Policy>
void write_tied_data(T const* results, Count const* counts, T const* parts, std::size_t items,
    scatter_vjp_call<T, Store> const& at, Policy const& policy)
{
    detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        if (at.old != nullptr)
            kernel::take_tied(at.old, results, parts, begin, end, at.ct_data);
        else
            kernel::take_unindexed(counts, at.ct, begin, end, at.ct_data);
    });
}

/// Divides the cotangent of each slot evenly among the values that equal its result.
///
/// Cost: a Count and an item per item of data.
template <class Count, class T, class Store, class Policy>
void split_evenly(scatter_vjp_call<T, Store> const& at, T const* results, Policy const& policy)
{
    std::size_t const items = at.slices * at.size;
    aligned_vector<Count> counts(items);
    item_buffer<T> parts(items);
    update_visits<visiting::forward, Policy> visit(at.rules, at.offsets, at.size, policy);
    detail::start_ties(at, results, counts.data(), policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit(counts.data(),
            [=, of = counts.data(), updates = at.updates](std::ptrdiff_t offset, std::size_t number) {
                kernel::count_ties(length, of + offset, results + offset, updates + number * length,
                    at.ct_updates == nullptr ? nullptr : at.ct_updates + number * length);
            });
    });
    detail::for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        kernel::divide_items(at.ct, counts.data(), begin, end, parts.data());
    });
    if (at.ct_updates != nullptr)
        detail::run_copies(
            at.offsets, std::as_const(parts).data(), at.ct_updates, kernel::tied_parts{at.size}, policy);
    if (at.ct_data != nullptr)
        detail::write_tied_data(results, counts.data(), parts.data(), items, at, policy);
}

/// Gives the cotangent of each slot to the first value that equals its result.
///
/// Cost: a byte per item of data.
template <class T, class Store, class Policy>
void give_to_first(scatter_vjp_call<T, Store> const& at, T const* results, Policy const& policy)
{
    std::size_t const items = at.slices * at.size;
    aligned_vector<unsigned char> given(items);
    update_visits<visiting::forward, Policy> visit(at.rules, at.offsets, at.size, policy);
    detail::start_ties(at, results, given.data(), policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit(given.data(),
            [=, is_given = given.data(), updates = at.updates](std::ptrdiff_t offset, std::size_t number) {
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
template <class Index, class T, class Store, class Reduce, class Policy>
void run_extremum_vjp(slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, ties rule,
    Reduce const& reduce, Policy const& policy)
{
    item_buffer<T> results(at.slices * at.size);
    if (at.old != nullptr)
        detail::store_values(at.old, results.data(), at.slices * at.size, policy);
    detail::run_scatter(index, update_values<T const*>{at.updates, {}, true}, at.rules,
        strided_items<T>{results.data(), row_major_layout(index.data_shape())}, reduce, policy);
    T const* const result = results.data();
    if (rule == ties::first)
        detail::give_to_first(at, result, policy);
    else
        with_count_type(
            at.count(), [&]<class Count>(Count) { detail::split_evenly<Count>(at, result, policy); });
}

/// Writes the gradients of a reduction that depend on the values of data and updates.
template <class Index, class T, class Store, class Policy>
void run_vjp_of_values(
    slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, ties rule, Policy const& policy)
{
    if (at.rules.reduction == reduction::mul)
        return detail::run_mul_vjp(at, policy);
    if constexpr (kernel::can_reduce<reduce_max_t, T>)
        if (at.rules.reduction == reduction::max)
            return detail::run_extremum_vjp(index, at, rule, reduce_max, policy);
    if constexpr (kernel::can_reduce<reduce_min_t, T>)
        if (at.rules.reduction == reduction::min)
            return detail::run_extremum_vjp(index, at, rule, reduce_min, policy);
}

/// Writes or adds the gradients that are not omitted. The slices are those at `index`.
template <class Index, class T, class Store, class Policy>
void run_scatter_vjp(
    slice_index<Index> const& index, scatter_vjp_call<T, Store> const& at, ties rule, Policy const& policy)
{
    if (index.is_empty()) { // every update, if any, is dropped
        if (at.ct_data != nullptr)
            detail::store_values<Store>(at.ct, at.ct_data, at.slices * at.size, policy);
        if (at.ct_updates != nullptr && std::is_same_v<Store, kernel::write_gradient>)
            std::fill_n(at.ct_updates, at.count() * at.size, T{});
        return;
    }
    if constexpr (std::is_same_v<Store, kernel::write_gradient>)
        if (depends_on_values(at.rules.reduction))
            return detail::run_vjp_of_values(index, at, rule, policy);
    if (at.rules.reduction == reduction::none)
        detail::run_none_vjp(at, policy);
    else if (at.rules.reduction == reduction::add)
        detail::run_add_vjp(index, at, policy);
    else if (at.rules.reduction == reduction::mean)
        with_count_type(
            at.count(), [&]<class Count>(Count) { detail::run_mean_vjp<Count>(index, at, policy); });
}

} // namespace xloom::inline XLOOM_ABI::detail
