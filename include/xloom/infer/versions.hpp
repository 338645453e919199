#pragma once
// The version of an operator at a model's opset.

#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/core/error.hpp>

namespace xloom {

/// The newest known opset; a later one has the same versions.
inline constexpr std::int64_t latest_opset = 28;

namespace detail {

/// Returns the largest of the ascending `versions` that does not exceed `opset`.
constexpr std::int64_t find_version(
    std::string_view name, std::span<std::int64_t const> versions, std::int64_t opset)
{
    if (opset < versions.front())
        fail<option_error>("xloom::operator_version: ", name, " begins with opset ", versions.front(),
            ", but opset is ", opset, ". Give a newer opset.");
    std::int64_t version = 0;
    for (std::int64_t const candidate : versions)
        if (candidate <= opset)
            version = candidate;
    return version;
}

} // namespace detail
} // namespace xloom
