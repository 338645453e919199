#include "fixed_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "byte_order.hpp"
#include "inference.hpp"
#include "text.hpp"
#include "types.hpp"
#include "unused_names.hpp"

namespace compiler {

namespace {

using runner::in_quotes;
using runner::runner_error;

/// The type of a tensor that is an input of the graph.
onnx::TypeProto& tensor_input(onnx::GraphProto& graph, std::string const& name)
{
    auto& inputs = *graph.mutable_input();
    auto const found =
        std::find_if(inputs.begin(), inputs.end(), [&](auto const& each) { return each.name() == name; });
    if (found == inputs.end() || !found->type().has_tensor_type())
        throw runner_error("the model has no tensor as its input " + in_quotes(name));
    return *found->mutable_type();
}

std::vector<std::string_view> split(std::string_view text)
{
    std::vector<std::string_view> parts;
    for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
        parts.push_back(text.substr(0, comma));
        text.remove_prefix(comma + 1);
    }
    parts.push_back(text);
    return parts;
}

/// The number that a whole text is.
template <class T>
T number_of(std::string_view text)
{
    if constexpr (std::is_same_v<T, bool>) {
        if (text == "true" || text == "1")
            return true;
        if (text == "false" || text == "0")
            return false;
    } else if constexpr (std::is_arithmetic_v<T>) {
        T number{};
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc() && end == text.data() + text.size())
            return number;
    } else {
        return static_cast<T>(number_of<double>(text));
    }
    throw runner_error(fmt::format("{} is no {}", in_quotes(text), name_of(xloom::element_type_of<T>)));
}

xloom::shape shape_of_items(xloom::partial_shape const& declared, std::size_t count)
{
    if (!declared.has_rank())
        return count == 1 ? xloom::shape{} : xloom::shape{count};
    xloom::shape dims;
    std::size_t known = 1, unknown = declared.rank();
    for (xloom::dim const& each : declared) {
        if (!each.has_value() && unknown != declared.rank())
            throw runner_error(
                fmt::format("its shape {} has several unknown dimensions; fix them with --shape", declared));
        if (!each.has_value())
            unknown = dims.size();
        dims.push_back(each.has_value() ? static_cast<std::size_t>(each.value()) : 1);
        known *= dims.back();
    }
    if (unknown != declared.rank() && known != 0 && count % known == 0)
        dims[unknown] = count / known;
    if (xloom::element_count(dims) != count)
        throw runner_error(fmt::format("its shape {} does not have {} items", declared, count));
    return dims;
}

template <class F>
void with_item_type(xloom::element_type type, F&& f)
{
    if (type == xloom::element_type::bool_)
        f(std::type_identity<bool>());
    else
        runner::with_number(type, f);
}

onnx::TensorProto tensor_of(xloom::partial_type const& declared, std::string const& items)
{
    std::vector<std::string_view> const parts = split(items);
    onnx::TensorProto made;
    made.set_data_type(static_cast<std::int32_t>(declared.element()));
    for (std::size_t const dim : shape_of_items(declared.shape(), parts.size()))
        made.add_dims(static_cast<std::int64_t>(dim));
    std::string& bytes = *made.mutable_raw_data();
    with_item_type(declared.element(), [&]<class T>(std::type_identity<T>) {
        for (std::string_view const part : parts) {
            T const item = number_of<T>(part);
            bytes.resize(bytes.size() + sizeof(T));
            runner::copy_in_order<T>(std::endian::little, reinterpret_cast<char const*>(&item), 1,
                bytes.data() + bytes.size() - sizeof(T));
        }
    });
    return made;
}

} // namespace

onnx::ModelProto with_fixed_defaults(onnx::ModelProto model, std::map<std::string, std::string> const& values)
{
    std::unordered_set<std::string> replaced, constants;
    for (auto const& each : values)
        replaced.insert(each.first);
    runner::erase_names(*model.mutable_graph()->mutable_initializer(), replaced);
    for (auto const& each : model.graph().initializer())
        constants.insert(each.name());
    runner::erase_names(*model.mutable_graph()->mutable_input(), constants);
    return model;
}

onnx::ModelProto with_shapes(
    onnx::ModelProto model, std::map<std::string, std::vector<std::int64_t>> const& shapes)
{
    for (auto const& [name, dims] : shapes) {
        auto& shape = *tensor_input(*model.mutable_graph(), name).mutable_tensor_type()->mutable_shape();
        shape.clear_dim();
        for (std::int64_t const dim : dims)
            shape.add_dim()->set_dim_value(dim);
    }
    return model;
}

onnx::ModelProto with_values(onnx::ModelProto model, std::map<std::string, std::string> const& values)
{
    auto& graph = *model.mutable_graph();
    std::unordered_set<std::string> fixed;
    for (auto const& [name, items] : values) {
        onnx::TypeProto const& type = tensor_input(graph, name);
        try {
            onnx::TensorProto made = tensor_of(runner::type_of(type), items);
            made.set_name(name);
            *graph.add_initializer() = std::move(made);
        } catch (std::exception const& error) {
            throw runner_error("the value of the input " + in_quotes(name) + ": " + error.what());
        }
        fixed.insert(name);
    }
    runner::erase_names(*graph.mutable_input(), fixed);
    return model;
}

} // namespace compiler
