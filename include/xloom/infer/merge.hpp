#pragma once
// Two types of one value: merging them, where a contradiction is an error; their union, the type of a value
// that has one of them; and the propagation of an element type from one to the other.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The property in which two types differ. `unknown_type`: one of the two is untyped or has an undefined
/// element type where it must be known.
enum class conflict { none, unknown_type, kind, element, rank, dimension };

/// The function that was called and one of its operands, as in "infer_scan" and "output[2]".
struct subject {
    std::string_view function;
    std::string_view operand;
    std::optional<std::size_t> index{};

    friend void append(std::string& text, subject const& s)
    {
        text += s.operand;
        if (s.index)
            text += concat("[", *s.index, "]");
    }
};

/// Requires that an operand is a tensor of a known element type.
constexpr void check_element(subject const& about, partial_type const& type)
{
    if (!type.is_tensor() || type.element() == element_type::undefined)
        fail<type_error>("xloom::", about.function, ": ", about,
            " must be a tensor of a known element type, but ", about, " is ", type,
            ". Give a tensor's type.");
}

/// Returns the conflict between two dimensions, which is two different values. A symbol and an unknown
/// dimension are compatible with every dimension.
constexpr conflict find_conflict(dim const& inferred, dim const& declared) noexcept
{
    bool const differ = inferred.has_value() && declared.has_value() && inferred.value() != declared.value();
    return differ ? conflict::dimension : conflict::none;
}

/// Returns the first conflict between two shapes. An unknown rank is compatible with every shape.
constexpr conflict find_conflict(partial_shape const& inferred, partial_shape const& declared) noexcept
{
    if (!inferred.has_rank() || !declared.has_rank())
        return conflict::none;
    if (inferred.rank() != declared.rank())
        return conflict::rank;
    for (std::size_t axis = 0; axis < inferred.rank(); ++axis)
        if (find_conflict(inferred[axis], declared[axis]) != conflict::none)
            return conflict::dimension;
    return conflict::none;
}

/// Returns the first conflict between two types, from the outermost kind inwards.
constexpr conflict find_conflict(partial_type const& inferred, partial_type const& declared)
{
    if (inferred.is_untyped() || declared.is_untyped())
        return conflict::none;
    if (inferred.kind() != declared.kind())
        return conflict::kind;
    if (inferred.is_wrapped())
        return find_conflict(inferred.inner(), declared.inner());
    bool const known =
        inferred.element() != element_type::undefined && declared.element() != element_type::undefined;
    if (known && inferred.element() != declared.element())
        return conflict::element;
    return find_conflict(inferred.shape(), declared.shape());
}

/// Requires that two dims, shapes or types do not contradict each other.
template <class Known>
constexpr void check_mergeable(subject const& about, Known const& inferred, Known const& declared)
{
    switch (find_conflict(inferred, declared)) {
    case conflict::kind:
        fail<type_error>("xloom::", about.function, ": an inferred type must be of the declared kind, but ",
            about, " is inferred as ", inferred, " and declared as ", declared,
            ". Declare what is inferred, or nothing.");
    case conflict::element:
        fail<type_error>("xloom::", about.function,
            ": an inferred type must have the declared element type, but ", about, " is inferred as ",
            inferred, " and declared as ", declared, ". Declare what is inferred, or nothing.");
    case conflict::rank:
        fail<shape_error>("xloom::", about.function, ": an inferred shape must have the declared rank, but ",
            about, " is inferred as ", inferred, " and declared as ", declared,
            ". Declare what is inferred, or no shape.");
    case conflict::dimension:
        fail<shape_error>("xloom::", about.function,
            ": an inferred dimension must equal the declared one, but ", about, " is inferred as ", inferred,
            " and declared as ", declared, ". Declare what is inferred, or a symbol.");
    default:
        return;
    }
}

/// Merges two dimensions. A value takes precedence over a symbol, the declared symbol over the inferred one.
///
/// Errors    shape_error: two different values.
/// Source    ONNX mergeInDimensionInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr dim merge_dim(dim const& inferred, dim const& declared)
{
    check_mergeable({"merge_dim", "the dimension"}, inferred, declared);
    if (inferred.has_value() || declared.is_unknown())
        return inferred;
    return declared;
}

/// Merges two shapes dimension by dimension. An unknown rank adds nothing.
///
/// Errors    shape_error: ranks differ, or two values of one dimension.
/// Source    ONNX mergeInShapeInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr partial_shape merge_shape(partial_shape const& inferred, partial_shape const& declared)
{
    check_mergeable({"merge_shape", "the shape"}, inferred, declared);
    if (!inferred.has_rank() || !declared.has_rank())
        return inferred.has_rank() ? inferred : declared;
    partial_shape merged = declared;
    for (std::size_t axis = 0; axis < merged.rank(); ++axis)
        merged[axis] = merge_dim(inferred[axis], declared[axis]);
    return merged;
}

