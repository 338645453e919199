// Calls of which g++ -O3 inlines the standard library's copies, and then warns of sizes that never occur.

#include <cstdio>
#include <vector>

#include <xloom/infer/if.hpp>
#include <xloom/ranks/distributed_associative_scan.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>

int main()
{
    using element = xloom::element_type;
    auto const two = [](xloom::type_list const&) {
        return xloom::type_list{xloom::tensor_type(element::float_, {2, 4})};
    };
    auto const three = [](xloom::type_list const&) {
        return xloom::type_list{xloom::tensor_type(element::float_, {3, 4})};
    };
    auto const types = xloom::infer_if(two, three, {xloom::untyped});

    xloom::single_rank const alone;
    xloom::distributed_axis const axis(alone, 3);
    xt::xtensor<double, 1> x = {3, 1, 4};
    xloom::distributed_associative_scan_into(xloom::reduction::max, x, x, axis);
    xloom::distributed_linear_recurrence_into(x, x, 0.0, x, axis);
    std::printf("%zu %g\n", types.size(), x(2));
}
