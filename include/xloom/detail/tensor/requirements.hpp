#pragma once
// Requirements on the types of operands that operators of all rooms share, by the operand's role.

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
            "an operand must be a tensor of xtensor; wrap a std::vector or an Eigen matrix by xt::adapt, or "
            "specialise xloom::enable_tensor for its type");
        return is_valid;
    }
};

template <class Leaves>
inline constexpr bool are_in_memory = false;
template <class... Ys>
inline constexpr bool are_in_memory<std::tuple<Ys...>> = (tensor<Ys> && ...);
template <class Leaves>
inline constexpr bool are_writable = false;
template <class... Ys>
inline constexpr bool are_writable<std::tuple<Ys...>> =
    (is_writable<std::remove_reference_t<Ys>>::value && ...);

/// Requires tensors in memory that are not const and outlive the call, one or a std::tuple of them, for each
/// argument Ys&& that is written.
template <class... Ys>
struct written {
    static consteval bool holds()
    {
        if constexpr (!(are_in_memory<leaves_t<Ys>> && ...))
            static_assert(never<written>, "what is written must be a tensor in memory");
        else if constexpr (!(are_writable<leaves_t<Ys>> && ...))
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
