// Conv, along one, two or three axes.

#include <xloom_onnx/conv.hpp>

#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

xloom_onnx::conv_options options_of(node_view const& c)
{
    xloom_onnx::conv_options options{.strides = c.integers("strides"),
        .dilations = c.integers("dilations"),
        .pads = c.integers("pads"),
        .group = c.integer("group", 1),
        .kernel_shape = c.integers("kernel_shape")};
    std::string const pad = c.text("auto_pad", "NOTSET");
    if (pad == "VALID")
        options.auto_pad = xloom_onnx::auto_pad::valid;
    else if (pad == "SAME_UPPER")
        options.auto_pad = xloom_onnx::auto_pad::same_upper;
    else if (pad == "SAME_LOWER")
        options.auto_pad = xloom_onnx::auto_pad::same_lower;
    else if (pad != "NOTSET")
        throw runner_error("its auto_pad is " + in_quotes(pad));
    return options;
}

std::vector<value> run_conv(call const& c)
{
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    if (x.shape().size() > 5)
        throw not_implemented("Conv along more than three axes is not implemented");
    xloom_onnx::conv_options const options = options_of(c);
    xloom_onnx::detail::conv_layout const layout(x.shape(), w.shape(), options);
    with_float(x.type(), []<class T>(std::type_identity<T>) {}); // no others
    element_type const type = x.type() == element_type::double_ ? x.type() : element_type::float_;
    if (w.type() != x.type() || (c.has(2) && c.tensor_at(2).type() != x.type()))
        throw runner_error("X, W and B must be of one type");
    tensor const inputs = convert(x, type), weights = convert(w, type);
    tensor const bias = c.has(2) ? convert(c.tensor_at(2), type) : tensor();
    tensor result = new_tensor(type, layout.result);
    spend_products(static_cast<double>(result.size()) * static_cast<double>(layout.channels) *
                   static_cast<double>(layout.kernel_items()));
    with_type_of<float, double>(type, [&]<class T>(std::type_identity<T>) {
        // The weights are packed and padded to whole panels.
        reservation const room(sizeof(T) * (layout.workspace_items() + 2 * weights.size() +
                                               64 * layout.depth() * layout.groups));
        std::optional<xloom_onnx::tensor_view<T const>> added;
        if (c.has(2))
            added = items_of<T>(bias);
        xloom_onnx::workspace memory;
        auto const to = writable_items_of<T>(result);
        xloom_onnx::detail::conv_into<T>(items_of<T>(inputs), items_of<T>(weights), added ? &*added : nullptr,
            to, options, memory, require_time);
    });
    return {convert(result, x.type())};
}

types conv_type(typing const& node)
{
    partial_shape const &x = node.shape_at(0), &w = node.shape_at(1);
    if (x.rank() < 2)
        return type_like_first(node, xloom::unknown_rank);
    partial_shape dims = unknown_dims(x.rank());
    dims[0] = x[0];
    dims[1] = w.rank() == x.rank() ? w[0] : xloom::unknown;
    auto const known = known_dims(x), kernel = known_dims(w);
    if (known && kernel)
        try {
            return type_like_first(node, xloom_onnx::conv_shape(*known, *kernel, options_of(node)));
        } catch (std::exception const&) { // the run reports it
        }
    return type_like_first(node, dims);
}

} // namespace

void add_convolution_operators(operator_table& table)
{
    table["Conv"] = {{{1, "rro", "r",
                         "auto_pad:string dilations:ints group:int kernel_shape:ints pads:ints "
                         "strides:ints"}},
        run_conv, conv_type};
}

} // namespace runner
