#pragma once
// The weights of lstm, gru and rnn from JSON files, as tools/from_torch.py writes them of PyTorch's modules
// (Debian: nlohmann-json3-dev).

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/recurrent/gru_weights.hpp>
#include <xloom/detail/recurrent/lstm_weights.hpp>
#include <xloom/detail/recurrent/rnn_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// A file that cannot be read, or has not what it must have. It is no incorrect call, so it does not derive
/// from `error`.
class file_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

using nlohmann::json;

/// Reports that the value at a place of a file, "xloom::read_lstm: weights.json: layers[0].W", breaks a rule.
template <class... Parts>
[[noreturn]] void fail_json(std::string const& place, Parts const&... parts)
{
    fail<file_error>(place, " must be ", parts..., ". Write the file with tools/from_torch.py.");
}

/// Returns the object that a file holds. `place` is the file in errors.
inline json read_json(std::string const& path, std::string const& place)
{
    std::ifstream file(path, std::ios::binary);
    if (file.peek() == std::ifstream::traits_type::eof())
        fail<file_error>(
            place, " must be a file with text, but is empty or cannot be read. Correct the path.");
    json root = json::parse(file, nullptr, /*allow_exceptions*/ false);
    if (!root.is_object())
        fail_json(place, "a JSON object, but is ", root.is_discarded() ? "no JSON" : root.type_name());
    return root;
}

/// Returns a member of an object; null if there is none.
inline json const& member(json const& object, char const* name)
{
    static json const null;
    auto const at = object.find(name);
    return at == object.end() ? null : *at;
}

/// Returns a list; null if it is omitted.
inline json const& read_list(json const& object, char const* name, std::string const& place)
{
    json const& list = member(object, name);
    if (!list.is_null() && !list.is_array())
        fail_json(concat(place, ": ", name), "a list, but is ", list.type_name());
    return list;
}

/// Returns an integer; 0 if it is omitted.
inline std::int64_t read_integer(json const& object, char const* name, std::string const& place)
{
    constexpr auto most = static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)());
    json const& value = member(object, name);
    if (!value.is_null() && !value.is_number_integer())
        fail_json(concat(place, ": ", name), "an integer, but is ", value.type_name());
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > most)
        fail_json(concat(place, ": ", name), "at most ", most, ", but is ", value.get<std::uint64_t>());
    return value.is_null() ? 0 : value.get<std::int64_t>();
}

/// A tensor of a file: its shape, and its items in row-major order. Without a shape it is omitted.
template <class Item>
struct json_tensor {
    shape dims{};
    std::vector<Item> items{};

    tensor_ref<Item const> ref() const
    {
        return dims.empty() ? tensor_ref<Item const>() : tensor_ref<Item const>(items.data(), dims);
    }
};

/// Returns number i of a list.
template <class Item>
Item read_number(json const& list, std::size_t i, std::string const& place)
{
    using limits = std::numeric_limits<Item>;
    constexpr double most = (limits::max)(), half_step = limits::epsilon() / (limits::min)();
    if (!list[i].is_number())
        fail_json(concat(place, "[", i, "]"), "a number, but is ", list[i].type_name());
    auto const number = list[i].get<double>();
    if (std::abs(number) - most >= half_step) // it rounds to infinity
        fail_json(concat(place, "[", i, "]"), "at most ", std::to_string(most), " in magnitude, but is ",
            std::to_string(number));
    return static_cast<Item>(number);
}

