// Compares activate with loops over <cmath>, with xtensor's expressions, which use SIMD too, with the vector
// functions of the C library and of SLEEF, and with ONNX Runtime. An iteration is one item.

#include <limits>

#include <xloom/recurrent/activations.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "recurrent_operands.hpp"
#include "vector_math.hpp"

namespace {

using namespace bench;
using xloom::activation;

template <class T>
struct numbers_operands {
    using number = T;
    using row = xt::xtensor<T, 1>;

    std::size_t iterations;
    row x = uniform<row>({iterations}, 1, 8.0);
    row y = row::from_shape({iterations});

    auto const& results() const { return y; }
    void clear() { y.fill(std::numeric_limits<T>::quiet_NaN()); }
    bool is_close_to(row const& expected) const { return is_close(y, expected); }
};
using activation_operands = numbers_operands<float>;

template <class T>
T one_by_hand(activation kind, T x)
{
    switch (kind) {
    case activation::tanh:
        return std::tanh(x);
    case activation::sigmoid:
        return T(1) / (T(1) + std::exp(-x));
    case activation::elu:
        return x < T(0) ? std::expm1(x) : x;
    case activation::softsign:
        return x / (T(1) + std::abs(x));
    default: // softplus
        return std::log1p(std::exp(x));
    }
}

template <activation Kind, class Operands>
void hand(Operands& o)
{
    if constexpr (Kind == activation::softmax) {
        auto const largest = *std::max_element(o.x.begin(), o.x.end());
        typename Operands::number sum = 0;
        for (std::size_t i = 0; i < o.iterations; ++i) {
            o.y(i) = std::exp(o.x(i) - largest);
            sum += o.y(i);
        }
        for (auto& y : o.y)
            y /= sum;
    } else {
        auto const* const x = o.x.data();
        auto* const y = o.y.data();
        for (std::size_t i = 0; i < o.iterations; ++i)
            y[i] = one_by_hand(Kind, x[i]);
    }
}

/// Tanh or Sigmoid by a library's vector functions.
template <class Library, activation Kind, class Operands>
void vectorised(Operands& o)
{
    for_each_vector(o.x.data(), o.iterations, o.y.data(), [](auto x) {
        if constexpr (Kind == activation::tanh)
            return Library::tanh(x);
        else
            return 1 / (1 + Library::exp(-x));
    });
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

template <activation Kind, class Operands>
void xloom_activate(Operands& o)
{
    xloom::activate({Kind, 1.0}, o.x.storage(), o.y.storage());
}

template <activation Kind>
onnx_graph model(activation_operands& o)
{
    return model_of({.op = std::string(name_of(Kind))}, {bound("x", o.x)}, {bound("y", o.y)});
}

/// Adds the series of the vector functions, for the activations that amount to one of them.
template <activation Kind, class Operands>
void add_vectorised(std::vector<series<Operands>>& all)
{
    if constexpr (Kind == activation::tanh || Kind == activation::sigmoid) {
        all.push_back({"libmvec", vectorised<libmvec, Kind, Operands>});
#ifdef XLOOM_HAS_SLEEF
        all.push_back({"sleef", vectorised<sleef, Kind, Operands>});
#endif
    }
}

template <activation Kind>
void add_activation()
{
    using operands = activation_operands;
    std::vector<series<operands>> all{{"hand", hand<Kind, operands>}, {"xtensor", xtensor<Kind>},
        {"xloom", xloom_activate<Kind, operands>}, {.impl = "onnxruntime", .model = model<Kind>}};
    add_vectorised<Kind>(all);
    add_case(
        "activations/f32/" + std::string(name_of(Kind)) + "/size:4096", [] { return operands{4096}; }, all);
}

template <activation Kind>
void add_activation_of_doubles()
{
    using operands = numbers_operands<double>;
    std::vector<series<operands>> all{
        {"hand", hand<Kind, operands>}, {"xloom", xloom_activate<Kind, operands>}};
    add_vectorised<Kind>(all);
    add_case(
        "activations/f64/" + std::string(name_of(Kind)) + "/size:4096", [] { return operands{4096}; }, all);
}

} // namespace

int main(int argc, char** argv)
{
    add_activation<activation::tanh>();
    add_activation<activation::sigmoid>();
    add_activation_of_doubles<activation::tanh>();
    add_activation_of_doubles<activation::sigmoid>();
    add_activation<activation::elu>();
    add_activation<activation::softsign>();
    add_activation<activation::softplus>();
    add_activation<activation::softmax>();
    return run_cases(argc, argv);
}
