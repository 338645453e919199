#pragma once
// Eigen's matrices, arrays and vectors as tensors.

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <Eigen/Core>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/step.hpp>
#include <xloom/detail/tensor/element_view.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Derived>
void take_dense(Eigen::DenseBase<Derived> const*);

/// An expression of Eigen's, of a matrix or an array.
template <class T>
concept eigen_expression = requires(T const* expression) { detail::take_dense(expression); };

/// An expression of Eigen's whose items are in memory: a matrix, an array, a map, a block, a transpose.
template <class T>
concept eigen_tensor = eigen_expression<T> && (T::Flags & Eigen::DirectAccessBit) != 0;

/// True for a matrix or an array that owns its items.
template <class T>
inline constexpr bool is_eigen_container = std::is_base_of_v<Eigen::PlainObjectBase<T>, T>;

/// The container of Eigen's, with one axis or two, for items of X: a matrix or an array of its storage order.
template <class X, std::size_t Rank>
struct eigen_container {
    static constexpr int columns = Rank == 1 ? 1 : Eigen::Dynamic;
    static constexpr int order = Rank == 1 || !X::IsRowMajor ? Eigen::ColMajor : Eigen::RowMajor;
    using type = std::conditional_t<std::is_base_of_v<Eigen::MatrixBase<X>, X>,
        Eigen::Matrix<typename X::Scalar, Eigen::Dynamic, columns, order>,
        Eigen::Array<typename X::Scalar, Eigen::Dynamic, columns, order>>;
};

/// Requires that a container of Eigen's can have a dimension.
///
/// Errors    shape_error
inline void check_eigen_dimension(
    std::string_view name, std::size_t dim, Eigen::Index at_compile_time, Eigen::Index most)
{
    auto const is = [&](Eigen::Index bound) { return dim == static_cast<std::size_t>(bound); };
    if (at_compile_time != Eigen::Dynamic ? !is(at_compile_time)
                                          : most != Eigen::Dynamic && dim > static_cast<std::size_t>(most))
        fail<shape_error>(
            "xloom: a container of Eigen's must have the dimensions that its type fixes, but there are ", dim,
            " ", name, " instead of ", at_compile_time != Eigen::Dynamic ? at_compile_time : most,
            ". Choose a type with Eigen::Dynamic.");
}

} // namespace detail

/// Eigen's matrices, arrays, maps and blocks are tensors: vectors of rank 1, others of rank 2, whatever their
/// storage order. Results of two axes have that order, those of three or more are an xt::xtensor.
template <detail::eigen_tensor T>
struct enable_tensor<T> {
    using value_type = typename T::Scalar;
    static constexpr std::size_t rank = T::IsVectorAtCompileTime ? 1 : 2;
    static constexpr bool is_row_major = detail::is_eigen_container<T> && (rank == 1 || T::IsRowMajor);

    static auto* data(T& tensor) { return tensor.data(); }
    static value_type const* data(T const& tensor) { return tensor.data(); }
    static std::array<std::size_t, rank> shape(T const& tensor)
    {
        if constexpr (rank == 1)
            return {static_cast<std::size_t>(tensor.size())};
        else
            return {static_cast<std::size_t>(tensor.rows()), static_cast<std::size_t>(tensor.cols())};
    }
    static std::array<std::ptrdiff_t, rank> strides(T const& tensor)
    {
        if constexpr (rank == 1)
            return {tensor.innerStride()};
        else
            return {tensor.rowStride(), tensor.colStride()};
    }

    static T make(xloom::shape const& dims)
        requires detail::is_eigen_container<T>
    {
        T made;
        auto const rows = T::RowsAtCompileTime == 1 && rank == 1 ? 1 : dims[0];
        auto const columns = rank == 2 ? dims[1] : T::RowsAtCompileTime == 1 ? dims[0] : 1;
        detail::check_eigen_dimension("rows", rows, T::RowsAtCompileTime, T::MaxRowsAtCompileTime);
        detail::check_eigen_dimension("columns", columns, T::ColsAtCompileTime, T::MaxColsAtCompileTime);
        made.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
        return made;
    }

