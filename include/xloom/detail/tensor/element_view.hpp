#pragma once
// The view of one element of a tensor that a body receives: a row-major xtensor expression over memory that
// it does not own.

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>

#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace xloom::inline XLOOM_ABI {

template <class T, class Shape>
class basic_element_view;

/// An element view for the parameter list of a body that is not generic. T is const for inputs.
template <class T, std::size_t Rank = dynamic_rank>
using element_view = basic_element_view<T,
    std::conditional_t<Rank == dynamic_rank, xt::dynamic_shape<std::size_t>, std::array<std::size_t, Rank>>>;

/// An element view of a fixed shape, for the elements of an xt::xtensor_fixed.
template <class T, std::size_t... Dims>
using fixed_element_view = basic_element_view<T, xt::fixed_shape<Dims...>>;

namespace detail {

template <class Shape>
inline constexpr bool is_fixed_shape = false;
template <std::size_t... Dims>
inline constexpr bool is_fixed_shape<xt::fixed_shape<Dims...>> = true;

/// The rank that the type of a shape has; dynamic_rank if it has none.
template <class Shape>
inline constexpr std::size_t rank_of_shape = dynamic_rank;
template <class Size, std::size_t Rank>
inline constexpr std::size_t rank_of_shape<std::array<Size, Rank>> = Rank;
template <std::size_t... Dims>
inline constexpr std::size_t rank_of_shape<xt::fixed_shape<Dims...>> = sizeof...(Dims);

/// True if shapes of these types never have the same rank: xtensor's assignment, which is not reached then,
/// would write beyond its array of dimensions, as g++ reports.
template <class Shape, class Other>
inline constexpr bool have_different_ranks =
    rank_of_shape<Shape> != dynamic_rank && rank_of_shape<Other> != dynamic_rank &&
    rank_of_shape<Shape> != rank_of_shape<Other>;

/// The shape and strides of a view; an empty class for a fixed shape.
template <class Shape>
struct element_geometry {
    using shape_type = Shape;
    using strides_type = xt::get_strides_t<Shape>;

    explicit element_geometry(xloom::shape const& dims)
    {
        xt::resize_container(dims_, dims.size());
        xt::resize_container(strides_, dims.size());
        xt::resize_container(backstrides_, dims.size());
        auto dim = dims.begin(); // std::copy to an array without items: a warning of g++ -O1
        for (auto& each : dims_)
            each = *dim++;
        size_ = xt::compute_strides(dims_, xt::layout_type::row_major, strides_, backstrides_);
    }

    Shape dims_{};
    strides_type strides_{};
    strides_type backstrides_{};
    std::size_t size_ = 0;
};

template <std::size_t... Dims>
struct element_geometry<xt::fixed_shape<Dims...>> {
    using fixed = xt::fixed_shape<Dims...>;
    using shape_type = typename fixed::cast_type;
    using strides_type = xt::get_strides_t<shape_type>;

    explicit element_geometry(xloom::shape const&) {}

    static constexpr shape_type dims_ = fixed();
    static constexpr strides_type strides_ =
        xt::get_strides<xt::layout_type::row_major, strides_type>(fixed());
    static constexpr strides_type backstrides_ = xt::get_backstrides(dims_, strides_);
    static constexpr std::size_t size_ = (Dims * ... * std::size_t{1});
};

/// The row-major container for items of type T with a shape of this type, whatever XTENSOR_DEFAULT_LAYOUT is.
template <class T, class Shape>
struct temporary_of {
    using type = xt::xarray<T, xt::layout_type::row_major>;
};
template <class T, std::size_t Rank>
struct temporary_of<T, std::array<std::size_t, Rank>> {
    using type = xt::xtensor<T, Rank, xt::layout_type::row_major>;
};
template <class T, std::size_t... Dims>
struct temporary_of<T, xt::fixed_shape<Dims...>> {
    using type = xt::xtensor_fixed<T, xt::fixed_shape<Dims...>, xt::layout_type::row_major>;
};

/// The exception of a view that is assigned another shape. The operator that made the view replaces it by a
/// body_error that names the operand and the iteration.
class element_reshaped : public body_error {
public:
    element_reshaped(void const* view, void const* data, shape const& is, std::string const& assigned)
        : body_error(concat("xloom: an element must keep its shape, but one of the shape ", is,
              " was assigned ", assigned, ". Assign the shape it has.")),
          view_(view),
          data_(data),
          is_(is),
          assigned_(assigned)
    {}

