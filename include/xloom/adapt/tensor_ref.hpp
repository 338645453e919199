#pragma once
// Operands that are looked at where they lie, and may be left out.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <xloom/adapt/borrowed.hpp>
#include <xloom/adapt/operands.hpp>
#include <xloom/core/error.hpp>

namespace xloom {

namespace detail {

/// Where the operand's items lie. A tensor without items may lie nowhere: its steps are 0, for nothing may be added to a null pointer.
template <class X>
strided_layout layout_at(void const* data, X const& operand)
{
    strided_layout layout = detail::layout_of(operand);
    if (data == nullptr)
        layout.steps = strides(layout.dims.size(), 0);
    return layout;
}

/// The first item of an operand that is referred to as a T: read through a const operand if T is const.
template <class T, class X>
auto* data_as(X& operand)
{
    if constexpr (std::is_const_v<T>)
        return enable_tensor<bare<X>>::data(std::as_const(operand));
    else
        return enable_tensor<bare<X>>::data(operand);
}

/// What can be wrong at compile time with an operand that is referred to.
enum class ref_fault { none, lazy, kind, item, temporary, constant };

/// `T` is the type of one item, const if it is only read.
template <class X, class T>
consteval ref_fault find_ref_fault()
{
    if constexpr (lazy<X>)
        return ref_fault::lazy;
    else if constexpr (!tensor<X>)
        return ref_fault::kind;
    else if constexpr (!std::is_same_v<item_t<X>, std::remove_const_t<T>>)
        return ref_fault::item;
    else if constexpr (!outlives_expression<X>)
        return ref_fault::temporary;
    else
        return std::is_convertible_v<decltype(data_as<T>(std::declval<X&>())), T*> ? ref_fault::none : ref_fault::constant;
}

/// The item of an operator's first operand; float for one that is refused.
template <class X>
using first_item_t = std::conditional_t<tensor<X> || lazy<X>, item_t<X>, float>;

} // namespace detail

/// A tensor of any rank and layout that somebody else owns: of T const to read it, of T to write it. {} is an operand that is left out.
/// Made from variables, adaptors and views; the tensor must outlive it.
template <class T>
class tensor_ref {
public:
    tensor_ref() = default;

    template <class X>
        requires(!std::is_same_v<detail::bare<X>, tensor_ref>)
    tensor_ref(X&& operand) : is_given_(true)
    {
        constexpr detail::ref_fault fault = detail::find_ref_fault<X, T>();
        static_assert(fault != detail::ref_fault::lazy,
            "xloom: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first");
        static_assert(fault != detail::ref_fault::kind,
            "xloom: an operand must be a tensor in memory: a container, adaptor or view of xtensor, or a type with xloom::enable_tensor");
        static_assert(fault != detail::ref_fault::item,
            "xloom: an operand must have the element type of the operator's other tensors; convert it first, as xt::cast<float>(W) does");
        static_assert(fault != detail::ref_fault::temporary,
            "xloom: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used");
        static_assert(fault != detail::ref_fault::constant, "xloom: an output is written, so it must not be const");
        if constexpr (fault == detail::ref_fault::none) {
            data_ = detail::data_as<T>(operand);
            layout_ = detail::layout_at(data_, operand);
        }
    }

    bool is_given() const noexcept { return is_given_; }
    T* data() const noexcept { return data_; }
    xloom::shape const& shape() const noexcept { return layout_.dims; }
    std::ptrdiff_t step(std::size_t axis) const noexcept { return layout_.steps[axis]; }
    memory_block block() const noexcept { return {reinterpret_cast<std::uintptr_t>(data_), sizeof(T), layout_}; }

private:
    T* data_ = nullptr;
    strided_layout layout_{};
    bool is_given_ = false;
};

/// A tensor of any integer type that is read as numbers: lengths. {} is an operand that is left out.
class lengths_ref {
public:
    lengths_ref() = default;

    template <class X>
        requires(!std::is_same_v<detail::bare<X>, lengths_ref>)
    lengths_ref(X&& operand)
    {
        constexpr detail::ref_fault fault = detail::find_ref_fault<X, detail::item_t<X> const>();
        constexpr bool is_integral = std::integral<detail::item_t<X>>;
        static_assert(fault != detail::ref_fault::lazy,
            "xloom: lengths must be a tensor in memory, but a lazy expression was passed; put its value into a variable first");
        static_assert(fault != detail::ref_fault::kind,
            "xloom: lengths must be a tensor in memory: a container, adaptor or view of xtensor, or a type with xloom::enable_tensor");
        static_assert(fault != detail::ref_fault::temporary,
            "xloom: lengths must be a variable or a view of one, but a temporary was passed, which is gone when it is used");
        static_assert(fault != detail::ref_fault::none || is_integral, "xloom: lengths must be integers, of any integer type");
        if constexpr (fault == detail::ref_fault::none && is_integral) {
            data_ = detail::data_as<detail::item_t<X> const>(operand);
            layout_ = detail::layout_at(data_, operand);
            item_bytes_ = sizeof(detail::item_t<X>);
            read_ = [](void const* data, std::ptrdiff_t at) {
                return static_cast<std::int64_t>(static_cast<detail::item_t<X> const*>(data)[at]);
            };
            text_ = [](void const* data, std::ptrdiff_t at) { return detail::concat(static_cast<detail::item_t<X> const*>(data)[at]); };
        }
    }

    bool is_given() const noexcept { return read_ != nullptr; }
    xloom::shape const& shape() const noexcept { return layout_.dims; }
    /// Item n of a tensor of rank 1.
    std::int64_t operator[](std::size_t n) const { return read_(data_, static_cast<std::ptrdiff_t>(n) * layout_.steps[0]); }
    /// The same as text. An item beyond std::int64_t, which reads as a negative number, is told as it is.
    std::string text(std::size_t n) const { return text_(data_, static_cast<std::ptrdiff_t>(n) * layout_.steps[0]); }
    memory_block block() const noexcept { return {reinterpret_cast<std::uintptr_t>(data_), item_bytes_, layout_}; }

private:
    void const* data_ = nullptr;
    strided_layout layout_{};
    std::size_t item_bytes_ = 1;
    std::int64_t (*read_)(void const*, std::ptrdiff_t) = nullptr;
    std::string (*text_)(void const*, std::ptrdiff_t) = nullptr;
};

namespace detail {

/// The shape of an operand, none if it is left out.
template <class Ref>
std::optional<shape> shape_if_given(Ref const& operand)
{
    return operand.is_given() ? std::optional<shape>(operand.shape()) : std::nullopt;
}

} // namespace detail
} // namespace xloom
