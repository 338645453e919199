#pragma once
// Run-time dispatch of reductions, so that only innermost loops are instantiated for each of them.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// True if a function object reduces values of type T.
template <class Function, class T>
inline constexpr bool can_reduce = std::is_invocable_v<Function const&, T, T const&>;

/// True if the reduction is defined for values of type T; false if `kind` is not an enumerator.
template <class T>
constexpr bool has_reduction(reduction kind)
{
    switch (kind) {
    case reduction::none:
        return true;
    case reduction::add:
        return can_reduce<reduce_add_t, T>;
    case reduction::mul:
        return can_reduce<reduce_mul_t, T>;
    case reduction::max:
        return can_reduce<reduce_max_t, T>;
    case reduction::min:
        return can_reduce<reduce_min_t, T>;
    case reduction::mean:
        return can_reduce<reduce_add_t, T> &&
               std::is_invocable_v<xloom::detail::divide_by_count const&, T const&, std::size_t>;
    }
    return false;
}

/// Calls f with the function object of a reduction: `reduce` itself or, if it is a `reduction`, the one that
/// it names, which must be able to reduce values of type T. For the mean it is an addition; the caller
/// divides by the number of updates.
template <class T, class Reduce, class F>
void with_reduction(Reduce& reduce, F const& f)
{
    auto const call = [&]<class Function>(Function const& function) {
        if constexpr (can_reduce<Function, T>)
            f(function);
    };
    if constexpr (!std::is_same_v<std::remove_const_t<Reduce>, reduction>) {
        f(reduce);
    } else {
        switch (reduce) {
        case reduction::none:
            return call(reduce_none);
        case reduction::add:
        case reduction::mean:
            return call(reduce_add);
        case reduction::mul:
            return call(reduce_mul);
        case reduction::max:
            return call(reduce_max);
        case reduction::min:
            return call(reduce_min);
        }
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
