#pragma once
// Requirements on the types of operands that operators of all topics share, by the operand's role.

#include <type_traits>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires one value or a flat std::tuple of values for each argument.
template <class... Arguments>
struct flat_arguments {
    static consteval bool holds()
    {
        constexpr bool is_valid = (is_flat<bare<Arguments>> && ...);
        static_assert(is_valid,
            "an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple");
        return is_valid;
    }
};

/// Requires a tensor, or a lazy expression, for each operand that is read.
template <class... Xs>
struct readable {
    static consteval bool holds()
    {
        constexpr bool is_valid = ((tensor<Xs> || lazy<Xs>)&&...);
        static_assert(is_valid,
            "an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with "
            "<xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor");
        return is_valid;
    }
};

template <class X>
using is_tensor = std::bool_constant<tensor<X>>;

/// True for a tensor whose rank may be `Axes` or more, and for a lazy expression.
template <class X, std::size_t Axes>
inline constexpr bool may_have_axes = lazy<bare<X>>;
template <tensor X, std::size_t Axes>
inline constexpr bool may_have_axes<X, Axes> = enable_tensor<bare<X>>::rank >= Axes;
template <class X>
using may_have_an_axis = std::bool_constant<may_have_axes<X, 1>>;

/// Requires tensors in memory that are not const and outlive the call, one or a std::tuple of them, for each
/// argument Ys&& that is written.
template <class... Ys>
struct written {
    static consteval bool holds()
    {
        if constexpr (!(every_leaf<is_tensor, leaves_t<Ys>> && ...))
            static_assert(never<written>, "what is written must be a tensor in memory");
        else if constexpr (!(every_leaf<is_writable, leaves_t<Ys>> && ...))
            static_assert(never<written>, "what is written must not be const");
        else if constexpr (!(outlives_call<Ys> && ...))
            static_assert(never<written>,
                "what is written must be a variable or a view of one; pass several as std::tie(y, z)");
        else
            return true;
        return false;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
