// Sequences and optionals.

#include <algorithm>

#include <xloom/infer/merge.hpp>
#include <xloom_onnx/sequence.hpp>

#include "axis.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

/// A position among `count`; one past the end where `end_counts`.
std::size_t position_of(call const& node, std::size_t input, std::size_t count, bool end_counts)
{
    std::vector<std::int64_t> const given = node.integers_at(input);
    if (given.size() != 1)
        throw runner_error("its position must be one number");
    return xloom_onnx::sequence_position(given[0], count, end_counts);
}

std::size_t last_position(std::size_t count)
{
    if (count == 0)
        throw runner_error("nothing can be taken out of an empty sequence");
    return count - 1;
}

// A sequence is a vector of values, as the outputs are: value(...) says which of them is meant, since
// compilers differ on {...}.

std::vector<value> sequence_empty(call const&) { return {value(sequence())}; }

types sequence_empty_type(typing const& node)
{
    auto const element =
        static_cast<element_type>(node.integer("dtype", static_cast<std::int64_t>(element_type::float_)));
    return {sequence_of(xloom::tensor_type(element))};
}

std::vector<value> sequence_construct(call const& node)
{
    sequence result;
    for (std::size_t i = 0; i < node.input_count(); ++i)
        result.push_back(
            node.tensor_at(i)); // of sequences, twice as many each time, a few nodes could make any number
    return {value(result)};
}

types sequence_construct_type(typing const& node)
{
    partial_type element = node.at(0);
    for (std::size_t i = 1; i < node.input_count(); ++i)
        element = element.with_shape(xloom::union_shape(element.shape(), node.shape_at(i)));
    return {sequence_of(element)};
}

bool is_sequence(partial_type const& type) { return type.kind() == xloom::type_kind::sequence; }

std::vector<value> sequence_at(call const& node)
{
    sequence const& all = node.at(0).as_sequence();
    return {all[position_of(node, 1, all.size(), false)]};
}

types sequence_at_type(typing const& node)
{
    return is_sequence(node.at(0)) ? types{node.at(0).inner()} : types{};
}

std::vector<value> sequence_insert(call const& node)
{
    tensor const added = node.tensor_at(1);
    std::size_t const count = node.at(0).as_sequence().size(),
                      position = node.has(2) ? position_of(node, 2, count, true) : count;
    sequence result = node.own_sequence_at(0);
    result.insert(position, added);
    return {value(result)};
}

types sequence_insert_type(typing const& node)
{
    if (!is_sequence(node.at(0)))
        return {};
    return {node.at(0).with_shape(xloom::union_shape(node.shape_at(0), node.shape_at(1)))};
}

std::vector<value> sequence_erase(call const& node)
{
    std::size_t const count = node.at(0).as_sequence().size(),
                      position = node.has(1) ? position_of(node, 1, count, false) : last_position(count);
    sequence result = node.own_sequence_at(0);
    result.erase(position);
    return {value(result)};
}

std::vector<value> sequence_length(call const& node)
{
    return {tensor::scalar(static_cast<std::int64_t>(node.at(0).as_sequence().size()))};
}

/// The body runs on the i-th elements of the sequences, and on tensors as they are.
std::vector<value> sequence_map(call const& node)
{
    graph const& body = node.body("body");
    std::size_t const length = node.at(0).as_sequence().size();
    for (std::size_t k = 0; k < node.input_count(); ++k)
        if (node.at(k).is_sequence() && node.at(k).as_sequence().size() != length)
            throw runner_error("all sequences must be equally long");
    std::vector<sequence> results(node.output_count());
    for (std::size_t i = 0; i < length; ++i) {
        std::vector<value> arguments;
        for (std::size_t k = 0; k < node.input_count(); ++k) {
            value const& input = node.at(k);
            arguments.push_back(input.is_sequence() ? input.as_sequence()[i] : input);
        }
        std::vector<value> outputs = body.run(arguments, &node.around());
        for (std::size_t k = 0; k < results.size(); ++k)
            results[k].push_back(outputs[k].as_tensor());
    }
    return {results.begin(), results.end()};
}

types sequence_map_type(typing const& node)
{
    types given = node.inputs();
    for (partial_type& each : given)
        if (is_sequence(each))
            each = each.inner();
    types results;
    for (partial_type const& each : node.body_types("body", given))
        results.push_back(sequence_of(each));
    if (results.size() < node.output_count())
        throw runner_error(
            fmt::format("its body gives {} outputs, but {} are named", results.size(), node.output_count()));
    return results;
}

std::vector<tensor> tensors_of(sequence const& all)
{
    std::vector<tensor> result;
    for (value const& each : all)
        result.push_back(each.as_tensor());
    if (result.empty())
        throw runner_error("the sequence is empty, so the shape of its items is unknown");
    return result;
}

std::vector<value> concat_from_sequence(call const& node)
{
    std::vector<tensor> parts = tensors_of(node.at(0).as_sequence());
    std::int64_t const axis = node.integer("axis", 0);
    if (node.integer("new_axis", 0) != 0) {
        std::size_t const at = axis_of(axis, parts[0].shape().size() + 1);
        for (tensor& part : parts) {
            if (at > part.shape().size())
                throw runner_error("the tensors of the sequence must have one rank");
            part = part.reshaped(xloom::insert_axis(part.shape(), at, 1));
        }
    }
    return {concatenated(parts, axis)};
}

