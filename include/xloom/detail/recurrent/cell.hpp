#pragma once
// The cells of the recurrent operators: one step of one direction.

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/detail/recurrent/cell_step.hpp>
#include <xloom/detail/recurrent/forward.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_input<Item, Element>>()) {
            check_step(Family::cell_name, {sized_state("h", h), sized_x(x_t)});
            step(detail::first_item(h), nullptr, detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Element, class Output>
        requires(!Family::has_c)
    void operator()(Hidden&& h, Element const& x_t, Output&& y_t)
    {
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_input<Item, Element>,
                          cell_state<Item, Output>>()) {
            check_step(Family::cell_name, {sized_state("h", h), sized_x(x_t), sized_state("y_t", y_t)});
            step(detail::first_item(h), nullptr, detail::first_item(x_t), detail::first_item(y_t));
        }
    }

    /// Updates h and c to the next state.
    template <class Hidden, class Cell, class Element>
        requires(Family::has_c)
    void operator()(Hidden&& h, Cell&& c, Element const& x_t)
    {
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_state<Item, Cell>,
                          cell_input<Item, Element>>()) {
            check_step(Family::cell_name, {sized_state("h", h), sized_state("c", c), sized_x(x_t)});
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h and c to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Element, class Output>
        requires(Family::has_c)
    void operator()(Hidden&& h, Cell&& c, Element const& x_t, Output&& y_t)
    {
        if constexpr (satisfied<cell_state<Item, Hidden>, cell_state<Item, Cell>, cell_input<Item, Element>,
                          cell_state<Item, Output>>()) {
            check_step(Family::cell_name,
                {sized_state("h", h), sized_state("c", c), sized_x(x_t), sized_state("y_t", y_t)});
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
    sized_operand sized_state(std::string_view name, State const& state) const
    {
        return detail::sized(name, "N H", N_ * weights_.sizes().H, state);
    }
    template <class Element>
    sized_operand sized_x(Element const& x_t) const
    {
        return detail::sized("x_t", "N I", N_ * weights_.sizes().I, x_t);
    }

    void step(Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        flush_subnormals const flushing;
        if constexpr (std::is_same_v<T, Item>)
            if (small_step_ != nullptr && N_ == 1)
                return small_step_(detail::parameters_of(weights_, d_), h, c, x_t, y_t);
        functions().step(detail::parameters_of(weights_, d_), N_, scratch_.data(), h, c, x_t, y_t);
    }

    weights_type weights_;
    row_count N_;
    std::size_t d_;
    aligned_vector<T> scratch_;
    kernel::small_step<parameters> small_step_ = nullptr; ///< for N = 1; null: the general one
};

} // namespace xloom::inline XLOOM_ABI::detail
