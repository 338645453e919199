// The table of signatures, beside the schemas of Debian's ONNX, as far as these go.

#include <string>

#include <doctest/doctest.h>
#include <onnx/defs/schema.h>

#include "operators.hpp"
#include "signatures.hpp"

namespace {

using namespace runner;
using onnx::OpSchema;

char letter_of(OpSchema::FormalParameter const& formal)
{
    switch (formal.GetOption()) {
    case OpSchema::Single:
        return 'r';
    case OpSchema::Optional:
        return 'o';
    default:
        return formal.GetMinArity() == 0 ? '*' : '+';
    }
}

char letter_of(arity formal)
{
    return formal == arity::required     ? 'r'
           : formal == arity::optional   ? 'o'
           : formal == arity::any_number ? '*'
                                         : '+';
}

template <class Formals>
std::string letters_of(Formals const& formals)
{
    std::string letters;
    for (auto const& each : formals)
        letters += letter_of(each);
    return letters;
}

std::string text_of(std::string const& name, onnx::AttributeProto::AttributeType type, bool is_required)
{
    return " " + name + ":" + onnx::AttributeProto::AttributeType_Name(type) + (is_required ? "!" : "");
}

/// "rr -> r axis:INT!"
std::string text_of(OpSchema const* schema)
{
    if (schema == nullptr)
        return "none";
    if (schema->deprecated())
        return "deprecated";
    std::string text = letters_of(schema->inputs()) + " -> " + letters_of(schema->outputs());
    for (auto const& [name, attribute] : schema->attributes())
        text += text_of(name, attribute.type, attribute.required);
    return text;
}

std::string text_of(signature const* known)
{
    if (known == nullptr)
        return "none";
    if (known->is_deprecated)
        return "deprecated";
    std::string text = letters_of(known->inputs) + " -> " + letters_of(known->outputs);
    for (attribute_rule const& each : known->attributes)
        text += text_of(std::string(each.name), attribute_type_of(each.kind), each.is_required);
    return text;
}

} // namespace

TEST_CASE("signatures are those of ONNX's schemas")
{
    int const newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
    REQUIRE(newest >= 17);
    for (std::string const& name : operator_names()) {
        CAPTURE(name);
        CHECK_FALSE(signatures_of(name).empty());
        for (int opset = 1; opset <= newest && name.find('.') == std::string::npos; ++opset) {
            CAPTURE(opset);
            CHECK(text_of(find_signature(name, opset)) ==
                  text_of(onnx::OpSchemaRegistry::Schema(name, opset, "")));
        }
    }
}
