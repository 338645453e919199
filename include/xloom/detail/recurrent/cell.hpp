#pragma once
// The cells of the recurrent operators: one step of one direction, whose operands are contiguous rows of
// items.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/sequences.hpp>
#include <xloom/detail/recurrent/small_step.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the address of an operand's first item: a tensor's, or data().
template <class Range>
auto* first_item(Range& range)
{
    if constexpr (tensor<Range>)
        return enable_tensor<bare<Range>>::data(range);
    else
        return range.data();
}

/// A range of contiguous items: std::vector, std::span, a tensor.
template <class Range, class Item>
concept items_of =
    (tensor<Range> || requires(Range const& range) { range.size(); }) && requires(Range const& range) {
        {
            detail::first_item(range)
        } -> std::convertible_to<Item const*>;
    };

/// A mutable range of contiguous items, passed as a Range&&.
template <class Range, class Item>
concept mutable_items_of = items_of<Range, Item> && outlives_expression<Range> && requires(Range& range) {
    {
        detail::first_item(range)
    } -> std::convertible_to<Item*>;
};

/// An output of a step that is omitted.
template <class Item>
struct omitted_items {
    static constexpr std::size_t size() noexcept { return 0; }
    static constexpr Item* data() noexcept { return nullptr; }
};

template <class Range>
inline constexpr bool is_omitted = false;
template <class Item>
inline constexpr bool is_omitted<omitted_items<Item>> = true;

/// Requires that a cell can read an operand.
template <class Item, class Range>
struct cell_input {
    static consteval bool holds()
    {
        static_assert(items_of<Range, Item>, "the input of a cell must be a tensor, std::vector or "
                                             "std::span of the weights' element type, in memory");
        return items_of<Range, Item>;
    }
};

/// Requires that a cell can write an operand.
template <class Item, class Range>
struct cell_state {
    static consteval bool holds()
    {
        static_assert(mutable_items_of<Range, Item>,
            "a state or output of a cell must be a tensor, std::vector or std::span of the weights' "
            "element type, in memory that can be written");
        return mutable_items_of<Range, Item>;
    }
};

/// Requires a direction of the weights.
template <class Sizes>
void check_direction(std::string_view op, Sizes const& sizes, std::size_t d)
{
    if (d >= sizes.D)
        fail<option_error>(op, ": d must be less than D = ", sizes.D, ", but d is ", d,
            ". Choose one of the weights' directions.");
}

/// An operand of a step and the number of contiguous items that it must have.
struct sized_operand {
    std::string_view operand;
    std::string_view symbolic_shape;
    std::size_t expected;
    std::size_t actual;
    bool is_contiguous;
    std::size_t rank = 1;
};

template <class Range>
sized_operand sized(
    std::string_view operand, std::string_view symbolic_shape, std::size_t expected, Range const& range)
{
    if constexpr (is_omitted<Range>)
        return {operand, symbolic_shape, 0, 0, true};
    else if constexpr (!tensor<Range>)
        return {operand, symbolic_shape, expected, range.size(), true};
    else if (std::size_t const rank = detail::rank_of(range); rank > max_rank)
        return {operand, symbolic_shape, expected, 0, false, rank};
    else if constexpr (is_always_row_major<Range>)
        return {operand, symbolic_shape, expected, element_count(detail::shape_of(range)), true};
    else
        return {operand, symbolic_shape, expected, element_count(detail::shape_of(range)),
            is_row_major(detail::layout_of(range))};
}

template <std::size_t Count>
[[noreturn]] XLOOM_COLD void fail_step(std::string_view op, sized_operand const (&operands)[Count])
{
    for (sized_operand const& each : operands)
        check_rank(op, each.operand, each.rank);
    fact_list wrong;
    for (sized_operand const& each : operands)
        if (each.actual != each.expected)
            wrong.add(each.operand, " has ", each.actual, " items instead of ", each.symbolic_shape, " = ",
                each.expected);
    if (!wrong.empty())
        fail<shape_error>(op, ": the operands of a step must have the sizes that the cell was made for, but ",
            wrong, ". Resize it.");
    for (sized_operand const& each : operands)
        if (!each.is_contiguous)
            wrong.add(each.operand, " is not");
    fail<shape_error>(
        op, ": the operands of a step must be contiguous and row-major, but ", wrong, ". Copy it first.");
}

