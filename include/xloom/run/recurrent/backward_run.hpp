#pragma once
// The engine of the recurrent operators' backward passes.
//
// Directions follow one another; each goes through its steps backwards, in blocks. The cotangents of a
// block's sums are computed row by row and step by step; then products over all its rows give those of X and
// of the weights. The rows of the first are shared out to the policy's threads, then the rows of X and the
// columns of the sums: so each number is computed by one thread, in an order that depends on the lengths
// alone.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <xloom/core/tuning.hpp>
#include <xloom/kernel/gradient_columns.hpp>
#include <xloom/kernel/multiply_transposed.hpp>
#include <xloom/run/recurrent/packed_weights.hpp>
#include <xloom/run/recurrent/residuals.hpp>

namespace xloom::detail {

/// The gradient of W or R in one direction: gates of H rows each. It is accumulated in place if the rows are
/// whole batches of the type that computes, else in the workspace.
template <class Item>
class weight_gradient {
    using T = compute_t<Item>;

public:
    weight_gradient() = default;
    weight_gradient(tensor_ref<Item> const& to, std::size_t d, std::size_t rows, std::size_t columns,
        kernel::arena<T>& memory)
        : rows_(rows), columns_(columns)
    {
        if (!to.is_given())
            return;
        is_given_ = true;
        first_ = to.data() + static_cast<std::ptrdiff_t>(d) * to.step(0);
        row_step_ = to.step(1);
        item_step_ = to.step(2);
        if constexpr (std::is_same_v<T, Item>)
            if (item_step_ == 1 && columns % kernel::batch_size<T> == 0 &&
                row_step_ >= static_cast<std::ptrdiff_t>(columns)) {
                sums_ = {first_, static_cast<std::size_t>(row_step_)};
                is_in_place_ = true;
                return;
            }
        std::size_t const step = kernel::row_step<T>(columns);
        sums_ = {memory.take(rows * step), step};
    }

    bool is_given() const { return is_given_; }
    kernel::rows_of<T> sums() const { return sums_; }

    /// Writes rows [begin, end) of the gradient, zeros if nothing was added.
    void finish(std::size_t begin, std::size_t end, bool is_zero) const
    {
        if (!is_given_ || (is_in_place_ && !is_zero))
            return;
        for (std::size_t row = begin; row < end; ++row) {
            kernel::strided_row<Item> const to{
                first_ + static_cast<std::ptrdiff_t>(row) * row_step_, item_step_};
            if (is_zero)
                zero_fill(to, 0, columns_);
            else
                kernel::copy_row<T, Item>({sums_.first + row * sums_.step}, columns_, to);
        }
    }

private:
    std::size_t rows_ = 0, columns_ = 0;
    Item* first_ = nullptr;
    std::ptrdiff_t row_step_ = 0, item_step_ = 0;
    kernel::rows_of<T> sums_{nullptr, 0};
    bool is_given_ = false, is_in_place_ = false;
};

/// The operands of a backward pass that all recurrent operators have.
template <class Item>
struct backward_operands {
    batch_sizes batch;
    recurrent_widths widths;
    xloom::direction direction;
    step_rows<Item const> X, ct_Y;
    state_rows<Item const> ct_Y_h, ct_Y_c;
    step_rows<Item> ct_X;
    tensor_ref<Item> ct_W, ct_R, ct_B, ct_P;
    state_rows<Item> ct_initial_h, ct_initial_c;
};

/// Runs a backward pass. Cell is the kernel of the rows, such as lstm_backward_rows.
template <class Item, class Cell>
struct backward_runner {
    using T = compute_t<Item>;
    using parameters = typename Cell::parameters;

    template <class Weights, class Residuals, class Policy>
    static void run(backward_operands<Item> const& operands, Weights const& weights,
        Residuals const& residuals, recurrent_workspace<Item>& workspace, Policy const& policy)
    {
        std::size_t const threads = std::max<std::size_t>(policy.concurrency(), 1),
                          useful = operands.batch.T * operands.batch.N *
                                   detail::parameters_of(weights, 0).products() / tuning::products_per_thread,
                          parts = (std::min)(threads, std::max<std::size_t>(useful, 1));
        kernel::arena<T> size;
        backward_runner const counting(
            operands, detail::parameters_of(weights, 0), residuals, parts, 0, size);
        grow(workspace.numbers_, size.used());
        for (std::size_t d = 0; d < operands.widths.D; ++d) {
            kernel::arena<T> memory(workspace.numbers_.data());
            backward_runner const runner(
                operands, detail::parameters_of(weights, d), residuals, parts, d, memory);
            runner.run_steps(residuals, policy);
        }
    }

private:
    /// The memory of a part: of the rows, then of the products.
    struct part_memory {
        Cell cell;
        T *row, *pack, *sums, *partial;

