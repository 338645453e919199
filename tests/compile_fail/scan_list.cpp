// Mistakes in a call of scan_list.
// clang-format off
// 1: xloom::scan_list: a scan input is a tensor whose elements are tensors: an xt::xarray, or an xt::xtensor of rank 2 or more
// 2: xloom::scan_list: the body must be callable as body(std::span<state const>, std::span<element_view const>)
// 3: xloom::scan_list: the body must be callable as body(std::span<state const>, std::span<element_view const>)
// 4: xloom::scan_list: the body must return xloom::scan_step{std::vector of states, std::vector of outputs}
// 5: xloom::scan_list: the body must return xloom::scan_step{std::vector of states, std::vector of outputs}
// 6: xloom::scan_list: the body must return xloom::scan_step{std::vector of states, std::vector of outputs}
// 7: xloom::scan_list: the body must return xloom::scan_step{std::vector of states, std::vector of outputs}
// 8: xloom::scan_list: the body must return xloom::scan_step{std::vector of states, std::vector of outputs}
// clang-format on
#include <xloom/control_flow/scan_list.hpp>

using array = xt::xarray<double>;
using list = std::vector<array>;
using states_span = std::span<array const>;
using elements_span = std::span<xloom::element_view<double const> const>;

int main()
{
    auto const run = [](auto body) { xloom::scan_list(body, list(1), list{array::from_shape({3, 2})}, 1); };
#if CASE == 0
    run([](states_span h, elements_span x) { return xloom::scan_step{list{h[0]}, list{x[0]}}; });
#elif CASE == 1
    std::vector<xt::xtensor<double, 1>> const numbers(1);
    xloom::scan_list(
        [](states_span h, auto) {
            return xloom::scan_step{list{h[0]}, list{h[0]}};
        },
        list(1), numbers, 1);
#elif CASE == 2
    run([](states_span h) { return xloom::scan_step{list{h[0]}, list{h[0]}}; });
#elif CASE == 3 // elements are only read
    run([](states_span h, std::span<xloom::element_view<double> const> x) {
        return xloom::scan_step{list{h[0]}, list{x[0]}};
    });
#elif CASE == 4
    run([](states_span h, elements_span x) { return std::pair{list{h[0]}, list{x[0]}}; });
#elif CASE == 5
    run([](states_span h, elements_span x) { return xloom::scan_step{h[0], list{x[0]}}; });
#elif CASE == 6 // no outputs are an empty list
    run([](states_span h, elements_span) { return xloom::scan_step{list{h[0]}}; });
#elif CASE == 7
    run([](states_span h, elements_span x) { return xloom::scan_step{list{h[0]}, std::tuple{x[0]}}; });
#elif CASE == 8 // a step that is filled is not returned, too
    run([](states_span h, elements_span, xloom::scan_step<list, list>& next) {
        next.state = next.scan_outputs = {h[0]};
        return next;
    });
#endif
    static_cast<void>(run);
}