/// Requires the sizes of a step's operands.
///
/// Why inlined: a function would take the operands in memory; to write them took a tenth of a step of 40
/// units.
template <class... Operands>
XLOOM_ALWAYS_INLINE inline void check_step(std::string_view op, Operands const&... operands)
{
    if (!((operands.actual == operands.expected && operands.is_contiguous) && ...)) [[unlikely]]
        fail_step(op, {operands...});
}

/// The rows of a cell, and memory for the inputs of a step and their sums.
template <class T, class Rows>
struct cell_scratch {
    Rows rows;
    T* x;
    T* sums;

    cell_scratch(Rows const& cell, std::size_t N, kernel::arena<T>& memory)
        : rows(cell), x(memory.take(N, rows.W().depth)), sums(memory.take(N, rows.sums_stride()))
    {}
};

/// Performs a step of N rows: h [N, K], and c [N, H] of rows that have it, become the next states; h is also
/// written to y_t [N, K] if it is not null.
template <class T, class Rows, class Item>
void run_step(
    cell_scratch<T, Rows> const& scratch, std::size_t N, Item* h, Item* c, Item const* x_t, Item* y_t)
{
    constexpr bool has_c = requires { scratch.rows.c(0); };
    auto const& [rows, x, sums] = scratch;
    std::size_t const I = rows.W().depth, H = rows.H(), K = rows.K();
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<Item, T>({h + n * K}, K, {rows.h(n)});
        if constexpr (has_c)
            kernel::copy_row<Item, T>({c + n * H}, H, {rows.c(n)});
    }
    kernel::copy_row<Item, T>({x_t}, N * I, {x});
    kernel::multiply<T>(N, {x, I}, rows.W(), {rows.bias(), 0}, {sums, rows.sums_stride()});
    rows.step(N, N, 0, sums);
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<T, Item>({rows.h(n)}, K, {h + n * K});
        if constexpr (has_c)
            kernel::copy_row<T, Item>({rows.c(n)}, H, {c + n * H});
        if (y_t != nullptr)
            kernel::copy_row<T, Item>({rows.h(n)}, K, {y_t + n * K});
    }
}

/// The functions of a step of N rows of a kernel that is constructed from parameters.
template <class Item, class Rows, class Parameters>
struct cell_functions {
    using item = Item;
    using T = compute_t<Item>;

    std::size_t (*size)(Parameters const&, std::size_t N); ///< of the memory that `step` takes
    void (*step)(Parameters const&, std::size_t N, T* memory, Item* h, Item* c, Item const* x_t, Item* y_t);

    static constexpr cell_functions compiled() noexcept { return {&size_of, &step_in}; }

private:
    static cell_scratch<T, Rows> take_memory(Parameters const& p, std::size_t N, kernel::arena<T>& memory)
    {
        Rows const rows(p, N, memory);
        return {rows, N, memory};
    }
    static std::size_t size_of(Parameters const& p, std::size_t N)
    {
        kernel::arena<T> size;
        take_memory(p, N, size);
        return size.used();
    }
    static void step_in(
        Parameters const& p, std::size_t N, T* numbers, Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        kernel::arena<T> memory(numbers);
        detail::run_step<T, Rows, Item>(take_memory(p, N, memory), N, h, c, x_t, y_t);
    }
};