        part_memory(backward_runner const& runner, kernel::arena<T>& memory)
            : cell(runner.p_, (runner.o_.batch.N + runner.groups_ - 1) / runner.groups_, memory),
              row(memory.take(runner.longest_row())),
              pack(memory.take(kernel::pack_items<T>(runner.most_, runner.stride_))),
              sums(memory.take(tuning::rows_per_product * kernel::row_step<T>(runner.o_.widths.I))),
              partial(memory.take(runner.stride_))
        {}
    };

    /// A block of steps [begin, end), whose first row has the index `base` among those of all steps.
    struct block {
        std::size_t begin, end, base, rows;
        bool is_first; ///< the first block that is run, which is that of the last steps
    };

    /// The step and the sorted row of a row of a block; the rows are visited in ascending order.
    struct place {
        std::size_t t, row;

        place(backward_runner const& runner, block const& at) : t(at.begin), row(0), begins_(runner.begins_)
        {}
        void move_to(std::size_t position) noexcept
        {
            while (begins_[t + 1] <= position)
                ++t;
            row = position - begins_[t];
        }

    private:
        std::size_t const* begins_;
    };

    template <class Residuals>
    backward_runner(backward_operands<Item> const& operands, parameters const& p, Residuals const& residuals,
        std::size_t parts, std::size_t d, kernel::arena<T>& memory)
        : o_(operands),
          p_(p),
          d_(d),
          parts_(parts),
          groups_(std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(operands.batch.N, 1))),
          width_(p.gate_step),
          columns_(Cell::columns(p)),
          stride_(columns_.size() * p.gate_step),
          begins_(residuals.steps(d, 0, 1).begins),
          rows_(residuals.rows().data()),
          lengths_(residuals.lengths().data()),
          longest_(residuals.longest()),
          most_((std::max)(operands.batch.N, (std::min)(tuning::rows_per_gradient, begins_[longest_]))),
          ct_W_(operands.ct_W, d, Cell::gates * operands.widths.H, operands.widths.I, memory),
          ct_R_(operands.ct_R, d, Cell::gates * operands.widths.H, operands.widths.H, memory),
          ct_sums_{memory.take(most_ * kernel::row_step<T>(stride_)), kernel::row_step<T>(stride_)},
          x_(memory.take(kernel::panel_items<T>(most_, operands.widths.I))),
          bias_sums_(memory.take(stride_)),
          P_sums_(memory.take(stride_)),
          zeros_(memory.take(longest_row())),
          kept_(operands.widths.D == 2 && operands.ct_X.is_given()
                    ? memory.take(operands.batch.T * operands.batch.N * operands.widths.I)
                    : nullptr)
    {
        for (T*& hidden : hidden_)
            hidden = memory.take(kernel::panel_items<T>(most_, operands.widths.H));
        kernel::arena<T> size;
        part_memory const counting(*this, size);
        part_size_ = size.used();
        parts_memory_ = memory.take(parts_ * part_size_);
    }

    part_memory memory_of(std::size_t part) const
    {
        kernel::arena<T> memory(parts_memory_ + part * part_size_);
        return part_memory(*this, memory);
    }

    std::size_t longest_row() const { return (std::max)(kernel::whole_batches<T>(o_.widths.I), width_); }
    bool has_weights() const { return ct_W_.is_given() || ct_R_.is_given(); }

