#pragma once
// The rows of a ragged operand: segments of consecutive elements along axis 0.

#include <cstddef>
#include <tuple>

#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/rows.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires the segments of ragged operands.
template <class Splits>
struct holds_row_splits {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_row_splits<Splits>;
        static_assert(is_valid, "row_splits must be a tensor of integers, [S + 1], behind the scan inputs; "
                                "wrap a std::vector by xt::adapt");
        return is_valid;
    }
};

template <class Leaves>
class ragged_cursors;

/// The segments that row_splits tell, each a row. An output holds the elements of all, one after the other.
class ragged_rows {
public:
    template <class Leaves>
    using cursors = ragged_cursors<Leaves>;
    template <class Y>
    using stacked_t = detail::stacked_t<Y, dynamic_length>;

    static constexpr bool has_tails = false;

    /// Errors    shape_error, index_error
    template <class Splits>
    ragged_rows(std::string_view op, Splits const& splits, std::size_t elements)
        : splits_(op, splits, elements), elements_(elements)
    {}

    std::size_t size() const { return splits_.size(); }
    std::size_t elements() const { return elements_; }
    std::size_t begin(std::size_t s) const { return splits_.begin(s); }
    std::size_t length(std::size_t s) const { return splits_.length(s); }
    std::size_t begin_of_part(std::size_t part, std::size_t parts) const
    {
        return splits_.begin_of_part(part, parts);
    }

    shape stacked_shape(std::string_view op, std::size_t k, shape const& element, std::size_t bytes) const
    {
        return detail::stacked_shape(op, k, element, elements_, bytes, {});
    }

    /// Returns the elements of segment s of an operand.
    kernel::time_axis elements_of_row(strided_layout const& layout, std::size_t s) const
    {
        return kernel::time_axis(layout, 0, elements_, false).from(begin(s));
    }

    template <class Y>
    void clear_tail(Y&, std::size_t) const
    {}

private:
    row_split_list splits_;
    std::size_t elements_;
};

/// Cursors over the elements of consecutive segments.
template <class... Xs>
class ragged_cursors<std::tuple<Xs...>> {
    using set = cursor_set<std::tuple<Xs...>, true>;

public:
    using input_arguments = typename set::input_arguments;
    using output_arguments = typename set::output_arguments;

    template <class Places>
    ragged_cursors(ragged_rows const& rows, std::tuple<Xs...> const& operands, Places const& places,
        std::size_t first, std::size_t last, write_back when = write_back::each_element)
        : cursors_(set::start(operands, places, {rows.begin(first), rows.begin(last), rows.elements()}, when))
    {}

    /// Makes the element of iteration t of segment s the next one. Requires that it follows the element
    /// before: segments from the first to the last, and each element once, but for the first t.
    void enter_row(std::size_t, std::size_t t = 0)
    {
        for (; t != 0; --t)
            detail::for_each_leaf(cursors_, [](auto, auto& cursor) {
                cursor.enter();
                cursor.leave();
            });
    }

    auto& get() { return cursors_; }

private:
    typename set::cursors cursors_;
};

} // namespace xloom::inline XLOOM_ABI::detail