/// One step of one direction of a Family, such as gru_family, for N rows.
template <class Family, class Item>
class recurrent_cell {
    using T = compute_t<Item>;
    using weights_type = recurrent_weights<Family, Item>;
    using parameters = typename Family::template parameters<T>;

public:
    /// Constructs a cell for N rows with the weights of direction d. An N that cannot be counted in bytes is
    /// a shape_error, a d that is no direction of the weights an option_error.
    explicit recurrent_cell(weights_type weights, std::size_t N = 1, std::size_t d = 0)
        : weights_(std::move(weights)), N_(N), d_(d)
    {
        check_direction(Family::cell_name, weights_.sizes(), d);
        check_rows(Family::cell_name, weights_.sizes(), N);
        grow(scratch_, std::max<std::size_t>(functions().size(detail::parameters_of(weights_, d_), N_), 1));
        if constexpr (std::is_same_v<T, Item>)
            small_step_ = detail::small_step_of(weights_, d_);
    }

    recurrent_cell(recurrent_cell const&) = default;
    recurrent_cell(recurrent_cell&&) = default;
    recurrent_cell& operator=(recurrent_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    recurrent_cell& operator=(recurrent_cell const& other) { return *this = recurrent_cell(other); }

    /// Updates h to the next state.
    template <class Hidden, class Element>
        requires(!Family::has_c)
    void operator()(Hidden&& h, Element const& x_t)
    {
        omitted_items<Item> y_t;
        (*this)(std::forward<Hidden>(h), x_t, y_t);
    }

    /// Updates h to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Element, class Output>
        requires(!Family::has_c)
    void operator()(Hidden&& h, Element const& x_t, Output&& y_t)
    {
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_input<Item, Element>,
                          cell_state<Item, Output>>()) {
            check_step(Family::cell_name, sized_h("h", h), sized_x(x_t), sized_h("y_t", y_t));
            step(detail::first_item(h), nullptr, detail::first_item(x_t), detail::first_item(y_t));
        }
    }

    /// Updates h and c to the next state.
    template <class Hidden, class Cell, class Element>
        requires(Family::has_c)
    void operator()(Hidden&& h, Cell&& c, Element const& x_t)
    {
        omitted_items<Item> y_t;
        (*this)(std::forward<Hidden>(h), std::forward<Cell>(c), x_t, y_t);
    }

    /// Updates h and c to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Element, class Output>
        requires(Family::has_c)
    void operator()(Hidden&& h, Cell&& c, Element const& x_t, Output&& y_t)
    {
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_state<Item, Cell>, cell_input<Item, Element>,
                          cell_state<Item, Output>>()) {
            check_step(Family::cell_name, sized_h("h", h),
                detail::sized("c", "N H", N_ * weights_.sizes().H, c), sized_x(x_t), sized_h("y_t", y_t));
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t),
                detail::first_item(y_t));
        }
    }

private:
    constexpr auto functions() const noexcept
    {
        using rows = typename Family::template rows<T>;
        return weights_.level().template functions<cell_functions<Item, rows, parameters>>();
    }

    template <class State>
    sized_operand sized_h(std::string_view name, State const& state) const
    {
        recurrent_widths const& sizes = weights_.sizes();
        return detail::sized(name, sizes.projects ? "N K" : "N H", N_ * sizes.K, state);
    }
    template <class Element>
    sized_operand sized_x(Element const& x_t) const
    {
        return detail::sized("x_t", "N I", N_ * weights_.sizes().I, x_t);
    }

    void step(Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        if (N_ == 0)
            return;
        subnormal_mode<raised_flags::dropped> const flushing(flush_bits);
        if constexpr (std::is_same_v<T, Item>)
            if (small_step_ != nullptr && N_ == 1)
                return small_step_(detail::parameters_of(weights_, d_), h, c, x_t, y_t);
        functions().step(detail::parameters_of(weights_, d_), N_, scratch_.data(), h, c, x_t, y_t);
    }

    weights_type weights_;
    movable_value<std::size_t> N_; ///< 0 for a moved-from cell, which has no memory
    std::size_t d_;
    aligned_vector<T> scratch_;
    kernel::small_step<parameters> small_step_ = nullptr; ///< for N = 1; null: the general one
};

} // namespace xloom::inline XLOOM_ABI::detail