/// Merges two types. Requires that they do not contradict each other.
constexpr partial_type merge_compatible(partial_type const& inferred, partial_type const& declared)
{
    if (inferred.is_untyped() || declared.is_untyped())
        return inferred.is_untyped() ? declared : inferred;
    if (inferred.is_wrapped())
        return merge_compatible(inferred.inner(), declared.inner()).wrapped_in(inferred.kind());
    auto const& element_source = declared.element() == element_type::undefined ? inferred : declared;
    return element_source.with_shape(merge_shape(inferred.shape(), declared.shape()));
}

constexpr partial_type merge_type(
    subject const& about, partial_type const& inferred, partial_type const& declared)
{
    check_mergeable(about, inferred, declared);
    return merge_compatible(inferred, declared);
}

/// Merges two lists of the same length type by type.
XLOOM_LIST_CONSTEXPR type_list merge_types(
    subject about, type_list const& inferred, type_list const& declared)
{
    type_list merged;
    for (std::size_t i = 0; i < declared.size(); ++i) {
        about.index = i;
        merged.push_back(merge_type(about, inferred[i], declared[i]));
    }
    return merged;
}

} // namespace detail

/// True if nothing that is known of two types contradicts: their kinds, element types, ranks and dimensions.
/// merge_type merges such types.
///
/// Source    ONNX checkShapesAndTypes.
/// Example   tests/infer/merge.test.cpp
constexpr bool is_mergeable(partial_type const& inferred, partial_type const& declared)
{
    return detail::find_conflict(inferred, declared) == detail::conflict::none;
}

/// Merges the inferred type of an output with its declared type. Untyped, an undefined element type and an
/// unknown rank add nothing.
///
/// Errors    type_error: kinds or element types differ.  shape_error: ranks differ, or two values of one
///           dimension.
/// Source    ONNX mergeShapesAndTypes (after checkShapesAndTypes).
/// Example   tests/infer/merge.test.cpp
constexpr partial_type merge_type(partial_type const& inferred, partial_type const& declared)
{
    return detail::merge_type({"merge_type", "the type"}, inferred, declared);
}

namespace detail {

/// Returns the types of a body's inputs: the given types merged into the declared ones (untyped where the
/// body declares none). A given type that is untyped, such as that of an omitted cond, leaves the declared
/// one as it is.
///
/// Errors    type_error: not as many given as declared; as merge_type.  shape_error: as merge_type.
/// Source    ONNX GraphInferencer::doInferencing, IR version 4 and later.
/// Example   tests/infer/merge.test.cpp
XLOOM_LIST_CONSTEXPR type_list bind_body_inputs(type_list const& given, type_list const& declared)
{
    if (given.size() != declared.size())
        detail::fail<type_error>(
            "xloom::bind_body_inputs: a body must declare as many inputs as it is given, but it declares ",
            declared.size(), " and is given ", given.size(), ": ", given, ". Declare one for each.");
    return detail::merge_types({"bind_body_inputs", "input"}, given, declared);
}

} // namespace detail

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

/// Returns the union of two types: their common kind and element type, and the union of their shapes.
///
/// Errors    type_error: kinds or element types differ, or a sequence's or optional's content is untyped.
/// Source    ONNX UnionTypeInfo.
/// Example   tests/infer/union.test.cpp
constexpr partial_type union_type(partial_type const& a, partial_type const& b)
{
    switch (find_union_conflict(a, b)) {
    case conflict::kind:
        fail<type_error>("xloom::union_type: the two types must be of one kind, but a is ", a, " and b is ",
            b, ". Give both as tensors, sequences or optionals.");
    case conflict::element:
        fail<type_error>("xloom::union_type: the two types must have one element type, but a is ", a,
            " and b is ", b, ". Cast one of them.");
    case conflict::unknown_type:
        fail<type_error>(
            "xloom::union_type: the content of a sequence or optional must have a type, but a is ", a,
            " and b is ", b, ". Give the type of the content.");
    default:
        return a.with_shape(union_shape(a.shape(), b.shape()));
    }
}

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

/// Returns the type of an output that has the element type of `source`: a tensor without its shape. A
/// sequence or optional is returned unchanged, including the shape of its tensor.
///
/// Errors    type_error: source is untyped, or its element type is undefined.
/// Source    ONNX propagateElemTypeFromInputToOutput.
/// Example   tests/infer/propagate.test.cpp
constexpr partial_type propagate_element_type(partial_type const& source)
{
    if (!has_element_type(source))
        fail<type_error>("xloom::propagate_element_type: the element type must be known, but source is ",
            source, ". Give its type.");
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
    switch (find_propagation_conflict(source, target)) {
    case conflict::unknown_type:
        fail<type_error>("xloom::propagate_element_type: the element type must be known, but source is ",
            source, ". Give its type.");
    case conflict::kind:
        fail<type_error>(
            "xloom::propagate_element_type: a tensor can't become a sequence or optional, but source is ",
            source, " and target is ", target, ". Give both as tensors.");
    case conflict::element:
        fail<type_error>(
            "xloom::propagate_element_type: an element type that is set must stay the same, but source is ",
            source, " and target is ", target, ". Cast one of them.");
    default:
        return propagate_compatible(source, target);
    }
}

} // namespace detail

} // namespace xloom::inline XLOOM_ABI