    void const* view() const { return view_; }
    /// True if the view, or one that it is a copy of, is of these items with this shape. An outer operator's
    /// element can begin at the same item, but cannot have the same shape.
    template <class Dims>
    bool is_of(void const* data, Dims const& dims) const
    {
        return data == data_ && std::equal(is_.begin(), is_.end(), dims.begin(), dims.end());
    }
    shape const& is() const { return is_; }
    std::string const& assigned() const { return assigned_; }

private:
    void const* view_;
    void const* data_;
    shape is_;
    std::string assigned_;
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI

namespace xt {

template <class T, class Shape>
struct xcontainer_inner_types<xloom::basic_element_view<T, Shape>> {
    using geometry = xloom::detail::element_geometry<Shape>;
    using storage_type = xbuffer_adaptor<T*, no_ownership, std::allocator<std::remove_const_t<T>>>;
    using reference = T&;
    using const_reference = T const&;
    using size_type = std::size_t;
    using shape_type = Shape;
    using strides_type = typename geometry::strides_type;
    using backstrides_type = strides_type;
    using inner_shape_type = typename geometry::shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = strides_type;
    using temporary_type = typename xloom::detail::temporary_of<std::remove_const_t<T>, Shape>::type;
    static constexpr layout_type layout = layout_type::row_major;
};

template <class T, class Shape>
struct xiterable_inner_types<xloom::basic_element_view<T, Shape>>
    : xcontainer_iterable_types<xloom::basic_element_view<T, Shape>> {};

} // namespace xt

namespace xloom::inline XLOOM_ABI {

/// A row-major view of one element, an xtensor expression like any other: x_t(i, j), x_t.data(),
/// xt::noalias(y_t) = h + x_t.
///
/// Assignment writes the values and never changes the shape: an expression of another shape is a body_error
/// (a compile error between fixed shapes). `y_t = 0` fills. A copy (`auto a = y_t`, xt::eval(y_t)) is another
/// view of the same memory. swap(y_t, z_t) and std::ranges::swap exchange the values; std::swap does not
/// compile. `y_t = expression` evaluates into a temporary, as everywhere in xtensor; xt::noalias(y_t)
/// allocates nothing.
///
/// Why not an xtensor adaptor: adaptors silently accept another shape of the same size, throw an untyped
/// error for a larger one, have no common function that resets the pointer (xfixed_adaptor has none), and
/// have type names too long for a body's parameter list.
template <class T, class Shape>
class basic_element_view : public xt::xcontainer<basic_element_view<T, Shape>>,
                           public xt::xcontainer_semantic<basic_element_view<T, Shape>> {
    using semantic_base = xt::xcontainer_semantic<basic_element_view>;
    using inner_types = xt::xcontainer_inner_types<basic_element_view>;
    using geometry = typename inner_types::geometry;

public:
    using storage_type = typename inner_types::storage_type;
    using inner_shape_type = typename inner_types::inner_shape_type;
    using inner_strides_type = typename inner_types::inner_strides_type;
    using temporary_type = typename inner_types::temporary_type;
    using expression_tag = xt::xtensor_expression_tag;

    /// Makes a view of row-major items of shape `dims` that begin at `data`. `dims` is ignored for a fixed
    /// shape.
    basic_element_view(T* data, shape const& dims)
        : geometry_(dims), storage_(static_cast<T*>(data), geometry_.size_)
    {}

    basic_element_view(basic_element_view const&) = default;

    /// Makes a view for reading of one for writing.
    template <class Item>
        requires std::same_as<Item const, T> && (!std::same_as<Item, T>)
    basic_element_view(basic_element_view<Item, Shape> const& other)
        : geometry_(other.geometry_), storage_(other.data(), geometry_.size_)
    {}

    basic_element_view& operator=(basic_element_view const& other)
    {
        resize(other.shape());
        if (std::less<T const*>()(this->data(), other.data()))
            std::copy_n(other.data(), this->size(), this->data());
        else if (this->data() != other.data())
            std::copy_backward(other.data(), other.data() + this->size(), this->data() + this->size());
        return *this;
    }

    /// Deleted so that std::swap does not compile: its temporary copy would view the same memory, and both
    /// views would end up equal.
    basic_element_view& operator=(basic_element_view&&) = delete;

    /// Swaps the values of two elements of the same shape.
    friend void swap(basic_element_view& a, basic_element_view& b)
        requires(!std::is_const_v<T>)
    {
        a.resize(b.shape());
        std::swap_ranges(a.data(), a.data() + a.size(), b.data());
    }

    template <class E>
    basic_element_view& operator=(xt::xexpression<E> const& expression)
    {
        check_shape_of(expression.derived_cast());
        if constexpr (!detail::have_different_ranks<Shape, typename E::shape_type>)
            semantic_base::operator=(expression);
        return *this;
    }

    /// Called by xt::noalias(y_t) = expression.
    template <class E>
    basic_element_view& assign_xexpression(xt::xexpression<E> const& expression)
    {
        check_shape_of(expression.derived_cast());
        if constexpr (!detail::have_different_ranks<Shape, typename E::shape_type>)
            xt::assign_xexpression(*this, expression);
        return *this;
    }

    /// Called by xt::noalias(y_t) += expression; xtensor's own function does not compile for fixed shapes.
    template <class E>
    basic_element_view& computed_assign(xt::xexpression<E> const& expression)
    {
        return assign_xexpression(expression);
    }

    /// Copies the values of a temporary; called by xtensor's assignment operators.
    basic_element_view& operator=(temporary_type&& values)
    {
        resize(values.shape());
        std::copy_n(values.data(), values.size(), this->data());
        return *this;
    }

    basic_element_view& operator=(std::remove_const_t<T> const& value)
    {
        std::fill_n(this->data(), this->size(), value);
        return *this;
    }

    /// Throws body_error unless `dims` equals the view's shape; xtensor calls it with the shape of an
    /// assigned expression.
    template <class Dims>
    void resize(Dims const& dims, bool = false) const
    {
        if (!std::equal(dims.begin(), dims.end(), this->shape().begin(), this->shape().end()))
            detail::throw_or_abort(detail::element_reshaped(
                this, this->data(), {this->shape().begin(), this->shape().end()}, detail::concat(dims)));
    }

    static constexpr xt::layout_type layout() noexcept { return xt::layout_type::row_major; }
    static constexpr bool is_contiguous() noexcept { return true; }

    /// Makes the view refer to other memory; for the operators that pass views to bodies.
    void rebind(T* data) noexcept { storage_.reset_data(static_cast<T*>(data), geometry_.size_); }

private:
    friend class xt::xcontainer<basic_element_view>;
    template <class, class>
    friend class basic_element_view;

    template <class E>
    void check_shape_of(E const& expression) const
    {
        using other = typename E::shape_type;
        if constexpr (detail::is_fixed_shape<Shape> && detail::is_fixed_shape<other>)
            static_assert(std::is_same_v<Shape, other>, "an element keeps its shape, but the "
                                                        "expression assigned to it has another fixed shape");
        else
            resize(expression.shape());
    }

    storage_type& storage_impl() noexcept { return storage_; }
    storage_type const& storage_impl() const noexcept { return storage_; }
    inner_shape_type const& shape_impl() const noexcept { return geometry_.dims_; }
    inner_strides_type const& strides_impl() const noexcept { return geometry_.strides_; }
    inner_strides_type const& backstrides_impl() const noexcept { return geometry_.backstrides_; }

    [[no_unique_address]] geometry geometry_;
    storage_type storage_;
};

} // namespace xloom::inline XLOOM_ABI
