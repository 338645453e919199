// Conv, ConvTranspose and the pools, along one, two or three axes.

#include <xloom_onnx/conv.hpp>
#include <xloom_onnx/conv_transpose.hpp>
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

/// What Conv, ConvTranspose and the pools share.
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

/// Refuses more than three spatial axes.
void require_few_axes(char const* op, tensor const& x)
{
    if (x.shape().size() > 5)
        throw not_implemented(fmt::format("{} along more than three axes is not implemented", op));
}

struct conv_functions {
    static constexpr char const* name = "Conv";
    using layout = xloom_onnx::detail::conv_layout;
    template <class T>
    using layer = xloom_onnx::packed_conv<T>;

    static xloom_onnx::conv_options options(node_view const& c)
    {
        auto result = window_options<xloom_onnx::conv_options>(c);
        result.group = c.integer("group", 1);
        return result;
    }
    /// Packs for a number of outputs.
    static void suit(xloom_onnx::conv_options& options, std::size_t outputs) { options.outputs = outputs; }
    /// Returns the number of items of the packed weights, padded to whole panels.
    static std::size_t packed_items(tensor const& w, std::int64_t groups)
    {
        constexpr std::size_t panel = 64;
        std::size_t const depth = w.size() / std::max<std::size_t>(w.shape()[0], 1);
        return 2 * w.size() + panel * depth * static_cast<std::size_t>(std::max<std::int64_t>(groups, 1));
    }
    static xloom::dim kernels(typing const& node)
    {
        partial_shape const &x = node.shape_at(0), &w = node.shape_at(1);
        return w.rank() == x.rank() ? w[0] : xloom::unknown;
    }
};

struct conv_transpose_functions {
    static constexpr char const* name = "ConvTranspose";
    using layout = xloom_onnx::detail::conv_transpose_layout;
    template <class T>
    using layer = xloom_onnx::packed_conv_transpose<T>;

    static xloom_onnx::conv_transpose_options options(node_view const& c)
    {
        auto result = window_options<xloom_onnx::conv_transpose_options>(c);
        result.group = c.integer("group", 1);
        result.output_padding = c.integers("output_padding");
        result.output_shape = c.integers("output_shape");
        return result;
    }
    static void suit(xloom_onnx::conv_transpose_options&, std::size_t) {}
    static std::size_t packed_items(tensor const& w, std::int64_t) { return w.size(); }
    static xloom::dim kernels(typing const& node)
    {
        partial_shape const &x = node.shape_at(0), &w = node.shape_at(1);
        return w.rank() == x.rank() ? dim_product({w[1], node.integer("group", 1)}) : xloom::unknown;
    }
};

/// Throws unless all of the operands are of one type, which has products.
void require_conv_types(tensor const& w, tensor const* x, tensor const* b)
{
    with_float(w.type(), []<class T>(std::type_identity<T>) {}); // no others
    if ((x != nullptr && x->type() != w.type()) || (b != nullptr && b->type() != w.type()))
        throw runner_error("X, W and B must be of one type");
}

/// Returns f(layer, memory) for packed weights and their memory, which the budget has to have.
template <class Functions, class Options, class F>
auto with_packed_weights(tensor const& w, tensor const* b, Options const& options, F const& f)
{
    require_conv_types(w, nullptr, b);
    element_type const type = w.type() == element_type::double_ ? w.type() : element_type::float_;
    tensor const weights = convert(w, type), bias = b == nullptr ? tensor() : convert(*b, type);
    return with_type_of<float, double>(type, [&]<class T>(std::type_identity<T>) {
        using layer = typename Functions::template layer<T>;
        auto const room =
            std::make_shared<reservation const>(sizeof(T) * Functions::packed_items(w, options.group));
        if (b == nullptr)
            return f(layer(items_of<T>(weights), options), room);
        return f(layer(items_of<T>(weights), items_of<T>(bias), options), room);
    });
}

template <class Functions, class T>
std::vector<value> convolve(call const& c, typename Functions::template layer<T> const& layer)
{
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    require_conv_types(w, &x, nullptr);
    require_few_axes(Functions::name, x);
    typename Functions::layout const layout(x.shape(), w.shape(), Functions::options(c));
    element_type const type = x.type() == element_type::double_ ? x.type() : element_type::float_;
    tensor const inputs = convert(x, type);
    tensor result = new_tensor(type, layout.result);
    spend_products(layout.products());
    reservation const room(layer.workspace_bytes(x.shape()));
    xloom_onnx::workspace memory;
    layer.run(items_of<T>(inputs), writable_items_of<T>(result), memory, require_time);
    return {convert(result, x.type())};
}

