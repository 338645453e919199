// Steps of an LSTM on a microcontroller. RECORDED is the header of its weights, inputs and outputs.

#include <array>

#include <xloom/recurrent/lstm_cell.hpp>

#include "firmware.hpp"
#include RECORDED

int main()
{
    using namespace recorded;
    xloom::lstm_constants<float> const constants{
        .W = {W, {1, 4 * H, I}}, .R = {R, {1, 4 * H, H}}, .B = {B, {1, 8 * H}}};
#ifdef STORAGE
    xloom::lstm_cell<float> cell(xloom::lstm_weights<float>(constants, {}, xloom::weight_storage::STORAGE));
#else
    xloom::lstm_cell<float> cell{xloom::lstm_weights<float>(constants)};
#endif
    std::array<float, H> h{}, c{};
    firmware::report report(TOLERANCE);
    for (std::size_t t = 0; t < T; ++t) {
        report.step([&] { cell(h, c, std::span(x).subspan(t * I, I)); });
        report.compare(h, std::span(Y).subspan(t * H, H));
    }
    return report.finish();
}
