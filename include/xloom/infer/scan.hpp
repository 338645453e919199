#pragma once
// ONNX's type and shape inference of Scan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of Scan that the inference reads; std::nullopt is an absent attribute. Directions are not
/// checked.
struct scan_attributes {
    std::int64_t opset = latest_opset;
    std::optional<std::int64_t> num_scan_inputs{};
    std::optional<axes> scan_input_axes{};
    std::optional<axes> scan_output_axes{};
};

namespace detail {

/// The division of a node's inputs into sequence_lens (Scan-8), states and scan inputs, and of its outputs
/// into states and scan outputs.
struct scan_layout {
    std::size_t leading_inputs;
    std::size_t states;
    std::size_t scan_inputs;
    std::size_t scan_outputs;

    constexpr std::size_t first_scan_input() const noexcept { return leading_inputs + states; }
};

constexpr std::size_t count_scan_inputs(
    std::optional<std::int64_t> const& num_scan_inputs, std::size_t available)
{
    if (!num_scan_inputs)
        fail<option_error>(
            "xloom::infer_scan: num_scan_inputs is required, but it is absent. Give the number "
            "of scan inputs.");
    if (*num_scan_inputs < 0)
        fail<option_error>("xloom::infer_scan: num_scan_inputs must not be negative, but num_scan_inputs is ",
            *num_scan_inputs, ". Give the number of scan inputs.");
    if (static_cast<std::uint64_t>(*num_scan_inputs) > available)
        fail<option_error>("xloom::infer_scan: num_scan_inputs must not exceed the number of states and scan "
                           "inputs, but num_scan_inputs is ",
            *num_scan_inputs, " and there are ", available, ". Count only the scan inputs.");
    return static_cast<std::size_t>(*num_scan_inputs);
}

constexpr scan_layout divide_scan(
    std::size_t input_count, std::size_t output_count, scan_attributes const& attributes, bool is_batched)
{
    std::size_t const leading = is_batched ? 1 : 0;
    std::size_t const scan_inputs =
        count_scan_inputs(attributes.num_scan_inputs, input_count < leading ? 0 : input_count - leading);
    if (input_count < leading)
        fail<type_error>(
            "xloom::infer_scan: the inputs of Scan-8 must begin with sequence_lens, but there are none. "
            "Give it, untyped if it is omitted.");
    std::size_t const states = input_count - leading - scan_inputs;
    if (states > output_count)
        fail<type_error>("xloom::infer_scan: every state must have an output, but there are ",
            counted{states, "loop state variable"}, " (inputs less num_scan_inputs) and ",
            counted{output_count, "output"}, ". Give an output for each.");
    return {leading, states, scan_inputs, output_count - states};
}

constexpr void check_axis_count(
    std::string_view attribute, std::optional<axes> const& given, std::size_t count, std::string_view operand)
{
    if (given && given->given() > given->capacity())
        fail<option_error>("xloom::infer_scan: ", attribute, " may have at most ", given->capacity(),
            " axes (max_operands), but it has ", given->given(), ". Omit the attribute for axis 0.");
    if (given && given->size() != count)
        fail<option_error>("xloom::infer_scan: ", attribute, " must hold one axis for each, but it holds ",
            given->size(), ": ", *given, ", for ", counted{count, operand}, ". Give ", count,
            ", or omit the attribute.");
}

/// Returns axis `i` of an attribute, counted from the front; axis 0 if the attribute is absent.
constexpr std::size_t scan_axis(
    std::string_view attribute, std::optional<axes> const& given, std::size_t i, std::size_t rank)
{
    std::int64_t const axis = given ? (*given)[i] : 0;
    if (!is_axis(axis, rank))
        fail<shape_error>("xloom::infer_scan: an axis must be in [-r, r-1] for rank r, but ", attribute, "[",
            i, "] is ", axis, " and the rank is ", rank, ". Name an axis that exists.");
    return wrap_axis(axis, rank);
}

constexpr void check_tensors(type_list const& inputs, std::size_t first)
{
    for (std::size_t i = first; i < inputs.size(); ++i)
        if (!inputs[i].is_tensor())
            fail<type_error>("xloom::infer_scan: states and scan inputs must be tensors, but input[", i,
                "] is ", inputs[i], ". Give a tensor, with its type.");
}

/// Merges the values that the scan inputs have for a common dimension.
XLOOM_LIST_CONSTEXPR dim merge_shared(std::string_view name, std::vector<dim> const& dims)
{
    dim shared = unknown;
    for (dim const& d : dims) {
        if (find_conflict(d, shared) != conflict::none)
            fail<shape_error>("xloom::infer_scan: all scan inputs must agree on the ", name,
                ", but theirs are ", dims, ". Give inputs of one length.");
        shared = merge_dim(d, shared);
    }
    return shared;
}

/// The types of the body's inputs, and the batch size and sequence length of the scan inputs.
struct scan_elements {
    type_list body_inputs;
    dim batch_size{};
    dim length{};
};

/// Returns the body's inputs of Scan-9 and later: without the axis of scan_input_axes, which is the sequence.
XLOOM_LIST_CONSTEXPR scan_elements take_unbatched_elements(
    type_list const& inputs, scan_layout const& layout, std::optional<axes> const& scan_input_axes)
{
    scan_elements taken{inputs};
    std::vector<dim> lengths;
    for (std::size_t k = 0; k < layout.scan_inputs; ++k) {
        partial_type& type = taken.body_inputs[layout.states + k];
        if (!type.shape().has_rank())
            continue;
        std::size_t const axis = scan_axis("scan_input_axes", scan_input_axes, k, type.shape().rank());
        lengths.push_back(type.shape()[axis]);
        type = type.with_shape(drop_axis(type.shape(), axis));
    }
    taken.length = merge_shared("sequence length", lengths);
    return taken;
}

constexpr partial_type drop_leading(partial_type const& type, std::size_t count)
{
    partial_shape dims = type.shape();
    for (std::size_t k = 0; k < count && dims.rank() > 0; ++k)
        dims.erase(0);
    return type.with_shape(dims);
}

constexpr void check_batch_size(type_list const& inputs, scan_layout const& layout, dim const& batch_size)
{
    for (std::size_t i = 0; i < layout.states; ++i) {
        partial_shape const& state = inputs[layout.leading_inputs + i].shape();
        if (state.rank() > 0 && find_conflict(state[0], batch_size) != conflict::none)
            fail<shape_error>(
                "xloom::infer_scan: a state must have the batch size of the scan inputs, but state[", i,
                "] is ", state, " and their batch size is ", batch_size,
                ". Give a state of that batch size.");
    }
}

/// Returns the body's inputs of Scan-8: without axis 0, the batch, and without axis 1 of scan inputs, the
/// sequence. Neither size is read from a scan input of scalar elements.
XLOOM_LIST_CONSTEXPR scan_elements take_batched_elements(type_list const& inputs, scan_layout const& layout)
{
    scan_elements taken;
    std::vector<dim> batch_sizes, lengths;
    for (std::size_t i = layout.leading_inputs; i < inputs.size(); ++i) {
        bool const is_state = i < layout.first_scan_input();
        taken.body_inputs.push_back(drop_leading(inputs[i], is_state ? 1 : 2));
        if (!is_state && inputs[i].shape().rank() > 2) {
            batch_sizes.push_back(inputs[i].shape()[0]);
            lengths.push_back(inputs[i].shape()[1]);
        }
    }
    taken.batch_size = merge_shared("batch size", batch_sizes);
    taken.length = merge_shared("sequence length", lengths);
    check_batch_size(inputs, layout, taken.batch_size);
    return taken;
}

XLOOM_LIST_CONSTEXPR scan_elements take_elements(type_list const& inputs, scan_layout const& layout,
    bool is_batched, std::optional<axes> const& scan_input_axes)
{
    if (is_batched)
        return take_batched_elements(inputs, layout);
    return take_unbatched_elements(inputs, layout, scan_input_axes);
}

/// Returns the type of a state's output: the initial type, its shape merged with that of the body's result.
constexpr partial_type keep_state(std::size_t i, partial_type const& initial, partial_shape const& result)
{
    if (find_conflict(result, initial.shape()) != conflict::none)
        fail<shape_error>("xloom::infer_scan: a state must keep its shape, but state[", i, "] is ",
            initial.shape(), " and the body makes it ", result,
            ". Return a state shaped like the initial one.");
    return initial.with_shape(merge_shape(result, initial.shape()));
}

constexpr partial_shape with_leading(partial_shape dims, dim const& leading)
{
    if (dims.has_rank())
        dims.insert(0, leading);
    return dims;
}

constexpr void check_body_outputs(type_list const& returned, std::size_t output_count)
{
    if (returned.size() != output_count)
        fail<type_error>(
            "xloom::infer_scan: the body must return one value for each output, but outputs has ",
            counted{output_count, "type"}, " and the body returned ", returned.size(), ". Return ",
            output_count, ".");
    for (std::size_t i = 0; i < returned.size(); ++i)
        if (!returned[i].is_tensor())
            fail<type_error>("xloom::infer_scan: the body must return tensors, but output[", i, "] is ",
                returned[i], ". Return a tensor.");
}

/// Returns the shape of stacked elements.
constexpr partial_shape stack_elements(partial_shape const& element, std::size_t output, std::size_t k,
    std::optional<axes> const& scan_output_axes, bool is_batched, scan_elements const& taken)
{
    if (!element.has_rank())
        return element;
    check_rank("xloom::infer_scan", "output", element.rank() + (is_batched ? 2 : 1), output);
    if (is_batched)
        return with_leading(with_leading(element, taken.length), taken.batch_size);
    return insert_axis(
        element, scan_axis("scan_output_axes", scan_output_axes, k, element.rank() + 1), taken.length);
}

/// Returns the types of the outputs before the body is called: those of the initial states for states,
/// untyped for scan outputs.
XLOOM_LIST_CONSTEXPR type_list initial_outputs(type_list const& inputs, scan_layout const& layout)
{
    type_list outputs(layout.states + layout.scan_outputs, untyped);
    for (std::size_t i = 0; i < layout.states; ++i) {
        outputs[i] = inputs[layout.leading_inputs + i];
        if (!has_element_type(outputs[i]))
            fail<type_error>("xloom::infer_scan: a state must have a known element type, but state[", i,
                "] is ", outputs[i], ". Give its element type.");
    }
    return outputs;
}

/// Returns the types of the outputs by those that the body returned, before they are merged with the declared
/// ones.
XLOOM_LIST_CONSTEXPR type_list scan_outputs(type_list inferred, type_list const& returned,
    scan_layout const& layout, scan_elements const& taken, bool is_batched,
    std::optional<axes> const& scan_output_axes)
{
    if (!returned.empty())
        check_body_outputs(returned, inferred.size());
    for (std::size_t i = 0; i < returned.size(); ++i) {
        partial_shape const& result = returned[i].shape();
        if (i < layout.states && is_batched)
            check_rank("xloom::infer_scan", "output", result.rank() + 1, i);
        inferred[i] =
            i < layout.states
                ? keep_state(i, inferred[i], is_batched ? with_leading(result, taken.batch_size) : result)
                : returned[i].with_shape(
                      stack_elements(result, i, i - layout.states, scan_output_axes, is_batched, taken));
    }
    return inferred;
}

} // namespace detail

