#pragma once
// The signatures of ONNX's operators: inputs, outputs and attributes, version by version.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

namespace runner {

/// The arity of an input or output.
enum class arity { required, optional, any_number, one_or_more };

/// The type of an attribute's value.
enum class attribute_kind {
    int_,
    ints,
    float_,
    floats,
    string,
    strings,
    tensor,
    sparse_tensor,
    type_proto,
    graph,
    flag,    ///< 0 or 1
    flags,   ///< a list of these
    element, ///< the number of an element type
};

onnx::AttributeProto::AttributeType attribute_type_of(attribute_kind kind);

struct attribute_rule {
    std::string_view name;
    attribute_kind kind;
    bool is_required;
};

/// An operator from an opset on, until its next version.
struct signature {
    std::int64_t since = 1;
    bool is_deprecated = false; ///< the operator has ended
    std::vector<arity> inputs{}, outputs{};
    std::vector<attribute_rule> attributes{}; ///< sorted by name

    attribute_rule const* find(std::string_view attribute) const;
};

/// A version of an operator as text, from the opset `since` on. Inputs and outputs are a letter each: r
/// (required), o (optional), * (any number), + (one or more); "-" says that the operator has ended. An
/// attribute is a name and what it holds, with ! where it must be given: "axis:int! keepdims:flag". A version
/// that only adds element types is not listed.
struct version {
    std::int64_t since;
    std::string_view inputs, outputs;
    std::string attributes;
};
/// The versions of an operator, oldest first.
using version_list = std::vector<version>;

/// Returns all versions of an operator, "Add" or "com.microsoft.AttnLSTM", oldest first; empty if there is no
/// such operator.
std::vector<signature> const& signatures_of(std::string const& name);

/// Returns the version in an opset; null if the operator is newer, or there is none.
signature const* find_signature(std::string const& name, std::int64_t opset);

} // namespace runner
