#pragma once
// The engine of the recurrent operators: the rows of a batch, sorted by length and partitioned into
// independent parts.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <xloom/detail/check/recurrent.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/team.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/cell.hpp>
#include <xloom/detail/kernel/sequences.hpp>
#include <xloom/detail/recurrent/workspace.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Sets elements `begin` .. `end` - 1 of a row to 0.
template <class Item>
void zero_fill(kernel::strided_row<Item> const& row, std::size_t begin, std::size_t end)
{
    for (std::size_t i = begin; i < end; ++i)
        row.first[static_cast<std::ptrdiff_t>(i) * row.stride] = Item(0);
}

/// A state or output that has a row of items for each direction and batch row, in layout 0 or 1: [D, N, ..]
/// or [N, D, ..].
template <class Item>
class state_rows {
public:
    state_rows() = default;
    state_rows(tensor_ref<Item> const& from, std::int64_t layout)
    {
        if (from.is_given()) {
            data_ = from.data();
            d_ = from.stride(layout == 0 ? 0 : 1);
            n_ = from.stride(layout == 0 ? 1 : 0);
            item_ = from.stride(2);
        }
    }

    bool is_given() const { return data_ != nullptr; }
    kernel::strided_row<Item> operator()(std::size_t d, std::size_t n) const
    {
        return {data_ + static_cast<std::ptrdiff_t>(d) * d_ + static_cast<std::ptrdiff_t>(n) * n_, item_};
    }
    /// Returns the rows of the directions from d on.
    state_rows from_direction(std::size_t d) const
    {
        state_rows rows = *this;
        if (is_given())
            rows.data_ = (*this)(d, 0).first;
        return rows;
    }
    /// Sets elements `begin` .. `end` - 1 of a row to 0.
    void zero_fill(std::size_t d, std::size_t n, std::size_t begin, std::size_t end) const
    {
        if (is_given())
            detail::zero_fill((*this)(d, n), begin, end);
    }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t d_ = 0, n_ = 0, item_ = 0;
};

/// An operand that has a row of items for each time step, direction and batch row, in layout 0 or 1: [T, D,
/// N, ..] or [N, T, D, ..]; without directions, [T, N, ..] or [N, T, ..].
template <class Item>
class step_rows {
public:
    step_rows() = default;
    step_rows(tensor_ref<Item> const& from, std::int64_t layout)
    {
        if (!from.is_given())
            return;
        data_ = from.data();
        bool const has_directions = from.shape().size() == 4;
        t_ = from.stride(layout == 0 ? 0 : 1);
        n_ = from.stride(layout != 0 ? 0 : has_directions ? 2 : 1);
        d_ = has_directions ? from.stride(layout == 0 ? 1 : 2) : 0;
        item_ = from.stride(from.shape().size() - 1);
    }

    bool is_given() const { return data_ != nullptr; }
    std::ptrdiff_t stride() const { return t_; }
    kernel::strided_row<Item> operator()(std::size_t t, std::size_t d, std::size_t n) const
    {
        return {data_ + static_cast<std::ptrdiff_t>(t) * t_ + static_cast<std::ptrdiff_t>(d) * d_ +
                    static_cast<std::ptrdiff_t>(n) * n_,
            item_};
    }
    /// Sets elements `begin` .. `end` - 1 of a row to 0, in time steps `first` .. `last` - 1.
    void zero_fill(std::size_t first, std::size_t last, std::size_t d, std::size_t n, std::size_t begin,
        std::size_t end) const
    {
        if (is_given())
            for (std::size_t t = first; t < last; ++t)
                detail::zero_fill((*this)(t, d, n), begin, end);
    }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t t_ = 0, d_ = 0, n_ = 0, item_ = 0;
};

/// The operands of a call along time: X, Y, and the length of each row.
template <class Item>
struct batch_operands {
    batch_sizes sizes;
    recurrent_widths widths;
    xloom::direction direction;
    step_rows<Item const> X;
    step_rows<Item> Y;
    lengths_ref const& lengths; ///< not given: all are T
    bool pads_Y = true;         ///< Y is 0 from the end of a row on; false: nothing reads it there

