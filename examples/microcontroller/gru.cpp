// Steps of a GRU on a microcontroller. RECORDED is the header of its weights, inputs and outputs.

#include <array>

#include <xloom/recurrent/gru_cell.hpp>

#include "firmware.hpp"
#include RECORDED

int main()
{
    using namespace recorded;
    xloom::gru_cell<float> cell{
        xloom::gru_weights<float>({.W = {W, {1, 3 * H, I}}, .R = {R, {1, 3 * H, H}}, .B = {B, {1, 6 * H}}})};
    std::array<float, H> h{};
    firmware::report report(TOLERANCE);
    for (std::size_t t = 0; t < T; ++t) {
        report.step([&] { cell(h, std::span(x).subspan(t * I, I)); });
        report.compare(h, std::span(Y).subspan(t * H, H));
    }
    return report.finish();
}
