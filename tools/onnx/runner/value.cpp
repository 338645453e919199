#include "value.hpp"

#include <algorithm>

#include <xloom_onnx/view.hpp>

#include "text.hpp"
#include "types.hpp"

namespace runner {

namespace {

/// What a tensor takes besides its items, about.
constexpr std::size_t bytes_of_a_tensor = 512;

/// An empty tensor has no items, but its other dimensions may become those of a loop, or of what is made of
/// it: they must be in the budget, too.
void require_possible(xloom::shape const& dims, std::size_t item_size)
{
    xloom_onnx::check_size("xloom_onnx", dims, item_size);
    xloom::shape filled = dims;
    std::replace(filled.begin(), filled.end(), std::size_t{0}, std::size_t{1});
    if (filled != dims && xloom::element_count(filled) > current_budget().tensor_bytes / item_size)
        throw runner_error(fmt::format("a tensor of the shape {} does not fit in memory", dims));
}

} // namespace

runner_error::runner_error(std::string const& what) : std::runtime_error(printable(what, longest_message)) {}

std::size_t item_bytes(element_type type)
{
    if (type == element_type::string)
        return sizeof(std::size_t);
    return with_type(type, []<class T>(std::type_identity<T>) -> std::size_t { return sizeof(T); });
}

tensor::storage::storage(std::size_t byte_count, std::size_t string_count)
    : taken(bytes_of_a_tensor + byte_count + string_count * sizeof(std::string)),
      bytes(std::make_unique_for_overwrite<std::byte[]>(byte_count)),
      strings(string_count)
{}

tensor::tensor(element_type type, std::size_t item_size, xloom::shape const& dims)
    : type_(type), item_size_(item_size), dims_(dims)
{
    bool const is_string = type == element_type::string;
    require_possible(dims, is_string ? sizeof(std::string) : item_size);
    storage_ = std::make_shared<storage>(is_string ? 0 : size() * item_size, is_string ? size() : 0);
}

tensor::tensor(element_type type, xloom::shape const& dims) : tensor(type, item_bytes(type), dims) {}

tensor tensor::reshaped(xloom::shape const& dims) const
{
    require_possible(dims, 1);
    if (xloom::element_count(dims) != size())
        throw runner_error(fmt::format("a tensor of the shape {} cannot be reshaped to {}", dims_, dims));
    tensor result = *this;
    result.dims_ = dims;
    return result;
}

tensor tensor::as_type(element_type type) const
{
    tensor result = *this;
    result.type_ = type;
    result.item_size_ = item_bytes(type);
    return result;
}

void tensor::reserve_characters() const
{
    std::size_t characters = 0;
    for (std::string const& each : storage_->strings)
        characters += each.size();
    if (characters > storage_->characters) {
        storage_->taken.grow(characters - storage_->characters);
        storage_->characters = characters;
    }
}

void tensor::require_type(element_type wanted) const
{
    if (type_ != wanted)
        throw impossible_type(
            fmt::format("a tensor of {} is needed, but it holds {}", name_of(wanted), name_of(type_)));
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

void reserve_characters(value const& v)
{
    if (v.is_tensor())
        v.as_tensor().reserve_characters();
    else if (v.is_optional() && v.as_optional().held)
        reserve_characters(*v.as_optional().held);
}

std::string describe(value const& v)
{
    if (v.is_tensor())
        return fmt::format("{}{}", name_of(v.as_tensor().type()), v.as_tensor().shape());
    if (v.is_sequence())
        return fmt::format("sequence of {}", v.as_sequence().size());
    return v.as_optional().held ? "optional " + describe(*v.as_optional().held)
                                : std::string("empty optional");
}

} // namespace runner
