#pragma once
// Rows of scans that do not depend on each other, and the parts of them that threads run.
//
// `rows` of a call, batch_rows or ragged_rows, say how many there are and how long each is, where its
// elements are in the operands, and how outputs hold those of all rows.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/scan/element_cursor.hpp>
#include <xloom/detail/scan/stacked_outputs.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The exceptions of parts that run at once.
class part_failures {
public:
    explicit part_failures([[maybe_unused]] std::size_t parts)
#ifdef __cpp_exceptions
        : failures_(parts)
#endif
    {}

    template <class Run>
    void attempt([[maybe_unused]] std::size_t part, Run const& run)
    {
#ifdef __cpp_exceptions
        try {
            run();
        } catch (...) {
            failures_[part] = std::current_exception();
        }
#else
        run();
#endif
    }

    /// Throws the exception of the first part that failed.
    void rethrow_first() const
    {
#ifdef __cpp_exceptions
        for (std::exception_ptr const& failure : failures_)
            if (failure)
                std::rethrow_exception(failure);
#endif
    }

private:
#ifdef __cpp_exceptions
    std::vector<std::exception_ptr> failures_;
#endif
};

/// Calls run(first, last) for parts of consecutive rows, at most as many as the policy has threads, which
/// have about the same number of iterations. Of several exceptions that of the first row passes on: a part
/// ends with its first one, and the others run to their end.
template <class Rows, execution_policy Policy, class Run>
void for_parts(Rows const& rows, Policy const& policy, Run const& run)
{
    if constexpr (has_threads<Policy>) {
        std::size_t const parts = std::min<std::size_t>(policy.concurrency(), rows.size());
        if (parts > 1) {
            part_failures failures(parts);
            policy.for_each(parts, [&](std::size_t part) {
                failures.attempt(
                    part, [&] { run(rows.begin_of_part(part, parts), rows.begin_of_part(part + 1, parts)); });
            });
            failures.rethrow_first();
            return;
        }
    }
    run(std::size_t{0}, rows.size());
}

/// The type as which a body is called: const if several threads may call it at once.
template <class Policy, class Body>
using shared_body_t = std::conditional_t<has_threads<Policy>, Body const, Body>;

/// The shape type of one row of an operand whose axis 0 is the rows.
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

template <class Leaves>
struct row_tuple;
template <class... Xs>
struct row_tuple<std::tuple<Xs...>> {
    using type = std::tuple<typename decltype(row_type<bare<Xs>>())::type...>;
};
/// The std::tuple of one row of each state, as a pure body carries it.
template <class State>
using rows_t = typename row_tuple<leaves_t<State>>::type;

/// Returns a pointer to row b of an operand, and the axis of its rows, which holds the layout of each row.
template <class X>
auto row_of(X& operand, std::size_t b)
{
    kernel::time_axis const rows(detail::layout_of(operand), 0, 1, false);
    return std::pair(
        enable_tensor<bare<X>>::data(operand) + static_cast<std::ptrdiff_t>(b) * rows.stride, rows);
}

/// Copies row b of each state to `row`.
template <class States, class Row>
void load_rows(States const& states, std::size_t b, Row& row)
{
    detail::for_each_leaf(states, [&]<class X>(auto i, X const& state) {
        auto const [first, rows] = detail::row_of(state, b);
        auto& to = std::get<i>(row);
        using value = bare<decltype(to)>;
        if constexpr (std::is_same_v<value, item_t<X>>) {
            to = *first;
        } else {
            detail::make_shape(to, rows.element.dims);
            kernel::strided_copy(rows.element.dims, rows.element.strides, detail::layout_of(to).strides)(
                first, enable_tensor<value>::data(to));
        }
    });
}

/// Copies `row` to row b of each state.
template <class States, class Row>
void store_rows(States const& states, std::size_t b, Row const& row)
{
    detail::for_each_leaf(states, [&]<class X>(auto i, X& state) {
        auto const [first, rows] = detail::row_of(state, b);
        output_writer<item_t<X>>(first, rows).push(std::get<i>(row));
    });
}

template <class Outputs>
struct as_tuple {
    using type = std::tuple<Outputs>;
};
template <class... Ys>
struct as_tuple<std::tuple<Ys...>> {
    using type = std::tuple<Ys...>;
};

/// The scan outputs of pure scans over rows, allocated when the first elements determine the shapes.
template <class Rows, class Outputs>
class row_outputs;
template <class Rows, class... Ys>
class row_outputs<Rows, std::tuple<Ys...>> {
public:
    using type = std::tuple<typename Rows::template stacked_t<Ys>...>;

    /// The writers of one row.
    struct row_writers {
        std::tuple<output_writer<item_t<typename Rows::template stacked_t<Ys>>>...> each{};

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

    row_outputs(std::string_view op, Rows const& rows) : op_(op), rows_(rows) {}

    /// Allocates outputs of the shapes of `values`, a tuple of references.
    template <class Values>
    void open(Values const& values)
    {
        detail::for_each_leaf(
            values, [&](auto k, auto const& value) { open(k, output_element_shape(op_, k, value)); });
        is_open_ = true;
    }

    /// Returns writers of row b that continue after the first `begin` elements.
    row_writers row(std::size_t b, std::size_t begin)
    {
        row_writers writers;
        if (is_open_)
            detail::for_each_leaf(results_, [&]<class Y>(auto k, Y& result) {
                auto& writer = std::get<k>(writers.each);
                writer = {
                    enable_tensor<Y>::data(result), rows_.elements_of_row(detail::layout_of(result), b)};
                writer.skip(begin);
            });
        return writers;
    }

    /// Sets the elements past the end of row b to zeros.
    void end_row(std::size_t b)
    {
        if (is_open_)
            detail::for_each_leaf(results_, [&](auto, auto& result) {
                if (is_row_major(detail::layout_of(result))) // else zeros from the beginning
                    rows_.clear_tail(result, b);
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
    void open(std::integral_constant<std::size_t, K>, shape const& element, bool has_no_elements = false)
    {
        auto& result = std::get<K>(results_);
        using stacked = bare<decltype(result)>;
        using item = item_t<stacked>;
        result = enable_tensor<stacked>::make(rows_.stacked_shape(op_, K, element, sizeof(item)));
        if (Rows::has_tails && (has_no_elements || !is_row_major(detail::layout_of(result))))
            detail::fill_items(result, item{});
    }

    std::string_view op_;
    Rows const& rows_;
    bool is_open_ = false;
    type results_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
