#pragma once
// ONNX's type and shape inference of Loop.

#include <cstddef>
#include <cstdint>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of Loop that the inference reads.
struct loop_attributes {
    std::int64_t opset = latest_opset;
};

namespace detail {

/// The number of Loop's inputs before the carried values: M and cond.
inline constexpr std::size_t loop_leading_inputs = 2;

constexpr void check_loop_counts(std::size_t input_count, std::size_t output_count)
{
    if (input_count < loop_leading_inputs)
        fail<type_error>("xloom::infer_loop: the inputs must begin with M and cond, untyped where omitted, "
                         "but inputs has ",
            counted{input_count, "type"}, ". Give both.");
    if (input_count - loop_leading_inputs > output_count)
        fail<type_error>("xloom::infer_loop: every carried value must have an output, but inputs has ",
            counted{input_count - loop_leading_inputs, "carried value"}, " and outputs has ",
            counted{output_count, "type"}, ". Give an output for each.");
}

/// True if Loop has values of this kind at this version. What a sequence or an optional holds is not read.
constexpr bool is_loop_kind(partial_type const& type, std::int64_t version)
{
    type_kind const kind = type.kind();
    return kind == type_kind::tensor || (version >= sequences_since && kind == type_kind::sequence) ||
           (version >= optionals_since && kind == type_kind::optional);
}

constexpr void check_carried(std::size_t i, partial_type const& type, std::int64_t version)
{
    if (!has_element_type(type))
        fail<type_error>("xloom::infer_loop: a carried value must have a known element type, but input[", i,
            "] is ", type, ". Give its type.");
    if (!is_loop_kind(type, version))
        fail<type_error>("xloom::infer_loop: a carried value must be a tensor (from opset 13 also a "
                         "sequence, from 16 an optional), but input[",
            i, "] is ", type, ". Carry another kind, or use a newer opset.");
}

/// Returns the types of the body's inputs: iteration, cond, and the carried values without their shapes,
/// which may change.
XLOOM_LIST_CONSTEXPR type_list loop_body_inputs(type_list const& inputs, std::int64_t version)
{
    type_list given{tensor_type(element_type::int64), inputs[1]};
    for (std::size_t i = loop_leading_inputs; i < inputs.size(); ++i) {
        check_carried(i, inputs[i], version);
        given.push_back(inputs[i].with_shape(unknown_rank));
    }
    return given;
}

/// Rejects a body output of a kind that Loop does not have at this version. `i` counts without cond.
constexpr void check_body_kind(std::size_t i, partial_type const& type, bool is_carried, std::int64_t version)
{
    if (!is_loop_kind(type, version))
        fail<type_error>("xloom::infer_loop: the body must return tensors (from opset 13 also sequences, "
                         "from 16 optionals), but output[",
            i, "] is ", type, ". Return another kind, or give its type.");
    if (!is_carried && !type.is_tensor())
        fail<type_error>("xloom::infer_loop: a scan output must be a tensor, but the body returned ", type,
            " for output[", i, "]. Carry it instead.");
}

/// Returns what an optional holds; another type as it is.
constexpr partial_type without_optional(partial_type const& type)
{
    return type.kind() == type_kind::optional ? type.inner() : type;
}

/// Returns why a carried value cannot become what the body returned: as for the element type of any output,
/// and also if it becomes another kind than an optional of its kind, or what its optional holds.
constexpr conflict find_carried_conflict(partial_type const& returned, partial_type const& carried)
{
    if (returned.kind() == type_kind::optional && carried.kind() == type_kind::optional)
        return find_carried_conflict(returned.inner(), carried.inner());
    conflict const found = find_propagation_conflict(returned, carried);
    if (found != conflict::none || returned.kind() == carried.kind())
        return found;
    partial_type const after = without_optional(returned), before = without_optional(carried);
    return after.kind() == before.kind() ? find_propagation_conflict(after, before) : conflict::kind;
}

constexpr partial_type carry(std::size_t i, partial_type const& initial, partial_type const& returned)
{
    partial_type const carried = propagate_element_type(initial);
    switch (find_carried_conflict(returned, carried)) {
    case conflict::none:
        return propagate_element_type(returned, carried);
    case conflict::unknown_type:
        fail<type_error>("xloom::infer_loop: the body must return known element types, but output[", i,
            "] is ", returned, ". Give its type.");
    case conflict::kind:
        fail<type_error>("xloom::infer_loop: a carried value must keep its kind, but output[", i,
            "] begins as ", initial, " and the body returned ", returned,
            ". Return the kind that the value begins with.");
    default:
        fail<type_error>("xloom::infer_loop: a carried value must keep its element type, but output[", i,
            "] begins as ", initial, " and the body returned ", returned, ". Cast it back in the body.");
    }
}

/// Returns the type of the iterations' elements stacked along a new first axis of unknown length.
constexpr partial_type stack_iterations(std::size_t i, partial_type const& element)
{
    if (!has_element_type(element))
        fail<type_error>("xloom::infer_loop: the body must return known element types, but output[", i,
            "] is ", element, ". Give its type.");
    check_rank("xloom::infer_loop", "output", element.shape().rank() + 1, i);
    return element.shape().has_rank() ? element.with_shape(insert_axis(element.shape(), 0, unknown))
                                      : element;
}

constexpr void check_loop_results(type_list const& returned, std::size_t output_count)
{
    if (!returned.empty() && returned.size() != output_count + 1)
        fail<type_error>(
            "xloom::infer_loop: the body must return cond and one value for each output, but outputs has ",
            counted{output_count, "type"}, " and the body returned ", returned.size(), ". Return ",
            output_count + 1, ".");
}

/// Returns the types of the outputs by those that the body returned, before they are merged with the declared
/// ones.
XLOOM_LIST_CONSTEXPR type_list loop_outputs(
    type_list const& inputs, type_list const& returned, std::size_t output_count, std::int64_t version)
{
    check_loop_results(returned, output_count);
    std::size_t const carried_count = inputs.size() - loop_leading_inputs;
    type_list inferred(output_count, untyped);
    for (std::size_t i = 0; i < carried_count; ++i)
        inferred[i] = propagate_element_type(inputs[loop_leading_inputs + i]);
    for (std::size_t i = 0; i + 1 < returned.size(); ++i) {
        bool const is_carried = i < carried_count;
        check_body_kind(i, returned[i + 1], is_carried, version);
        inferred[i] = is_carried ? carry(i, inputs[loop_leading_inputs + i], returned[i + 1])
                                 : stack_iterations(i, returned[i + 1]);
    }
    return inferred;
}

} // namespace detail

