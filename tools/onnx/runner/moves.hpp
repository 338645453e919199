#pragma once
// Operations that copy items of tensors, whatever their type.

#include <cstdint>
#include <type_traits>
#include <vector>

#include <xloom_onnx/view.hpp>

#include "value.hpp"

namespace runner {

/// Returns a new tensor, for sizes that a model gives as numbers. Throws if it exceeds the budget for one
/// tensor.
tensor new_tensor(element_type type, xloom::shape const& dims);
/// Returns a new tensor of the source's type, to be filled with copies of its items; the bytes of long
/// strings count.
tensor new_tensor_like(tensor const& source, xloom::shape const& dims);
/// Returns a tensor of zeros or empty strings.
tensor zeros(element_type type, xloom::shape const& dims);
/// Throws where new_tensor_like would; allocates nothing.
void require_room_for(tensor const& source, xloom::shape const& dims);

/// Copies `count` items from position `at` of one tensor to position `where` of another of the same type.
void copy_items(tensor const& from, std::size_t at, tensor& to, std::size_t where, std::size_t count);

/// Returns the items at start + the sum of index * stride along each axis of `dims`.
tensor strided(
    tensor const& from, std::ptrdiff_t start, xloom::shape const& dims, xloom::strides const& steps);

/// Returns the transposed tensor: axis i of the result is axis order[i].
tensor transposed(tensor const& from, std::vector<std::size_t> const& order);

/// Concatenates tensors of one type along an axis; their other dimensions agree. Requires at least one.
tensor concatenated(std::vector<tensor> const& parts, std::int64_t axis);

/// Splits a tensor along an axis; the lengths sum up to the axis's length.
std::vector<tensor> split_along(
    tensor const& from, std::size_t axis, std::vector<std::int64_t> const& lengths);

/// Returns the length of axis 0. Throws for a scalar, as the functions below do.
std::size_t leading_dim(tensor const& t);
/// Returns the slice at index i of axis 0, without that axis.
tensor drop_leading(tensor const& t, std::size_t i);
/// Returns the first `count` slices.
tensor take_leading(tensor const& t, std::size_t count);
/// Appends slices of zeros (empty strings), up to `count` slices.
tensor pad_leading(tensor const& t, std::size_t count);
/// Stacks slices of one type and shape along a new axis. Requires at least one.
tensor stack(std::vector<tensor> slices, std::size_t axis = 0);

/// Calls f(std::type_identity<Unit>) for a type of the items' size; enough for code that only copies items.
template <class F>
auto with_unit(tensor const& t, F&& f)
{
    struct sixteen_bytes {
        std::uint64_t halves[2];
    };
    if (t.type() == element_type::string)
        return f(std::type_identity<std::string>());
    switch (t.item_size()) {
    case 1:
        return f(std::type_identity<std::uint8_t>());
    case 2:
        return f(std::type_identity<std::uint16_t>());
    case 4:
        return f(std::type_identity<std::uint32_t>());
    case 8:
        return f(std::type_identity<std::uint64_t>());
    default:
        return f(std::type_identity<sixteen_bytes>());
    }
}

/// Returns a pointer to a tensor's items as units, for xloom's operators; const for a const tensor.
template <class Unit, class Tensor>
auto* units_of(Tensor& t)
{
    if constexpr (std::is_same_v<Unit, std::string>)
        return t.template items<std::string>().data();
    else
        return reinterpret_cast<std::conditional_t<std::is_const_v<Tensor>, Unit const, Unit>*>(t.bytes());
}

/// Returns a tensor's items as units, for xloom_onnx's operators.
template <class Unit>
xloom_onnx::tensor_view<Unit const> unit_items_of(tensor const& t)
{
    return {units_of<Unit>(t), t.shape()};
}
template <class Unit>
xloom_onnx::tensor_view<Unit> writable_unit_items_of(tensor& t)
{
    return {units_of<Unit>(t), t.shape()};
}

} // namespace runner
