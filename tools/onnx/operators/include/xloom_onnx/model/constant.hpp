#pragma once
// Constants of strings.

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include <xloom/tensor.hpp>

namespace xloom_onnx {

/// Returns a tensor of strings.
template <std::size_t Rank>
xt::xtensor<std::string, Rank> string_constant(
    std::array<std::size_t, Rank> const& dims, std::initializer_list<std::string> items)
{
    xt::xtensor<std::string, Rank> result;
    result.resize(dims);
    std::copy(items.begin(), items.end(), result.begin());
    return result;
}

} // namespace xloom_onnx
