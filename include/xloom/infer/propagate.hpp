#pragma once
// Propagation of an element type from one value to another, without the tensor's shape.

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/conflict.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if `source` has an element type to propagate: that of a tensor, or the content of a sequence or
/// optional.
constexpr bool has_element_type(partial_type const& source)
{
    return source.is_wrapped() ? !source.inner().is_untyped() : source.element() != element_type::undefined;
}

/// Returns the reason why the element type of `source` cannot be propagated to `target`: unknown_type (of
/// source), kind or element; none if it can.
constexpr conflict find_propagation_conflict(partial_type const& source, partial_type const& target)
{
    if (!has_element_type(source))
        return conflict::unknown_type;
    if (source.is_wrapped())
        return find_propagation_conflict(
            source.inner(), target.kind() == source.kind() ? target.inner() : untyped);
    if (target.is_wrapped())
        return conflict::kind;
    bool const known = target.element() != element_type::undefined;
    return known && target.element() != source.element() ? conflict::element : conflict::none;
}

/// Propagates an element type. Requires that there is no propagation conflict.
constexpr partial_type propagate_compatible(partial_type const& source, partial_type const& target)
{
    if (source.is_wrapped()) {
        partial_type const content = target.kind() == source.kind() ? target.inner() : untyped;
        return propagate_compatible(source.inner(), content).wrapped_in(source.kind());
    }
    return target.is_untyped() ? source.with_shape(unknown_rank) : target.with_element(source.element());
}

} // namespace detail

/// Returns the type of an output that has the element type of `source`: a tensor without its shape. A
/// sequence or optional is returned unchanged, including the shape of its tensor.
///
/// Errors    type_error: source is untyped, or its element type is undefined.
/// Source    ONNX propagateElemTypeFromInputToOutput.
/// Example   tests/infer/propagate.test.cpp
constexpr partial_type propagate_element_type(partial_type const& source)
{
    if (!detail::has_element_type(source))
        detail::fail<type_error>(
            "xloom::propagate_element_type: the element type must be known, but source is ", source,
            ". Give its type.");
    return source.is_wrapped() ? source : source.with_shape(unknown_rank);
}

/// Returns `target` with the element type of `source`, which must not contradict it; the shape of `target` is
/// kept. In a sequence or optional the content is propagated. A target of another kind than such a source is
/// replaced, so that a value that Loop carries may begin as an optional and end as a sequence.
///
/// Errors    type_error: source or its content is untyped; source is a tensor and target a sequence or
///           optional; element types differ.
/// Source    ONNX propagateElemTypeWithValidation.
/// Example   tests/infer/propagate.test.cpp
constexpr partial_type propagate_element_type(partial_type const& source, partial_type const& target)
{
    switch (detail::find_propagation_conflict(source, target)) {
    case conflict::unknown_type:
        detail::fail<type_error>(
            "xloom::propagate_element_type: the element type must be known, but source is ", source,
            ". Give its type.");
    case conflict::kind:
        detail::fail<type_error>(
            "xloom::propagate_element_type: a tensor can't become a sequence or optional, but source is ",
            source, " and target is ", target, ". Give both as tensors.");
    case conflict::element:
        detail::fail<type_error>(
            "xloom::propagate_element_type: an element type that is set must stay the same, but source is ",
            source, " and target is ", target, ". Cast one of them.");
    default:
        return detail::propagate_compatible(source, target);
    }
}

} // namespace xloom::inline XLOOM_ABI
