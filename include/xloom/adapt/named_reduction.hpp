#pragma once
// From the name of a reduction to the function object, for the element types that have it.

#include <string_view>
#include <type_traits>

#include <xloom/check/scatter_nd.hpp>
#include <xloom/core/cast.hpp>
#include <xloom/core/element_type_of.hpp>

namespace xloom::detail {

template <class T>
constexpr std::string_view element_name()
{
    return element_type_of<T> == element_type::undefined ? "values that ONNX does not know" : name_of(element_type_of<T>);
}

template <class Reduce, class T>
inline constexpr bool can_reduce = std::is_invocable_v<Reduce const&, T, T const&>;
template <class T>
inline constexpr bool can_average = can_reduce<reduce_add_t, T>&& std::is_invocable_v<divide_by_count const&, T const&, std::size_t>;

/// Calls f(reduce), if that can be.
template <bool IsPossible, class T, class Reduce, class F>
void with_reduction(std::string_view op, reduction kind, Reduce const& reduce, F const& f)
{
    if constexpr (IsPossible)
        f(reduce);
    else
        fail<option_error>(op, ": a reduction must mean something for data's elements, but reduction is ", name_of(kind),
            " and data holds ", element_name<T>(), ". Choose another.");
}

/// Calls f(reduce) with the function object that an option names.
template <class T, class F>
void with_reduction(std::string_view op, reduction kind, F const& f)
{
    switch (kind) {
    case reduction::none:
        return f(reduce_none);
    case reduction::add:
        return with_reduction<can_reduce<reduce_add_t, T>, T>(op, kind, reduce_add, f);
    case reduction::mul:
        return with_reduction<can_reduce<reduce_mul_t, T>, T>(op, kind, reduce_mul, f);
    case reduction::max:
        return with_reduction<can_reduce<reduce_max_t, T>, T>(op, kind, reduce_max, f);
    case reduction::min:
        return with_reduction<can_reduce<reduce_min_t, T>, T>(op, kind, reduce_min, f);
    case reduction::mean:
        return with_reduction<can_average<T>, T>(op, kind, reduce_add, f);
    }
    fail<option_error>(op, ": options.reduction must be a reduction, but it is number ", static_cast<int>(kind), ". Choose one.");
}

/// Stands for the reduction that options.reduction names.
struct named_reduction {};

template <class Reduce>
inline constexpr bool is_named = std::is_same_v<Reduce, named_reduction const>;

template <class Reduce, class... Reductions>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_const_t<Reduce>, Reductions> || ...);

/// True if the reduction is one of xloom's: named by an option, or one of its function objects. Nobody sees in which order they are
/// called, nor with which type.
template <class Reduce>
inline constexpr bool is_built_in =
    is_named<Reduce> || is_one_of<Reduce, reduce_none_t, reduce_add_t, reduce_mul_t, reduce_max_t, reduce_min_t>;

/// Requires that the options go with the element type, or with a reduction of the caller's.
template <class T, class Reduce>
void check_reduction(std::string_view op, scatter_nd_options const& options)
{
    if constexpr (is_named<Reduce>) {
        with_reduction<T>(op, options.reduction, [](auto const&) {});
    } else {
        constexpr bool replaces = std::is_same_v<std::remove_const_t<Reduce>, reduce_none_t>;
        if (options.reduction != reduction::none)
            fail<option_error>(op, ": where a callable reduces, options.reduction must be none, but it is ", name_of(options.reduction),
                ". Leave it out.");
        if (!is_built_in<Reduce> && is_small_float<T> && options.accumulate_in_float)
            fail<option_error>(op,
                ": accumulate_in_float goes with the reductions of xloom alone, but a callable of yours reduces. Leave it "
                "out, or convert data and updates to float.");
        if (!replaces && options.duplicates == duplicates::first)
            fail<option_error>(op,
                ": that the first update counts means something for reduction none alone, but a callable reduces. Choose "
                "duplicates::last, with which every update counts.");
    }
}

} // namespace xloom::detail
