// The curves of ONNX's activation functions, with ONNX's default parameters:
//
//   activation_curves >curves.dat
//   gnuplot -p -e "set key autotitle columnhead; plot for [i = 2:12] 'curves.dat' using 1:i with lines"
//
// Softmax has none: each of its values depends on all of them.

#include <cstdio>
#include <vector>

#include <xloom/recurrent/activations.hpp>

int main()
{
    std::vector<double> x;
    for (int i = -6; i <= 6; ++i)
        x.push_back(i / 2.0);
    std::vector<std::vector<double>> curves;
    std::printf("   x");
    for (std::size_t kind = 0; kind < xloom::activation_count; ++kind) {
        std::string_view const name = xloom::name_of(static_cast<xloom::activation>(kind));
        if (name == "Softmax")
            continue;
        auto const function = xloom::parse_activations("activation_curves", std::span(&name, 1))[0];
        xloom::activate(function, x, curves.emplace_back(x.size()));
        std::printf(" %15s", name.data());
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::printf("\n%4.1f", x[i]);
        for (auto const& curve : curves)
            std::printf(" %15.4f", curve[i]);
    }
    std::puts("");
}
