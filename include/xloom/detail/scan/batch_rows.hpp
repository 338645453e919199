#pragma once
// The rows of a batch: their states, cursors over their inputs, and their stacked outputs.

#include <array>
#include <tuple>
#include <utility>

#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/scan/element_cursor.hpp>
#include <xloom/detail/scan/stacked_outputs.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The shape type of one row of a batch.
template <tensor X>
using row_shape_t = typename element_shape<shape_type_t<X>, true>::type;

template <tensor X>
consteval auto row_type()
{
    if constexpr (std::is_same_v<row_shape_t<X>, item_element>)
        return std::type_identity<item_t<X>>{};
    else
        return std::type_identity<typename temporary_of<item_t<X>, row_shape_t<X>>::type>{};
}

/// The std::tuple of one row of each state, as the body carries it.
template <class Leaves>
struct row_tuple;
template <class... Xs>
struct row_tuple<std::tuple<Xs...>> {
    using type = std::tuple<typename decltype(row_type<bare<Xs>>())::type...>;
};

/// Returns a pointer to row b of an operand, and the axis of its rows, which holds the layout of each row.
template <class X>
auto row_of(X& operand, std::size_t b)
{
    kernel::time_axis const rows(detail::layout_of(operand), 0, 1, false);
    return std::pair(
        enable_tensor<bare<X>>::data(operand) + static_cast<std::ptrdiff_t>(b) * rows.step, rows);
}

template <class State, class Row>
void load_row(State const& state, std::size_t b, Row& row)
{
    auto const [first, rows] = detail::row_of(state, b);
    if constexpr (tensor<Row>) {
        detail::make_shape(row, rows.element.dims);
        kernel::strided_copy(rows.element.dims, rows.element.strides, detail::layout_of(row).strides)(
            first, enable_tensor<Row>::data(row));
    } else {
        row = *first;
    }
}

template <class State, class Row>
void store_row(State& state, std::size_t b, Row const& row)
{
    auto const [first, rows] = detail::row_of(state, b);
    output_writer<item_t<State>>(first, rows).push(row);
}

/// Sets the elements of row b of a row-major output from `length` on to zeros. Requires rows and iterations.
template <class Y>
void clear_row(Y& output, std::size_t b, std::size_t length, batch_extent extent)
{
    std::size_t const count = element_count(detail::shape_of(output)) / extent.batch / extent.length;
    std::fill_n(enable_tensor<Y>::data(output) + (b * extent.length + length) * count,
        (extent.length - length) * count, item_t<Y>{});
}

/// Cursors over the elements of one row of each operand [N, T, ...]; the elements have neither the batch axis
/// nor the time axis. Their buffers serve all rows.
template <class Leaves>
class batch_cursors;
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

    /// Requires checked operands. start_row() must follow.
    batch_cursors(std::tuple<Xs...> const& operands, std::size_t length, scan_directions const& directions,
        write_back when = write_back::each_element)
        : length_(length), cursors_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return std::tuple<cursor<Xs>...>{
                  start<Xs>(std::get<I>(operands), length, is_reverse(directions, I), when)...};
          }(std::index_sequence_for<Xs...>{}))
    {
        detail::for_each_leaf(operands, [&](auto i, auto& operand) {
            rows_[i] = {detail::row_of(operand, 0).second.step, is_reverse(directions, i)};
        });
    }

    /// Makes element 0 of row b, which has `length` elements, the next one.
    void start_row(std::tuple<Xs...> const& operands, std::size_t b, std::size_t length)
    {
        detail::for_each_leaf(operands, [&](auto i, auto& operand) {
            auto const [step, is_reverse] = rows_[i];
            std::get<i>(cursors_).move_to(
                enable_tensor<bare<decltype(operand)>>::data(operand) + static_cast<std::ptrdiff_t>(b) * step,
                is_reverse ? length_ - length : 0);
        });
    }

    auto& cursors() { return cursors_; }

