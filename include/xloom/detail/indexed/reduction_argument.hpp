#pragma once
// The reduction argument of a ScatterND call: a callable, a built-in function object, or an enumerator.

#include <string_view>
#include <type_traits>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class T>
constexpr std::string_view element_name()
{
    return element_type_of<T> == element_type::undefined ? "values that ONNX does not know"
                                                         : name_of(element_type_of<T>);
}

template <class Reduce, class... Reductions>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_const_t<Reduce>, Reductions> || ...);

/// True if the reduction is an enumerator, known at run time only.
template <class Reduce>
inline constexpr bool is_runtime = is_one_of<Reduce, reduction>;

/// True if the reduction is built in, so that the order of its calls and their argument type are not
/// observable.
template <class Reduce>
inline constexpr bool is_built_in =
    is_runtime<Reduce> ||
    is_one_of<Reduce, reduce_none_t, reduce_add_t, reduce_mul_t, reduce_max_t, reduce_min_t>;

/// True if updates replace the existing values.
template <class Reduce>
constexpr bool replaces([[maybe_unused]] Reduce const& reduce)
{
    if constexpr (is_runtime<Reduce>)
        return reduce == reduction::none;
    else
        return is_one_of<Reduce, reduce_none_t>;
}

/// Returns the enumerator of a reduction of xloom.
template <class Reduce>
constexpr reduction kind_of([[maybe_unused]] Reduce const& reduce)
{
    if constexpr (is_runtime<Reduce>)
        return reduce;
    else if constexpr (is_one_of<Reduce, reduce_add_t>)
        return reduction::add;
    else if constexpr (is_one_of<Reduce, reduce_mul_t>)
        return reduction::mul;
    else if constexpr (is_one_of<Reduce, reduce_max_t>)
        return reduction::max;
    else if constexpr (is_one_of<Reduce, reduce_min_t>)
        return reduction::min;
    else
        return reduction::none;
}

/// Returns the options of a scatter with the reduction, if it is chosen at run time.
template <class Reduce, class Options>
constexpr scatter_rules rules_with([[maybe_unused]] Reduce const& reduce, Options const& options)
{
    if constexpr (is_runtime<Reduce>)
        return rules_of(options, reduce);
    else
        return rules_of(options);
}

/// Requires that the reduction is valid for the element type, and the options for the reduction.
template <class T, class Reduce>
void check_reduction(indexed_names const& op, scatter_rules const& options)
{
    if constexpr (is_runtime<Reduce>) {
        if (options.reduction > reduction::mean)
            fail<option_error>(op, ": the reduction must be one of xloom's, but it is number ",
                static_cast<int>(options.reduction), ". Choose one.");
        if (!kernel::has_reduction<T>(options.reduction))
            fail<option_error>(op, ": a reduction must be defined for ", op.data,
                "'s elements, but reduction is ", name_of(options.reduction), " and ", op.data, " holds ",
                element_name<T>(), ". Choose another.");
    } else if constexpr (is_built_in<Reduce>) {
        check_duplicates(op, options.duplicates, detail::kind_of(Reduce{}));
    } else {
        if (is_small_float<T> && options.accumulate_in_float)
            fail<option_error>(op,
                ": accumulate_in_float requires a reduction of xloom, but a callable "
                "reduces. Omit it, or convert ",
                op.data, " and ", op.updates, " to float.");
        if (options.duplicates == duplicates::first)
            fail<option_error>(op, ": duplicates::first requires reduction::none, but a callable reduces. "
                                   "Choose duplicates::last, with which every update counts.");
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
