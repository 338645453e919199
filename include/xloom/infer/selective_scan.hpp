#pragma once
// Type and shape inference of the selective scan of Mamba.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

/// The types of selective_scan's inputs; untyped for an input that is omitted or unknown.
struct selective_scan_input_types {
    partial_type u{}, delta{}, A{}, B{}, C{}, D{}, z{}, delta_bias{}, initial_state{};
};

/// The types of selective_scan's outputs.
struct selective_scan_types {
    partial_type y{}, final_state{};
};

namespace detail {

/// An operand of a selective scan, with the symbols of its axes.
struct selective_operand {
    std::string_view name;
    partial_type const& type;
    partial_shape axes;

    constexpr bool has_batch_axis() const { return axes[0] == dim("N"); }
};

/// The dimensions of a selective scan, as far as they are known.
class selective_dims {
public:
    /// Merges the dimensions of an operand, whose axis N, if it has one, is there only with `has_batch`.
    ///
    /// Errors    shape_error: another rank, or a dimension that differs from those merged before.
    constexpr void merge(selective_operand const& operand, bool has_batch)
    {
        partial_shape const& actual = operand.type.shape();
        partial_shape const axes =
            has_batch || !operand.has_batch_axis() ? operand.axes : drop_axis(operand.axes, 0);
        partial_shape const expected = of(axes);
        if (find_conflict(actual, expected) != conflict::none)
            fail<shape_error>("xloom::infer_selective_scan: ", operand.name, " must have the shape ", axes,
                " = ", expected, ", but ", operand.name, " is ", operand.type, ". Give it that shape.");
        for (std::size_t axis = 0; axis < actual.rank(); ++axis)
            dims_[number_of(axes[axis])] = merge_dim(actual[axis], expected[axis]);
    }

    /// Returns the dimensions of these axes.
    constexpr partial_shape of(partial_shape axes) const
    {
        for (std::size_t axis = 0; axis < axes.rank(); ++axis)
            axes[axis] = dims_[number_of(axes[axis])];
        return axes;
    }

private:
    static constexpr std::size_t number_of(dim const& axis)
    {
        return std::string_view("NTKS").find(axis.symbol());
    }

    std::array<dim, 4> dims_{}; ///< N, T, K, S
};

/// Requires tensors of u's element type, which is known.
constexpr void require_items_of_u(partial_type const& u, std::span<selective_operand const> operands)
{
    if (!u.is_tensor() || u.element() == element_type::undefined)
        fail<type_error>("xloom::infer_selective_scan: u must be a tensor of a known element type, but u is ",
            u, ". Give a tensor's type.");
    for (auto const& [name, type, axes] : operands)
        if (!type.is_untyped() && (!type.is_tensor() || (type.element() != u.element() &&
                                                            type.element() != element_type::undefined)))
            fail<type_error>("xloom::infer_selective_scan: ", name,
                " must be a tensor of u's element type, but ", name, " is ", type, " and u is ", u,
                ". Give that type, or none.");
}

/// Returns the first operand of a known rank that has a batch axis where there are batches; null if there is
/// none.
constexpr selective_operand const* find_ranked(std::span<selective_operand const> operands)
{
    for (selective_operand const& operand : operands)
        if (operand.has_batch_axis() && operand.type.shape().has_rank())
            return &operand;
    return nullptr;
}

} // namespace detail

/// Infers the types of selective_scan's outputs, including omitted ones. `declared` has the types that the
/// caller knows of them, untyped where it knows none.
///
///     N, T, K, S = the dimensions of all inputs, merged
///     y = merge_type(u.with_shape([N, T, K]), declared.y)
///     final_state = merge_type(u.with_shape([N, K, S]), declared.final_state)
///
/// Shapes    as of selective_scan, all without N if one of u, delta, B, C, z and initial_state is. Each
///           dimension is merged from all operands that have it, in their order: a value takes precedence
///           over a symbol, an earlier symbol over a later one. Unknown ranks if all of these six have one.
/// Errors    type_error: u is not a tensor, or its element type is undefined; another operand is not a tensor
///           of u's element type; kind or element type of a declared output. shape_error: a rank, or two
///           values of one dimension.
/// Source    the shapes that selective_scan requires; whether it has the element type is not checked.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const u = xloom::tensor_type(element::float_, {"N", "T", 64});
/// auto const A = xloom::tensor_type(element::float_, {64, 16});
/// auto const types = xloom::infer_selective_scan({.u = u, .A = A});
/// types.y; // = float[N, T, 64]
/// types.final_state; // = float[N, 64, 16]
/// ```
constexpr selective_scan_types infer_selective_scan(
    selective_scan_input_types const& inputs, selective_scan_types const& declared = {})
{
    std::array const operands{
        detail::selective_operand{"u", inputs.u, {"N", "T", "K"}},
        detail::selective_operand{"delta", inputs.delta, {"N", "T", "K"}},
        detail::selective_operand{"A", inputs.A, {"K", "S"}},
        detail::selective_operand{"B", inputs.B, {"N", "T", "S"}},
        detail::selective_operand{"C", inputs.C, {"N", "T", "S"}},
        detail::selective_operand{"D", inputs.D, {"K"}},
        detail::selective_operand{"z", inputs.z, {"N", "T", "K"}},
        detail::selective_operand{"delta_bias", inputs.delta_bias, {"K"}},
        detail::selective_operand{"initial_state", inputs.initial_state, {"N", "K", "S"}},
    };
    detail::require_items_of_u(inputs.u, operands);
    detail::selective_operand const* const ranked = detail::find_ranked(operands);
    bool const has_batch = !ranked || ranked->type.shape().rank() != 2;
    detail::selective_dims dims;
    for (detail::selective_operand const& operand : operands)
        dims.merge(operand, has_batch);
    partial_shape y = unknown_rank, final_state = unknown_rank;
    if (ranked) {
        y = has_batch ? dims.of({"N", "T", "K"}) : dims.of({"T", "K"});
        final_state = has_batch ? dims.of({"N", "K", "S"}) : dims.of({"K", "S"});
    }
    return {detail::merge_type({"infer_selective_scan", "y"}, inputs.u.with_shape(y), declared.y),
        detail::merge_type(
            {"infer_selective_scan", "final_state"}, inputs.u.with_shape(final_state), declared.final_state)};
}

} // namespace xloom::inline XLOOM_ABI
