#pragma once
// Operands that are looked at where they lie, and may be left out.

#include <cstdint>
#include <optional>
#include <type_traits>

#include <xloom/adapt/operands.hpp>

namespace xloom {

namespace detail {

/// Where the operand's items lie. A tensor without items may lie nowhere: its steps are 0, for nothing may be added to a null pointer.
template <class X>
strided_layout layout_at(void const* data, X const& operand)
{
    strided_layout layout = layout_of(operand);
    if (data == nullptr)
        layout.steps = strides(layout.dims.size(), 0);
    return layout;
}

} // namespace detail

/// A tensor of any rank and layout that somebody else owns: of T const to read it, of T to write it. {} is an operand that is left out.
/// Made from variables, and from views and adaptors that hold no container of their own; the tensor must outlive it.
template <class T>
class tensor_ref {
public:
    tensor_ref() = default;

    template <tensor X>
        requires std::is_same_v<detail::item_t<X>, std::remove_const_t<T>> && detail::outlives_expression<X> tensor_ref(X&& operand)
            : data_(enable_tensor<detail::bare<X>>::data(operand)), layout_(detail::layout_at(data_, operand)), is_given_(true)
        {}

        /// A temporary, or what a view holds of one, would be gone when it is looked at.
        template <tensor X>
            requires std::is_same_v<detail::item_t<X>, std::remove_const_t<T>> &&
                (!detail::outlives_expression<X>)tensor_ref(X&& operand) = delete;

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

    template <tensor X>
        requires std::integral<detail::item_t<X>> && detail::outlives_expression<X> lengths_ref(X&& operand)
            : data_(enable_tensor<detail::bare<X>>::data(operand)),
              layout_(detail::layout_at(data_, operand)),
              item_bytes_(sizeof(detail::item_t<X>)),
              read_([](void const* data, std::ptrdiff_t at) {
                  return static_cast<std::int64_t>(static_cast<detail::item_t<X> const*>(data)[at]);
              })
        {}

        template <tensor X>
            requires std::integral<detail::item_t<X>> &&(!detail::outlives_expression<X>)lengths_ref(X&& operand) = delete;

            bool is_given() const noexcept { return read_ != nullptr; }
            xloom::shape const& shape() const noexcept { return layout_.dims; }
            /// Item n of a tensor of rank 1.
            std::int64_t operator[](std::size_t n) const { return read_(data_, static_cast<std::ptrdiff_t>(n) * layout_.steps[0]); }
            memory_block block() const noexcept { return {reinterpret_cast<std::uintptr_t>(data_), item_bytes_, layout_}; }

        private:
            void const* data_ = nullptr;
            strided_layout layout_{};
            std::size_t item_bytes_ = 1;
            std::int64_t (*read_)(void const*, std::ptrdiff_t) = nullptr;
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
