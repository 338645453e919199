#pragma once
// The memory of gradients and of the values that they are computed from, and loops over parts of it on
// threads.

#include <cstddef>
#include <optional>
#include <utility>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/kernel/scatter_gradients.hpp>
#include <xloom/detail/tensor/item_buffer.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class Store = kernel::write_gradient, class T, class Policy>
void store_values(T const* from, T* to, std::size_t count, Policy const& policy)
{
    detail::for_each_range(policy, count, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            Store{}(to[i], from[i]);
    });
}

/// The memory in which a gradient is computed: that of its tensor or, for another layout, a row-major copy.
/// One that depends on values and is added to the caller's is computed in a buffer first.
template <class T>
class gradient_output {
public:
    /// `items` is a null pointer if the gradient is omitted.
    gradient_output(strided_items<T> const& items, bool is_added, bool is_buffered)
        : items_(items), output_(is_added && is_buffered ? nullptr : items.first, items.layout, is_added)
    {
        if (items.first != nullptr && is_added && is_buffered)
            buffer_.emplace(element_count(items.layout.dims));
    }

    T* data() { return buffer_ ? buffer_->data() : output_.data(); }

    /// Writes the gradient to its tensor, unless it was computed there, or adds the buffer.
    template <class Policy>
    void finish(Policy const& policy)
    {
        if (!buffer_)
            output_.write_back();
        else if (is_row_major(items_.layout))
            detail::store_values<kernel::add_gradient>(
                std::as_const(*buffer_).data(), items_.first, buffer_->size(), policy);
        else
            kernel::strided_copy(
                items_.layout.dims, row_major_strides(items_.layout.dims), items_.layout.strides)
                .for_each_pair(std::as_const(*buffer_).data(), items_.first,
                    [](T const& gradient, T& item) { kernel::add_gradient{}(item, gradient); });
    }

private:
    strided_items<T> items_;
    row_major_output<T> output_;
    std::optional<item_buffer<T>> buffer_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