/// Infers the types of Loop's outputs from those of its inputs (M and cond, both untyped if omitted, then
/// v_initial...) and its body. The body is called with a type_list (iteration, cond, carried...) and returns
/// one (cond, carried..., elements...); if that is empty, what depends on the body stays unknown. `outputs`
/// has one type per output of the node, untyped where none is declared.
///
///     given = [int64, cond] ++ [v without shape for v in v_initial]
///     cond, *finals, *elements = body(given)
///     outputs = [v_initial[i]'s element type] ++ [[?] ++ element for element in elements]
///
/// Shapes    a carried tensor has an unknown rank, before the body and after the loop, even if the body keeps
///           its shape; in a sequence or optional the tensor's initial shape is kept. A scan output is [?] ++
///           the element's shape; M's value is not used.
/// Options   opset (latest_opset).
/// Errors    type_error: a carried value is untyped, changes its kind or element type (an optional may become
///           the sequence that it holds, and any value an optional of its type), or is of a kind that the
///           version does not have; numbers of inputs, of outputs, or of the body's outputs; a scan output
///           that is not a tensor; kind or element type of a declared output. shape_error: rank or dimension
///           of a declared output. option_error: the opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. Numbers of inputs and
///           outputs are checked.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX Loop-1, 11, 13, 16 .. 25. The types of M and cond are not checked; is_allowed checks the
///           others.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const body = [](xloom::type_list const& given) {
///     return xloom::type_list{given[1], given[2], xloom::tensor_type(element::int64, {2})};
/// };
/// xloom::type_list const inputs = {
///     xloom::untyped, xloom::tensor_type(element::bool_, {}), xloom::tensor_type(element::float_, {3})};
/// xloom::infer_loop(inputs, body, {xloom::untyped, xloom::untyped}); // = [float[...], int64[?, 2]]
/// ```
template <class Body>
XLOOM_LIST_CONSTEXPR type_list infer_loop(
    type_list const& inputs, Body&& body, type_list const& outputs, loop_attributes const& attributes = {})
{
    std::int64_t const version = operator_version(onnx_operator::loop, attributes.opset);
    detail::check_loop_counts(inputs.size(), outputs.size());
    type_list const returned = body(detail::loop_body_inputs(inputs, version));
    return detail::merge_types(
        {"infer_loop", "output"}, detail::loop_outputs(inputs, returned, outputs.size(), version), outputs);
}

} // namespace xloom::inline XLOOM_ABI