/// Appends the numbers of nested lists, as many as the rank. At each depth the first list has the dimension.
template <class Item>
void append_items(
    json const& list, std::string const& place, std::size_t rank, std::size_t depth, json_tensor<Item>& to)
{
    if (!list.is_array())
        fail_json(place, "a list, but is ", list.type_name());
    if (depth == to.dims.size())
        to.dims.push_back(list.size());
    if (list.size() != to.dims[depth])
        fail_json(place, "a list of ", to.dims[depth], ", as those before it, but is one of ", list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        if (depth + 1 == rank)
            to.items.push_back(read_number<Item>(list, i, place));
        else
            append_items(list[i], concat(place, "[", i, "]"), rank, depth + 1, to);
}

template <class Item>
json_tensor<Item> read_tensor(json const& layer, char const* name, std::size_t rank, std::string const& place)
{
    json_tensor<Item> tensor;
    append_items(member(layer, name), concat(place, ".", name), rank, 0, tensor);
    return tensor;
}

/// Refuses members that are not read from an object: without them the network is another one.
inline void check_absent(json const& object, std::initializer_list<char const*> names,
    std::string const& place, std::string_view remedy)
{
    for (char const* const name : names)
        if (!member(object, name).is_null())
            fail<file_error>(place, " must have no ", name, ", which is ", remedy);
}

/// Refuses attributes and inputs of ONNX that this reader has no use for.
inline void check_unread(json const& object, std::string const& place)
{
    check_absent(object,
        {"direction", "clip", "input_forget", "activation_alpha", "activation_beta", "P", "initial_h",
            "initial_c", "sequence_lens"},
        place, "not read. Construct such weights from constants and options.");
}

/// Returns the options of a layer in D directions. Their names refer to the file.
template <class Options>
Options read_options(json const& root, std::string const& file, std::size_t D)
{
    Options options;
    options.direction = D == 2 ? direction::bidirectional : direction::forward;
    options.layout = read_integer(root, "layout", file);
    if (!member(root, "hidden_size").is_null())
        options.hidden_size = read_integer(root, "hidden_size", file);
    if constexpr (requires { options.linear_before_reset; })
        options.linear_before_reset = read_integer(root, "linear_before_reset", file) != 0;
    for (json const& name : read_list(root, "activations", file)) {
        if (!name.is_string())
            fail_json(concat(file, ": activations"), "a list of names, but one is ", name.type_name());
        options.activations.push_back(name.get_ref<std::string const&>());
    }
    return options;
}

/// Returns the weights of all layers of a file.
template <class Family, class Item, class... Packing>
std::vector<recurrent_weights<Family, Item>> read_layers(
    std::string_view op, std::string_view op_type, std::string const& path, Packing const&... packing)
{
    std::string const file = concat(op, ": ", path);
    json const root = read_json(path, file);
    if (json const& name = member(root, "op_type"); name != op_type)
        fail_json(concat(file, ": op_type"), op_type, ", but is ",
            name.is_string() ? name.get_ref<std::string const&>() : name.type_name());
    check_unread(root, file);
    check_absent(root, {"W", "R", "B", "projection"}, file, "of one layer. Move it into layers.");
    std::vector<recurrent_weights<Family, Item>> layers;
    for (json const& layer : read_list(root, "layers", file)) {
        std::string const place = concat(file, ": layers[", layers.size(), "]");
        check_unread(layer, place);
        check_absent(layer, {"layout", "hidden_size", "activations", "linear_before_reset"}, place,
            "of all layers. Move it out of layers.");
        auto const W = read_tensor<Item>(layer, "W", 3, place), R = read_tensor<Item>(layer, "R", 3, place),
                   B = member(layer, "B").is_null() ? json_tensor<Item>()
                                                    : read_tensor<Item>(layer, "B", 2, place);
        auto const options = read_options<typename Family::options>(root, file, W.dims[0]);
        typename Family::template constants<Item> constants{.W = W.ref(), .R = R.ref(), .B = B.ref()};
        json_tensor<Item> projection;
        if constexpr (requires { constants.projection; }) {
            if (!member(layer, "projection").is_null()) {
                projection = read_tensor<Item>(layer, "projection", 3, place);
                constants.projection = projection.ref();
            }
        } else {
            check_absent(layer, {"projection"}, place, "of an LSTM alone. Remove it.");
        }
        Family::check_constants(place, constants, options); // whose errors have the place
        layers.emplace_back(constants, options, packing...);
    }
    if (layers.empty())
        fail_json(concat(file, ": layers"), "a list of at least one layer, but is empty");
    return layers;
}

} // namespace detail

/// Returns the weights of an LSTM from a JSON file, layer by layer, for calls and cells.
///
///     {"op_type": "LSTM", "layers": [{"W": .., "R": .., "B": ..}, ..], "layout": 0, "activations": [..]}
///
/// W, R and B are nested lists of numbers in the shapes that lstm takes, and so is a "projection", which a
/// layer may have. B may be omitted, and so may the attributes of all layers, ONNX's: layout, activations,
/// hidden_size. Two directions are bidirectional, one is forward. ONNX's other attributes and inputs are an
/// error, and so is a member of a layer outside layers, or of all layers inside; further ones are ignored.
///
/// Types     float, double. After the path the arguments of lstm_weights may follow that say how weights are
///           packed: a weight_storage, for_training.
/// Errors    file_error: the file cannot be read, or is not such an object. shape_error, option_error: as
///           lstm_weights. The texts about shapes and attributes have the path and the layer.
/// Cost      the file as a nlohmann::json, 16 bytes for each number.
/// Example   docs/from_torch.md
template <std::floating_point Item = float, class... Packing>
std::vector<lstm_weights<Item>> read_lstm(std::string const& path, Packing const&... packing)
{
    return detail::read_layers<detail::lstm_family, Item>("xloom::read_lstm", "LSTM", path, packing...);
}

/// Returns the weights of a GRU, as read_lstm: "op_type": "GRU", and "linear_before_reset": 1 for PyTorch's.
template <std::floating_point Item = float, class... Packing>
std::vector<gru_weights<Item>> read_gru(std::string const& path, Packing const&... packing)
{
    return detail::read_layers<detail::gru_family, Item>("xloom::read_gru", "GRU", path, packing...);
}

/// Returns the weights of an RNN, as read_lstm: "op_type": "RNN".
template <std::floating_point Item = float, class... Packing>
std::vector<rnn_weights<Item>> read_rnn(std::string const& path, Packing const&... packing)
{
    return detail::read_layers<detail::rnn_family, Item>("xloom::read_rnn", "RNN", path, packing...);
}

} // namespace xloom::inline XLOOM_ABI
