// Compares activate with loops over <cmath>, with xtensor's expressions, which use SIMD too, and with ONNX
// Runtime. An iteration is one item.

#include <limits>

#include <xloom/activations.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "recurrent_operands.hpp"

namespace {

using namespace bench;
using xloom::activation;

struct activation_operands {
    std::size_t iterations;
    vector x = uniform<vector>({iterations}, 1, 8.0);
    vector y = vector::from_shape({iterations});

    auto const& results() const { return y; }
    void clear() { y.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(vector const& expected) const { return is_close(y, expected); }
};

float one_by_hand(activation kind, float x)
{
    switch (kind) {
    case activation::tanh:
        return std::tanh(x);
    case activation::sigmoid:
        return 1.0f / (1.0f + std::exp(-x));
    case activation::elu:
        return x < 0.0f ? std::expm1(x) : x;
    case activation::softsign:
        return x / (1.0f + std::abs(x));
    default: // softplus
        return std::log1p(std::exp(x));
    }
}

template <activation Kind>
void hand(activation_operands& o)
{
    float const* const x = o.x.data();
    float* const y = o.y.data();
    for (std::size_t i = 0; i < o.iterations; ++i)
        y[i] = one_by_hand(Kind, x[i]);
}

template <>
void hand<activation::softmax>(activation_operands& o)
{
    float const largest = *std::max_element(o.x.begin(), o.x.end());
    float sum = 0.0f;
    for (std::size_t i = 0; i < o.iterations; ++i) {
        o.y(i) = std::exp(o.x(i) - largest);
        sum += o.y(i);
    }
    for (float& y : o.y)
        y /= sum;
}

template <activation Kind>
void xtensor(activation_operands& o)
{
    vector const& x = o.x;
    if constexpr (Kind == activation::tanh)
        xt::noalias(o.y) = xt::tanh(x);
    else if constexpr (Kind == activation::sigmoid)
        xt::noalias(o.y) = 1.0f / (1.0f + xt::exp(-x));
    else if constexpr (Kind == activation::elu)
        xt::noalias(o.y) = xt::where(x < 0.0f, xt::expm1(x), x);
    else if constexpr (Kind == activation::softsign)
        xt::noalias(o.y) = x / (1.0f + xt::abs(x));
    else if constexpr (Kind == activation::softplus)
        xt::noalias(o.y) = xt::log1p(xt::exp(x));
    else {
        xt::noalias(o.y) = xt::exp(x - xt::amax(x)());
        o.y /= xt::sum(o.y)();
    }
}

template <activation Kind>
void xloom_activate(activation_operands& o)
{
    xloom::activate({Kind, 1.0}, o.x.storage(), o.y.storage());
}

template <activation Kind>
onnx_graph model(activation_operands& o)
{
    return model_of({.op = std::string(name_of(Kind))}, {bound("x", o.x)}, {bound("y", o.y)});
}

template <activation Kind>
void add_activation()
{
    add_case("activations/f32/" + std::string(name_of(Kind)) + "/size:4096",
        [] { return activation_operands{4096}; },
        {{"hand", hand<Kind>}, {"xtensor", xtensor<Kind>}, {"xloom", xloom_activate<Kind>},
            {.impl = "onnxruntime", .model = model<Kind>}});
}

} // namespace

int main(int argc, char** argv)
{
    add_activation<activation::tanh>();
    add_activation<activation::sigmoid>();
    add_activation<activation::elu>();
    add_activation<activation::softsign>();
    add_activation<activation::softplus>();
    add_activation<activation::softmax>();
    return run_cases(argc, argv);
}
