#include "model_mutator.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "operators.hpp"

namespace runner {

using google::protobuf::Reflection;

void model_mutator::collect(message& from, std::vector<place>& to)
{
    constexpr int most = 8; // of long lists only the first: they would hide the rest
    auto const* const reflection = from.GetReflection();
    std::vector<field_descriptor const*> fields;
    reflection->ListFields(from, &fields);
    for (auto const* const field : fields) {
        int const count = field->is_repeated() ? std::min(reflection->FieldSize(from, field), most) : 1;
        for (int i = 0; i < count; ++i) {
            to.push_back({&from, field, field->is_repeated() ? i : -1});
            if (field->cpp_type() == field_descriptor::CPPTYPE_MESSAGE)
                collect(message_at(to.back()), to);
        }
    }
}

model_mutator::message& model_mutator::message_at(place const& at)
{
    auto const* const reflection = at.owner->GetReflection();
    return at.index < 0 ? *reflection->MutableMessage(at.owner, at.field)
                        : *reflection->MutableRepeatedMessage(at.owner, at.field, at.index);
}

std::string model_mutator::text_at(place const& at)
{
    auto const* const reflection = at.owner->GetReflection();
    return at.index < 0 ? reflection->GetString(*at.owner, at.field)
                        : reflection->GetRepeatedString(*at.owner, at.field, at.index);
}

void model_mutator::set_text(place const& at, std::string const& text)
{
    auto const* const reflection = at.owner->GetReflection();
    if (at.index < 0)
        reflection->SetString(at.owner, at.field, text);
    else
        reflection->SetRepeatedString(at.owner, at.field, at.index, text);
}

std::vector<model_mutator::place> model_mutator::texts_of(std::vector<place> const& all)
{
    std::vector<place> texts;
    std::copy_if(all.begin(), all.end(), std::back_inserter(texts),
        [](place const& p) { return p.field->cpp_type() == field_descriptor::CPPTYPE_STRING; });
    return texts;
}

std::int64_t model_mutator::number(std::int64_t old)
{
    using limits = std::numeric_limits<std::int64_t>;
    static std::vector<std::int64_t> const numbers{0, 1, -1, 2, 3, 7, 16, 17, 255, 1 << 16, 1 << 20,
        std::int64_t{1} << 31, std::int64_t{1} << 40, limits::max(), limits::min()};
    return below(3) != 0 ? any_of(numbers)
                         : static_cast<std::int64_t>(static_cast<std::uint64_t>(old) + below(5) - 2);
}

/// An element less, or one twice.
void model_mutator::change_length(place const& at)
{
    auto const* const reflection = at.owner->GetReflection();
    int const last = reflection->FieldSize(*at.owner, at.field) - 1;
    if (below(2) == 0 || at.field->cpp_type() != field_descriptor::CPPTYPE_MESSAGE) {
        reflection->SwapElements(at.owner, at.field, at.index, last);
        reflection->RemoveLast(at.owner, at.field);
    } else {
        auto* const added = reflection->AddMessage(at.owner, at.field);
        added->CopyFrom(reflection->GetRepeatedMessage(*at.owner, at.field, at.index));
    }
}

void model_mutator::change_item(place const& at, std::vector<place> const& all)
{
    auto const* const reflection = at.owner->GetReflection();
    auto const set = [&](auto one, auto of_list, auto item) {
        if (at.index < 0)
            (reflection->*one)(at.owner, at.field, item);
        else
            (reflection->*of_list)(at.owner, at.field, at.index, item);
    };
    std::int64_t const old = at.field->cpp_type() != field_descriptor::CPPTYPE_INT64 ? 0
                             : at.index < 0 ? reflection->GetInt64(*at.owner, at.field)
                                            : reflection->GetRepeatedInt64(*at.owner, at.field, at.index);
    switch (at.field->cpp_type()) {
    case field_descriptor::CPPTYPE_INT64:
        return set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, number(old));
    case field_descriptor::CPPTYPE_INT32:
        return set(
            &Reflection::SetInt32, &Reflection::SetRepeatedInt32, static_cast<std::int32_t>(below(28)));
    case field_descriptor::CPPTYPE_FLOAT:
        return set(&Reflection::SetFloat, &Reflection::SetRepeatedFloat, static_cast<float>(number(0)));
    case field_descriptor::CPPTYPE_ENUM:
        return set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue,
            at.field->enum_type()
                ->value(
                    static_cast<int>(below(static_cast<std::size_t>(at.field->enum_type()->value_count()))))
                ->number());
    case field_descriptor::CPPTYPE_STRING: {
        static std::vector<std::string> const operators = operator_names();
        if (at.field->name() == "op_type" && below(2) == 0)
            return set_text(at, any_of(operators));
        return set_text(at, below(8) == 0 ? std::string() : text_at(any_of(texts_of(all))));
    }
    default:
        return reflection->ClearField(at.owner, at.field);
    }
}

void model_mutator::change(onnx::ModelProto& model)
{
    std::vector<place> places;
    collect(model, places);
    if (places.empty())
        return;
    place const at = any_of(places);
    bool const is_message = at.field->cpp_type() == field_descriptor::CPPTYPE_MESSAGE;
    if (at.index >= 0 && (is_message || below(4) == 0))
        change_length(at);
    else
        change_item(at, places);
}

void model_mutator::graft(onnx::ModelProto& model, onnx::ModelProto& other)
{
    std::vector<place> places, sources;
    collect(model, places);
    collect(other, sources);
    auto const is_no_message = [](place const& p) {
        return p.field->cpp_type() != field_descriptor::CPPTYPE_MESSAGE;
    };
    std::erase_if(sources, is_no_message);
    if (sources.empty())
        return;
    message const& source = message_at(any_of(sources));
    std::erase_if(places, [&](place const& p) {
        return is_no_message(p) || p.field->message_type() != source.GetDescriptor();
    });
    if (!places.empty())
        message_at(any_of(places)).CopyFrom(source);
}

void model_mutator::rename(onnx::ModelProto& model, std::vector<std::string> const& names)
{
    std::vector<place> places;
    collect(model, places);
    std::vector<place> const texts = texts_of(places);
    if (texts.empty())
        return;
    std::string const old = text_at(any_of(texts)), next = any_of(names);
    for (place const& each : texts)
        if (text_at(each) == old)
            set_text(each, next);
}

} // namespace runner
