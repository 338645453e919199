#include "signatures.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace runner {

namespace {

/// A version of operators that have it in common. Inputs and outputs are a letter each: r (required), o
/// (optional), * (any number), + (one or more); "-" says that the operator has ended. An attribute is a name
/// and what it holds, with ! where it must be given. A version that only adds element types has no row.
struct row {
    char const* operators;
    std::int64_t since;
    char const* inputs;
    char const* outputs;
    char const* attributes;
};

constexpr row table[] = {
    {"Add Sub Mul Div", 1, "rr", "r", "axis:int broadcast:flag consumed_inputs:ints"},
    {"Add Sub Mul Div", 6, "rr", "r", "axis:int broadcast:flag"},
    {"Add Sub Mul Div", 7, "rr", "r", ""},
    {"Mod", 10, "rr", "r", "fmod:flag"},
    {"Pow And Or Xor Less Greater Equal", 1, "rr", "r", "axis:int broadcast:flag"},
    {"Pow And Or Xor Less Greater Equal", 7, "rr", "r", ""},
    {"Neg Abs Sqrt Exp Log Reciprocal Floor Ceil Relu Tanh Sigmoid", 1, "r", "r", "consumed_inputs:ints"},
    {"Neg Abs Sqrt Exp Log Reciprocal Floor Ceil Relu Tanh Sigmoid", 6, "r", "r", ""},
    {"Sign Erf IsNaN", 9, "r", "r", ""},
    {"Round", 11, "r", "r", ""},
    {"Sin Cos", 7, "r", "r", ""},
    {"Max Min Sum Mean", 1, "+", "r", "consumed_inputs:ints"},
    {"Max Min Sum Mean", 6, "+", "r", ""},
    {"Clip", 1, "r", "r", "consumed_inputs:ints max:float min:float"},
    {"Clip", 6, "r", "r", "max:float min:float"},
    {"Clip", 11, "roo", "r", ""},
    {"Softplus Softsign Not Identity Size", 1, "r", "r", ""},
    {"Elu LeakyRelu", 1, "r", "r", "alpha:float consumed_inputs:ints"},
    {"Elu LeakyRelu", 6, "r", "r", "alpha:float"},
    {"ThresholdedRelu", 10, "r", "r", "alpha:float"},
    {"HardSigmoid", 1, "r", "r", "alpha:float beta:float consumed_inputs:ints"},
    {"HardSigmoid", 6, "r", "r", "alpha:float beta:float"},
    {"Selu", 1, "r", "r", "alpha:float consumed_inputs:ints gamma:float"},
    {"Selu", 6, "r", "r", "alpha:float gamma:float"},
    {"LessOrEqual GreaterOrEqual", 12, "rr", "r", ""},
    {"IsInf", 10, "r", "r", "detect_negative:flag detect_positive:flag"},
    {"Where", 9, "rrr", "r", ""},
    {"Cast", 1, "r", "r", "to:string!"},
    {"Cast", 6, "r", "r", "to:element!"},
    {"Cast", 19, "r", "r", "saturate:flag to:element!"},
    {"Cast", 24, "r", "r", "round_mode:string saturate:flag to:element!"},
    {"CastLike", 15, "rr", "r", ""},
    {"CastLike", 19, "rr", "r", "saturate:flag"},
    {"CastLike", 24, "rr", "r", "round_mode:string saturate:flag"},
    {"Constant", 1, "", "r", "value:tensor!"},
    {"Constant", 11, "", "r", "sparse_value:sparse_tensor value:tensor"},
    {"Constant", 12, "", "r",
        "sparse_value:sparse_tensor value:tensor value_float:float value_floats:floats value_int:int "
        "value_ints:ints value_string:string value_strings:strings"},
    {"ConstantOfShape", 9, "r", "r", "value:tensor"},
    {"Range", 11, "rrr", "r", ""},
    {"Range", 27, "rrr", "r", "stash_type:element"},
    {"Shape", 1, "r", "r", ""},
    {"Shape", 15, "r", "r", "end:int start:int"},
    {"Reshape", 1, "r", "r", "consumed_inputs:ints shape:ints"},
    {"Reshape", 5, "rr", "r", ""},
    {"Reshape", 14, "rr", "r", "allowzero:flag"},
    {"Squeeze", 1, "r", "r", "axes:ints"},
    {"Squeeze", 13, "ro", "r", ""},
    {"Unsqueeze", 1, "r", "r", "axes:ints!"},
    {"Unsqueeze", 13, "rr", "r", ""},
    {"Softmax LogSoftmax Flatten", 1, "r", "r", "axis:int"},
    {"Transpose", 1, "r", "r", "perm:ints"},
    {"Expand", 8, "rr", "r", ""},
    {"Tile", 1, "rrr", "r", ""},
    {"Tile", 6, "rr", "r", ""},
    {"Concat", 1, "+", "r", "axis:int"},
    {"Concat", 4, "+", "r", "axis:int!"},
    {"Split", 1, "ro", "+", "axis:int split:ints"},
    {"Split", 2, "r", "+", "axis:int split:ints"},
    {"Split", 13, "ro", "+", "axis:int"},
    {"Split", 18, "ro", "+", "axis:int num_outputs:int"},
    {"Slice", 1, "r", "r", "axes:ints ends:ints! starts:ints!"},
    {"Slice", 10, "rrroo", "r", ""},
    {"Pad", 1, "r", "r", "mode:string paddings:ints! value:float"},
    {"Pad", 2, "r", "r", "mode:string pads:ints! value:float"},
    {"Pad", 11, "rro", "r", "mode:string"},
    {"Pad", 18, "rroo", "r", "mode:string"},
    {"ReverseSequence", 10, "rr", "r", "batch_axis:flag time_axis:flag"},
    {"ReduceSum", 1, "r", "r", "axes:ints keepdims:flag"},
    {"ReduceSum", 13, "ro", "r", "keepdims:flag noop_with_empty_axes:flag"},
    {"ReduceMean ReduceProd ReduceSumSquare ReduceL1 ReduceL2 ReduceMax ReduceMin", 1, "r", "r",
        "axes:ints keepdims:flag"},
    {"ReduceMean ReduceProd ReduceSumSquare ReduceL1 ReduceL2 ReduceMax ReduceMin", 18, "ro", "r",
        "keepdims:flag noop_with_empty_axes:flag"},
    {"ArgMax ArgMin", 1, "r", "r", "axis:int keepdims:flag"},
    {"ArgMax ArgMin", 12, "r", "r", "axis:int keepdims:flag select_last_index:flag"},
    {"CumSum", 11, "rr", "r", "exclusive:flag reverse:flag"},
    {"CumProd", 26, "rr", "r", "exclusive:flag reverse:flag"},
    {"ScatterND", 11, "rrr", "r", ""},
    {"ScatterND", 16, "rrr", "r", "reduction:string"},
    {"GatherND", 11, "rr", "r", ""},
    {"GatherND", 12, "rr", "r", "batch_dims:int"},
    {"com.microsoft.GatherND", 1, "rr", "r", ""},
    {"Gather", 1, "rr", "r", "axis:int"},
    {"GatherElements", 11, "rr", "r", "axis:int"},
    {"ScatterElements", 11, "rrr", "r", "axis:int"},
    {"ScatterElements", 16, "rrr", "r", "axis:int reduction:string"},
    {"Scatter", 9, "rrr", "r", "axis:int"},
    {"Scatter", 11, "-", "-", ""},
    {"MatMul", 1, "rr", "r", ""},
    {"Gemm", 1, "rrr", "r", "alpha:float beta:float broadcast:flag transA:flag transB:flag"},
    {"Gemm", 7, "rrr", "r", "alpha:float beta:float transA:flag transB:flag"},
    {"Gemm", 11, "rro", "r", "alpha:float beta:float transA:flag transB:flag"},
    {"Conv", 1, "rro", "r",
        "auto_pad:string dilations:ints group:int kernel_shape:ints pads:ints strides:ints"},
    {"If", 1, "r", "+", "else_branch:graph! then_branch:graph!"},
    {"Loop", 1, "oo+", "+", "body:graph!"},
    {"Loop", 11, "oo*", "+", "body:graph!"},
    {"Scan", 8, "o+", "+", "body:graph! directions:flags num_scan_inputs:int!"},
    {"Scan", 9, "+", "+",
        "body:graph! num_scan_inputs:int! scan_input_axes:ints scan_input_directions:flags "
        "scan_output_axes:ints scan_output_directions:flags"},
    {"LSTM", 1, "rrrooooo", "ooo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag output_sequence:flag"},
    {"LSTM", 7, "rrrooooo", "ooo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag"},
    {"LSTM", 14, "rrrooooo", "ooo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag layout:flag"},
    {"GRU", 1, "rrrooo", "or",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int output_sequence:flag"},
    {"GRU", 3, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int linear_before_reset:flag output_sequence:flag"},
    {"GRU", 7, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int linear_before_reset:flag"},
    {"GRU", 14, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int layout:flag linear_before_reset:flag"},
    {"RNN", 1, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int output_sequence:flag"},
    {"RNN", 7, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int"},
    {"RNN", 14, "rrrooo", "oo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int layout:flag"},
    {"com.microsoft.AttnLSTM", 1, "rrrooooooooooo", "ooo",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag"},
    {"com.microsoft.DynamicQuantizeLSTM", 1, "rrrooooorrrr", "ooo", // rewrite_quantized.hpp
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag"},
    {"xloom.QuantizedLSTM", 1, "rrrooooo", "ooo", // rewrite_quantized.hpp
        "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string "
        "hidden_size:int input_forget:flag"},
    {"SequenceEmpty", 11, "", "r", "dtype:element"},
    {"SequenceConstruct", 11, "+", "r", ""},
    {"SequenceAt", 11, "rr", "r", ""},
    {"SequenceInsert", 11, "rro", "r", ""},
    {"SequenceErase", 11, "ro", "r", ""},
    {"SequenceLength", 11, "r", "r", ""},
    {"SequenceMap", 17, "r*", "+", "body:graph!"},
    {"ConcatFromSequence", 11, "r", "r", "axis:int! new_axis:flag"},
    {"SplitToSequence", 11, "ro", "r", "axis:int keepdims:flag"},
    {"Optional", 15, "o", "r", "type:type_proto"},
    {"OptionalHasElement", 15, "r", "r", ""},
    {"OptionalHasElement", 18, "o", "r", ""},
    {"OptionalGetElement", 15, "r", "r", ""},
};

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

signature signature_of(row const& from)
{
    if (from.inputs == std::string_view("-"))
        return {.since = from.since, .is_deprecated = true};
    signature result{
        .since = from.since, .inputs = arities_of(from.inputs), .outputs = arities_of(from.outputs)};
    for (std::string_view const each : words_of(from.attributes))
        result.attributes.push_back(attribute_of(each));
    std::ranges::sort(result.attributes, {}, &attribute_rule::name);
    return result;
}

using signature_map = std::unordered_map<std::string, std::vector<signature>>;

signature_map read_table()
{
    signature_map all;
    for (row const& each : table)
        for (std::string_view const name : words_of(each.operators))
            all[std::string(name)].push_back(signature_of(each));
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
    static signature_map const all = read_table();
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
