// Mistakes in a call of if_.
// clang-format off
// 1: cond must be a bool or a tensor of bool with one element
// 2: cond must be a bool or a tensor of bool with one element
// 3: the branches must be callable without arguments; they see outer variables by capture
// 4: both branches must return a value; for side effects use an if statement
// 5: a branch returned a lazy xtensor expression or a view, which would refer to its dead local variables; wrap it in xt::eval(...), or return a container
// 6: a branch returned a lazy xtensor expression or a view, which would refer to its dead local variables; wrap it in xt::eval(...), or return a container
// 7: both branches must return the same types; shapes may differ
// 8: both branches must return the same types; shapes may differ
// 9: cond must be a bool or a tensor of bool with one element
// 10: a branch returned a lazy xtensor expression or a view, which would refer to its dead local variables; wrap it in xt::eval(...), or return a container
// clang-format on
#include <optional>
#include <string>

#include <xloom/control_flow/if.hpp>

int main()
{
    xt::xtensor<float, 1> const x = xt::zeros<float>({4});
    auto const one = [] { return 1; };
    auto const same = [&] { return x; };
#if CASE == 0
    auto result = xloom::if_(true, same, [&] { return xt::eval(x + x); });
#elif CASE == 1
    auto result = xloom::if_(x, one, one);
#elif CASE == 2
    auto result = xloom::if_(std::string("true"), one, one);
#elif CASE == 3
    auto result = xloom::if_(true, one, [](int n) { return n; });
#elif CASE == 4
    auto result = xloom::if_(true, one, [] {});
#elif CASE == 5
    auto result = xloom::if_(true, same, [&] { return x + x; });
#elif CASE == 6
    auto result = xloom::if_(
        true,
        [&] {
            return std::tuple{1, x + x};
        },
        [&] {
            return std::tuple{1, x + x};
        });
#elif CASE == 7
    auto result = xloom::if_(true, one, [] { return 1.0; });
#elif CASE == 8
    auto result = xloom::if_(true, same, one);
#elif CASE == 9 // an optional's bool says whether there is one
    auto result = xloom::if_(std::optional(false), one, one);
#elif CASE == 10
    auto result = xloom::if_(
        true, [&] { return std::optional(x + x); }, [&] { return std::optional(x + x); });
#endif
    static_cast<void>(result);
    static_cast<void>(one);
    static_cast<void>(same);
}
