#pragma once
// The union of two types: the type of a value that has one of them. Shapes always have a union; kinds and
// element types may conflict.

#include <cstddef>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/conflict.hpp>

namespace xloom::inline XLOOM_ABI {

/// Returns the union of two shapes: a dimension is kept if both have the same value or the same symbol, the
/// rank if both have the same.
///
/// Source    ONNX UnionShapeInfo.
/// Example   tests/infer/union.test.cpp
constexpr partial_shape union_shape(partial_shape const& a, partial_shape const& b)
{
    if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
        return unknown_rank;
    partial_shape both = a;
    for (std::size_t axis = 0; axis < both.rank(); ++axis)
        if (a[axis] != b[axis])
            both[axis] = unknown;
    return both;
}

namespace detail {

/// Returns the reason why two types have no union: kind, element, or unknown_type for a sequence or optional
/// whose content is untyped; none if they have one.
constexpr conflict find_union_conflict(partial_type const& a, partial_type const& b)
{
    if (a.kind() != b.kind())
        return conflict::kind;
    if (a.is_wrapped()) {
        bool const known = !a.inner().is_untyped() && !b.inner().is_untyped();
        return known ? find_union_conflict(a.inner(), b.inner()) : conflict::unknown_type;
    }
    return a.element() != b.element() ? conflict::element : conflict::none;
}

} // namespace detail

/// Returns the union of two types: their common kind and element type, and the union of their shapes.
///
/// Errors    type_error: kinds or element types differ, or a sequence's or optional's content is untyped.
/// Source    ONNX UnionTypeInfo.
/// Example   tests/infer/union.test.cpp
constexpr partial_type union_type(partial_type const& a, partial_type const& b)
{
    switch (detail::find_union_conflict(a, b)) {
    case conflict::kind:
        detail::fail<type_error>("xloom::union_type: the two types must be of one kind, but a is ", a,
            " and b is ", b, ". Give both as tensors, sequences or optionals.");
    case conflict::element:
        detail::fail<type_error>("xloom::union_type: the two types must have one element type, but a is ", a,
            " and b is ", b, ". Cast one of them.");
    case conflict::unknown_type:
        detail::fail<type_error>(
            "xloom::union_type: the content of a sequence or optional must have a type, but a is ", a,
            " and b is ", b, ". Give the type of the content.");
    default:
        return a.with_shape(union_shape(a.shape(), b.shape()));
    }
}

} // namespace xloom::inline XLOOM_ABI
