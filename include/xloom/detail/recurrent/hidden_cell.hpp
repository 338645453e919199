#pragma once
// The cells of the operators with one state, GRU and RNN.

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/detail/recurrent/cell_operands.hpp>
#include <xloom/detail/recurrent/cell_step.hpp>
#include <xloom/detail/recurrent/packed_weights.hpp>
#include <xloom/detail/recurrent/small_steps.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// One step of one direction for N rows. Rows is the kernel; Name::text is the name in errors.
template <class Item, class Weights, class Rows, class Name>
class hidden_cell {
    using T = compute_t<Item>;

public:
    explicit hidden_cell(Weights weights, std::size_t N, std::size_t d)
        : weights_(std::move(weights)), N_(N), d_(d)
    {
        check_direction(Name::text, weights_.sizes(), d);
        check_rows(Name::text, weights_.sizes(), N);
        grow(numbers_, std::max<std::size_t>(functions().size(detail::parameters_of(weights_, d_), N_), 1));
        if constexpr (std::is_same_v<T, Item>)
            small_step_ = detail::small_step_of(weights_, d_);
    }

    hidden_cell(hidden_cell const&) = default;
    hidden_cell(hidden_cell&&) = default;
    hidden_cell& operator=(hidden_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    hidden_cell& operator=(hidden_cell const& other) { return *this = hidden_cell(other); }

    /// Updates h to the next state.
    template <class Hidden, class Element>
    void operator()(Hidden&& h, Element const& x_t)
    {
        if constexpr (is_cell_h<Item, Hidden>() && is_cell_x_t<Item, Element>()) {
            auto const& [D, I, H] = weights_.sizes();
            check_step(
                Name::text, {detail::sized("h", "N H", N_ * H, h), detail::sized("x_t", "N I", N_ * I, x_t)});
            step(detail::first_item(h), detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Element, class Output>
    void operator()(Hidden&& h, Element const& x_t, Output&& y_t)
    {
        if constexpr (is_cell_h<Item, Hidden>() && is_cell_x_t<Item, Element>() &&
                      is_cell_y_t<Item, Output>()) {
            auto const& [D, I, H] = weights_.sizes();
            check_step(
                Name::text, {detail::sized("h", "N H", N_ * H, h), detail::sized("x_t", "N I", N_ * I, x_t),
                                detail::sized("y_t", "N H", N_ * H, y_t)});
            step(detail::first_item(h), detail::first_item(x_t), detail::first_item(y_t));
        }
    }

private:
    constexpr auto functions() const noexcept
    {
        return weights_.level().template functions<cell_functions<Item, Rows, typename Rows::parameters>>();
    }

    void step(Item* h, Item const* x_t, Item* y_t)
    {
        if constexpr (std::is_same_v<T, Item>)
            if (small_step_ != nullptr && N_ == 1)
                return small_step_(detail::parameters_of(weights_, d_), h, nullptr, x_t, y_t);
        functions().step(detail::parameters_of(weights_, d_), N_, numbers_.data(), h, nullptr, x_t, y_t);
    }

    Weights weights_;
    row_count N_;
    std::size_t d_;
    aligned_vector<T> numbers_;
    kernel::small_step<typename Rows::parameters> small_step_ = nullptr; ///< for N = 1; null: the general one
};

} // namespace xloom::inline XLOOM_ABI::detail
