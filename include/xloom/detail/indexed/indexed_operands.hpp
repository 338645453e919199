#pragma once
// The operands of gathers and scatters as items with a layout, or contiguous in row-major order.

#include <optional>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/item_buffer.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/detail/tensor/strided_items.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the axes first .. last - 1 of a layout.
inline strided_layout axes_of(strided_layout const& layout, std::size_t first, std::size_t last)
{
    auto const begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(last);
    return {shape(layout.dims.begin() + begin, layout.dims.begin() + end),
        strides(layout.strides.begin() + begin, layout.strides.begin() + end)};
}

/// Returns the layout of contiguous items in row-major order.
inline strided_layout row_major_layout(shape const& dims) { return {dims, row_major_strides(dims)}; }

/// Returns memory for `count` items, which are unspecified.
///
/// Errors    shape_error: their size overflows.
template <class T>
item_buffer<T> make_items(std::size_t count)
{
    check_fits_in_memory<T>(count);
    return item_buffer<T>(count);
}

/// Returns a contiguous row-major copy of a strided array's items.
template <class T>
item_buffer<T> pack_items(T const* items, strided_layout const& layout)
{
    auto packed = make_items<T>(element_count(layout.dims));
    kernel::strided_copy(layout.dims, layout.strides, row_major_strides(layout.dims))(items, packed.data());
    return packed;
}

/// Copies contiguous row-major items to a strided array.
template <class T>
void unpack_items(item_buffer<T> const& packed, T* items, strided_layout const& layout)
{
    kernel::strided_copy(layout.dims, row_major_strides(layout.dims), layout.strides)(packed.data(), items);
}

/// An operand's items in row-major order: the operand's own memory, or a copy if its layout is not row-major.
template <class T>
class row_major_items {
public:
    template <class X>
    explicit row_major_items(X const& operand)
    {
        if constexpr (tensor<X>) {
            strided_layout const layout = detail::layout_of(operand);
            data_ = enable_tensor<X>::data(operand);
            if (!is_row_major(layout)) {
                copy_.emplace(pack_items(data_, layout));
                data_ = copy_->data();
            }
        } else {
            data_ = std::addressof(operand);
        }
    }
    row_major_items(row_major_items const&) = delete;
    row_major_items& operator=(row_major_items const&) = delete;

    T const* data() const { return data_; }

private:
    T const* data_;
    std::optional<item_buffer<T>> copy_{};
};

/// An output's items in row-major order: its own memory or, if its layout is not row-major, a buffer, which
/// begins with its items if they are read.
template <class T>
class row_major_output {
public:
    row_major_output(T* items, strided_layout const& layout, bool is_read = false)
        : items_(items), layout_(layout)
    {
        if (items != nullptr && !is_row_major(layout))
            buffer_.emplace(
                is_read ? pack_items<T>(items, layout) : make_items<T>(element_count(layout.dims)));
    }

    /// Returns a pointer to the items; a null pointer if the output is omitted.
    T* data() { return buffer_ ? buffer_->data() : items_; }

    /// Copies the buffer, if there is one, to the output.
    void write_back()
    {
        if (buffer_)
            unpack_items(*buffer_, items_, layout_);
    }

private:
    T* items_;
    strided_layout layout_;
    std::optional<item_buffer<T>> buffer_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
