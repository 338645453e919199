#pragma once
// References to operands in memory that may be omitted.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Sets `block` to the memory of an operand, unless its rank exceeds max_rank. An empty tensor may have a
/// null pointer; its strides are then zeroed to avoid arithmetic on null.
template <class T, class X>
void refer(memory_block& block, T* data, X const& operand)
{
    block.address = reinterpret_cast<std::uintptr_t>(data);
    block.item_bytes = sizeof(T);
    if (detail::rank_of(operand) > max_rank)
        return;
    auto const& dims = enable_tensor<X>::shape(operand);
    auto const& of_axes = enable_tensor<X>::strides(operand);
    block.layout.dims.assign(dims.begin(), dims.end());
    if (data == nullptr)
        block.layout.strides.resize(block.layout.dims.size());
    else
        block.layout.strides.assign(of_axes.begin(), of_axes.end());
}

/// Returns a pointer to the first item of an operand; accesses the operand as const if T is const.
template <class T, class X>
auto* data_as(X& operand)
{
    if constexpr (std::is_const_v<T>)
        return enable_tensor<bare<X>>::data(std::as_const(operand));
    else
        return enable_tensor<bare<X>>::data(operand);
}

/// A compile-time error of an operand that a tensor_ref or a lengths_ref refers to.
enum class ref_error { none, lazy, kind, item, integer, temporary, constant };

/// Requires that a reference to an operand has no error.
template <ref_error Error>
struct referable {
    static consteval bool holds()
    {
        static_assert(Error != ref_error::lazy,
            "an operand must be a tensor in memory, but a lazy expression was passed; put its value "
            "into a variable first");
        static_assert(Error != ref_error::kind,
            "an operand must be a tensor in memory: of xtensor, a std::vector, std::span or "
            "std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor");
        static_assert(Error != ref_error::item,
            "an operand must have the element type of the operator's other tensors; convert it into a "
            "variable first, by xt::cast<float> for example");
        static_assert(Error != ref_error::integer, "lengths must hold integers, of any integer type");
        static_assert(Error != ref_error::temporary, "an operand must be a variable or a view of one, "
                                                     "but a temporary was passed, which is gone "
                                                     "when it is used");
        static_assert(Error != ref_error::constant, "an operand that is written must not be const");
        return Error == ref_error::none;
    }
};

/// Finds the compile-time error of an operand that a tensor_ref<T> refers to.
template <class X, class T>
consteval ref_error find_ref_error()
{
    if constexpr (lazy<X>)
        return ref_error::lazy;
    else if constexpr (!tensor<X>)
        return ref_error::kind;
    else if constexpr (!std::is_same_v<item_t<X>, std::remove_const_t<T>>)
        return ref_error::item;
    else if constexpr (!outlives_expression<X>)
        return ref_error::temporary;
    else
        return std::is_convertible_v<decltype(data_as<T>(std::declval<X&>())), T*> ? ref_error::none
                                                                                   : ref_error::constant;
}

/// Finds the compile-time error of an operand that a lengths_ref refers to: a tensor of any integer type is
/// valid.
template <class X>
consteval ref_error find_lengths_error()
{
    constexpr ref_error error = find_ref_error<X, item_t<X> const>();
    return error == ref_error::none && !counting_integer<item_t<X>> ? ref_error::integer : error;
}

/// The item type of an operator's first operand; float if that operand is invalid.
template <class X>
using first_item_t = std::conditional_t<tensor<X> || lazy<X>, item_t<X>, float>;

} // namespace detail

/// A non-owning reference to a tensor of any rank and layout: of T const to read it, of T to write it. {} is
/// an omitted operand. Made from variables, adaptors and views; the tensor must outlive it.
template <class T>
class tensor_ref {
    using writer = tensor_ref<std::remove_const_t<T>>;

public:
    tensor_ref() = default;

    template <class X>
        requires(!std::is_base_of_v<tensor_ref, detail::bare<X>> && !std::is_same_v<writer, detail::bare<X>>)
    tensor_ref(X&& operand) : is_given_(true)
    {
        if constexpr (detail::satisfied<detail::referable<detail::find_ref_error<X, T>()>>()) {
            data_ = detail::data_as<T>(operand);
            rank_ = detail::rank_of(operand);
            detail::refer(block_, data_, operand);
        }
    }

