#include "signatures.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "operators.hpp"
#include "rewrite_quantized.hpp"

namespace runner {

namespace {

/// The words of a text.
std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::vector<arity> arities_of(std::string_view letters)
{
    std::vector<arity> all;
    for (char const letter : letters)
        all.push_back(letter == 'r'   ? arity::required
                      : letter == 'o' ? arity::optional
                      : letter == '*' ? arity::any_number
                                      : arity::one_or_more);
    return all;
}

constexpr std::array<std::string_view, 13> kind_names{"int", "ints", "float", "floats", "string", "strings",
    "tensor", "sparse_tensor", "type_proto", "graph", "flag", "flags",
    "element"}; // in the order of attribute_kind

/// "axis:int!"
attribute_rule attribute_of(std::string_view text)
{
    bool const is_required = text.ends_with('!');
    text.remove_suffix(is_required ? 1 : 0);
    std::size_t const colon = text.find(':');
    auto const kind = std::find(kind_names.begin(), kind_names.end(), text.substr(colon + 1));
    return {text.substr(0, colon), static_cast<attribute_kind>(kind - kind_names.begin()), is_required};
}

signature signature_of(version const& from)
{
    if (from.inputs == "-")
        return {.since = from.since, .is_deprecated = true};
    signature result{
        .since = from.since, .inputs = arities_of(from.inputs), .outputs = arities_of(from.outputs)};
    for (std::string_view const each : words_of(from.attributes))
        result.attributes.push_back(attribute_of(each));
    std::ranges::sort(result.attributes, {}, &attribute_rule::name);
    return result;
}

using signature_map = std::unordered_map<std::string, std::vector<signature>>;

/// Reads all tables, which are never destroyed before the signatures: these refer to the texts of attributes.
signature_map read_tables()
{
    signature_map all;
    auto const read = [&](std::string const& name, version_list const& listed) {
        for (version const& each : listed)
            all[name].push_back(signature_of(each));
    };
    for (auto const& [name, operation] : all_operators())
        read(name, operation.signatures);
    read("com.microsoft.DynamicQuantizeLSTM", quantized_versions());
    return all;
}

} // namespace

onnx::AttributeProto::AttributeType attribute_type_of(attribute_kind kind)
{
    using attribute = onnx::AttributeProto;
    switch (kind) {
    case attribute_kind::ints:
    case attribute_kind::flags:
        return attribute::INTS;
    case attribute_kind::float_:
        return attribute::FLOAT;
    case attribute_kind::floats:
        return attribute::FLOATS;
    case attribute_kind::string:
        return attribute::STRING;
    case attribute_kind::strings:
        return attribute::STRINGS;
    case attribute_kind::tensor:
        return attribute::TENSOR;
    case attribute_kind::sparse_tensor:
        return attribute::SPARSE_TENSOR;
    case attribute_kind::type_proto:
        return attribute::TYPE_PROTO;
    case attribute_kind::graph:
        return attribute::GRAPH;
    default:
        return attribute::INT;
    }
}

attribute_rule const* signature::find(std::string_view attribute) const
{
    auto const found = std::ranges::find(attributes, attribute, &attribute_rule::name);
    return found == attributes.end() ? nullptr : &*found;
}

std::vector<signature> const& signatures_of(std::string const& name)
{
    static signature_map const all = read_tables();
    static std::vector<signature> const none;
    auto const found = all.find(name);
    return found == all.end() ? none : found->second;
}

signature const* find_signature(std::string const& name, std::int64_t opset)
{
    signature const* found = nullptr;
    for (signature const& each : signatures_of(name))
        if (each.since <= opset)
            found = &each;
    return found;
}

} // namespace runner
