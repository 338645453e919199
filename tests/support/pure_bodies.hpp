#pragma once
// Scans with pure bodies, compared with loops over single items.

#include <doctest/doctest.h>

#include <cstddef>

#include <xloom/control_flow/scan.hpp>

namespace pure_bodies {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// Returns a tensor of whole numbers from 1 to 7, so that no sum or product of a few is rounded.
template <class X, class... Dims>
X counting(Dims... dims)
{
    X x;
    if constexpr (!xloom::detail::is_fixed_shape<typename X::shape_type>)
        x.resize(typename X::shape_type{static_cast<std::size_t>(dims)...});
    int i = 0;
    for (auto& item : x)
        item = static_cast<typename X::value_type>(1 + i++ % 7);
    return x;
}
inline matrix inputs(std::size_t length, std::size_t width) { return counting<matrix>(length, width); }
inline vector state_of(std::size_t width) { return counting<vector>(width); }

/// Compares scan(body, h, x) with `item`, which maps an item of the state and of the element to those of the
/// next state and of the output.
template <class H, class X, class Body, class Item>
void check_items(H const& h, X const& x, Body const& body, Item const& item)
{
    auto const result = xloom::scan(body, h, x);
    std::size_t const length = x.shape(0), width = h.size();
    REQUIRE(result.scan_outputs.size() == length * width);
    REQUIRE(result.final_state.size() == width);
    for (std::size_t i = 0; i < width; ++i) {
        auto state = h.data()[i];
        for (std::size_t t = 0; t < length; ++t) {
            auto const [next, output] = item(state, x.data()[t * width + i]);
            CHECK(result.scan_outputs.data()[t * width + i] == output);
            state = static_cast<typename H::value_type>(next);
        }
        CHECK(result.final_state.data()[i] == state);
    }
}

/// check_items for widths with and without whole vectors, and items left over.
template <class Body, class Item>
void check_widths(Body const& body, Item const& item)
{
    for (std::size_t const width : {0u, 1u, 3u, 8u, 16u, 19u, 64u, 67u})
        check_items(state_of(width), inputs(5, width), body, item);
}

} // namespace pure_bodies
