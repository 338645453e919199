#pragma once
// The check of a model's input.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Requires that an input, or each tensor in it, has the dimensions that the model declares, of which -1 are
/// any.
///
/// Errors    shape_error, which names the model and the input.
template <operand X>
void check_input(std::string_view model, std::string_view input, X const& x, integers const& declared)
{
    auto const& dims = detail::dims_of(x);
    bool const agrees = std::equal(dims.begin(), dims.end(), declared.begin(), declared.end(),
        [](auto dim, std::int64_t wanted) { return wanted < 0 || static_cast<std::int64_t>(dim) == wanted; });
    if (!agrees)
        xloom::kernels::fail<xloom::shape_error>(model, ": the input ", input, " must have the shape ",
            declared, ", where -1 is any length, but it has ", const_view_of<X>(x).shape(), ".");
}
template <class T>
void check_input(
    std::string_view model, std::string_view input, std::vector<T> const& x, integers const& declared)
{
    for (T const& each : x)
        check_input(model, input, each, declared);
}
template <class T>
void check_input(
    std::string_view model, std::string_view input, std::optional<T> const& x, integers const& declared)
{
    if (x)
        check_input(model, input, *x, declared);
}

} // namespace xloom_onnx
