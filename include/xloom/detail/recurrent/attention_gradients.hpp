#pragma once
// The cotangents of what the rows of an AttnLSTM attend to: the memory, its keys, and V.
//
// Each row adds to its own, step by step. At the end of a direction, the cotangents of the keys become those
// of MW and of the memory, and those of V are added up row by row: in an order that depends on the lengths
// alone.

#include <algorithm>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/kernel/attn_lstm_backward.hpp>
#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/recurrent/attn_lstm_residuals.hpp>
#include <xloom/detail/recurrent/backward_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The operands of AttnLSTM's backward pass beyond those of backward_operands.
template <class Item>
struct attention_cotangents : state_cotangents<Item> {
    batch_sizes batch;
    xloom::direction direction;
    std::size_t D, E, A, C, S;
    tensor_ref<Item const> M;
    step_rows<Item const> ct_alignments;
    state_rows<Item const> ct_Y_attention, ct_Y_alignment;
    tensor_ref<Item> ct_M, ct_MW, ct_V;
    state_rows<Item> ct_initial_attention, ct_initial_alignment;
};

/// The cotangents of memory, keys and V in one direction.
template <class Item>
class attention_gradients {
public:
    using T = compute_t<Item>;
    using parameters = kernel::attn_lstm_backward_parameters<T>;
    using residuals_type = attn_lstm_residuals_of<Item>;

    attention_gradients(attention_cotangents<Item> const& o, parameters const& p,
        residuals_type const& residuals, std::size_t parts, std::size_t d, kernel::arena<T>& memory)
        : o_(o), p_(p), residuals_(residuals), parts_(parts), d_(d)
    {
        if (!p.attends)
            return;
        std::size_t const N = o.batch.N, rows = N * o.S;
        values_ = memory.take(N, saturating_mul(o.E, kernel::whole_batches<T>(o.S)));
        ct_V_ = memory.take(N + 1, key_stride());
        if (o.ct_M.is_given())
            ct_memory_ = memory.take(rows, value_stride());
        if (o.ct_M.is_given() || o.ct_MW.is_given())
            ct_keys_ = memory.take(rows, key_stride());
        ct_MW_ = weight_gradient<Item>({o.ct_MW, 0, o.A}, d, memory);
        if (o.ct_MW.is_given())
            scratch_ = memory.take(parts, scratch_size());
    }

    /// Prepares the memory of row n, and sets the cotangents that it adds to to zeros; those of the memory
    /// continue from the first of two directions.
    void start(std::size_t n) const
    {
        std::size_t const length = residuals_.memory_length(n);
        kernel::pack_panels<T, Item>(
            {item_at(o_.M, n), o_.M.stride(2), o_.M.stride(1)}, o_.E, length, {values(n), o_.E, length});
        std::fill_n(ct_V(n), key_stride(), T(0));
        if (ct_memory_ != nullptr && d_ == 0)
            std::fill_n(ct_memory(n).first, o_.S * value_stride(), T(0));
        if (ct_keys_ != nullptr)
            std::fill_n(ct_keys(n).first, o_.S * key_stride(), T(0));
    }

    /// Returns what a row attends to, the `sorted`-th by length.
    kernel::attending_backward_row<T, Item> row(std::size_t sorted) const
    {
        std::size_t const n = residuals_.rows()[sorted], length = residuals_.lengths()[sorted];
        bool const backwards = o_.direction == direction::reverse || d_ == 1;
        kernel::attending_backward_row<T, Item> row{residuals_.keys(d_, n),
            {values(n), o_.E, residuals_.memory_length(n)}, {}, 0, {}, length - 1, ct_keys(n), ct_memory(n),
            ct_V(n)};
        if (o_.ct_alignments.is_given()) {
            row.alignments = o_.ct_alignments(backwards ? length - 1 : 0, d_, n);
            row.alignments_stride = backwards ? -o_.ct_alignments.stride() : o_.ct_alignments.stride();
        }
        if (o_.ct_Y_alignment.is_given())
            row.last_alignment = o_.ct_Y_alignment(d_, n);
        return row;
    }