    std::size_t length(std::size_t n) const
    {
        return lengths.is_given() ? static_cast<std::size_t>(lengths[n]) : sizes.T;
    }

    /// Returns the time step at which direction d of a row begins, and true if time runs backwards from
    /// there.
    std::pair<std::size_t, bool> first_step(std::size_t d, std::size_t n) const
    {
        std::size_t const length = this->length(n);
        bool const backwards = direction == direction::reverse || d == 1;
        return {backwards && length != 0 ? length - 1 : 0, backwards};
    }

    /// Sets Y to 0 after the last step of a row.
    void pad(std::size_t d, std::size_t n, std::size_t length) const
    {
        if (pads_Y)
            Y.zero_fill(length, sizes.T, d, n, 0, widths.K);
    }

    kernel::sequence<Item> sequence(std::size_t d, std::size_t n) const
    {
        auto const [first, backwards] = first_step(d, n);
        kernel::sequence<Item> result{
            n, length(n), X(first, 0, n), backwards ? -X.stride() : X.stride(), {}, 0};
        if (Y.is_given()) {
            result.y = Y(first, d, n);
            result.y_stride = backwards ? -Y.stride() : Y.stride();
        }
        return result;
    }
};

/// Returns the multiply-adds of a batch from those of a step of a row; if there are more, the largest
/// std::size_t.
inline std::size_t products_of(batch_sizes const& batch, std::size_t products_of_step) noexcept
{
    return saturating_mul(saturating_mul(batch.T, batch.N), products_of_step);
}

/// Returns the number of groups into which the rows of each direction are partitioned.
template <class Policy>
std::size_t row_groups(Policy const& policy, recurrent_widths const& widths, batch_sizes const& batch,
    std::size_t products_of_step)
{
    std::size_t const products = detail::products_of(batch, saturating_mul(widths.D, products_of_step)),
                      parts = detail::parts_for(policy, products, tuning::products_per_thread);
    return std::clamp<std::size_t>(ceil_div(parts, widths.D), 1, std::max<std::size_t>(batch.N, 1));
}

/// Sorts the rows of a batch by descending length, so that the active rows are always the first ones.
template <class Length>
void sort_by_length(std::vector<std::size_t>& rows, std::size_t N, Length const& length_of)
{
    rows.resize(N);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
        std::size_t const length_a = length_of(a), length_b = length_of(b);
        return length_a != length_b ? length_a > length_b : a < b;
    });
}

/// A part of the work: the sequences of one direction, of every `groups`-th sorted row.
template <class Item>
struct batch_part {
    std::size_t d;
    std::size_t number; ///< the index of its first sequence
    kernel::sequence<Item> const* first;
    std::size_t count;
    std::size_t group; ///< the index of its first row among the sorted rows
    kernel::layer_ref layer{};

    std::size_t longest() const { return count == 0 ? 0 : first->length; }
};

/// The functions that run a part, from its initial to its final states. Family provides make_rows(part,
/// memory), start(part, rows) and finish(part, rows).
template <class Item, class Family>
struct part_functions {
    using item = Item;
    using T = compute_t<Item>;
    using part = batch_part<Item>;

    std::size_t (*size)(Family const&, part const&); ///< of the memory that `run` takes
    void (*run)(Family const&, part const&, T* memory, kernel::multiplier const&);

    static constexpr part_functions compiled() noexcept { return {&size_of, &run_in}; }

private:
    static auto take_memory(Family const& family, part const& at, kernel::arena<T>& memory)
    {
        auto rows = family.make_rows(at, memory);
        kernel::step_buffers<T> const buffers(rows, at.count, at.longest(), memory, at.layer.most_steps);
        return std::pair(std::move(rows), buffers);
    }
    static std::size_t size_of(Family const& family, part const& at)
    {
        kernel::arena<T> size;
        take_memory(family, at, size);
        return size.used();
    }
    static void run_in(Family const& family, part const& at, T* numbers, kernel::multiplier const& multiply)
    {
        kernel::arena<T> memory(numbers);
        auto [rows, buffers] = take_memory(family, at, memory);
        rows.multiply_by(multiply);
        family.start(at, rows);
        kernel::run_sequences<T>(rows, at.first, at.count, buffers, at.layer);
        family.finish(at, rows);
    }
};

