#pragma once
// ONNX's type and shape inference of If.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of If that the inference reads, and its strictness.
struct if_attributes {
    std::int64_t opset = latest_opset;
    bool strict = false;
};

namespace detail {

constexpr void check_if_counts(std::size_t then_count, std::size_t else_count, std::size_t output_count)
{
    if (then_count != else_count || then_count != output_count)
        fail<type_error>("xloom::infer_if: both branches must give as many outputs as the node has, but "
                         "then_branch gives ",
            then_count, ", else_branch ", else_count, ", and the node has ", output_count,
            ". Make the three counts equal.");
}

/// Rejects branches whose kinds or element types differ. Before If-13 the contents of sequences and optionals
/// are not compared.
constexpr void check_one_type(
    std::size_t i, partial_type const& then_type, partial_type const& else_type, std::int64_t version)
{
    conflict found = find_union_conflict(then_type, else_type);
    if (version < 13 && !then_type.is_tensor() && then_type.kind() == else_type.kind())
        found = conflict::none;
    if (found == conflict::kind)
        fail<type_error>("xloom::infer_if: both branches must give values of one kind, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type,
            " by else_branch. Give both as tensors, sequences or optionals.");
    if (found == conflict::element)
        fail<type_error>("xloom::infer_if: both branches must give the same element type, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type, " by else_branch. Cast one of them.");
    if (found == conflict::unknown_type)
        fail<type_error>(
            "xloom::infer_if: the content of a sequence or optional must have a type, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type,
            " by else_branch. Give the type of the content.");
}

/// Merges the shapes of both branches, as If-1 does.
constexpr partial_shape merge_branches(
    std::size_t i, partial_shape const& then_shape, partial_shape const& else_shape)
{
    if (find_conflict(else_shape, then_shape) != conflict::none)
        fail<shape_error>(
            "xloom::infer_if: before opset 11 both branches must give the same shape, but output[", i,
            "] is ", then_shape, " by then_branch and ", else_shape,
            " by else_branch. Give one shape, or use opset 11.");
    return merge_shape(else_shape, then_shape);
}

constexpr partial_shape join_branches(
    std::size_t i, partial_shape const& then_shape, partial_shape const& else_shape, std::int64_t version)
{
    if (version < 11)
        return merge_branches(i, then_shape, else_shape);
    // If-11 treats an else branch without a shape as a scalar.
    if (version < 13 && !else_shape.has_rank())
        return union_shape(then_shape, partial_shape{});
    return union_shape(then_shape, else_shape);
}

constexpr partial_type join_branches(
    std::size_t i, partial_type const& then_type, partial_type const& else_type, std::int64_t version)
{
    check_one_type(i, then_type, else_type, version);
    if (version < 13 && !then_type.is_tensor())
        return then_type;
    return then_type.with_shape(join_branches(i, then_type.shape(), else_type.shape(), version));
}

XLOOM_LIST_CONSTEXPR bool has_symbol(type_list const& types, std::string_view symbol)
{
    for (partial_type const& type : types)
        for (dim const& d : type.shape())
            if (d.symbol() == symbol)
                return true;
    return false;
}

/// True if everything in `declared` follows from the branches. A symbol that neither branch uses is only a
/// name. Requires that declared and inferred can be merged.
constexpr bool is_sound(partial_shape const& declared, partial_shape const& inferred,
    type_list const& then_types, type_list const& else_types)
{
    if (!declared.has_rank())
        return true;
    if (!inferred.has_rank())
        return false;
    for (std::size_t axis = 0; axis < declared.rank(); ++axis) {
        dim const& claim = declared[axis];
        bool const is_name = claim.has_symbol() && !has_symbol(then_types, claim.symbol()) &&
                             !has_symbol(else_types, claim.symbol());
        if (claim != inferred[axis] && !claim.is_unknown() && !is_name)
            return false;
    }
    return true;
}

} // namespace detail

/// Infers the types of If's outputs from those of its branches. A branch is called with an empty type_list
/// and returns a type_list; `outputs` has one type per output of the node, untyped where none is declared.
///
///     then_types, else_types = then_branch([]), else_branch([])
///     for i in outputs: merge_type(union_type(then_types[i], else_types[i]), outputs[i])
///
/// Shapes    If-13 and later: the union: [2] and [3] give [?], different ranks an unknown rank. If-11: the
///           union for tensors, where an else branch without a shape is treated as a scalar; for other kinds
///           the type of then_branch. If-1: the shapes are merged: [2] and [3] are an error, [N] and [3] give
///           [3].
/// Options   opset (latest_opset).  strict (false): a declared shape that does not hold for both branches,
///           such as [2] for [2] and [3], is an error; no shape, [?] and a symbol that no branch uses are
///           allowed. If false, the declared shape is kept.
/// Errors    type_error: numbers of outputs; kinds or element types of the branches, or of a declared output.
///           shape_error: If-1's shapes; rank or dimension of a declared output.  option_error: the opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. strict is required by the
///           text of If, not by its inference.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX If-1, 11, 13 .. 25. The condition is not checked; is_allowed checks the types.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const two = [](xloom::type_list const&) {
///     return xloom::type_list{xloom::tensor_type(element::float_, {2, 4})};
/// };
/// auto const three = [](xloom::type_list const&) {
///     return xloom::type_list{xloom::tensor_type(element::float_, {3, 4})};
/// };
/// xloom::infer_if(two, three, {xloom::untyped}); // = [float[?, 4]]
/// ```
template <class Then, class Else>
XLOOM_LIST_CONSTEXPR type_list infer_if(
    Then&& then_branch, Else&& else_branch, type_list const& outputs, if_attributes const& attributes = {})
{
    std::int64_t const version = operator_version(onnx_operator::if_, attributes.opset);
    type_list const then_types = then_branch(type_list{});
    type_list const else_types = else_branch(type_list{});
    detail::check_if_counts(then_types.size(), else_types.size(), outputs.size());
    type_list result;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        partial_type const inferred = detail::join_branches(i, then_types[i], else_types[i], version);
        partial_type const merged = detail::merge_type({"infer_if", "output", i}, inferred, outputs[i]);
        if (attributes.strict &&
            !detail::is_sound(outputs[i].shape(), inferred.shape(), then_types, else_types))
            detail::fail<shape_error>(
                "xloom::infer_if: a declared output must hold for both branches, but output[", i,
                "] is declared as ", outputs[i], ", then_branch gives ", then_types[i], " and else_branch ",
                else_types[i], ". Declare no shape, or unknown dimensions, or new symbols.");
        result.push_back(merged);
    }
    return result;
}

} // namespace xloom::inline XLOOM_ABI
