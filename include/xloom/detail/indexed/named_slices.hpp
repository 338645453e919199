#pragma once
// The check of which slices the index tuples of a scatter name: whether twice, and in which order.

#include <string>
#include <string_view>
#include <vector>

#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/kernel/offsets.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns a text such as "indices[0] names slice [2] and indices[5] names slice [2]".
inline std::string describe_pair(kernel::tuple_pair const& pair, kernel::offset_reader const& read,
    shape const& slices, shape const& front)
{
    std::vector<std::string> facts;
    for (std::size_t const number : {pair.earlier, pair.later}) {
        std::ptrdiff_t slice;
        read(number, 1, &slice);
        facts.push_back(concat("indices", unravel(number, front), " names slice ",
            unravel(static_cast<std::size_t>(slice), slices)));
    }
    return join(facts);
}

/// Requires that the slices that the tuples name comply with duplicates::error and, in debug builds, with
/// the promises unique and sorted. `read` gives their positions in row-major order of the shape `slices`,
/// and `front` is the shape of the indices without their last axis.
///
/// Errors    index_error: the first offending tuple, and the preceding one.
inline void check_named_slices(std::string_view op, scatter_rules const& options,
    kernel::offset_reader const& read, shape const& slices, shape const& front)
{
    if (options.duplicates == duplicates::error)
        if (auto const pair = kernel::find_repeated(read, element_count(slices)))
            fail<index_error>(op, ": with duplicates::error a slice may be named once, but ",
                describe_pair(*pair, read, slices, front), ". Choose duplicates::last.");
#ifndef NDEBUG
    if (options.unique)
        if (auto const pair = kernel::find_repeated(read, element_count(slices)))
            fail<index_error>(op, ": indices must keep the promise options.unique, but ",
                describe_pair(*pair, read, slices, front), ". Do not promise it.");
    if (options.sorted)
        if (auto const pair = kernel::find_descent(read))
            fail<index_error>(op, ": indices must keep the promise options.sorted, but ",
                describe_pair(*pair, read, slices, front), ". Do not promise it.");
#endif
}

} // namespace xloom::inline XLOOM_ABI::detail
