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

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>
#include <xloom/detail/recurrent/residuals.hpp>
#include <xloom/detail/recurrent/weight_gradient.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The operands of a backward pass that all recurrent operators have, except those of states. `weights` are
/// the gradients of W, of R, and of what else the cell has.
template <class Item, std::size_t Gradients = 2>
struct backward_operands {
    batch_sizes batch;
    recurrent_widths widths;
    xloom::direction direction;
    step_rows<Item const> X, ct_Y;
    step_rows<Item> ct_X;
    tensor_ref<Item> ct_B, ct_P;
    std::array<weight_columns<Item>, Gradients> weights;
};

/// The cotangents of the states of all rows: those of h, and of c if the cell has it.
template <class Item>
struct state_cotangents {
    state_rows<Item const> ct_Y_h, ct_Y_c;
    state_rows<Item> ct_initial_h, ct_initial_c;
};

/// Adds a row to the cotangent of a state, unless it is omitted.
template <class Item, class T>
void add_state(T const* from, std::size_t count, state_rows<Item> const& to, std::size_t d, std::size_t n)
{
    if (to.is_given())
        add_row<T, Item>({from}, count, to(d, n));
}

/// The states of the rows of one direction. Cell is their kernel, such as lstm_backward_rows.
template <class Item, class Cell>
class backward_states {
public:
    using T = compute_t<Item>;
    using cell_type = Cell;
    using operands = state_cotangents<Item>;
    using parameters = typename Cell::parameters;

    template <class Residuals>
    backward_states(operands const& states, parameters const& p, Residuals const&, std::size_t, std::size_t d,
        kernel::arena<T>&)
        : o_(states), p_(p), d_(d)
    {}

    /// Returns `rows` rows of a group; an arena without memory only adds up the size.
    Cell cell(std::size_t, std::size_t, std::size_t rows, kernel::arena<T>& memory) const
    {
        return Cell(p_, rows, memory);
    }
    /// Loads the cotangents of the final states of row n, which is row r of the cell.
    void start(Cell const& cell, std::size_t r, std::size_t n) const
    {
        load_state(o_.ct_Y_h, d_, n, p_.K(), cell.ct_h(r));
        if constexpr (requires { cell.ct_c(r); })
            load_state(o_.ct_Y_c, d_, n, p_.H, cell.ct_c(r));
    }
    /// Adds to the cotangents of its initial states.
    void finish(Cell const& cell, std::size_t r, std::size_t n, bool) const
    {
        add_state(cell.ct_h(r), p_.K(), o_.ct_initial_h, d_, n);
        if constexpr (requires { cell.ct_c(r); })
            add_state(cell.ct_c(r), p_.H, o_.ct_initial_c, d_, n);
    }
    /// Completes the direction.
    template <class Policy>
    void finish_all(Policy const&) const
    {}

private:
    operands const& o_;
    parameters const& p_;
    std::size_t d_;
};

/// Runs a backward pass. States are backward_states, or a class with the same members.
template <class Item, class States>
struct backward_runner {
    using T = compute_t<Item>;
    using Cell = typename States::cell_type;
    using parameters = typename Cell::parameters;
    using operands = backward_operands<Item, Cell::gradients>;

    template <class Weights, class Residuals>
    static void run(operands const& o, typename States::operands const& states, Weights const& weights,
        Residuals const& residuals, recurrent_workspace<Item>& workspace, policy_ref const& policy)
    {
        std::size_t const products =
            detail::products_of(o.batch, detail::backward_parameters_of(weights, 0).products());
        std::size_t const parts = detail::parts_for(policy, products, tuning::products_per_thread);
        kernel::arena<T> size;
        backward_runner const counting(
            o, states, detail::backward_parameters_of(weights, 0), residuals, parts, 0, size);
        grow(workspace.numbers_, size.used());
        for (std::size_t d = 0; d < o.widths.D; ++d) {
            kernel::arena<T> memory(workspace.numbers_.data());
            backward_runner const runner(
                o, states, detail::backward_parameters_of(weights, d), residuals, parts, d, memory);
            flush_subnormals const flushing;
            runner.run_steps(residuals, policy);
        }
    }

private:
    /// The memory of a part: of the rows, then of the products.
    struct part_memory {
        Cell cell;
        T *row, *pack, *sums, *partial;

