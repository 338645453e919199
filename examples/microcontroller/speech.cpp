// The network of the voice demo, Silero's, as xloom-compile writes it, on a recording.

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "firmware.hpp"
#include "recorded/speech.hpp"
#include "speech.hpp"

int main()
{
    using namespace recorded;
    speech network;
    xt::xtensor<float, 2> input = xt::zeros<float>({std::size_t{1}, context_size + chunk_size});
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128});
    speech::outputs outputs = network(input, state); // takes the memory that later calls use
    firmware::report report(TOLERANCE);
    for (std::size_t t = 0; t < T; ++t) {
        std::copy_n(chunks + t * chunk_size, chunk_size, &input(0, context_size));
        report.step([&] { network.run_into(outputs, input, state); });
        report.compare(std::span(outputs.output.data(), 1), std::span(probabilities + t, 1));
        std::swap(state, outputs.stateN);
        std::copy_n(&input(0, chunk_size), context_size, &input(0, 0));
    }
    return report.finish();
}
