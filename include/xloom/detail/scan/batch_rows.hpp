#pragma once
// The rows of a batch: axis 0 of every operand is the rows, axis 1 of inputs and outputs their elements.

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <xloom/detail/check/lengths.hpp>
#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/scan/rows.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for the type of sequence_lens: a tensor of integers of rank 1, or std::nullopt.
template <class X>
inline constexpr bool is_sequence_lens = std::is_same_v<X, std::nullopt_t>;
template <tensor X>
inline constexpr bool is_sequence_lens<X> =
    counting_integer<item_t<X>> && (enable_tensor<X>::rank == 1 || enable_tensor<X>::rank == dynamic_rank);

/// Requires the lengths of the rows of a batch.
template <class Lens>
struct holds_sequence_lens {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_sequence_lens<Lens>;
        static_assert(is_valid, "sequence_lens is a tensor of integers of rank 1, or std::nullopt; it comes "
                                "after the scan inputs, before outputs and options");
        return is_valid;
    }
};

template <class Leaves>
class batch_cursors;

/// The rows of a batch of N scans with T elements each, of which every row uses its own number. An output
/// holds [N, T, element...], with zeros past the end of a shorter row.
class batch_rows {
public:
    template <class Leaves>
    using cursors = batch_cursors<Leaves>;
    template <class Y>
    using stacked_t = detail::stacked_t<detail::stacked_t<Y, dynamic_length>, dynamic_length>;

    static constexpr bool has_tails = true;

    /// Errors    shape_error, index_error
    template <class Lens>
    batch_rows(std::string_view op, Lens const& sequence_lens, batch_extent extent)
        : given_(refer(sequence_lens)), extent_(extent)
    {
        check_rank(op, "sequence_lens", given_.rank());
        check_lengths(op, "sequence_lens", given_, extent.batch, "T", extent.length);
    }

    /// The sequence_lens of the call.
    lengths_ref const& given() const { return given_; }
    /// Returns T.
    std::size_t longest() const { return extent_.length; }
    std::size_t size() const { return extent_.batch; }
    std::size_t length(std::size_t b) const
    {
        return given_.is_given() ? static_cast<std::size_t>(given_[b]) : extent_.length;
    }

    /// Returns the first row of part `part` of `parts`, which have about the same number of iterations.
    std::size_t begin_of_part(std::size_t part, std::size_t parts) const
    {
        if (!given_.is_given())
            return detail::begin_of_part(part, parts, size());
        std::size_t all = size();
        for (std::size_t b = 0; b < size(); ++b)
            all += length(b);
        std::size_t const begin = detail::begin_of_part(part, parts, all);
        std::size_t row = 0;
        for (std::size_t before = 0; before < begin; ++row)
            before += 1 + length(row);
        return row;
    }

    shape stacked_shape(std::string_view op, std::size_t k, shape const& element, std::size_t bytes) const
    {
        shape const row = detail::stacked_shape(op, k, element, extent_.length, bytes, {});
        return detail::stacked_shape(op, k, row, extent_.batch, bytes, {});
    }

    /// Returns the elements of row b of an operand.
    kernel::time_axis elements_of_row(strided_layout const& layout, std::size_t b) const
    {
        kernel::time_axis const rows(layout, 0, 1, false);
        kernel::time_axis elements(rows.element, 0, extent_.length, false);
        elements.first += static_cast<std::ptrdiff_t>(b) * rows.stride;
        return elements;
    }

    /// Sets the elements past the end of row b of a row-major output to zeros.
    template <class Y>
    void clear_tail(Y& output, std::size_t b) const
    {
        std::size_t const tail = extent_.length - length(b);
        if (tail == 0)
            return;
        std::size_t const count = element_count(detail::shape_of(output)) / extent_.batch / extent_.length;
        std::fill_n(enable_tensor<Y>::data(output) + ((b + 1) * extent_.length - tail) * count, tail * count,
            item_t<Y>{});
    }

private:
    template <class Lens>
    static lengths_ref refer([[maybe_unused]] Lens const& sequence_lens)
    {
        if constexpr (std::is_same_v<Lens, std::nullopt_t>)
            return {};
        else
            return sequence_lens;
    }

    lengths_ref given_;
    batch_extent extent_;
};

/// Cursors over the elements of one row of each operand [N, T, ...]; the elements have neither the batch axis
/// nor the time axis. Their buffers serve all rows.
template <class... Xs>
class batch_cursors<std::tuple<Xs...>> {
    template <class X>
    using item = std::conditional_t<std::is_const_v<std::remove_reference_t<X>>, item_t<bare<X>> const,
        item_t<bare<X>>>;
    template <class X>
    using cursor = cursor_over<item<X>, typename element_shape<row_shape_t<bare<X>>, true>::type,
        is_always_row_major<bare<X>>>;

public:
    using input_arguments = std::tuple<decltype(std::as_const(std::declval<cursor<Xs>&>().element()))...>;
    using output_arguments = std::tuple<decltype(std::declval<cursor<Xs>&>().element())...>;

    /// Requires checked operands and their traversals in time. enter_row() must follow.
    template <class Traversals>
    batch_cursors(batch_rows const& rows, std::tuple<Xs...> const& operands, Traversals const& traversals,
        std::size_t, std::size_t, write_back when = write_back::each_element)
        : rows_(rows),
          first_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return std::tuple<item<Xs>*...>{enable_tensor<bare<Xs>>::data(std::get<I>(operands))...};
          }(std::index_sequence_for<Xs...>{})),
          cursors_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return std::tuple<cursor<Xs>...>{start<Xs>(std::get<I>(first_), traversals[I], when)...};
          }(std::index_sequence_for<Xs...>{}))
    {
        for (std::size_t i = 0; i < sizeof...(Xs); ++i)
            strides_[i] = {
                kernel::time_axis(traversals[i].memory.layout, 0, 1, false).stride, traversals[i].reverse};
    }

    /// Makes the element of iteration t of row b the next one.
    void enter_row(std::size_t b, std::size_t t = 0)
    {
        std::size_t const unused = rows_.longest() - rows_.length(b);
        detail::for_each_leaf(cursors_, [&](auto i, auto& each) {
            auto const [stride, is_reverse] = strides_[i];
            each.move_to(
                std::get<i>(first_) + static_cast<std::ptrdiff_t>(b) * stride, (is_reverse ? unused : 0) + t);
        });
    }

    auto& get() { return cursors_; }

private:
    struct row_axis {
        std::ptrdiff_t stride;
        bool is_reverse;
    };

    template <class X, class Traversal>
    cursor<X> start(item<X>* first, Traversal const& along, write_back when) const
    {
        kernel::time_axis const rows(along.memory.layout, 0, 1, false);
        std::size_t const length = rows_.size() == 0 ? 0 : rows_.longest(); // `first` may be a null pointer
        return {first, kernel::time_axis(rows.element, 0, length, along.reverse), length, when};
    }

    batch_rows const& rows_;
    std::tuple<item<Xs>*...> first_;
    std::array<row_axis, sizeof...(Xs)> strides_{};
    std::tuple<cursor<Xs>...> cursors_;
};

} // namespace xloom::inline XLOOM_ABI::detail
