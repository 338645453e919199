#pragma once
// The scan outputs of a loop whose number of iterations, or of their items, only the run knows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <xloom/kernels.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Elements of one shape, stacked in memory that doubles when it is full and is kept by clear().
template <class T, std::size_t Rank>
class growing_stack {
public:
    using dims_type = std::array<std::size_t, Rank>;

    /// Makes a stack of elements of this shape. push() replaces the dimensions by those of the first element.
    ///
    /// Errors    as check_size.
    explicit growing_stack(dims_type const& dims = {}) : given_(dims) { clear(); }

    void clear()
    {
        set_dims(given_);
        count_ = 0;
    }

    /// Appends an element of unspecified items. Returns a view of it, or a reference for rank 0, which is
    /// valid until the next element is appended.
    decltype(auto) append()
    {
        T* const element = next();
        if constexpr (Rank == 0)
            return static_cast<T&>(*element);
        else
            return xloom::element_view<T, Rank>(element, xloom::shape(dims_.begin(), dims_.end()));
    }

    /// Appends a copy of an element.
    ///
    /// Errors    body_error: its shape is not that of the first element.
    template <operand X>
    void push(X const& element)
    {
        const_view_of<X> const from(element);
        if (count_ == 0 && from.rank() == Rank) {
            dims_type dims{};
            std::copy_n(from.shape().begin(), Rank, dims.begin());
            set_dims(dims);
        }
        if (!std::equal(dims_.begin(), dims_.end(), from.shape().begin(), from.shape().end()))
            xloom::kernels::fail<xloom::body_error>(
                "xloom_onnx::growing_stack: a scan output must keep its shape, "
                "but was ",
                dims_, " and the body made it ", from.shape(), " at iteration ", count_, ".");
        std::copy(from.begin(), from.end(), next());
    }

    /// Returns a view of the elements, stacked along axis 0, which is valid until the next call of append(),
    /// push() or clear().
    xloom::element_view<T const, Rank + 1> stacked() const { return {items_.data(), stacked_dims()}; }

    /// Copies the elements to y, along an axis of it, the last one first if they are reversed.
    ///
    /// Errors    option_error: no axis.
    template <class Y>
    void copy_to(Y&& y, std::int64_t axis = 0, bool is_reversed = false) const
    {
        static constexpr std::string_view op = "xloom_onnx::growing_stack";
        if (!xloom::is_axis(axis, Rank + 1))
            xloom::kernels::fail<xloom::option_error>(
                op, ": the axis ", axis, " is none of the rank ", Rank + 1);
        std::size_t const at = xloom::wrap_axis(axis, Rank + 1);
        xloom::shape const element(dims_.begin(), dims_.end());
        auto const to = output_view(op, y, xloom::insert_axis(element, at, count_));
        if (to.size() == 0)
            return;
        xloom::strides from = xloom::row_major_strides(stacked_dims()),
                       strides = xloom::row_major_strides(to.shape());
        std::rotate(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(at),
            strides.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        T const* first = items_.data();
        if (is_reversed) {
            first += static_cast<std::ptrdiff_t>(count_ - 1) * from[0];
            from[0] = -from[0];
        }
        xloom::kernels::strided_copy(stacked_dims(), from, strides)(first, to.data());
    }

private:
    xloom::shape stacked_dims() const
    {
        return xloom::insert_axis(xloom::shape(dims_.begin(), dims_.end()), 0, count_);
    }

    void set_dims(dims_type const& dims)
    {
        xloom::shape const element(dims.begin(), dims.end());
        check_size("xloom_onnx::growing_stack", element, sizeof(T));
        dims_ = dims;
        size_ = xloom::element_count(element);
    }

    T* next()
    {
        if ((count_ + 1) * size_ > items_.size())
            grow();
        return items_.data() + count_++ * size_;
    }

    void grow()
    {
        constexpr std::size_t least = 64;
        xt::uvector<T> items((std::max)({least, 2 * items_.size(), (count_ + 1) * size_}));
        std::move(
            items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count_ * size_), items.begin());
        items_ = std::move(items);
    }

    dims_type given_, dims_{};
    std::size_t size_ = 0, count_ = 0;
    xt::uvector<T> items_{}; // capacity, of which count_ * size_ are written
};

} // namespace xloom_onnx