        part_memory(backward_runner const& runner, std::size_t group, kernel::arena<T>& memory)
            : cell(runner.states_.cell(
                  group, runner.groups_, ceil_div(runner.o_.batch.N, runner.groups_), memory)),
              row(memory.take(runner.longest_row())),
              pack(memory.take(runner.most_, kernel::pack_items<T>(1, runner.stride_))),
              sums(memory.take(tuning::rows_per_product, kernel::row_stride<T>(runner.o_.widths.I))),
              partial(memory.take(runner.stride_))
        {}
    };

    /// A block of steps [begin, end), whose first row has the index `base` among those of all steps.
    struct block {
        std::size_t begin, end, base, rows;
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
    backward_runner(operands const& o, typename States::operands const& states, parameters const& p,
        Residuals const& residuals, std::size_t parts, std::size_t d, kernel::arena<T>& memory)
        : o_(o),
          p_(p),
          d_(d),
          parts_(parts),
          groups_(std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(o.batch.N, 1))),
          columns_(Cell::columns(p)),
          stride_(Cell::row_size(p)),
          begins_(residuals.steps(d, 0, 1).begins),
          rows_(residuals.rows().data()),
          lengths_(residuals.lengths().data()),
          longest_(residuals.longest()),
          most_((std::max)(o.batch.N, (std::min)(tuning::rows_per_gradient, begins_[longest_]))),
          states_(states, p, residuals, parts, d, memory),
          left_{memory.take(most_, kernel::row_stride<T>(stride_)), kernel::row_stride<T>(stride_)},
          bias_sums_(memory.take(Cell::sums_size(p))),
          P_sums_(memory.take(Cell::sums_size(p))),
          zeros_(memory.take(longest_row())),
          kept_(keeps_ct_X && o.widths.D == 2 && o.ct_X.is_given()
                    ? memory.take(o.batch.T * o.batch.N, o.widths.I)
                    : nullptr)
    {
        for (std::size_t i = 0; i < Cell::gradients; ++i)
            gradients_[i] = weight_gradient<Item>(o.weights[i], d, memory);
        for (auto const& column : columns_)
            for (auto const& product : column.products)
                factors_[product.factor].is_needed |= gradients_[product.gradient].is_given();
        for (std::size_t i = 0; i < Cell::factors; ++i) {
            factors_[i].width = Cell::factor_widths(p)[i];
            factors_[i].items = memory.take(most_, kernel::whole_batches<T>(factors_[i].width));
        }
        kernel::arena<T> size;
        part_memory const counting(*this, 0, size);
        part_size_ = size.used();
        parts_memory_ = memory.take(parts_, part_size_);
    }

    part_memory memory_of(std::size_t part) const
    {
        kernel::arena<T> memory(parts_memory_ + part * part_size_);
        return part_memory(*this, part, memory);
    }

    std::size_t longest_row() const
    {
        std::size_t longest = 0;
        for (std::size_t const width : Cell::factor_widths(p_))
            longest = (std::max)(longest, kernel::whole_batches<T>(width));
        return longest;
    }

