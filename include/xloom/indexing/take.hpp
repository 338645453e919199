#pragma once
// NumPy's take and compress: slices of an axis by their indices, or by a mask.

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/take_run.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of take.
struct take_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
    xloom::bounds bounds = xloom::bounds::check;
};

/// Options of compress.
struct compress_options {
    std::optional<std::int64_t> axis{}; ///< negative: from the back; none: x is flattened in row-major order
};

namespace detail {

/// Requires a tensor of bool.
template <class Mask>
struct mask_operand {
    static consteval bool holds()
    {
        constexpr bool is_valid = (tensor<Mask> || lazy<Mask>)&&std::is_same_v<item_t<Mask>, bool>;
        static_assert(is_valid, "a mask must be a tensor of bool");
        return is_valid;
    }
};

} // namespace detail

/// Returns the slices of x at the indices of one axis, or the items of the flattened x.
///
///     output = x.shape[:axis] ++ indices.shape ++ x.shape[axis + 1:]
///     output[o, i, n] = x[o, indices[i], n]
///
/// Shapes    x of any rank, with an axis of rank >= 1; indices of any rank, also a plain number. The output
///           is an xt::xarray, with take<Rank> an xt::xtensor of that rank, or of x's family: from a
///           std::vector and indices of one axis a std::vector.
/// Types     x of any type, indices of any integer type. A negative index counts from the end of the axis.
/// Options   axis (none: x is flattened in row-major order). bounds (check); with drop, dropped
///           slices are T{}.
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error, option_error, index_error (up to four offending positions and values).
/// Cost      indices and the indexed slices read, the output written once. Without an axis a copy of x that
///           is not row-major; with axes of x before the indexed one an integer for each index.
/// Differs   from NumPy: clip counts a negative index from the end first, where NumPy has 0;
///           mode='wrap' is take(x, (indices % n + n) % n), for n items.
/// Source    numpy.take, ONNX Gather.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xloom::take(x, xt::xtensor<int, 1>{5, 0, -2}); // = [6, 1, 5]
/// xloom::take(x, xt::xtensor<int, 1>{2, 0}, {.axis = 1}); // = [[3, 1], [6, 4]]
/// xloom::take<1>(x, -1, {.axis = 0}); // = [4, 5, 6]
/// ```
template <std::size_t Rank = dynamic_rank, class X, class Indices, class Options = take_options, class... Env>
auto take(X const& x, Indices const& indices, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    constexpr std::size_t rank = result_rank<Rank, X, static_rank<Indices>>;
    if constexpr (!satisfied<options_and_policy<take_options, Options, Env...>, readable<X>,
                      integer_indices<Indices>, rank_of_result<rank, X>>()) {
        return detail::to_owned(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::take";
        auto const& given = detail::options_of<take_options>(options);
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(x, indices));
        check_rank(op, "x", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        return detail::take_of<rank>(
            op, source, index_tensor, given.axis, given.bounds, detail::policy_of(options, env...));
    }
}

/// Returns the slices of x at which a mask is true, along one axis or of the flattened x.
///
/// Shapes    mask [m]: shorter than the axis, it selects nothing beyond its end; longer, it must be false
///           there. The output as take's.
/// Options   axis (none: x is flattened in row-major order).
/// Policy    serial, or one with threads (thread_policy, tbb_policy).
/// Errors    shape_error: mask has not one axis; an axis that x has not. index_error: mask is true beyond the
///           end.
/// Cost      as take; an integer for each item of mask.
/// Source    numpy.compress.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
/// xt::xtensor<bool, 1> const mask = {false, true, true};
/// xloom::compress(mask, x, {.axis = 0}); // = [[3, 4], [5, 6]]
/// xloom::compress(mask, x); // = [2, 3]
/// ```
template <std::size_t Rank = dynamic_rank, class Mask, class X, class Options = compress_options,
    class... Env>
auto compress(Mask const& mask, X const& x, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    constexpr std::size_t rank = result_rank<Rank, X, 1>;
    if constexpr (!satisfied<options_and_policy<compress_options, Options, Env...>, mask_operand<Mask>,
                      readable<X>, rank_of_result<rank, X>>()) {
        return detail::to_owned(x); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::compress";
        auto const axis = detail::options_of<compress_options>(options).axis;
        auto const [bits, source] = detail::evaluated_inputs(std::tie(mask, x));
        check_rank(op, "mask", detail::rank_of(bits));
        check_rank(op, "x", detail::rank_of(source));
        shape const dims = detail::shape_of(source);
        check_operand_size(op, "x", dims, 1);
        std::size_t const length = axis ? dims[check_axis_option(op, "x", dims, *axis)] : element_count(dims);
        std::vector<std::int64_t> const positions = detail::positions_of_true(op, bits, length);
        strided_items<std::int64_t const> const indices{
            positions.data(), {shape{positions.size()}, strides{1}}};
        return detail::take_of<rank>(
            op, source, indices, axis, bounds::assume, detail::policy_of(options, env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