    /// Makes a reference for reading of one for writing.
    template <std::same_as<writer> Writer>
        requires std::is_const_v<T>
    tensor_ref(Writer const& other)
        : data_(other.data()), rank_(other.rank()), block_(other.block()), is_given_(other.is_given())
    {}

    /// Refers to the items of a tensor in row-major order, without a type of tensors, as
    /// tensor_ref<float>(items, {2, 3}). There must be as many items as the shape has.
    ///
    /// Errors    shape_error: they cannot be counted in bytes.
    tensor_ref(T* items, xloom::shape const& dims) : data_(items), rank_(dims.size()), is_given_(true)
    {
        if (!has_strides(dims, sizeof(T)))
            detail::fail<shape_error>("xloom::tensor_ref: the shape must fit in memory, but it is ", dims,
                ". Reduce its dimensions.");
        // No offset may be added to null, not even for an empty tensor.
        block_ = {reinterpret_cast<std::uintptr_t>(items), sizeof(T),
            {dims, items == nullptr ? xloom::strides(dims.size(), 0) : row_major_strides(dims)}};
    }

    bool is_given() const noexcept { return is_given_; }
    T* data() const noexcept { return data_; }
    std::size_t rank() const noexcept { return rank_; }
    /// Returns the shape; empty if the rank exceeds max_rank, which is an error in every operator.
    xloom::shape const& shape() const noexcept { return block_.layout.dims; }
    std::ptrdiff_t stride(std::size_t axis) const noexcept { return block_.layout.strides[axis]; }
    detail::memory_block const& block() const noexcept { return block_; }

private:
    T* data_ = nullptr;
    std::size_t rank_ = 0;
    detail::memory_block block_{};
    bool is_given_ = false;
};

/// A non-owning reference to lengths: a tensor of any integer type. {} is an omitted operand.
class lengths_ref {
public:
    lengths_ref() = default;

    template <class X>
        requires(!std::is_base_of_v<lengths_ref, detail::bare<X>>)
    lengths_ref(X&& operand)
    {
        if constexpr (detail::satisfied<detail::referable<detail::find_lengths_error<X>()>>()) {
            data_ = detail::data_as<detail::item_t<X> const>(operand);
            rank_ = detail::rank_of(operand);
            detail::refer(block_, static_cast<detail::item_t<X> const*>(data_), operand);
            read_ = [](void const* data, std::ptrdiff_t at) {
                return static_cast<std::int64_t>(static_cast<detail::item_t<X> const*>(data)[at]);
            };
            text_ = [](void const* data, std::ptrdiff_t at) {
                return detail::concat(static_cast<detail::item_t<X> const*>(data)[at]);
            };
        }
    }

    bool is_given() const noexcept { return read_ != nullptr; }
    std::size_t rank() const noexcept { return rank_; }
    /// Returns the shape; empty if the rank exceeds max_rank, which is an error in every operator.
    xloom::shape const& shape() const noexcept { return block_.layout.dims; }
    /// Returns item n of a tensor of rank 1.
    std::int64_t operator[](std::size_t n) const
    {
        return read_(data_, static_cast<std::ptrdiff_t>(n) * block_.layout.strides[0]);
    }
    /// Returns item n of a tensor of rank 1 as text. An item above std::int64_t's maximum is negative in
    /// operator[], but exact in the text.
    std::string text(std::size_t n) const
    {
        return text_(data_, static_cast<std::ptrdiff_t>(n) * block_.layout.strides[0]);
    }
    detail::memory_block const& block() const noexcept { return block_; }

private:
    void const* data_ = nullptr;
    std::size_t rank_ = 0;
    detail::memory_block block_{};
    std::int64_t (*read_)(void const*, std::ptrdiff_t) = nullptr;
    std::string (*text_)(void const*, std::ptrdiff_t) = nullptr;
};

namespace detail {

/// Returns the memory of an operand; null if it is omitted.
template <class Ref>
memory_block const* block_if_given(Ref const& operand)
{
    return operand.is_given() ? &operand.block() : nullptr;
}

/// Returns the shape of an operand; false if it is omitted.
template <class Ref>
shape_ref shape_if_given(Ref const& operand)
{
    return operand.is_given() ? shape_ref(operand.shape()) : shape_ref();
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