    template <class Residuals, class Policy>
    void run_steps(Residuals const& residuals, Policy const& policy) const
    {
        std::fill_n(bias_sums_, Cell::sums_size(p_), T(0));
        std::fill_n(P_sums_, Cell::sums_size(p_), T(0));
        std::fill_n(zeros_, longest_row(), T(0));
        policy.for_each(groups_, [&](std::size_t group) { start(group); });
        policy.for_each(parts_, [&](std::size_t part) { start_weights(part); });
        for (block at{longest_, longest_, 0, 0}; at.begin > 0;) {
            at.end = at.begin--;
            while (at.begin > 0 && begins_[at.end] - begins_[at.begin - 1] <= most_)
                --at.begin;
            at.base = begins_[at.begin];
            at.rows = begins_[at.end] - at.base;
            policy.for_each(groups_, [&](std::size_t group) { run_rows(group, residuals, at); });
            policy.for_each(parts_, [&](std::size_t part) { run_products(part, residuals, at); });
        }
        policy.for_each(groups_, [&](std::size_t group) { finish(group); });
        policy.for_each(parts_, [&](std::size_t part) { finish_weights(part); });
        states_.finish_all(policy);
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
        for_each_row(group, o_.batch.N,
            [&](std::size_t r, std::size_t sorted) { states_.start(memory.cell, r, rows_[sorted]); });
    }

    /// Computes the left factors of a group's rows in a block of steps, and packs their right factors.
    template <class Residuals>
    void run_rows(std::size_t group, Residuals const& residuals, block const& at) const
    {
        part_memory const memory = memory_of(group);
        kernel::residual_rows<T const> const kept = residuals.steps(d_, group, groups_);
        kernel::row_span<T const> const initial = residuals.initial(d_, group, groups_);
        auto const keep = [&](std::size_t t, std::size_t r, std::size_t factor, T const* row) {
            if (factors_[factor].is_needed && t < at.end && r < kept.active(t))
                kernel::put_panel_row<T>(row, kept.position(t, r) - at.base,
                    {factors_[factor].items, at.rows, factors_[factor].width});
        };
        for (std::size_t t = at.end; t-- > at.begin;) {
            std::size_t const rows = kept.active(t);
            if (o_.ct_Y.is_given())
                for (std::size_t r = 0; r < rows; ++r) {
                    std::size_t const sorted = group + r * groups_;
                    auto const [first, step] = o_.ct_Y(time(t, sorted), d_, rows_[sorted]);
                    T* const ct_h = memory.cell.ct_h(r);
                    for (std::size_t j = 0; j < o_.widths.K; ++j)
                        ct_h[j] = ct_h[j] + static_cast<T>(first[static_cast<std::ptrdiff_t>(j) * step]);
                }
            T* const first = left_.first + (begins_[t] + group - at.base) * left_.stride;
            memory.cell.step(rows, t, kept, initial, {first, groups_ * left_.stride}, keep);
        }
        if (factors_[kernel::factor_h].is_needed)
            memory.cell.keep_first(kept.active(at.begin), at.begin, kept, initial, keep);
        if (factors_[kernel::factor_x].is_needed)
            for (std::size_t t = at.begin; t < at.end; ++t)
                for (std::size_t r = 0; r < kept.active(t); ++r) {
                    std::size_t const sorted = group + r * groups_;
                    kernel::copy_row<Item, T>(
                        o_.X(time(t, sorted), 0, rows_[sorted]), o_.widths.I, {memory.row});
                    keep(t, r, kernel::factor_x, memory.row);
                }
    }

    /// Computes a part of the products of a block.
    template <class Residuals>
    void run_products(std::size_t part, Residuals const& residuals, block const& at) const
    {
        part_memory const memory = memory_of(part);
        if (o_.ct_X.is_given())
            multiply_W(memory, at, range_of_part(part, parts_, at.rows));
        std::size_t const batches = stride_ / kernel::batch_size<T>,
                          begin = begin_of_part(part, parts_, batches) * kernel::batch_size<T>,
                          end = begin_of_part(part + 1, parts_, batches) * kernel::batch_size<T>;
        for (kernel::gradient_column const& column : columns_)
            add_to_weights(memory, at, column, std::clamp(begin, column.first, column.first + column.units),
                std::clamp(end, column.first, column.first + column.units));
        std::size_t const end_of_sums = (std::min)(end, Cell::sums_size(p_));
        if (o_.ct_B.is_given() && begin < end_of_sums)
            kernel::add_rows(
                at.rows, begin, end_of_sums, bias_sums_, memory.partial, [&](std::size_t k, T* partial) {
                    T const* const row = left_.first + k * left_.stride;
                    for (std::size_t j = begin; j < end_of_sums; ++j)
                        partial[j] = partial[j] + row[j];
                });
        if constexpr (Cell::has_peepholes)
            if (o_.ct_P.is_given())
                add_to_peepholes(memory, residuals, at, begin, (std::min)(end, 3 * p_.gate_stride));
    }

