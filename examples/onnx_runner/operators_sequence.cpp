// Sequences and optionals.

#include <algorithm>

#include "axis.hpp"
#include "moves.hpp"
#include "operators.hpp"

namespace runner {

namespace {

using values = std::vector<value>;

/// A position among `count`; one past the end where `end_counts`.
std::size_t position_of(call const& node, std::size_t input, std::size_t count, bool end_counts)
{
    std::vector<std::int64_t> const given = node.integers_at(input);
    if (given.size() != 1)
        throw runner_error("its position must be one number");
    auto const length = static_cast<std::int64_t>(count);
    std::int64_t const position = given[0] < 0 ? given[0] + length : given[0];
    if (position < 0 || position >= length + (end_counts ? 1 : 0))
        throw runner_error(xloom::detail::concat("its position is ", given[0], " in a sequence of ", count));
    return static_cast<std::size_t>(position);
}

std::size_t last_position(std::size_t count)
{
    if (count == 0)
        throw runner_error("nothing can be taken out of an empty sequence");
    return count - 1;
}

// A sequence is a vector of values, as the outputs are: value(...) says which of them is meant, since compilers differ on {...}.

values sequence_empty(call const&) { return {value(sequence())}; }

values sequence_construct(call const& node)
{
    sequence result;
    for (std::size_t i = 0; i < node.input_count(); ++i)
        result.push_back(node.at(i));
    return {value(result)};
}

values sequence_at(call const& node)
{
    sequence const& all = node.at(0).as_sequence();
    return {all[position_of(node, 1, all.size(), false)]};
}

values sequence_insert(call const& node)
{
    sequence all = node.at(0).as_sequence();
    std::size_t const position = node.has(2) ? position_of(node, 2, all.size(), true) : all.size();
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(position), node.at(1));
    return {value(all)};
}

values sequence_erase(call const& node)
{
    sequence all = node.at(0).as_sequence();
    std::size_t const position = node.has(1) ? position_of(node, 1, all.size(), false) : last_position(all.size());
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(position));
    return {value(all)};
}

values sequence_length(call const& node) { return {tensor::scalar(static_cast<std::int64_t>(node.at(0).as_sequence().size()))}; }

/// The body runs on the i-th elements of the sequences, and on tensors as they are.
values sequence_map(call const& node)
{
    graph const& body = node.body("body");
    std::size_t const length = node.at(0).as_sequence().size();
    std::vector<sequence> results(node.output_count());
    for (std::size_t i = 0; i < length; ++i) {
        values arguments;
        for (std::size_t k = 0; k < node.input_count(); ++k) {
            value const& input = node.at(k);
            if (input.is_sequence() && input.as_sequence().size() != length)
                throw runner_error("all sequences must be equally long");
            arguments.push_back(input.is_sequence() ? input.as_sequence()[i] : input);
        }
        values outputs = body.run(arguments, &node.around());
        for (std::size_t k = 0; k < std::min(outputs.size(), results.size()); ++k)
            results[k].push_back(std::move(outputs[k]));
    }
    return {results.begin(), results.end()};
}

std::vector<tensor> tensors_of(sequence const& all)
{
    std::vector<tensor> tensors;
    for (value const& each : all)
        tensors.push_back(each.as_tensor());
    if (tensors.empty())
        throw runner_error("an empty sequence tells no shape");
    return tensors;
}

values concat_from_sequence(call const& node)
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

/// The lengths of the parts: one number for all but a shorter last, or a list; without any, 1.
std::vector<std::int64_t> part_lengths(call const& node, std::size_t whole)
{
    if (node.has(1) && !node.tensor_at(1).shape().empty())
        return node.integers_at(1);
    std::int64_t const most = node.has(1) ? node.integers_at(1)[0] : 1;
    if (most <= 0)
        throw runner_error(xloom::detail::concat("the length of a part must be positive, but it is ", most));
    std::vector<std::int64_t> lengths;
    for (auto left = static_cast<std::int64_t>(whole); left > 0; left -= most)
        lengths.push_back(std::min(most, left));
    return lengths;
}

values split_to_sequence(call const& node)
{
    tensor const& x = node.tensor_at(0);
    std::size_t const axis = axis_of(node.integer("axis", 0), x.shape().size());
    bool const keeps_axis = node.has(1) || node.integer("keepdims", 1) != 0;
    sequence parts;
    for (tensor const& part : split_along(x, axis, part_lengths(node, x.shape()[axis])))
        parts.emplace_back(keeps_axis ? part : part.reshaped(xloom::drop_axis(part.shape(), axis)));
    return {value(parts)};
}

value empty_optional() { return value::optional_value(); }

values optional(call const& node)
{
    if (!node.has(0))
        return {empty_optional()};
    return {value::optional_value{std::make_shared<value const>(node.at(0))}};
}

values optional_has_element(call const& node)
{
    bool const has_element = node.has(0) && (!node.at(0).is_optional() || node.at(0).as_optional().held != nullptr);
    return {tensor::scalar(has_element)};
}

values optional_get_element(call const& node)
{
    value const& input = node.at(0);
    if (!input.is_optional())
        return {input};
    if (input.as_optional().held == nullptr)
        throw runner_error("an empty optional has no element");
    return {*input.as_optional().held};
}

} // namespace

void add_sequence_operators(operator_table& table)
{
    table["SequenceEmpty"] = sequence_empty;
    table["SequenceConstruct"] = sequence_construct;
    table["SequenceAt"] = sequence_at;
    table["SequenceInsert"] = sequence_insert;
    table["SequenceErase"] = sequence_erase;
    table["SequenceLength"] = sequence_length;
    table["SequenceMap"] = sequence_map;
    table["ConcatFromSequence"] = concat_from_sequence;
    table["SplitToSequence"] = split_to_sequence;
    table["Optional"] = optional;
    table["OptionalHasElement"] = optional_has_element;
    table["OptionalGetElement"] = optional_get_element;
}

} // namespace runner