types concat_from_sequence_type(typing const& node)
{
    if (!is_sequence(node.at(0)))
        return {};
    partial_shape dims = node.shape_at(0);
    if (!dims.has_rank())
        return {node.at(0).inner()};
    bool const is_new = node.integer("new_axis", 0) != 0;
    std::size_t const axis = axis_of(node.integer("axis", 0), dims.rank() + (is_new ? 1 : 0));
    if (!is_new)
        dims.erase(axis);
    dims.insert(axis, xloom::unknown);
    return type_like_first(node, dims);
}

/// The lengths of the parts: one number for all but a shorter last, or a list; without any, 1.
std::vector<std::int64_t> lengths_of_sequence(call const& node, std::size_t whole)
{
    if (node.has(1) && !node.tensor_at(1).shape().empty())
        return node.integers_at(1);
    std::int64_t const most = node.has(1) ? node.integers_at(1)[0] : 1,
                       length = static_cast<std::int64_t>(whole);
    if (most <= 0)
        throw runner_error(fmt::format("the length of a part must be positive, but it is {}", most));
    auto const count = static_cast<std::size_t>(length / most + (length % most != 0 ? 1 : 0));
    reservation const enough(count * sizeof(tensor));
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = length; left > 0; left -= most)
        lengths.push_back(std::min(most, left));
    return lengths;
}

std::vector<value> split_to_sequence(call const& node)
{
    tensor const& x = node.tensor_at(0);
    std::size_t const axis = axis_of(node.integer("axis", 0), x.shape().size());
    bool const keeps_axis = node.has(1) || node.integer("keepdims", 1) != 0;
    sequence parts;
    for (tensor const& part : split_along(x, axis, lengths_of_sequence(node, x.shape()[axis])))
        parts.push_back(keeps_axis ? part : part.reshaped(xloom::drop_axis(part.shape(), axis)));
    return {value(parts)};
}

types split_to_sequence_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank()) {
        std::size_t const axis = axis_of(node.integer("axis", 0), dims.rank());
        dims.erase(axis);
        if (node.has(1) || node.integer("keepdims", 1) != 0)
            dims.insert(axis, xloom::unknown);
    }
    return {sequence_of(node.at(0).with_shape(dims))};
}

value empty_optional() { return value::optional_value(); }

std::vector<value> optional(call const& node)
{
    if (!node.has(0))
        return {empty_optional()};
    if (node.at(0).is_optional())
        throw runner_error("an optional holds a tensor or a sequence, but this one an optional");
    return {value::optional_value{std::make_shared<value const>(node.at(0))}};
}

types optional_type(typing const& node)
{
    auto const* const found = node.find("type", onnx::AttributeProto::TYPE_PROTO);
    return {optional_of(node.has(0) || found == nullptr ? node.at(0) : type_of(found->tp()))};
}

std::vector<value> optional_has_element(call const& node)
{
    bool const has_element =
        node.has(0) && (!node.at(0).is_optional() || node.at(0).as_optional().held != nullptr);
    return {tensor::scalar(has_element)};
}

std::vector<value> optional_get_element(call const& node)
{
    value const& input = node.at(0);
    if (!input.is_optional())
        return {input};
    if (input.as_optional().held == nullptr)
        throw runner_error("an empty optional has no element");
    return {*input.as_optional().held};
}

types optional_get_element_type(typing const& node)
{
    bool const is_optional = node.at(0).kind() == xloom::type_kind::optional;
    return {is_optional ? node.at(0).inner() : node.at(0)};
}

} // namespace

void add_sequence_operators(operator_table& table)
{
    table["SequenceEmpty"] = {{{11, "", "r", "dtype:element"}}, sequence_empty, sequence_empty_type};
    table["SequenceConstruct"] = {{{11, "+", "r", ""}}, sequence_construct, sequence_construct_type};
    table["SequenceAt"] = {{{11, "rr", "r", ""}}, sequence_at, sequence_at_type};
    table["SequenceInsert"] = {{{11, "rro", "r", ""}}, sequence_insert, sequence_insert_type};
    table["SequenceErase"] = {{{11, "ro", "r", ""}}, sequence_erase, same_type};
    table["SequenceLength"] = {{{11, "r", "r", ""}}, sequence_length, count_type};
    table["SequenceMap"] = {{{17, "r*", "+", "body:graph!"}}, sequence_map, sequence_map_type};
    table["ConcatFromSequence"] = {
        {{11, "r", "r", "axis:int! new_axis:flag"}}, concat_from_sequence, concat_from_sequence_type};
    table["SplitToSequence"] = {
        {{11, "ro", "r", "axis:int keepdims:flag"}}, split_to_sequence, split_to_sequence_type};
    table["Optional"] = {{{15, "o", "r", "type:type_proto"}}, optional, optional_type};
    table["OptionalHasElement"] = {{{15, "r", "r", ""}, {18, "o", "r", ""}}, optional_has_element, flag_type};
    table["OptionalGetElement"] = {{{15, "r", "r", ""}}, optional_get_element, optional_get_element_type};
}

} // namespace runner
