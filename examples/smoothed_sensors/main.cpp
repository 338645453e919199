// Three sensors that were read for different times: each row is smoothed as far as it goes, in one call.

#include <cstdio>

#include <xloom/control_flow/scan_batched.hpp>

int main()
{
    xt::xtensor<double, 2> const readings = {{20, 22, 21, 24, 23}, {18, 17, 19, 0, 0}, {25, 27, 0, 0, 0}};
    xt::xtensor<int, 1> const count = {5, 3, 2};
    xt::xtensor<double, 1> const start = {20, 18, 25};
    auto const halfway = [](double level, double reading) {
        double const next = (level + reading) / 2;
        return xloom::scan_step{next, next};
    };
    auto const [last, levels] = xloom::scan_batched(halfway, start, readings, count);
    for (std::size_t row = 0; row < last.size(); ++row) {
        std::printf("sensor %zu ends at %g:", row, last(row));
        for (int t = 0; t < count(row); ++t)
            std::printf(" %g", levels(row, t));
        std::puts("");
    }
}