/// The item type of a layer.
template <template <class> class Layer, class T>
std::type_identity<T> item_of_layer(Layer<T> const&);

template <class Functions>
std::vector<value> run_conv(call const& c)
{
    auto options = Functions::options(c);
    tensor const &x = c.tensor_at(0), &w = c.tensor_at(1);
    tensor const* const b = c.has(2) ? &c.tensor_at(2) : nullptr;
    require_conv_types(w, &x, b);
    require_few_axes(Functions::name, x);
    Functions::suit(options, typename Functions::layout(x.shape(), w.shape(), options).outputs());
    return with_packed_weights<Functions>(w, b, options, [&](auto const& layer, auto const&) {
        using T = typename decltype(item_of_layer(layer))::type;
        return convolve<Functions, T>(c, layer);
    });
}

template <class Functions>
types conv_type(typing const& node)
{
    partial_shape const &x = node.shape_at(0), &w = node.shape_at(1);
    if (x.rank() < 2)
        return type_like_first(node, xloom::unknown_rank);
    partial_shape dims = unknown_dims(x.rank());
    dims[0] = x[0];
    dims[1] = Functions::kernels(node);
    auto const known = known_dims(x), kernel = known_dims(w);
    if (known && kernel)
        try {
            return type_like_first(
                node, typename Functions::layout(*known, *kernel, Functions::options(node)).result);
        } catch (std::exception const&) { // the run reports it
        }
    return type_like_first(node, dims);
}

/// Packs weights that are constants once for all runs.
template <class Functions>
run_function prepare_conv(typing const& node)
{
    tensor const *const w = node.constant_at(1), *const b = node.constant_at(2);
    if (w == nullptr || w->shape().empty() || (node.has(2) && b == nullptr))
        return {};
    auto options = Functions::options(node);
    Functions::suit(options, spatial_items(conv_type<Functions>(node)[0].shape()).value_or(0));
    return with_packed_weights<Functions>(
        *w, b, options, [](auto const& layer, auto const& room) -> run_function {
            using T = typename decltype(item_of_layer(layer))::type;
            using layer_type = std::decay_t<decltype(layer)>;
            return [packed = std::make_shared<layer_type const>(layer), room](
                       call const& c) { return convolve<Functions, T>(c, *packed); };
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
    std::size_t const row =
        static_cast<std::size_t>(xloom_onnx::detail::pool_layout(x.shape(), options).axes[2].input);
    reservation const room(sizeof(xloom::kernels::compute_t<T>) * (row + 64));
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

/// Calls f(std::type_identity<T>) for an item type of MaxPool.
template <class F>
void with_ordered(element_type type, F&& f)
{
    with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::uint8_t>(
        type, std::forward<F>(f));
}

std::vector<value> run_max_pool(call const& c)
{
    tensor const& x = c.tensor_at(0);
    with_ordered(x.type(), []<class T>(std::type_identity<T>) {}); // no others
    require_few_axes("MaxPool", x);
    if (item_bytes(x.type()) == 1 && c.opset() < 12)
        throw impossible_type(fmt::format("the element type {} begins with opset 12", name_of(x.type())));
    xloom_onnx::pool_options const options = pool_options_of(c);
    tensor result = new_tensor(x.type(), spend_pool(x.shape(), options));
    tensor indices;
    if (c.wants_output(1))
        indices = new_tensor(element_type::int64, result.shape());
    with_ordered(x.type(), [&]<class T>(std::type_identity<T>) {
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
    with_float(x.type(), []<class T>(std::type_identity<T>) {}); // no others
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
    std::string const conv = windows + "dilations:ints group:int kernel_shape:ints";
    table["Conv"] = {{{1, "rro", "r", conv}}, run_conv<conv_functions>, conv_type<conv_functions>,
        prepare_conv<conv_functions>};
    table["ConvTranspose"] = {{{1, "rro", "r", conv + " output_padding:ints output_shape:ints"}},
        run_conv<conv_transpose_functions>, conv_type<conv_transpose_functions>,
        prepare_conv<conv_transpose_functions>};
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