    /// Adds to the cotangents of a row's initial alignment, which is an output of a row of length 0, and is
    /// else not read.
    void finish(std::size_t n, bool has_steps) const
    {
        if (o_.ct_initial_alignment.is_given() && !has_steps && o_.ct_Y_alignment.is_given())
            add_row<Item, Item>(
                o_.ct_Y_alignment(d_, n), residuals_.memory_length(n), o_.ct_initial_alignment(d_, n));
    }

    /// Computes the cotangents of MW, of M and of V from those of all rows.
    template <class Policy>
    void finish_all(Policy const& policy) const
    {
        if (!p_.attends)
            return;
        policy.for_each(parts_, [&](std::size_t part) {
            if (o_.ct_MW.is_given())
                finish_MW(part);
            if (o_.ct_M.is_given())
                for (auto [n, end] = range_of_part(part, parts_, o_.batch.N); n < end; ++n)
                    finish_memory(n);
        });
        if (o_.ct_V.is_given())
            finish_V();
    }

private:
    std::size_t key_stride() const { return kernel::whole_batches<T>(o_.A); }
    std::size_t value_stride() const { return kernel::whole_batches<T>(o_.E); }
    std::size_t scratch_size() const
    {
        return saturating_mul(tuning::rows_per_gradient,
            key_stride() + value_stride() + kernel::pack_items<T>(1, value_stride()));
    }
    T* values(std::size_t n) const { return values_ + n * kernel::panel_items<T>(o_.E, o_.S); }
    T* ct_V(std::size_t n) const { return ct_V_ + n * key_stride(); }
    kernel::row_span<T> ct_keys(std::size_t n) const
    {
        return {ct_keys_ == nullptr ? nullptr : ct_keys_ + n * o_.S * key_stride(), key_stride()};
    }
    kernel::row_span<T> ct_memory(std::size_t n) const
    {
        return {ct_memory_ == nullptr ? nullptr : ct_memory_ + n * o_.S * value_stride(), value_stride()};
    }

    /// Adds the cotangents of row n's keys to those of its memory, and these to ct_M after the last
    /// direction.
    void finish_memory(std::size_t n) const
    {
        std::size_t const length = residuals_.memory_length(n);
        kernel::row_span<T> const keys = ct_keys(n), memory = ct_memory(n);
        kernel::multiply<T>(length, keys, p_.MW, memory, memory);
        if (d_ + 1 != o_.D)
            return;
        for (std::size_t m = 0; m < length; ++m)
            add_row<T, Item>({memory.from(m).first}, o_.E, {item_at(o_.ct_M, n, m), o_.ct_M.stride(2)});
    }

    /// Computes a part of the rows of the gradient of MW, in blocks of rows of all memories.
    void finish_MW(std::size_t part) const
    {
        part_range const rows_of_MW = range_of_part(part, parts_, o_.E);
        std::size_t const begin = rows_of_MW.begin, end = rows_of_MW.end;
        kernel::arena<T> memory(scratch_ + part * scratch_size());
        T* const keys = memory.take(kernel::panel_items<T>(tuning::rows_per_gradient, o_.A));
        kernel::row_span<T> const items{
            memory.take(tuning::rows_per_gradient * value_stride()), value_stride()};
        T* const pack = memory.take(kernel::pack_items<T>(tuning::rows_per_gradient, value_stride()));
        std::size_t left = 0;
        for (std::size_t n = 0; n < o_.batch.N; ++n)
            left += residuals_.memory_length(n);
        ct_MW_.start(rows_of_MW);
        for (std::size_t n = 0, m = 0; left != 0;) {
            std::size_t const rows = (std::min)(left, tuning::rows_per_gradient);
            left -= rows;
            for (std::size_t k = 0; k < rows; ++k, ++m) {
                for (; m == residuals_.memory_length(n); ++n)
                    m = 0;
                kernel::copy_row<Item, T>(
                    {item_at(o_.M, n, m, begin), o_.M.stride(2)}, end - begin, {items.from(k).first});
                kernel::put_panel_row<T>(ct_keys(n).from(m).first, k, {keys, rows, o_.A});
            }
            kernel::for_each_pack<T>(end - begin, items, rows, pack,
                [&](std::size_t first, std::size_t count, auto const& packed) {
                    kernel::row_span<T> const sums = ct_MW_.sums().from(begin + first);
                    kernel::multiply<T>(count, packed, kernel::panels<T>{keys, rows, o_.A}, sums, sums);
                });
        }
        ct_MW_.finish(rows_of_MW);
    }

