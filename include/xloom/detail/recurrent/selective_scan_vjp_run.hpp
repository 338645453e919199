#pragma once
// The run of a selective scan's vector-Jacobian product: groups of channels of each sequence, divided among
// threads, and then the sums over the groups.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/selective_scan_vjp.hpp>
#include <xloom/detail/recurrent/selective_scan_run.hpp>
#include <xloom/detail/recurrent/units.hpp>

namespace xloom::inline XLOOM_ABI {

template <class Item>
struct selective_scan_gradients;

namespace detail {

/// The backward pass of all sequences and groups of channels. A unit is a group of one sequence.
template <class Item>
class selective_vjp_run {
    using T = compute_t<Item>;
    using channels = kernel::selective_channels<Item>;

    static constexpr std::size_t group_width = tuning::channels_per_gradient;
    static_assert(group_width % channels::width == 0);

public:
    selective_vjp_run(selective_call<Item> const& call, selective_scan_outputs<Item const> const& cotangents,
        selective_scan_gradients<Item> const& gradients)
        : call_(call),
          sizes_(call.sizes),
          cotangents_(cotangents),
          gradients_(gradients),
          groups_(ceil_div(sizes_.K, group_width))
    {}

    void operator()(recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        kernel::arena<T> sums_size, scratch_size;
        take_sums(sums_size);
        take_scratch(call_.sequence(0), 0, 0, scratch_size); // counts only
        sums_items_ = sums_size.used();
        std::size_t const count = sizes_.N * groups_;
        unit_run<Item> const units(
            {count, call_.elements(), scratch_size.used(), saturating_mul(count, sums_items_)}, workspace,
            policy);
        sums_ = units.shared();
        units.for_each([&](std::size_t unit, kernel::arena<T> const& memory) {
            run_group(unit / groups_, unit % groups_, memory);
        });
        flush_subnormals const flushing;
        add_groups();
        add_sequences();
    }

private:
    kernel::selective_sums<T> take_sums(kernel::arena<T>& memory) const
    {
        return {sizes_.T, sizes_.S, (std::min)(group_width, sizes_.K), memory};
    }
    kernel::selective_sums<T> sums_of(std::size_t n, std::size_t group) const
    {
        kernel::arena<T> memory(sums_ + (n * groups_ + group) * sums_items_);
        return take_sums(memory);
    }

    auto take_scratch(kernel::selective_inputs<Item> const& in, std::size_t first, std::size_t count,
        kernel::arena<T>& memory) const
    {
        channels const block(in, first, count, memory);
        return std::pair(block, kernel::selective_record<T>(sizes_.T, sizes_.S, memory));
    }

    void run_group(std::size_t n, std::size_t group, kernel::arena<T> const& scratch) const
    {
        auto const rows = [&](auto const& from) { return rows_of_sequence(from, sizes_, n); };
        kernel::selective_inputs<Item> const in = call_.sequence(n);
        kernel::selective_cotangents<Item> const of{rows(call_.in.initial_state), rows(cotangents_.y),
            rows(cotangents_.final_state), rows(gradients_.u), rows(gradients_.delta), rows(gradients_.z),
            rows(gradients_.initial_state)};
        kernel::selective_sums<T> const sums = sums_of(n, group);
        std::fill_n(sums.ct_B, sizes_.T * sizes_.S, T(0));
        std::fill_n(sums.ct_C, sizes_.T * sizes_.S, T(0));
        std::size_t const begin = group * group_width, end = (std::min)(begin + group_width, sizes_.K);
        for (std::size_t first = begin; first < end; first += channels::width) {
            std::size_t const count = (std::min)(channels::width, end - first);
            kernel::arena<T> memory = scratch;
            auto const [block, record] = take_scratch(in, first, count, memory);
            kernel::selective_backward<Item>(block, count, of, record)(sums, first - begin);
        }
    }

    static kernel::item_rows<T const> sum_rows(T const* first, std::size_t length)
    {
        return {first, static_cast<std::ptrdiff_t>(length), 1};
    }

    static void add(T const* from, T* to, std::size_t count)
    {
        std::transform(from, from + count, to, to, [](T const& x, T const& sum) { return sum + x; });
    }

    /// Adds to ct_B and ct_C: of each sequence the sums over its groups in order.
    void add_groups() const
    {
        std::size_t const steps = sizes_.T, S = sizes_.S;
        for (std::size_t n = 0; n < sizes_.N && groups_ != 0; ++n) {
            auto const ct_B = rows_of_sequence<Item>(gradients_.B, sizes_, n);
            auto const ct_C = rows_of_sequence<Item>(gradients_.C, sizes_, n);
            kernel::selective_sums<T> const total = sums_of(n, 0);
            for (std::size_t group = 1; group < groups_; ++group) {
                add(sums_of(n, group).ct_B, total.ct_B, steps * S);
                add(sums_of(n, group).ct_C, total.ct_C, steps * S);
            }
            kernel::add_matrix(sum_rows(total.ct_B, S), ct_B, steps, S);
            kernel::add_matrix(sum_rows(total.ct_C, S), ct_C, steps, S);
        }
    }

    /// Adds to ct_A, ct_D and ct_delta_bias: of each group the sums over the sequences in order.
    void add_sequences() const
    {
        auto const ct_A = matrix_rows<Item>(gradients_.A).transposed();
        auto const ct_D = vector_row<Item>(gradients_.D),
                   ct_delta_bias = vector_row<Item>(gradients_.delta_bias);
        for (std::size_t group = 0; group < groups_ && sizes_.N != 0; ++group) {
            std::size_t const first = group * group_width, count = (std::min)(group_width, sizes_.K - first);
            kernel::selective_sums<T> const total = sums_of(0, group);
            for (std::size_t n = 1; n < sizes_.N; ++n) {
                kernel::selective_sums<T> const own = sums_of(n, group);
                add(own.ct_A, total.ct_A, sizes_.S * own.channels);
                add(own.ct_D, total.ct_D, count);
                add(own.ct_delta_bias, total.ct_delta_bias, count);
            }
            kernel::add_matrix(
                sum_rows(total.ct_A, total.channels), ct_A.from_column(first), sizes_.S, count);
            kernel::add_matrix(sum_rows(total.ct_D, 0), ct_D.from_column(first), 1, count);
            kernel::add_matrix(sum_rows(total.ct_delta_bias, 0), ct_delta_bias.from_column(first), 1, count);
        }
    }

    selective_call<Item> const& call_;
    selective_sizes const& sizes_;
    selective_scan_outputs<Item const> const& cotangents_;
    selective_scan_gradients<Item> const& gradients_;
    std::size_t groups_, sums_items_ = 0;
    T* sums_ = nullptr;
};

/// The function that runs the vector-Jacobian product.
template <class Item>
struct selective_vjp_functions {
    using item = Item;

    void (*run)(selective_call<Item> const&, selective_scan_outputs<Item const> const&,
        selective_scan_gradients<Item> const&, recurrent_workspace<Item>&, policy_ref const&);

    static constexpr selective_vjp_functions compiled() noexcept { return {&run_backward}; }

private:
    static void run_backward(selective_call<Item> const& call,
        selective_scan_outputs<Item const> const& cotangents, selective_scan_gradients<Item> const& gradients,
        recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        selective_vjp_run<Item>(call, cotangents, gradients)(workspace, policy);
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
