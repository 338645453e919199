// A network for a keyword, openWakeWord's, as xloom-compile writes it.

#include "keyword.hpp"
#include "firmware.hpp"
#include "recorded/keyword.hpp"

int main()
{
    keyword network;
    xt::xtensor<float, 3> features = xt::zeros<float>({1, 16, 96});
    std::copy_n(recorded::x, features.size(), features.data());
    keyword::outputs outputs = network(features); // takes the memory that later calls use
    firmware::report report(TOLERANCE);
    for (int t = 0; t < 10; ++t) {
        report.step([&] { network.run_into(outputs, features); });
        report.compare(std::span(outputs.v39.data(), 1), recorded::probability);
    }
    return report.finish();
}