    /// Computes the cotangents of X in rows [begin, end) of a block.
    void multiply_W(part_memory const& memory, block const& at, part_range const& rows_of_block) const
    {
        auto const [begin, end] = rows_of_block;
        std::size_t const I = o_.widths.I, step = kernel::row_stride<T>(I);
        place where(*this, at);
        for (std::size_t k = begin; k < end; k += tuning::rows_per_product) {
            std::size_t const rows = (std::min)(tuning::rows_per_product, end - k);
            kernel::multiply<T>(rows, left_.from(k), p_.W, {zeros_, 0}, {memory.sums, step});
            for (std::size_t r = 0; r < rows; ++r) {
                where.move_to(at.base + k + r);
                add_to_X(memory.sums + r * step, time(where.t, where.row), rows_[where.row]);
            }
        }
    }

    /// Adds a row to the cotangent of X; that of the first of two directions is kept for the second if a sum
    /// would be rounded between them.
    void add_to_X(T* row, std::size_t t, std::size_t n) const
    {
        std::size_t const I = o_.widths.I;
        T* const kept = kept_ == nullptr ? nullptr : kept_ + (t * o_.batch.N + n) * I;
        if (kept != nullptr && d_ == 0) {
            std::copy_n(row, I, kept);
            return;
        }
        for (std::size_t i = 0; kept != nullptr && i < I; ++i)
            row[i] = kept[i] + row[i];
        add_row<T, Item>({row}, I, o_.ct_X(t, 0, n));
    }

    /// Adds the products of columns [begin, end) of the left factors, a part of `column`, to their gradients.
    void add_to_weights(part_memory const& memory, block const& at, kernel::gradient_column const& column,
        std::size_t begin, std::size_t end) const
    {
        kernel::for_each_pack(end - begin, {left_.first + begin, left_.stride}, at.rows, memory.pack,
            [&](std::size_t first, std::size_t count, auto const& rows) {
                for (kernel::gradient_product const& product : column.products)
                    if (weight_gradient<Item> const& gradient = gradients_[product.gradient];
                        gradient.is_given()) {
                        auto const& [items, width, is_needed] = factors_[product.factor];
                        kernel::row_span<T> const sums =
                            gradient.sums().from(product.first_row + begin - column.first + first);
                        kernel::multiply<T>(
                            count, rows, kernel::panels<T>{items, at.rows, width}, sums, sums);
                    }
            });
    }

    template <class Residuals>
    void add_to_peepholes(part_memory const& memory, Residuals const& residuals, block const& at,
        std::size_t begin, std::size_t end) const
    {
        kernel::residual_rows<T const> const kept = residuals.steps(d_, 0, 1);
        kernel::row_span<T const> const initial = residuals.initial(d_, 0, 1);
        place where(*this, at);
        kernel::add_rows(
            at.rows, (std::min)(begin, end), end, P_sums_, memory.partial, [&](std::size_t k, T* partial) {
                where.move_to(at.base + k);
                T const* const row = left_.first + k * left_.stride;
                for (std::size_t gate = 0; gate < 3; ++gate) {
                    T const* const c = Cell::peephole_input(p_, gate, where.t, where.row, kept, initial);
                    std::size_t const first = gate * p_.gate_stride, last = first + p_.gate_stride;
                    for (std::size_t j = (std::max)(begin, first); j < (std::min)(end, last); ++j)
                        partial[j] = kernel::multiply_add(row[j], c[j - first], partial[j]);
                }
            });
    }