    template <class Residuals, class Policy>
    void run_steps(Residuals const& residuals, Policy const& policy) const
    {
        std::fill_n(bias_sums_, stride_, T(0));
        std::fill_n(P_sums_, stride_, T(0));
        std::fill_n(zeros_, longest_row(), T(0));
        policy.for_each(groups_, [&](std::size_t group) { start(group); });
        block at{longest_, longest_, 0, 0, true};
        for (; at.begin > 0; at.is_first = false) {
            at.end = at.begin--;
            while (at.begin > 0 && begins_[at.end] - begins_[at.begin - 1] <= most_)
                --at.begin;
            at.base = begins_[at.begin];
            at.rows = begins_[at.end] - at.base;
            policy.for_each(groups_, [&](std::size_t group) { run_rows(group, residuals, at); });
            policy.for_each(parts_, [&](std::size_t part) { run_products(part, residuals, at); });
        }
        policy.for_each(groups_, [&](std::size_t group) { finish(group); });
        policy.for_each(parts_, [&](std::size_t part) { finish_weights(part, at.is_first); });
    }

    /// Returns the time step at which a row of the batch is in step t.
    std::size_t time(std::size_t t, std::size_t sorted) const
    {
        bool const backwards = o_.direction == direction::reverse || d_ == 1;
        return backwards ? lengths_[sorted] - 1 - t : t;
    }
    /// Calls f(number in the group, number among the sorted rows) for each row of a group.
    template <class F>
    void for_each_row(std::size_t group, std::size_t most, F const& f) const
    {
        for (std::size_t i = group, r = 0; i < most; i += groups_, ++r)
            f(r, i);
    }

    /// Loads the cotangents of the final states.
    void start(std::size_t group) const
    {
        part_memory const memory = memory_of(group);
        memory.cell.start();
        for_each_row(group, o_.batch.N, [&](std::size_t r, std::size_t sorted) {
            load_state(o_.ct_Y_h, d_, rows_[sorted], o_.widths.H, memory.cell.ct_h(r));
            if constexpr (requires { memory.cell.ct_c(r); })
                load_state(o_.ct_Y_c, d_, rows_[sorted], o_.widths.H, memory.cell.ct_c(r));
        });
    }

    /// Computes the cotangents of the sums of a group's rows in a block of steps, and packs what the products
    /// of the weights multiply them with.
    template <class Residuals>
    void run_rows(std::size_t group, Residuals const& residuals, block const& at) const
    {
        part_memory const memory = memory_of(group);
        kernel::residual_rows<T const> const kept = residuals.steps(d_, group, groups_);
        kernel::rows_of<T const> const initial = residuals.initial(d_, group, groups_);
        auto const keep_hidden = [&](std::size_t t, std::size_t r, std::size_t which, T const* h) {
            if (ct_R_.is_given() && t < at.end && r < kept.active(t))
                kernel::put_panel_row<T>(
                    h, kept.position(t, r) - at.base, {hidden_[which], at.rows, o_.widths.H});
        };
        for (std::size_t t = at.end; t-- > at.begin;) {
            std::size_t const rows = kept.active(t);
            if (o_.ct_Y.is_given())
                for (std::size_t r = 0; r < rows; ++r) {
                    std::size_t const sorted = group + r * groups_;
                    auto const [first, step] = o_.ct_Y(time(t, sorted), d_, rows_[sorted]);
                    T* const ct_h = memory.cell.ct_h(r);
                    for (std::size_t j = 0; j < o_.widths.H; ++j)
                        ct_h[j] = ct_h[j] + static_cast<T>(first[static_cast<std::ptrdiff_t>(j) * step]);
                }
            T* const first = ct_sums_.first + (begins_[t] + group - at.base) * ct_sums_.step;
            memory.cell.step(rows, t, kept, initial, {first, groups_ * ct_sums_.step}, keep_hidden);
        }
        if (ct_R_.is_given())
            memory.cell.first_hidden(kept.active(at.begin), at.begin, kept, initial, keep_hidden);
        if (ct_W_.is_given())
            for (std::size_t t = at.begin; t < at.end; ++t)
                for (std::size_t r = 0; r < kept.active(t); ++r) {
                    std::size_t const sorted = group + r * groups_;
                    kernel::copy_row<Item, T>(
                        o_.X(time(t, sorted), 0, rows_[sorted]), o_.widths.I, {memory.row});
                    kernel::put_panel_row<T>(
                        memory.row, kept.position(t, r) - at.base, {x_, at.rows, o_.widths.I});
                }
    }

