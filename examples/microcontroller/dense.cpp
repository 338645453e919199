// A layer of a packed matrix of int8 and an activation, beside a plain loop in double.

#include <array>
#include <cmath>

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/packed_matrix.hpp>

#include "firmware.hpp"

int main()
{
    constexpr std::size_t K = 64, J = 32;
    std::array<float, K * J> B{};
    std::array<float, J> bias{}, y{}, expected{};
    std::array<float, K> x{};
    for (std::size_t i = 0; i < B.size();
         ++i) // integers whose largest is 127 in each column: int8 holds them exactly
        B[i] = i / J == i % J ? 127 : static_cast<float>((i * 29) % 255) - 127;
    for (std::size_t k = 0; k < K; ++k)
        x[k] = static_cast<float>(k % 7) / 4096;
    xloom::packed_matrix<float> const layer(
        {B.data(), {K, J}}, {bias.data(), {J}}, xloom::weight_storage::int8);
    for (std::size_t j = 0; j < J; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < K; ++k)
            sum += static_cast<double>(x[k]) * static_cast<double>(B[k * J + j]);
        expected[j] = static_cast<float>(std::tanh(sum));
    }
    firmware::report report(TOLERANCE);
    for (int t = 0; t < 10; ++t) {
        report.step([&] {
            layer(1, x.data(), K, y.data(), J);
            xloom::activate(xloom::activation::tanh, y, y);
        });
        report.compare(y, expected);
    }
    return report.finish();
}