    template <std::size_t Rank>
    using rebind = typename std::conditional_t<Rank == 1 || Rank == 2, detail::eigen_container<T, Rank>,
        detail::temporary_of<value_type, typename element_view<value_type, Rank>::shape_type>>::type;
};

namespace detail {

template <eigen_tensor T>
    requires(T::SizeAtCompileTime != Eigen::Dynamic)
struct shape_type_of<T> {
    using type =
        std::conditional_t<T::IsVectorAtCompileTime, xt::fixed_shape<std::size_t{T::SizeAtCompileTime}>,
            xt::fixed_shape<std::size_t{T::RowsAtCompileTime}, std::size_t{T::ColsAtCompileTime}>>;
};

template <class T, int Options, class Strides>
inline constexpr bool is_borrowed<Eigen::Map<T, Options, Strides>> = true;
template <class T, int Options, class Strides>
inline constexpr bool is_borrowed<Eigen::Ref<T, Options, Strides>> =
    !std::is_const_v<T>; // that may own a copy
/// True for a block and a transpose, too, whose types do not tell whether they are those of a variable.
template <eigen_tensor T>
inline constexpr bool refers_to_items<T> = !is_eigen_container<T>;

template <eigen_expression T>
struct owned<T> {
    using type = typename T::PlainObject;
};
template <eigen_expression T>
    requires tensor_view<T>
struct owned<T> {
    using type = typename T::PlainObject;
};

template <eigen_expression T>
inline constexpr bool is_self_contained<T> = is_eigen_container<T>;

/// Requires contiguous row-major items with one axis or two.
template <class X>
struct mappable {
    static consteval bool holds()
    {
        static_assert(is_always_row_major<bare<X>>,
            "what as_eigen maps must be a tensor whose type says that its items "
            "are contiguous and row-major, such as an element of a scan");
        if constexpr (is_always_row_major<bare<X>>) {
            constexpr std::size_t rank = enable_tensor<bare<X>>::rank;
            static_assert(rank == 1 || rank == 2, "what as_eigen maps must have a static rank of 1 or 2");
            return rank == 1 || rank == 2;
        }
        return false;
    }
};

} // namespace detail

/// Returns a map of the items of x, so that bodies compute with Eigen on the elements that they get.
///
/// Shapes    x [n]: the map of a vector; [m, n]: that of a row-major matrix. x must outlive the map.
/// Types     x whose items are contiguous and row-major by its type: an element of a scan, an xt::xtensor, a
///           std::vector, a std::span. The map is of constants if x is.
/// Cost      none.
/// Example
/// ```cpp
/// Eigen::MatrixXd x(2, 3);
/// x << 1, 2, 3, 4, 5, 6;
/// auto const add = [](Eigen::VectorXd const& s, auto const& x_t) {
///     return xloom::scan_step{0.5 * s + xloom::as_eigen(x_t), s};
/// };
/// auto const [last, all] = xloom::scan(add, Eigen::VectorXd(Eigen::VectorXd::Zero(3)), x);
/// last; // = [4.5, 6, 7.5]
/// all.row(1); // = [1, 2, 3]
/// ```
template <class X>
auto as_eigen(X&& x)
{
    if constexpr (detail::satisfied<detail::mappable<X>>()) {
        using tensor_type = detail::bare<X>;
        using traits = enable_tensor<tensor_type>;
        auto* const items = traits::data(x);
        using item = std::remove_pointer_t<decltype(items)>;
        auto const& dims = traits::shape(x);
        auto const dim = [&](std::size_t axis) { return static_cast<Eigen::Index>(dims[axis]); };
        using vector = Eigen::Matrix<typename traits::value_type, Eigen::Dynamic, 1>;
        using matrix =
            Eigen::Matrix<typename traits::value_type, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        using plain = std::conditional_t<traits::rank == 1, vector, matrix>;
        using map = Eigen::Map<std::conditional_t<std::is_const_v<item>, plain const, plain>>;
        if constexpr (traits::rank == 1)
            return map(items, dim(0));
        else
            return map(items, dim(0), dim(1));
    }
}

} // namespace xloom::inline XLOOM_ABI