    /// Computes a part of the products of a block.
    template <class Residuals>
    void run_products(std::size_t part, Residuals const& residuals, block const& at) const
    {
        part_memory const memory = memory_of(part);
        if (o_.ct_X.is_given())
            multiply_W(
                memory, at, begin_of_part(part, parts_, at.rows), begin_of_part(part + 1, parts_, at.rows));
        std::size_t const batches = stride_ / kernel::batch_size<T>,
                          begin = begin_of_part(part, parts_, batches) * kernel::batch_size<T>,
                          end = begin_of_part(part + 1, parts_, batches) * kernel::batch_size<T>;
        if (has_weights())
            for (std::size_t i = 0; i < columns_.size(); ++i)
                add_to_weights(memory, at, i, std::clamp(begin, i * width_, i * width_ + o_.widths.H),
                    std::clamp(end, i * width_, i * width_ + o_.widths.H));
        if (o_.ct_B.is_given())
            kernel::add_rows(at.rows, begin, end, bias_sums_, memory.partial, [&](std::size_t k, T* partial) {
                T const* const row = ct_sums_.first + k * ct_sums_.step;
                for (std::size_t j = begin; j < end; ++j)
                    partial[j] = partial[j] + row[j];
            });
        if constexpr (Cell::has_peepholes)
            if (o_.ct_P.is_given())
                add_to_peepholes(memory, residuals, at, begin, (std::min)(end, 3 * width_));
    }

    /// Computes the cotangents of X in rows [begin, end) of a block.
    void multiply_W(part_memory const& memory, block const& at, std::size_t begin, std::size_t end) const
    {
        std::size_t const I = o_.widths.I, step = kernel::row_step<T>(I);
        place where(*this, at);
        for (std::size_t k = begin; k < end; k += tuning::rows_per_product) {
            std::size_t const rows = (std::min)(tuning::rows_per_product, end - k);
            kernel::rows_of<T const> const ct_sums{ct_sums_.first + k * ct_sums_.step, ct_sums_.step};
            kernel::multiply<T>(rows, ct_sums, p_.W, {zeros_, 0}, {memory.sums, step});
            for (std::size_t r = 0; r < rows; ++r) {
                where.move_to(at.base + k + r);
                store_ct_X(memory.sums + r * step, time(where.t, where.row), rows_[where.row]);
            }
        }
    }

    /// Stores a row; that of the first of two directions is kept until that of the second is added.
    void store_ct_X(T* row, std::size_t t, std::size_t n) const
    {
        std::size_t const I = o_.widths.I;
        T* const kept = kept_ == nullptr ? nullptr : kept_ + (t * o_.batch.N + n) * I;
        if (kept != nullptr && d_ == 0) {
            std::copy_n(row, I, kept);
            return;
        }
        for (std::size_t i = 0; kept != nullptr && i < I; ++i)
            row[i] = kept[i] + row[i];
        kernel::copy_row<T, Item>({row}, I, o_.ct_X(t, 0, n));
    }

    /// Adds the products of columns [begin, end) of the cotangents, which are of column i of the cell, to the
    /// gradients of W and R.
    void add_to_weights(
        part_memory const& memory, block const& at, std::size_t i, std::size_t begin, std::size_t end) const
    {
        std::size_t const H = o_.widths.H;
        kernel::gradient_column const column = columns_[i];
        auto const add = [&](weight_gradient<Item> const& to, std::size_t row, std::size_t count,
                             auto const& rows, kernel::panels<T> const& b) {
            auto const sums = to.sums().from(row);
            kernel::multiply<T>(count, rows, b,
                at.is_first ? kernel::rows_of<T const>{zeros_, 0}
                            : kernel::rows_of<T const>{sums.first, sums.step},
                sums);
        };
        kernel::for_each_pack(end - begin, {ct_sums_.first + begin, ct_sums_.step}, at.rows, memory.pack,
            [&](std::size_t first, std::size_t count, auto const& rows) {
                std::size_t const unit = begin - i * width_ + first;
                if (ct_W_.is_given() && column.W != kernel::no_gate)
                    add(ct_W_, column.W * H + unit, count, rows, {x_, at.rows, o_.widths.I});
                if (ct_R_.is_given() && column.R != kernel::no_gate)
                    add(ct_R_, column.R * H + unit, count, rows, {hidden_[column.hidden], at.rows, H});
            });
    }

