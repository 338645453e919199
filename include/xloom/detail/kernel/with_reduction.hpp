#pragma once
// Run-time dispatch of reductions, so that only innermost loops are instantiated for each of them.

#include <type_traits>

#include <xloom/detail/core/reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// True if a function object reduces values of type T.
template <class Function, class T>
inline constexpr bool can_reduce = std::is_invocable_v<Function const&, T, T const&>;

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
