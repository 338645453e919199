// Wrong shapes assigned to an element of a fixed shape.
// clang-format off
// 1: an element keeps its shape, but the expression assigned to it has another fixed shape
// 2: an element keeps its shape, but the expression assigned to it has another fixed shape
// 3: an element keeps its shape, but the expression assigned to it has another fixed shape
// 4: an element keeps its shape, but the expression assigned to it has another fixed shape
// 5: an element keeps its shape, but the expression assigned to it has another fixed shape
// clang-format on
#include <xloom/control_flow/scan.hpp>

int main()
{
    float items[4] = {};
    [[maybe_unused]] xloom::fixed_element_view<float, 4> y(items, {});
    [[maybe_unused]] xt::xtensor_fixed<float, xt::xshape<4>> const same{};
    [[maybe_unused]] xt::xtensor_fixed<float, xt::xshape<5>> const longer{};
    xt::xtensor_fixed<float, xt::xshape<3, 4>> outputs{};
    float state = 0;
#if CASE == 0
    y = same + same;
    xt::noalias(y) = same;
    xt::noalias(y) += same;
    xloom::scan_into([&](float&, auto& y_t) { xt::noalias(y_t) = same; }, state, std::tuple{}, outputs);
#elif CASE == 1
    y = longer;
#elif CASE == 2
    xt::noalias(y) = longer + longer;
#elif CASE == 3
    y = longer + 1.0f;
#elif CASE == 4
    xloom::scan_into([&](float&, auto& y_t) { xt::noalias(y_t) = longer; }, state, std::tuple{}, outputs);
#elif CASE == 5
    y += xt::xtensor_fixed<float, xt::xshape<3, 4>>();
#endif
    static_cast<void>(state);
    static_cast<void>(outputs);
}
