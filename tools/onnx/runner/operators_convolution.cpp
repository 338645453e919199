// Conv and the pools, along one, two or three axes.

#include <xloom_onnx/conv.hpp>
#include <xloom_onnx/pool.hpp>

#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// What Conv and the pools share.
template <class Options>
Options window_options(node_view const& c)
{
    Options options{.strides = c.integers("strides"),
        .dilations = c.integers("dilations"),
        .pads = c.integers("pads"),
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

xloom_onnx::conv_options conv_options_of(node_view const& c)
{
    auto options = window_options<xloom_onnx::conv_options>(c);
    options.group = c.integer("group", 1);
    return options;
}

/// Refuses more than three spatial axes.
void require_few_axes(char const* op, tensor const& x)
{
    if (x.shape().size() > 5)
        throw not_implemented(fmt::format("{} along more than three axes is not implemented", op));
}

/// Throws unless all of a Conv's operands are of one type, which has products.
void require_conv_types(tensor const& w, tensor const* x, tensor const* b)
{
    with_float(w.type(), []<class T>(std::type_identity<T>) {}); // no others
    if ((x != nullptr && x->type() != w.type()) || (b != nullptr && b->type() != w.type()))
        throw runner_error("X, W and B must be of one type");
}

/// Returns f(layer) for the packed weights of a Conv and their memory, which the budget has to have.
template <class F>
auto with_packed_conv(tensor const& w, tensor const* b, xloom_onnx::conv_options const& options, F const& f)
{
    require_conv_types(w, nullptr, b);
    element_type const type = w.type() == element_type::double_ ? w.type() : element_type::float_;
    tensor const weights = convert(w, type), bias = b == nullptr ? tensor() : convert(*b, type);
    return with_type_of<float, double>(type, [&]<class T>(std::type_identity<T>) {
        // They are padded to whole panels.
        constexpr std::size_t panel = 64;
        std::size_t const kernels = std::max<std::size_t>(w.shape()[0], 1),
                          groups = static_cast<std::size_t>(std::max<std::int64_t>(options.group, 1));
        auto const room = std::make_shared<reservation const>(
            sizeof(T) * (2 * w.size() + panel * groups * (w.size() / kernels)));
        if (b == nullptr)
            return f(xloom_onnx::packed_conv<T>(items_of<T>(weights), options), room);
        return f(xloom_onnx::packed_conv<T>(items_of<T>(weights), items_of<T>(bias), options), room);
    });
}

template <class T>
std::vector<value> convolve(call const& c, xloom_onnx::packed_conv<T> const& layer)
{
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    require_conv_types(w, &x, nullptr);
    require_few_axes("Conv", x);
    xloom_onnx::detail::conv_layout const layout(x.shape(), w.shape(), conv_options_of(c));
    element_type const type = x.type() == element_type::double_ ? x.type() : element_type::float_;
    tensor const inputs = convert(x, type);
    tensor result = new_tensor(type, layout.result);
    spend_products(static_cast<double>(result.size()) * static_cast<double>(layout.depth()));
    reservation const room(layer.workspace_bytes(x.shape()));
    xloom_onnx::workspace memory;
    layer.run(items_of<T>(inputs), writable_items_of<T>(result), memory, require_time);
    return {convert(result, x.type())};
}

std::vector<value> run_conv(call const& c)
{
    xloom_onnx::conv_options options = conv_options_of(c);
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    require_few_axes("Conv", x);
    options.outputs = xloom_onnx::detail::conv_layout(x.shape(), w.shape(), options).outputs();
    tensor const* const b = c.has(2) ? &c.tensor_at(2) : nullptr;
    return with_packed_conv(
        w, b, options, [&](auto const& layer, auto const&) { return convolve(c, layer); });
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
            return type_like_first(node, xloom_onnx::conv_shape(*known, *kernel, conv_options_of(node)));
        } catch (std::exception const&) { // the run reports it
        }
    return type_like_first(node, dims);
}

/// Packs weights that are constants once for all runs.
run_function prepare_conv(typing const& node)
{
    tensor const *const w = node.constant_at(1), *const b = node.constant_at(2);
    if (w == nullptr || (node.has(2) && b == nullptr))
        return {};
    xloom_onnx::conv_options options = conv_options_of(node);
    options.outputs = spatial_items(conv_type(node)[0].shape()).value_or(0);
    return with_packed_conv(*w, b, options, [](auto const& layer, auto const& room) -> run_function {
        return [layer = std::make_shared<std::decay_t<decltype(layer)> const>(layer), room](
                   call const& c) { return convolve(c, *layer); };
    });
}

xloom_onnx::pool_options pool_options_of(node_view const& c)
{
    auto options = window_options<xloom_onnx::pool_options>(c);
    options.ceil_mode = c.integer("ceil_mode", 0) != 0;
    options.count_include_pad = c.integer("count_include_pad", 0) != 0;
    options.column_major = c.integer("storage_order", 0) != 0;
    return options;
}

/// Runs a pool on an input of one type.
template <class Fold, class T>
void run_pool(tensor const& x, tensor& result, xloom_onnx::pool_options const& options)
{
    reservation const room(sizeof(T) * (x.shape().back() + 64)); // a row
    xloom_onnx::workspace memory;
    auto const to = writable_items_of<T>(result);
    xloom_onnx::detail::pool_into<Fold>(items_of<T>(x), to, options, memory, require_time);
}

/// Returns the shape of a pool's output, whose cost is spent.
xloom::shape spend_pool(xloom::shape const& x, xloom_onnx::pool_options const& options)
{
    xloom_onnx::detail::pool_layout const layout(x, options);
    spend_products(static_cast<double>(xloom::element_count(layout.result)) * layout.window_items());
    return layout.result;
}

std::vector<value> run_max_pool(call const& c)
{
    tensor const& x = c.tensor_at(0);
    require_few_axes("MaxPool", x);
    if (item_bytes(x.type()) == 1 && c.opset() < 12)
        throw impossible_type(fmt::format("the element type {} begins with opset 12", name_of(x.type())));
    xloom_onnx::pool_options const options = pool_options_of(c);
    tensor result = new_tensor(x.type(), spend_pool(x.shape(), options));
    tensor indices;
    if (c.wants_output(1))
        indices = new_tensor(element_type::int64, result.shape());
    with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::uint8_t>(
        x.type(), [&]<class T>(std::type_identity<T>) {
            if (!c.wants_output(1))
                return run_pool<xloom_onnx::detail::window_max, T>(x, result, options);
            auto const to = writable_items_of<T>(result);
            auto const at = writable_items_of<std::int64_t>(indices);
            xloom_onnx::detail::max_pool_with_indices_into(items_of<T>(x), to, at, options, require_time);
        });
    if (c.wants_output(1))
        return {result, indices};
    return {result};
}

std::vector<value> run_average_pool(call const& c)
{
    tensor const& x = c.tensor_at(0);
    require_few_axes("AveragePool", x);
    xloom_onnx::pool_options const options = pool_options_of(c);
    tensor result = new_tensor(x.type(), spend_pool(x.shape(), options));
    with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        run_pool<xloom_onnx::detail::window_mean, T>(x, result, options);
    });
    return {result};
}

