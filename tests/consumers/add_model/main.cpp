// A program on the header of a model: ONNX's test of Scan, whose state is a sum.

#include "running_sum.hpp"
#include "time.hpp"
#include "time_v1.hpp"

#include <cstdio>

int main()
{
    running_sum model;
    static_cast<void>(time_());
    static_cast<void>(time_v1());
    auto const [total, running] =
        model(xt::xtensor<float, 1>{0, 0}, xt::xtensor<float, 2>{{3, 0}, {1, 0}, {2, 0}});
    std::printf("total %g, running %g %g %g\n", static_cast<double>(total(0)),
        static_cast<double>(running(0, 0)), static_cast<double>(running(1, 0)),
        static_cast<double>(running(2, 0)));
}