    template <class Residuals>
    void add_to_peepholes(part_memory const& memory, Residuals const& residuals, block const& at,
        std::size_t begin, std::size_t end) const
    {
        kernel::residual_rows<T const> const kept = residuals.steps(d_, 0, 1);
        kernel::rows_of<T const> const initial = residuals.initial(d_, 0, 1);
        place where(*this, at);
        kernel::add_rows(
            at.rows, (std::min)(begin, end), end, P_sums_, memory.partial, [&](std::size_t k, T* partial) {
                where.move_to(at.base + k);
                T const* const row = ct_sums_.first + k * ct_sums_.step;
                for (std::size_t gate = 0; gate < 3; ++gate) {
                    T const* const c = Cell::peephole_input(p_, gate, where.t, where.row, kept, initial);
                    std::size_t const first = gate * width_;
                    for (std::size_t j = (std::max)(begin, first); j < (std::min)(end, first + width_); ++j)
                        partial[j] = kernel::multiply_add(row[j], c[j - first], partial[j]);
                }
            });
    }

    /// Stores the cotangents of the initial states, and zeros for the steps beyond a row's length.
    void finish(std::size_t group) const
    {
        part_memory const memory = memory_of(group);
        for_each_row(group, o_.batch.N, [&](std::size_t r, std::size_t sorted) {
            store_state(memory.cell.ct_h(r), o_.widths.H, o_.ct_initial_h, d_, rows_[sorted]);
            if constexpr (requires { memory.cell.ct_c(r); })
                store_state(memory.cell.ct_c(r), o_.widths.H, o_.ct_initial_c, d_, rows_[sorted]);
            if (d_ == 0)
                o_.ct_X.zero_fill(lengths_[sorted], o_.batch.T, 0, rows_[sorted], 0, o_.widths.I);
        });
    }

    void finish_weights(std::size_t part, bool is_zero) const
    {
        std::size_t const H = o_.widths.H, rows = Cell::gates * H, begin = begin_of_part(part, parts_, rows),
                          end = begin_of_part(part + 1, parts_, rows);
        ct_W_.finish(begin, end, is_zero);
        ct_R_.finish(begin, end, is_zero);
        if (part != 0)
            return;
        auto const store = [&](T const* from, tensor_ref<Item> const& to, std::size_t first) {
            Item* const row = to.data() + static_cast<std::ptrdiff_t>(d_) * to.step(0) +
                              static_cast<std::ptrdiff_t>(first) * to.step(1);
            kernel::copy_row<T, Item>({from}, H, {row, to.step(1)});
        };
        for (std::size_t i = 0; i < columns_.size() && o_.ct_B.is_given(); ++i) {
            if (columns_[i].W != kernel::no_gate)
                store(bias_sums_ + i * width_, o_.ct_B, columns_[i].W * H);
            if (columns_[i].R != kernel::no_gate)
                store(bias_sums_ + i * width_, o_.ct_B, (Cell::gates + columns_[i].R) * H);
        }
        for (std::size_t gate = 0; gate < 3 && o_.ct_P.is_given(); ++gate)
            store(P_sums_ + gate * width_, o_.ct_P, gate * H);
    }

    backward_operands<Item> const& o_;
    parameters const& p_;
    std::size_t d_, parts_, groups_; ///< groups_: of rows
    std::size_t width_;              ///< of a column of the cotangents
    std::span<kernel::gradient_column const> columns_;
    std::size_t stride_; ///< of all columns
    std::size_t const *begins_, *rows_, *lengths_;
    std::size_t longest_, most_; ///< most_: rows in a block
    weight_gradient<Item> ct_W_, ct_R_;
    kernel::rows_of<T> ct_sums_; ///< of the rows of a block
    T* x_;                       ///< the rows of X of a block, in panels
    T *bias_sums_, *P_sums_, *zeros_;
    T* kept_; ///< the cotangent of X in the first of two directions
    std::array<T*, Cell::hidden_inputs> hidden_{};
    std::size_t part_size_ = 0;
    T* parts_memory_ = nullptr;
};

} // namespace xloom::detail
