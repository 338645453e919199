#include "inference.hpp"

#include <algorithm>

#include "graph.hpp"
#include "text.hpp"

namespace runner {

namespace {

using xloom::partial_shape;
using xloom::partial_type;
using xloom::type_kind;

template <class TensorType>
partial_shape shape_of(TensorType const& proto)
{
    if (!proto.has_shape())
        return xloom::unknown_rank;
    partial_shape dims;
    for (auto const& dim : proto.shape().dim())
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            dims.insert(dims.rank(), dim.dim_value());
        else
            dims.insert(dims.rank(), std::string_view(dim.dim_param()));
    return dims;
}

element_type element_of(std::int32_t number)
{
    if (number < 0 || number >= static_cast<std::int32_t>(xloom::element_type_count))
        throw runner_error(fmt::format("the element type {} is none of ONNX's", number));
    return static_cast<element_type>(number);
}

bool has_dims(tensor const& t, partial_shape const& inferred)
{
    if (!inferred.has_rank())
        return true;
    return inferred.rank() == t.shape().size() &&
           std::equal(inferred.begin(), inferred.end(), t.shape().begin(),
               [](xloom::dim const& d, std::size_t length) {
                   return !d.has_value() || d.value() == static_cast<std::int64_t>(length);
               });
}

/// True if every value of one type has the other, too.
bool is_within(partial_type const& type, partial_type const& wider)
{
    if (!type.is_tensor() || !wider.is_tensor() ||
        (wider.element() != element_type::undefined && wider.element() != type.element()))
        return false;
    partial_shape const &dims = type.shape(), &of_wider = wider.shape();
    auto const has_dim = [](xloom::dim const& own, xloom::dim const& d) {
        return !d.has_value() || (own.has_value() && own.value() == d.value());
    };
    return !of_wider.has_rank() || (dims.has_rank() && std::equal(dims.begin(), dims.end(), of_wider.begin(),
                                                           of_wider.end(), has_dim));
}

/// What is in a sequence or optional. Writers of models used to leave an empty shape where they knew none.
partial_type content_of(onnx::TypeProto const& proto)
{
    partial_type const content = type_of(proto);
    return content.is_tensor() && content.shape().rank() == 0 ? content.with_shape(xloom::unknown_rank)
                                                              : content;
}

} // namespace

partial_type type_of(onnx::TypeProto const& proto)
{
    switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
        return xloom::tensor_type(element_of(proto.tensor_type().elem_type()), shape_of(proto.tensor_type()));
    case onnx::TypeProto::kSparseTensorType:
        return xloom::sparse_tensor_type(
            element_of(proto.sparse_tensor_type().elem_type()), shape_of(proto.sparse_tensor_type()));
    case onnx::TypeProto::kSequenceType:
        return sequence_of(content_of(proto.sequence_type().elem_type()));
    case onnx::TypeProto::kOptionalType:
        return optional_of(content_of(proto.optional_type().elem_type()));
    default:
        return xloom::untyped;
    }
}

partial_type type_of(value const& v)
{
    if (v.is_tensor())
        return xloom::tensor_type(v.as_tensor().type(), v.as_tensor().shape());
    if (v.is_sequence())
        return v.as_sequence().empty()
                   ? xloom::untyped
                   : sequence_of(type_of(v.as_sequence()[0]).with_shape(xloom::unknown_rank));
    return v.as_optional().held ? optional_of(type_of(*v.as_optional().held)) : xloom::untyped;
}

bool agrees(value const& v, partial_type const& inferred)
{
    switch (inferred.kind()) {
    case type_kind::untyped:
        return true;
    case type_kind::tensor:
        return v.is_tensor() &&
               (inferred.element() == element_type::undefined ||
                   inferred.element() == v.as_tensor().type()) &&
               has_dims(v.as_tensor(), inferred.shape());
    case type_kind::sequence: {
        if (!v.is_sequence())
            return false;
        partial_type const element = inferred.inner();
        return is_within(v.as_sequence().common_type(), element) ||
               std::all_of(v.as_sequence().begin(), v.as_sequence().end(),
                   [&](value const& each) { return agrees(each, element); });
    }
    case type_kind::optional:
        if (!v.is_optional()) // a Loop may carry an optional in and its content out
            return agrees(v, inferred.inner());
        return !v.as_optional().held || agrees(*v.as_optional().held, inferred.inner());
    default:
        return false;
    }
}

partial_type const& typing::at(std::size_t i) const { return has(i) ? inputs_[i]->type : xloom::untyped; }

types typing::inputs() const
{
    types all;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        all.push_back(at(i));
    return all;
}

tensor const* typing::constant_at(std::size_t i) const
{
    bool const is_known = has(i) && inputs_[i]->constant != nullptr && inputs_[i]->constant->is_tensor();
    return is_known ? &inputs_[i]->constant->as_tensor() : nullptr;
}

std::optional<std::vector<std::int64_t>> typing::integers_at(std::size_t i) const
{
    tensor const* const constant = constant_at(i);
    if (constant == nullptr)
        return std::nullopt;
    return integers_of(*constant);
}

types typing::body_types(std::string const& name, types const& given, certainty of_types) const
{
    return body(name).infer(given, &around_, std::min(of_types, of_types_));
}

std::optional<types> typing::branch_types(std::string const& name) const
{
    return body(name).infer_branch(&around_, of_types_);
}

} // namespace runner