template <class Item>
struct recurrent_runner {
    using part = batch_part<Item>;

    batch_operands<Item> operands;
    std::size_t groups; ///< of rows, in each direction
    recurrent_workspace<Item>& workspace;
    kernel::layer_ref layer{};

    /// Runs all parts.
    template <class Family, class Policy>
    void operator()(Family const& family, Policy const& policy)
    {
        reserve(family);
        flush_subnormals const flushing;
        std::size_t const parts = operands.widths.D * groups;
        policy_ref const threads(policy);
        if (parts == 1)
            return run_shared(family, threads);
        threads.for_each(parts, [&](std::size_t p) { run(family, part_at(p), kernel::multiplier()); });
    }

    /// Makes the workspace large enough for smaller batches too, which may be partitioned into fewer groups.
    template <class Family>
    void reserve_all(Family const& family) const
    {
        for (recurrent_runner each = *this; each.groups != 0; --each.groups)
            each.reserve(family);
    }

    /// Makes the workspace large enough for this batch.
    template <class Family>
    void reserve(Family const& family)
    {
        sort_rows();
        std::size_t const parts = operands.widths.D * groups;
        workspace.begins_.clear();
        kernel::arena<compute_t<Item>> size;
        for (std::size_t p = 0; p < parts; ++p) {
            workspace.begins_.push_back(size.used());
            size.take(functions_of(family).size(family, part_at(p)));
        }
        grow(workspace.numbers_, size.used());
    }

private:
    /// Runs the only part, whose products the threads of a policy share: in a team, if they share those of
    /// each step.
    template <class Family>
    void run_shared(Family const& family, policy_ref const& threads) const
    {
        using kernel::multiplier;
        auto const run_with = [&](multiplier const& multiply) { run(family, part_at(0), multiply); };
        std::size_t const members =
            multiplier(threads, tuning::products_per_share)
                .shares(operands.sizes.N, parameters_of(family.weights, 0).of_every_step());
        if (members == 1)
            return run_with(multiplier(threads, tuning::products_per_join));
        run_in_team(threads, members,
            [&](policy_ref const& team) { run_with(multiplier(team, tuning::products_per_share)); });
    }

    void sort_rows()
    {
        auto& order = workspace.order_;
        sort_by_length(order, operands.sizes.N, [this](std::size_t n) { return operands.length(n); });
        workspace.sequences_.clear();
        for (std::size_t d = 0; d < operands.widths.D; ++d)
            for (std::size_t group = 0; group < groups; ++group)
                for (std::size_t i = group; i < order.size(); i += groups)
                    workspace.sequences_.push_back(operands.sequence(d, order[i]));
    }

    part part_at(std::size_t number) const
    {
        std::size_t const N = operands.sizes.N, d = number / groups, group = number % groups;
        auto const [begin, end] = range_of_part(group, groups, N);
        return {d, d * N + begin, workspace.sequences_.data() + d * N + begin, end - begin, group, layer};
    }

    template <class Family>
    static constexpr auto functions_of(Family const& family) noexcept
    {
        return family.weights.level().template functions<part_functions<Item, Family>>();
    }

    template <class Family>
    void run(Family const& family, part const& at, kernel::multiplier const& multiply) const
    {
        functions_of(family).run(
            family, at, workspace.numbers_.data() + workspace.begins_[at.d * groups + at.group], multiply);
        for (std::size_t r = 0; r < at.count; ++r)
            operands.pad(at.d, at.first[r].row, at.first[r].length);
    }
};

/// Loads a row of a state, zeros if the state is omitted.
template <class Item, class T>
void load_state(state_rows<Item const> const& from, std::size_t d, std::size_t n, std::size_t count, T* to)
{
    if (from.is_given())
        kernel::copy_row<Item, T>(from(d, n), count, {to});
    else
        std::fill_n(to, count, T(0));
}

template <class Item, class T>
void store_state(T const* from, std::size_t count, state_rows<Item> const& to, std::size_t d, std::size_t n)
{
    if (to.is_given())
        kernel::copy_row<T, Item>({from}, count, to(d, n));
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
