#pragma once
// Views of row-major tensors: the operands of all operators. Numbers and strings are tensors of rank 0.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>

namespace xloom_onnx {

namespace detail {

template <class T>
using bare = std::remove_cvref_t<T>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// An item by itself: a tensor of rank 0.
template <class T>
concept scalar =
    !xloom::tensor<T> && (xloom::kernels::number<T> || is_complex<T> || std::is_same_v<T, std::string>);

/// Returns the range of an operand's dimensions; it is empty for a scalar.
template <class X>
decltype(auto) dims_of([[maybe_unused]] X const& x)
{
    if constexpr (scalar<X>)
        return xloom::shape();
    else
        return xloom::enable_tensor<X>::shape(x);
}

/// Returns a pointer to the first item.
template <class X>
auto* data_of(X& x)
{
    if constexpr (scalar<bare<X>>)
        return &x;
    else
        return xloom::enable_tensor<bare<X>>::data(x);
}

} // namespace detail

/// A container, view or adaptor of row-major items, or a scalar.
template <class X>
concept operand = xloom::tensor<detail::bare<X>> || detail::scalar<detail::bare<X>>;

template <operand X>
using item_t = xloom::kernels::item_t<X>;

/// A view of row-major items: of T const to read them, of T to write them. Made from any operand of these
/// items, which must outlive it.
///
/// Errors    shape_error: a rank above max_rank, or items that are not row-major.
template <class T>
class tensor_view {
public:
    using value_type = std::remove_const_t<T>;

    tensor_view(T* data, xloom::shape const& dims) : data_(data), dims_(dims) {}

    template <class X>
        requires(operand<X> && std::is_same_v<item_t<X>, value_type> &&
                 !std::is_same_v<detail::bare<X>, tensor_view>)
    tensor_view(X&& x) : data_(detail::data_of(x))
    {
        using xloom::kernels::fail;
        auto const& dims = detail::dims_of(x);
        auto const rank = static_cast<std::size_t>(std::distance(dims.begin(), dims.end()));
        if (rank > xloom::max_rank)
            fail<xloom::shape_error>("xloom_onnx: a tensor may have at most ", xloom::max_rank,
                " axes, but one has ", rank, ". Merge some of them.");
        dims_.assign(dims.begin(), dims.end());
        if constexpr (xloom::tensor<detail::bare<X>>)
            if constexpr (!xloom::kernels::is_always_row_major<detail::bare<X>>)
                if (!xloom::kernels::is_row_major(xloom::kernels::layout_of(x)))
                    fail<xloom::shape_error>("xloom_onnx: the items of a tensor of the shape ", dims_,
                        " must be row-major. Assign it to a row-major container.");
    }

    T* data() const noexcept { return data_; }
    xloom::shape const& shape() const noexcept { return dims_; }
    std::size_t rank() const noexcept { return dims_.size(); }
    std::size_t size() const noexcept { return xloom::element_count(dims_); }
    T* begin() const noexcept { return data_; }
    T* end() const noexcept { return data_ + size(); }
    T& operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    T* data_;
    xloom::shape dims_{};
};

template <class X>
tensor_view(X&&) -> tensor_view<std::remove_pointer_t<decltype(detail::data_of(std::declval<X&>()))>>;

/// A view to read the items of an operand.
template <class X>
using const_view_of = tensor_view<item_t<X> const>;

} // namespace xloom_onnx

/// Views are operands of xloom's own operators, too.
template <class T>
struct xloom::enable_tensor<xloom_onnx::tensor_view<T>> {
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t rank = dynamic_rank;
    static constexpr bool is_row_major = true;

    static T* data(xloom_onnx::tensor_view<T> const& t) { return t.data(); }
    static xloom::shape const& shape(xloom_onnx::tensor_view<T> const& t) { return t.shape(); }
    static xloom::strides strides(xloom_onnx::tensor_view<T> const& t)
    {
        return row_major_strides(t.shape());
    }
};

namespace xloom_onnx {

namespace detail {

template <class X, class Dims>
bool has_dims(X const& x, Dims const& dims)
{
    auto const& own = dims_of(x);
    return std::equal(own.begin(), own.end(), dims.begin(), dims.end(),
        [](auto a, auto b) { return static_cast<std::size_t>(a) == static_cast<std::size_t>(b); });
}

template <class Y>
concept resizable = xloom::tensor<Y> && !xloom::kernels::tensor_view<Y> &&
                    requires(Y& y, typename Y::shape_type const& dims) { y.resize(dims); };

} // namespace detail

/// Checks that the bytes of a tensor, and its strides, are representable in std::ptrdiff_t.
///
/// Errors    shape_error: they are not.
inline void check_size(std::string_view op, xloom::shape const& dims, std::size_t item_bytes)
{
    if (!xloom::has_strides(dims, item_bytes))
        xloom::kernels::fail<xloom::shape_error>(
            op, ": a tensor of the shape ", dims, " does not fit in memory");
}

/// Gives a container a shape. Its items are unspecified if it had another one; nothing is allocated if it had
/// as many items.
///
/// Errors    shape_error: as check_size; an output of fixed shape, such as a view, has another shape; another
///           rank.
template <class Y>
void give_shape(std::string_view op, Y& y, xloom::shape const& dims)
{
    check_size(op, dims, sizeof(item_t<Y>));
    if constexpr (!detail::scalar<Y> && !xloom::kernels::is_always_row_major<Y>)
        tensor_view<std::remove_pointer_t<decltype(detail::data_of(y))>>{y}; // throws if it is not
    if (detail::has_dims(y, dims))
        return;
    if constexpr (detail::resizable<Y>) {
        typename Y::shape_type extents{};
        if constexpr (xloom::enable_tensor<Y>::rank == xloom::dynamic_rank)
            xt::resize_container(extents, dims.size());
        if (extents.size() == dims.size()) {
            std::copy(dims.begin(), dims.end(), extents.begin());
            y.resize(extents);
            return;
        }
    }
    xloom::kernels::fail<xloom::shape_error>(op, ": the output has the shape ", dims,
        ", but the tensor for it ", detail::dims_of(y), ". Give it that shape.");
}

/// Returns a view to write an output of this shape, which it gets first.
template <class Y>
auto output_view(std::string_view op, Y& y, xloom::shape const& dims)
{
    give_shape(op, y, dims);
    return tensor_view<std::remove_pointer_t<decltype(detail::data_of(y))>>(detail::data_of(y), dims);
}

} // namespace xloom_onnx
