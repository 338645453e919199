#pragma once
// Merging of two partial types of the same value. A contradiction is an error.

#include <cstddef>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/conflict.hpp>

namespace xloom::inline XLOOM_ABI {

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

namespace detail {

/// Requires that two dims, shapes or types do not contradict each other.
template <class Known>
constexpr void require_mergeable(subject const& about, Known const& inferred, Known const& declared)
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

} // namespace detail

/// Merges two dimensions. A value takes precedence over a symbol, the declared symbol over the inferred one.
///
/// Errors    shape_error: two different values.
/// Source    ONNX mergeInDimensionInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr dim merge_dim(dim const& inferred, dim const& declared)
{
    detail::require_mergeable({"merge_dim", "the dimension"}, inferred, declared);
    return inferred.has_value() || declared.is_unknown() ? inferred : declared;
}

/// Merges two shapes dimension by dimension. An unknown rank adds nothing.
///
/// Errors    shape_error: ranks differ, or two values of one dimension.
/// Source    ONNX mergeInShapeInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr partial_shape merge_shape(partial_shape const& inferred, partial_shape const& declared)
{
    detail::require_mergeable({"merge_shape", "the shape"}, inferred, declared);
    if (!inferred.has_rank() || !declared.has_rank())
        return inferred.has_rank() ? inferred : declared;
    partial_shape merged = declared;
    for (std::size_t axis = 0; axis < merged.rank(); ++axis)
        merged[axis] = merge_dim(inferred[axis], declared[axis]);
    return merged;
}

namespace detail {

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
    require_mergeable(about, inferred, declared);
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

} // namespace xloom::inline XLOOM_ABI