    void finish_V() const
    {
        T* const sum = ct_V(o_.batch.N);
        std::fill_n(sum, key_stride(), T(0));
        for (std::size_t n = 0; n < o_.batch.N; ++n)
            for (std::size_t a = 0; a < o_.A; ++a)
                sum[a] = sum[a] + ct_V(n)[a];
        add_row<T, Item>({sum}, o_.A, {item_at(o_.ct_V, d_), o_.ct_V.stride(1)});
    }

    attention_cotangents<Item> const& o_;
    parameters const& p_;
    residuals_type const& residuals_;
    std::size_t parts_, d_;
    T *values_ = nullptr, *ct_V_ = nullptr, *ct_memory_ = nullptr, *ct_keys_ = nullptr, *scratch_ = nullptr;
    weight_gradient<Item> ct_MW_{};
};

/// The rows of a group: row r is every `groups`-th from the first.
template <class Item>
struct attending_rows {
    attention_gradients<Item> const* all;
    std::size_t group, groups;

    auto operator()(std::size_t r) const { return all->row(group + r * groups); }
};

/// The states of the rows of one direction of an AttnLSTM's backward pass.
template <class Item>
class attn_lstm_backward_states
    : public backward_states<Item, kernel::attn_lstm_backward_rows<compute_t<Item>, attending_rows<Item>>> {
    using T = compute_t<Item>;
    using Cell = kernel::attn_lstm_backward_rows<T, attending_rows<Item>>;
    using base = backward_states<Item, Cell>;

public:
    using operands = attention_cotangents<Item>;

    attn_lstm_backward_states(operands const& o, typename Cell::parameters const& p,
        attn_lstm_residuals_of<Item> const& residuals, std::size_t parts, std::size_t d,
        kernel::arena<T>& memory)
        : base(o, p, residuals, parts, d, memory),
          o_(o),
          p_(p),
          d_(d),
          attention_(o, p, residuals, parts, d, memory)
    {}

    Cell cell(std::size_t group, std::size_t groups, std::size_t rows, kernel::arena<T>& memory) const
    {
        return Cell(p_, rows, o_.S, {&attention_, group, groups}, memory);
    }
    void start(Cell const& cell, std::size_t r, std::size_t n) const
    {
        base::start(cell, r, n);
        if (!p_.attends)
            return;
        load_state(o_.ct_Y_attention, d_, n, p_.C, cell.ct_attention(r));
        attention_.start(n);
    }
    void finish(Cell const& cell, std::size_t r, std::size_t n, bool has_steps) const
    {
        base::finish(cell, r, n, has_steps);
        if (!p_.attends)
            return;
        add_state(cell.ct_attention(r), p_.C, o_.ct_initial_attention, d_, n);
        attention_.finish(n, has_steps);
    }
    template <class Policy>
    void finish_all(Policy const& policy) const
    {
        attention_.finish_all(policy);
    }

private:
    operands const& o_;
    typename Cell::parameters const& p_;
    std::size_t d_;
    attention_gradients<Item> attention_;
};

} // namespace xloom::inline XLOOM_ABI::detail
