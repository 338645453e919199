// Reshape, Squeeze, Unsqueeze, Flatten and Slice: views of the same items, copies where that is not possible.

#include <algorithm>

#include <xloom_onnx/slice.hpp>

#include "call.hpp"

namespace compiler {

namespace {

/// An operator that has two functions: one that returns a view, which takes its rank, and one that copies.
struct functions {
    char const* view;
    char const* copy_header;
    char const* copy;
    bool has_output_last; ///< of the copy's arguments; else the output follows the first operand
};

/// True if the output can be a view: it has no storage yet, and its items are in that of a tensor.
bool can_be_view(node const& each)
{
    variable const &x = each.input(0), &y = each.output();
    return y.code.empty() && !x.is_scalar() && !y.is_scalar() && x.type.element() != element_type::string;
}

/// Writes a call with these arguments after the first operand.
void emit_view_or_copy(emission& out, node& each, functions const& names,
    std::vector<std::string> const& arguments,
    std::vector<std::pair<std::string, std::string>> const& options, bool is_view)
{
    call c = is_view ? call(out, each, "model/reshaped",
                           fmt::format("{}<{}>", names.view, each.output().type.shape().rank()))
                     : call(out, each, names.copy_header, names.copy);
    c.operand(0);
    if (!is_view && !names.has_output_last)
        c.output();
    for (std::string const& argument : arguments)
        c.text(argument);
    if (!is_view && names.has_output_last)
        c.output();
    for (auto const& [name, value] : options)
        c.option(name, value);
    if (is_view)
        out.define_view(each.output(), &each.input(0), c.expression());
    else
        c.emit();
}

void reshape(emission& out, node& each)
{
    auto const view = each.view();
    std::vector<std::pair<std::string, std::string>> options;
    if (view.integer("allowzero", 0) != 0)
        options.emplace_back("allowzero", "true");
    emit_view_or_copy(out, each, {"reshaped", "reshape", "reshape_into", true},
        {each.opset() < 5 ? list_of(view.integers("shape")) : integers_in(out, each, 1)}, options,
        can_be_view(each));
}

/// Squeeze and Unsqueeze: axes are an attribute before opset 13.
void with_axes(emission& out, node& each, functions const& names)
{
    std::vector<std::string> arguments;
    if (each.opset() >= 13 && each.has(1))
        arguments.push_back(integers_in(out, each, 1));
    else if (each.opset() < 13 && each.view().has_attribute("axes"))
        arguments.push_back(list_of(each.view().integers("axes")));
    emit_view_or_copy(out, each, names, arguments, {}, can_be_view(each));
}

void squeeze(emission& out, node& each)
{
    with_axes(out, each, {"squeezed", "reshape", "squeeze_into", true});
}

void unsqueeze(emission& out, node& each)
{
    with_axes(out, each, {"unsqueezed", "reshape", "unsqueeze_into", true});
}

void flatten(emission& out, node& each)
{
    std::vector<std::string> arguments;
    if (std::int64_t const axis = each.view().integer("axis", 1); axis != 1)
        arguments.push_back(number_literal(axis));
    emit_view_or_copy(
        out, each, {"flattened", "reshape", "flatten_into", false}, arguments, {}, can_be_view(each));
}

/// The lists of a Slice, which are attributes before opset 10: as C++, and as numbers where they are
/// constants.
struct slice_lists {
    slice_lists(emission& out, node& each)
    {
        auto const view = each.view();
        std::size_t i = 1;
        for (char const* const name : {"starts", "ends", "axes", "steps"}) {
            auto& numbers = constants.emplace_back();
            if (each.opset() >= 10 && each.has(i)) {
                code.emplace_back(name, integers_in(out, each, i));
                numbers = each.input(i).integers();
            } else if (each.opset() < 10 && view.has_attribute(name)) {
                numbers = view.integers(name);
                code.emplace_back(name, list_of(*numbers));
            } else {
                numbers.emplace(); // omitted
            }
            // An empty list of axes or steps is not the same as an omitted one.
            bool const may_be_empty =
                !code.empty() && code.back().first == name && (!numbers || numbers->empty());
            if (may_be_empty && numbers && constants[0] && !constants[0]->empty())
                throw runner::runner_error(
                    fmt::format("starts has {} items, but {} has none", constants[0]->size(), name));
            if (may_be_empty && i >= 3)
                code.emplace_back(fmt::format("has_{}", name), "true");
            ++i;
        }
    }

    std::vector<std::pair<std::string, std::string>> code{};
    std::vector<std::optional<std::vector<std::int64_t>>> constants{};
};

/// True if one axis is sliced, with step 1, and those before it have the length 1.
bool is_leading_slice(xloom::partial_shape const& x, slice_lists const& lists)
{
    auto const &axes = lists.constants[2], &steps = lists.constants[3];
    if (!axes || axes->size() != 1 || !steps ||
        std::any_of(steps->begin(), steps->end(), [](std::int64_t step) { return step != 1; }))
        return false;
    auto const axis = static_cast<std::ptrdiff_t>(xloom::wrap_axis(axes->front(), x.rank()));
    return std::all_of(x.begin(), x.begin() + axis, [](xloom::dim const& d) { return d == 1; });
}

/// True if the items of a slice, which the compiler knows, are neighbours.
bool is_contiguous(partial_type const& x, slice_lists const& lists)
{
    auto const dims = static_shape(x);
    if (!dims || !xloom::has_strides(*dims) ||
        !std::all_of(lists.constants.begin(), lists.constants.end(),
            [](auto const& numbers) { return numbers.has_value(); }))
        return false;
    auto const& numbers = lists.constants;
    xloom_onnx::slice_layout const slice = xloom_onnx::layout_of_slice(
        *dims, {.starts = *numbers[0], .ends = *numbers[1], .axes = *numbers[2], .steps = *numbers[3]});
    xloom::strides const neighbours = xloom::row_major_strides(slice.dims);
    for (std::size_t a = 0; a < slice.dims.size(); ++a)
        if (slice.dims[a] > 1 && slice.strides[a] != neighbours[a])
            return false;
    return true;
}

void slice(emission& out, node& each)
{
    partial_type const& x = each.input(0).type;
    slice_lists const lists(out, each);
    bool const is_view = can_be_view(each) && (is_leading_slice(x.shape(), lists) || is_contiguous(x, lists));
    emit_view_or_copy(out, each, {"sliced", "slice", "slice_into", false}, {}, lists.code, is_view);
}

} // namespace

void add_view_emitters(emitter_table& table)
{
    table["Reshape"] = reshape;
    table["Squeeze"] = squeeze;
    table["Unsqueeze"] = unsqueeze;
    table["Flatten"] = flatten;
    table["Slice"] = slice;
}

} // namespace compiler
