#pragma once
// The operands of ScatterND and GatherND as contiguous items in row-major order.

#include <optional>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns memory for `count` items, which are unspecified.
///
/// Errors    shape_error: their size overflows.
template <class T>
xt::xtensor<T, 1> make_items(std::size_t count)
{
    check_fits_in_memory<T>(count);
    return xt::xtensor<T, 1>::from_shape({count});
}

/// Returns a contiguous row-major copy of a strided array's items.
template <class T>
xt::xtensor<T, 1> pack_items(T const* items, strided_layout const& layout)
{
    auto packed = make_items<T>(element_count(layout.dims));
    kernel::strided_copy(layout.dims, layout.strides, row_major_strides(layout.dims))(items, packed.data());
    return packed;
}

/// Copies contiguous row-major items to a strided array.
template <class T>
void unpack_items(xt::xtensor<T, 1> const& packed, T* items, strided_layout const& layout)
{
    kernel::strided_copy(layout.dims, row_major_strides(layout.dims), layout.strides)(packed.data(), items);
}

/// An operand's items in row-major order: the operand's own memory, or a copy if its layout is not row-major.
template <class X>
class row_major_items {
    using item = item_t<X>;

public:
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

    item const* data() const { return data_; }

private:
    item const* data_;
    std::optional<xt::xtensor<item, 1>> copy_{};
};

/// An output's items in row-major order: its own memory or, if its layout is not row-major, a buffer.
template <class T>
class row_major_output {
public:
    row_major_output(T* items, strided_layout const& layout) : items_(items), layout_(layout)
    {
        if (items != nullptr && !is_row_major(layout))
            buffer_.emplace(make_items<T>(element_count(layout.dims)));
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
    std::optional<xt::xtensor<T, 1>> buffer_{};
};

/// The form of updates that are contiguous in row-major order, as run_scatter_nd reads it from a call.
struct row_major_updates {
    /// True if the items of each update are contiguous, or all the same one.
    static constexpr bool has_contiguous_updates() { return true; }

    /// Returns the strides of the items of one update, whose shape is given.
    static strides update_strides(shape const& dims) { return row_major_strides(dims); }
};

} // namespace xloom::inline XLOOM_ABI::detail