    /// Adds to the cotangents of the initial states.
    void finish(std::size_t group) const
    {
        part_memory const memory = memory_of(group);
        for_each_row(group, o_.batch.N, [&](std::size_t r, std::size_t sorted) {
            states_.finish(memory.cell, r, rows_[sorted], lengths_[sorted] != 0);
        });
    }

    void start_weights(std::size_t part) const
    {
        for (weight_gradient<Item> const& gradient : gradients_)
            gradient.start(range_of_part(part, parts_, gradient.rows()));
    }
    void finish_weights(std::size_t part) const
    {
        for (weight_gradient<Item> const& gradient : gradients_)
            gradient.finish(range_of_part(part, parts_, gradient.rows()));
        if (part != 0)
            return;
        std::size_t const H = o_.widths.H;
        auto const add = [&](T const* from, tensor_ref<Item> const& to, std::size_t first) {
            add_row<T, Item>({from}, H, {item_at(to, d_, first), to.stride(1)});
        };
        if (o_.ct_B.is_given())
            for (kernel::gradient_column const& column : columns_)
                for (auto const& [gradient, first_row, factor] : column.products) {
                    if (gradient == kernel::gradient_of_W && factor == kernel::factor_x)
                        add(bias_sums_ + column.first, o_.ct_B, first_row);
                    if (gradient == kernel::gradient_of_R)
                        add(bias_sums_ + column.first, o_.ct_B, Cell::gates * H + first_row);
                }
        for (std::size_t gate = 0; gate < 3 && o_.ct_P.is_given(); ++gate)
            add(P_sums_ + gate * p_.gate_stride, o_.ct_P, gate * H);
    }

    /// The right factors of the rows of a block, in panels.
    struct right_factor {
        T* items = nullptr;
        std::size_t width = 0;
        bool is_needed = false;
    };

    static constexpr bool keeps_ct_X = !std::is_same_v<T, Item>;

    operands const& o_;
    parameters const& p_;
    std::size_t d_, parts_, groups_; ///< groups_: of rows
    kernel::gradient_columns columns_;
    std::size_t stride_; ///< of all columns
    std::size_t const *begins_, *rows_, *lengths_;
    std::size_t longest_, most_; ///< most_: rows in a block
    States states_;
    kernel::row_span<T> left_; ///< the left factors of the rows of a block
    T *bias_sums_, *P_sums_, *zeros_;
    T* kept_; ///< the cotangent of X in the first of two directions, of storage floats
    std::array<weight_gradient<Item>, Cell::gradients> gradients_{};
    std::array<right_factor, Cell::factors> factors_{};
    std::size_t part_size_ = 0;
    T* parts_memory_ = nullptr;
};

/// The function that runs a backward pass.
template <class Item, class States, class Weights, class Residuals>
struct backward_functions {
    using item = Item;
    using runner = backward_runner<Item, States>;

    void (*run)(typename runner::operands const&, typename States::operands const&, Weights const&,
        Residuals const&, recurrent_workspace<Item>&, policy_ref const&);

    static constexpr backward_functions compiled() noexcept
    {
        return {&runner::template run<Weights, Residuals>};
    }
};

/// Runs a backward pass by the functions of the level of its weights.
template <class States, class Item, class Weights, class Residuals, class Policy>
void run_backward(typename backward_runner<Item, States>::operands const& o,
    typename States::operands const& states, Weights const& weights, Residuals const& residuals,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    using functions = backward_functions<Item, States, Weights, Residuals>;
    weights.level().template functions<functions>().run(
        o, states, weights, residuals, workspace, policy_ref(policy));
}

} // namespace xloom::inline XLOOM_ABI::detail