/// Infers the types of Scan's outputs from those of its inputs (states..., scan inputs...; Scan-8:
/// sequence_lens, untyped if omitted, before them) and its body. The body is called with a type_list
/// (states..., elements...) and returns one (states..., elements...); if that is empty, what depends on the
/// body stays unknown. `outputs` has one type per output of the node, untyped where none is declared.
///
///     given = states ++ [x without axis scan_input_axes[k] for k, x in enumerate(scan_inputs)]
///     T = all x.shape[scan_input_axes[k]], merged
///     *finals, *elements = body(given)
///     outputs = [finals[i] merged into states[i]] ++
///               [e with T inserted at scan_output_axes[k] for k, e in enumerate(elements)]
///
/// Shapes    a state keeps its shape. A scan output is the element's shape with T as a new axis; axes may be
///           negative, and refer to the rank with T. T is not read from a scan input of unknown rank. Scan-8:
///           state [N, ...], scan input and scan output [N, T, ...]; the body's elements have neither N nor
///           T. N and T are read only from scan inputs of rank 3 and more; a shape of a lower rank gives a
///           scalar.
/// Options   opset (latest_opset).  num_scan_inputs: required.  scan_input_axes, scan_output_axes (axis 0 for
///           all): not read by Scan-8.
/// Errors    shape_error: an axis that a tensor does not have; lengths or batch sizes that differ; a state
///           that changes its shape; an output over max_rank; rank or dimension of a declared output.
///           type_error: more states than outputs, no sequence_lens, the body's number of outputs; an input
///           or body output that is not a tensor; an undefined element type of a state; kind or element type
///           of a declared output. option_error: the opset; num_scan_inputs; numbers of axes.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. In Scan-8, too, there
///           must be an output for each state. The states of Scan-8 must have the scan inputs' batch size,
///           even if the body returns no shapes for them.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX Scan-8, 9, 11, 16 .. 25. A body may change a state's element type: the initial one is kept.
/// Example
/// ```cpp
/// auto const body = [](xloom::type_list const& given) { return xloom::type_list{given[0], given[1]}; };
/// using element = xloom::element_type;
/// xloom::type_list const inputs = {
///     xloom::tensor_type(element::float_, {3}), xloom::tensor_type(element::float_, {"T", 2})};
/// xloom::infer_scan(inputs, body, {xloom::untyped, xloom::untyped},
///     {.num_scan_inputs = 1}); // = [float[3], float[T, 2]]
/// ```
template <class Body>
XLOOM_LIST_CONSTEXPR type_list infer_scan(
    type_list const& inputs, Body&& body, type_list const& outputs, scan_attributes const& attributes)
{
    bool const is_batched = operator_version(onnx_operator::scan, attributes.opset) == 8;
    detail::scan_layout const layout =
        detail::divide_scan(inputs.size(), outputs.size(), attributes, is_batched);
    if (!is_batched) {
        detail::check_axis_count(
            "scan_input_axes", attributes.scan_input_axes, layout.scan_inputs, "scan input");
        detail::check_axis_count(
            "scan_output_axes", attributes.scan_output_axes, layout.scan_outputs, "scan output");
    }
    detail::check_tensors(inputs, layout.leading_inputs);
    type_list inferred = detail::initial_outputs(inputs, layout);
    detail::scan_elements const taken =
        detail::take_elements(inputs, layout, is_batched, attributes.scan_input_axes);
    type_list const returned = body(taken.body_inputs);
    inferred = detail::scan_outputs(
        std::move(inferred), returned, layout, taken, is_batched, attributes.scan_output_axes);
    return detail::merge_types({"infer_scan", "output"}, inferred, outputs);
}

} // namespace xloom::inline XLOOM_ABI