private:
    struct row_axis {
        std::ptrdiff_t step;
        bool is_reverse;
    };

    template <class X, class Operand>
    static cursor<X> start(Operand& operand, std::size_t length, bool reverse, write_back when)
    {
        auto const [first, rows] = detail::row_of(operand, 0);
        return {first, kernel::time_axis(rows.element, 0, length, reverse), length, when};
    }

    std::size_t length_;
    std::array<row_axis, sizeof...(Xs)> rows_{};
    std::tuple<cursor<Xs>...> cursors_;
};

/// The scan outputs of a batch: [N, T, element...], zeros after the end of a shorter row.
template <class Outputs>
class batch_outputs;
template <class... Ys>
class batch_outputs<std::tuple<Ys...>> {
public:
    using type = std::tuple<stacked_t<stacked_t<Ys, dynamic_length>, dynamic_length>...>;

    /// The writers of one row.
    struct row_writers {
        std::tuple<output_writer<item_t<stacked_t<Ys, dynamic_length>>>...> each{};

        template <class Values>
        void push(std::string_view op, Values const& values, std::size_t t, std::size_t b)
        {
            detail::for_each_leaf(values, [&](auto k, auto const& value) {
                auto const& writer = std::get<k>(each);
                if (!detail::is_shaped_like(value, writer.element_shape()))
                    detail::fail_reshaped(
                        op, "scan_outputs", k, writer.element_shape(), detail::describe_shape(value), t, b);
            });
            detail::for_each_leaf(values, [&](auto k, auto const& value) { std::get<k>(each).push(value); });
        }
    };

    batch_outputs(std::string_view op, batch_extent extent) : op_(op), extent_(extent) {}

    bool is_open() const { return is_open_; }

    /// Allocates outputs of the shapes of `values`, a tuple of references. The first `rows` rows are empty.
    template <class Values>
    void open(Values const& values, std::size_t rows)
    {
        detail::for_each_leaf(
            values, [&](auto k, auto const& value) { open(k, output_element_shape(op_, k, value)); });
        is_open_ = true;
        for (std::size_t b = 0; b < rows; ++b)
            end_row(b, 0);
    }

    /// Returns writers of row b that continue after the first `begin` elements.
    row_writers row(std::size_t b, std::size_t begin = 0)
    {
        row_writers writers;
        if (is_open_)
            detail::for_each_leaf(results_, [&](auto k, auto& result) {
                auto const [first, rows] = detail::row_of(result, b);
                std::get<k>(writers.each) = {
                    first, kernel::time_axis(rows.element, 0, extent_.length, false)};
                std::get<k>(writers.each).skip(begin);
            });
        return writers;
    }

    /// Sets the elements of row b from `length` on to zeros.
    void end_row(std::size_t b, std::size_t length)
    {
        if (is_open_ && length < extent_.length)
            detail::for_each_leaf(results_, [&](auto, auto& result) {
                if (is_row_major(detail::layout_of(result))) // else zeros from the beginning
                    detail::clear_row(result, b, length, extent_);
            });
    }

    type&& finish() &&
    {
        if (!is_open_)
            detail::for_each_leaf(results_, [&](auto k, auto&) {
                open(k, shape_of_type<std::tuple_element_t<k, std::tuple<Ys...>>>(), true);
            });
        return std::move(results_);
    }

private:
    template <std::size_t K>
    void open(std::integral_constant<std::size_t, K>, shape const& element, bool has_no_rows = false)
    {
        auto& result = std::get<K>(results_);
        using stacked = bare<decltype(result)>;
        using item = item_t<stacked>;
        shape const row = stacked_shape(op_, K, element, extent_.length, sizeof(item), {});
        result = enable_tensor<stacked>::make(stacked_shape(op_, K, row, extent_.batch, sizeof(item), {}));
        if (has_no_rows || !is_row_major(detail::layout_of(result)))
            std::fill_n(
                enable_tensor<stacked>::data(result), element_count(detail::shape_of(result)), item{});
    }

    std::string_view op_;
    batch_extent extent_;
    bool is_open_ = false;
    type results_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
