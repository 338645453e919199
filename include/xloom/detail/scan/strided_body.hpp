#pragma once
// The mark of a body that takes elements where they are in their tensors.

#include <functional>
#include <type_traits>
#include <utility>

#include <xloom/detail/tensor/strided_element.hpp>

namespace xloom::inline XLOOM_ABI {

/// A body that takes strided elements: see strided_elements.
template <class Body>
class strided_body {
public:
    explicit strided_body(Body body) : body_(std::move(body)) {}

    template <class... Arguments>
        requires std::is_invocable_v<Body&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments)
    {
        return std::invoke(body_, static_cast<Arguments&&>(arguments)...);
    }
    template <class... Arguments>
        requires std::is_invocable_v<Body const&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const
    {
        return std::invoke(body_, static_cast<Arguments&&>(arguments)...);
    }

private:
    Body body_;
};

/// Marks a body of scan_into that takes elements where they are in their tensors, as strided_element, instead
/// of copies with contiguous items. A body that loops over rows of items then takes as long as a hand-written
/// loop along any axis.
///
/// Shapes    operands whose rank is known at compile time; elements of rank 0 are items, as for any body.
/// Cost      nothing beyond the body's.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const x = {{1, 2, 3}, {10, 20, 30}};
/// auto y = xt::xtensor<float, 2>::from_shape({2, 3});
/// xt::xtensor<float, 1> sums = {0, 0};
/// auto const add = [](auto& h, auto const& x_t, auto& y_t) {
///     for (std::size_t i = 0; i < x_t.shape(0); ++i)
///         y_t(i) = h(i) += x_t(i);
/// };
/// xloom::scan_into(
///     xloom::strided_elements(add), sums, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
/// y; // = [[1, 3, 6], [10, 30, 60]]
/// ```
template <class Body>
strided_body<std::decay_t<Body>> strided_elements(Body&& body)
{
    return strided_body<std::decay_t<Body>>(std::forward<Body>(body));
}

} // namespace xloom::inline XLOOM_ABI