/// Returns a dimension of a pool's output.
xloom::dim pooled(xloom::dim const& x, xloom_onnx::pool_options const& options, std::size_t axis)
{
    if (!x.has_value() || x.value() < 0)
        return xloom::unknown;
    std::size_t const count = options.kernel_shape.size();
    auto const numbers_of = [&](xloom_onnx::integers const& all) {
        xloom_onnx::integers own;
        for (std::size_t i = axis; i < all.size(); i += count)
            own.push_back(all[i]);
        return own;
    };
    xloom_onnx::pool_options own = options;
    for (auto const member : {&xloom_onnx::pool_options::strides, &xloom_onnx::pool_options::dilations,
             &xloom_onnx::pool_options::pads, &xloom_onnx::pool_options::kernel_shape})
        own.*member = numbers_of(options.*member);
    try {
        return static_cast<std::int64_t>(
            xloom_onnx::pool_shape({1, 1, static_cast<std::size_t>(x.value())}, own)[2]);
    } catch (xloom::error const&) { // the run reports it
        return xloom::unknown;
    }
}

types pool_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    xloom_onnx::pool_options const options = pool_options_of(node);
    for (std::size_t a = 2; a < dims.rank(); ++a)
        dims[a] =
            dims.rank() == 2 + options.kernel_shape.size() ? pooled(dims[a], options, a - 2) : xloom::unknown;
    types result = type_like_first(node, dims);
    if (node.wants_output(1))
        result.push_back(xloom::tensor_type(element_type::int64, dims));
    return result;
}

template <auto const& F>
std::vector<value> run_global_pool(call const& c)
{
    tensor const& x = c.tensor_at(0);
    xloom::shape dims = x.shape();
    std::fill(dims.begin() + std::min<std::size_t>(2, dims.size()), dims.end(), 1);
    tensor result = new_tensor(x.type(), dims);
    with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        xloom_onnx::detail::global_pool_into(F, items_of<T>(x), writable_items_of<T>(result));
    });
    return {result};
}

types global_pool_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    for (std::size_t a = 2; a < dims.rank(); ++a)
        dims[a] = 1;
    return type_like_first(node, dims);
}

} // namespace

void add_convolution_operators(operator_table& table)
{
    std::string const windows = "auto_pad:string pads:ints strides:ints ";
    table["Conv"] = {{{1, "rro", "r", windows + "dilations:ints group:int kernel_shape:ints"}}, run_conv,
        conv_type, prepare_conv};
    std::string const pool = windows + "kernel_shape:ints! ";
    table["MaxPool"] = {{{1, "r", "r", pool}, {8, "r", "ro", pool + "storage_order:flag"},
                            {10, "r", "ro", pool + "ceil_mode:flag dilations:ints storage_order:flag"}},
        run_max_pool, pool_type};
    table["AveragePool"] = {
        {{1, "r", "r", pool}, {7, "r", "r", pool + "count_include_pad:flag"},
            {10, "r", "r", pool + "ceil_mode:flag count_include_pad:flag"},
            {19, "r", "r", pool + "ceil_mode:flag count_include_pad:flag dilations:ints"}},
        run_average_pool, pool_type};
    table["GlobalMaxPool"] = {{{1, "r", "r", ""}}, run_global_pool<xloom_onnx::reduce_max>, global_pool_type};
    table["GlobalAveragePool"] = {
        {{1, "r", "r", ""}}, run_global_pool<xloom_onnx::reduce_mean>, global_pool_type};
}

} // namespace runner
