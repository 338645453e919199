#pragma once
// Requirements on the types of operands of scatters and gathers, by the operand's role.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/indexed/reduction_argument.hpp>
#include <xloom/detail/tensor/broadcast.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>
#include <xloom/detail/tensor/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if X can be passed as indices, whatever its item type: a tensor, or a number for one index.
template <class X>
inline constexpr bool can_hold_indices = tensor<X> || lazy<X> || std::is_arithmetic_v<X>;

/// Requires a tensor of integers, or one integer.
template <class Indices>
struct integer_indices {
    static consteval bool holds()
    {
        if constexpr (!can_hold_indices<Indices>)
            static_assert(never<Indices>, "indices must be a tensor of integers, or one integer");
        else if constexpr (!counting_integer<item_t<Indices>>)
            static_assert(never<Indices>, "indices must hold integers");
        else
            return true;
        return false;
    }
};

/// Requires one tensor that is written: in memory, not const, and a variable or a view of one.
template <class Y>
struct written_tensor {
    static consteval bool holds()
    {
        if constexpr (tensor<Y>)
            return written<Y>::holds();
        else
            static_assert(never<Y>, "what is written must be a tensor in memory");
        return false;
    }
};

/// Requires items of one type in data and in an output of its items.
template <class Data, class Output>
struct output_of_items {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::is_same_v<item_t<Output>, item_t<Data>>;
        static_assert(is_valid, "an output must have the element type of the tensor that is read");
        return is_valid;
    }
};

/// True if updates are a number that is broadcast, and data has items of another type T.
template <class Updates, class T>
inline constexpr bool is_converted = is_broadcast<Updates> && builtin_number<unmarked_t<Updates>> &&
                                     number<T> && !std::is_same_v<unmarked_t<Updates>, T>;

/// Requires updates with items of data's type, or a number that is broadcast.
template <class Data, class Updates>
struct updates_of {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            std::is_same_v<item_t<unmarked_t<Updates>>, item_t<Data>> || is_converted<Updates, item_t<Data>>;
        static_assert(
            is_valid, "updates must have the element type of what they are written to; convert them first");
        return is_valid;
    }
};

/// A callable reduce(old item, update item) that returns the new item.
template <class Reduce, class T>
concept reduces_items =
    requires(Reduce& reduce, T old, T const& update) { static_cast<T>(reduce(std::move(old), update)); };

/// True if the first argument of a scatter's call is data, not a reduction; a number is neither. Place is the
/// type of the argument that is in the place of the options then.
template <class First, class Place, class Options>
concept begins_with_data =
    (is_operand<First> && !std::is_arithmetic_v<bare<First>>) || !beside_options<Place, Options>;

/// Requires a reduction of Data's items.
template <class Reduce, class Data>
struct reduction_of {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            is_runtime<Reduce> || (!is_operand<Reduce> && reduces_items<Reduce, item_t<Data>>);
        static_assert(is_valid,
            "the reduction must be callable as reduce(old item, update item) -> new item for data's "
            "elements; strings can be joined only (reduce_add), complex numbers have no order");
        return is_valid;
    }
};

/// True if Data's family has a container for a result of every rank. A family with a static rank is not known
/// to have one.
template <class Data>
inline constexpr bool has_every_rank = expression<Data>;
template <tensor Data>
    requires(!expression<Data>)
inline constexpr bool has_every_rank<Data> = enable_tensor<Data>::rank == dynamic_rank;

/// The static rank of an operand; dynamic_rank if there is none.
template <class X>
inline constexpr std::size_t static_rank = lazy<X> ? dynamic_rank : 0;
template <tensor X>
inline constexpr std::size_t static_rank<X> = enable_tensor<X>::rank;

/// The rank of a result: Rank if it is named. Otherwise that of a result from X with one axis, unless X is of
/// xtensor, whose results then have dynamic rank.
template <std::size_t Rank, class X, std::size_t OfOneAxis>
inline constexpr std::size_t result_rank = Rank;
template <tensor X, std::size_t OfOneAxis>
    requires(!expression<X> && enable_tensor<X>::rank == 1)
inline constexpr std::size_t result_rank<dynamic_rank, X, OfOneAxis> = OfOneAxis;

/// Requires that the rank of a result of X's family is known.
template <std::size_t Rank, class X>
struct rank_of_result {
    static consteval bool holds()
    {
        constexpr bool is_valid = Rank != dynamic_rank || has_every_rank<X>;
        static_assert(is_valid,
            "a container of a static rank that is not xtensor's is read, so name the rank "
            "of the result, as in gather_nd<Rank>(...) or gather_nd_vjp<Rank>(...)");
        return is_valid;
    }
};

/// Requires items that have a gradient.
template <class X>
struct has_gradient {
    static consteval bool holds()
    {
        constexpr bool is_valid = differentiable<item_t<X>>;
        static_assert(is_valid, "a gradient is one of real or complex numbers, which integers, bool, strings "
                                "and float8_e8m0 are not");
        return is_valid;
    }
};

/// Requires items of one type in operands and in the cotangent.
template <class Ct, class... Xs>
struct cotangent_of {
    static consteval bool holds()
    {
        constexpr bool is_valid = (std::is_same_v<item_t<Xs>, item_t<Ct>> && ...);
        static_assert(is_valid, "a cotangent and updates must have data's element type; convert them first");
        return is_valid;
    }
};

/// A shape: xloom::shape, or a range of dimensions such as data.shape().
template <class Dims>
concept dimensions = requires(Dims const& dims) {
    requires std::integral<std::remove_cvref_t<decltype(*dims.begin())>>;
    dims.end();
    dims.size();
};

/// Requires a shape.
template <class Dims>
struct shape_argument {
    static consteval bool holds()
    {
        constexpr bool is_valid = dimensions<Dims>;
        static_assert(is_valid, "the shape of data must be an xloom::shape or a range such as data.shape()");
        return is_valid;
    }
};

/// The requirements on the types of a scatter, in place or in a copy of data. IndexOperand is that on the
/// indices.
template <bool InPlace, class IndexOperand, class Reduce, class Data, class Updates>
struct scatter_types {
    static consteval bool holds()
    {
        using target = std::conditional_t<InPlace, written_tensor<Data>, readable<bare<Data>>>;
        return satisfied<target, IndexOperand, updates_of<Data, Updates>,
            reduction_of<std::remove_reference_t<Reduce>, Data>>();
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
