#include "value.hpp"

#include "types.hpp"

namespace runner {

std::size_t item_bytes(element_type type)
{
    if (type == element_type::string)
        return sizeof(std::size_t);
    return with_type(type, []<class T>(std::type_identity<T>) -> std::size_t { return sizeof(T); });
}

tensor::tensor(element_type type, xloom::shape const& dims) : type_(type), item_size_(item_bytes(type)), dims_(dims)
{
    if (!xloom::is_countable(dims, item_size_))
        throw runner_error("a tensor of the shape " + xloom::detail::concat(dims) + " does not fit in memory");
    if (type == element_type::string)
        storage_->strings.resize(size());
    else
        storage_->bytes.resize(size() * item_size_);
}

tensor tensor::of_bytes(xloom::shape const& dims)
{
    tensor result;
    result.dims_ = dims;
    result.storage_->bytes.resize(xloom::element_count(dims));
    return result;
}

tensor tensor::reshaped(xloom::shape const& dims) const
{
    if (xloom::element_count(dims) != size())
        throw runner_error(xloom::detail::concat("a tensor of the shape ", dims_, " cannot be reshaped to ", dims));
    tensor result = *this;
    result.dims_ = dims;
    return result;
}

tensor tensor::as_type(element_type type) const
{
    tensor result = *this;
    if (type_ == element_type::undefined) // rows of bytes become items
        result.dims_ = xloom::drop_axis(dims_, dims_.size() - 1);
    result.type_ = type;
    result.item_size_ = item_bytes(type);
    return result;
}

void tensor::require_type(element_type wanted) const
{
    if (type_ != wanted)
        throw runner_error(xloom::detail::concat("a tensor of ", name_of(wanted), " is needed, but it holds ", name_of(type_)));
}

tensor const& value::as_tensor() const
{
    if (!is_tensor())
        throw runner_error("a tensor is needed, but it is a " + describe(*this));
    return std::get<tensor>(held);
}

sequence const& value::as_sequence() const
{
    if (!is_sequence())
        throw runner_error("a sequence is needed, but it is a " + describe(*this));
    return std::get<sequence>(held);
}

value::optional_value const& value::as_optional() const
{
    if (!is_optional())
        throw runner_error("an optional is needed, but it is a " + describe(*this));
    return std::get<optional_value>(held);
}

std::string describe(value const& v)
{
    if (v.is_tensor())
        return xloom::detail::concat(name_of(v.as_tensor().type()), v.as_tensor().shape());
    if (v.is_sequence())
        return xloom::detail::concat("sequence of ", v.as_sequence().size());
    return v.as_optional().held ? "optional " + describe(*v.as_optional().held) : std::string("empty optional");
}

} // namespace runner
