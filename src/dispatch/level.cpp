// The functions of one table, XLOOM_DISPATCH_TABLE: compiled once for each, with the options of its level.

#include "functions.hpp"

namespace xloom::inline XLOOM_ABI::dispatch::detail {
namespace {

template <class... Functions>
constexpr std::tuple<Functions...> compiled(std::tuple<Functions...> const*)
{
    return {Functions::compiled()...};
}

} // namespace
} // namespace xloom::inline XLOOM_ABI::dispatch::detail

// Constant, so that nothing of this file runs before the level is chosen.
constinit decltype(XLOOM_DISPATCH_TABLE) XLOOM_DISPATCH_TABLE =
    xloom::dispatch::detail::compiled(static_cast<decltype(XLOOM_DISPATCH_TABLE)*>(nullptr));
