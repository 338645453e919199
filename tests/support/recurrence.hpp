#pragma once
// A recurrence with two states, two inputs, two outputs and three parameters; its gradients by forward mode,
// one run of plain loops for each number; and its body and the body's VJP for the operators under test.
//
//     h' = tanh(W h + V x + s u)
//     c' = 0.9 c + sum(h h')
//     y = h' c'
//     z = c' u

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/control_flow/scan.hpp>

namespace recurrence {

/// The operands, or their gradients.
template <class Number>
struct operands {
    std::vector<Number> h, c, x, u, W, V, s;

    auto all() { return std::tie(h, c, x, u, W, V, s); }
    auto all() const { return std::tie(h, c, x, u, W, V, s); }
};

/// The cotangents of the final states and of the outputs.
struct cotangents {
    std::vector<double> h, c, y, z;
};

struct sizes {
    std::size_t T, H, I;
};

inline std::vector<double> uniform(std::size_t count, double limit, std::mt19937& random)
{
    std::uniform_real_distribution<double> within(-limit, limit);
    std::vector<double> values(count);
    for (double& value : values)
        value = within(random);
    return values;
}

inline operands<double> random_operands(sizes const& n, std::mt19937& random)
{
    return {uniform(n.H, 1, random), uniform(1, 1, random), uniform(n.T * n.I, 1, random),
        uniform(n.T, 1, random), uniform(n.H * n.H, 0.5, random), uniform(n.H * n.I, 0.5, random),
        uniform(1, 0.5, random)};
}

inline cotangents random_cotangents(sizes const& n, std::mt19937& random)
{
    return {uniform(n.H, 1, random), uniform(1, 1, random), uniform(n.T * n.H, 1, random),
        uniform(n.T, 1, random)};
}

/// The sum of all results times their cotangents.
template <class Number>
Number weighted_results(sizes const& n, operands<Number> const& in, cotangents const& ct)
{
    using std::tanh;
    auto const& [T, H, I] = n;
    std::vector<Number> h = in.h;
    Number c = in.c[0], sum(0);
    for (std::size_t t = 0; t < T; ++t) {
        std::vector<Number> next;
        for (std::size_t i = 0; i < H; ++i) {
            Number pre = in.s[0] * in.u[t];
            for (std::size_t j = 0; j < H; ++j)
                pre += in.W[i * H + j] * h[j];
            for (std::size_t j = 0; j < I; ++j)
                pre += in.V[i * I + j] * in.x[t * I + j];
            next.push_back(tanh(pre));
        }
        c = 0.9 * c;
        for (std::size_t i = 0; i < H; ++i)
            c += h[i] * next[i];
        h = next;
        for (std::size_t i = 0; i < H; ++i)
            sum += ct.y[t * H + i] * h[i] * c;
        sum += ct.z[t] * c * in.u[t];
    }
    for (std::size_t i = 0; i < H; ++i)
        sum += ct.h[i] * h[i];
    return sum + ct.c[0] * c;
}

/// The gradient of weighted_results, by forward mode: one run for each number.
inline operands<double> gradient(sizes const& n, operands<double> const& in, cotangents const& ct)
{
    using dual = boost::math::differentiation::autodiff_fvar<double, 1>;
    operands<dual> line;
    operands<double> result;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((std::get<K>(line.all()).assign(std::get<K>(in.all()).begin(), std::get<K>(in.all()).end())), ...);
        auto const by_each = [&](std::vector<dual>& numbers, std::vector<double>& derivatives) {
            for (dual& number : numbers) {
                double const value = static_cast<double>(number);
                number = boost::math::differentiation::make_fvar<double, 1>(value);
                derivatives.push_back(weighted_results(n, line, ct).derivative(1));
                number = value;
            }
        };
        (by_each(std::get<K>(line.all()), std::get<K>(result.all())), ...);
    }(std::make_index_sequence<7>{});
    return result;
}

/// The body in place: body(h, c, x_t, u_t, W, V, s, y_t, z_t).
inline constexpr auto body_into = [](auto& h, double& c, auto const& x, double u, auto const& W,
                                      auto const& V, double s, auto& y, double& z) {
    std::size_t const H = h.size();
    std::vector<double> next(H, s * u);
    c *= 0.9;
    for (std::size_t i = 0; i < H; ++i) {
        for (std::size_t j = 0; j < H; ++j)
            next[i] += W(i, j) * h(j);
        for (std::size_t j = 0; j < x.size(); ++j)
            next[i] += V(i, j) * x(j);
        next[i] = std::tanh(next[i]);
        c += h(i) * next[i];
    }
    for (std::size_t i = 0; i < H; ++i)
        h(i) = next[i];
    for (std::size_t i = 0; i < H; ++i)
        y(i) = h(i) * c;
    z = c * u;
};

/// The pure body: body(h, c, x_t, u_t, W, V, s) -> scan_step.
inline constexpr auto body = [](auto const& h, double c, auto const& x, double u, auto const& W,
                                 auto const& V, double s) {
    xt::xtensor<double, 1> next = h, y = h;
    double z = 0;
    body_into(next, c, x, u, W, V, s, y, z);
    return xloom::scan_step{std::tuple(next, c), std::tuple(y, z)};
};

/// The VJP of both.
inline constexpr auto body_vjp = [](auto const& h, double c, auto const& x, double u, auto const& W,
                                     auto const& V, double s, auto const& ct_next_h, double ct_next_c,
                                     auto const& ct_y, double ct_z, auto& ct_h, double& ct_c, auto& ct_x,
                                     double& ct_u, auto& ct_W, auto& ct_V, double& ct_s) {
    std::size_t const H = h.size();
    xt::xtensor<double, 1> next = h, y = h;
    double z = 0;
    body_into(next, c, x, u, W, V, s, y, z); // c is the next one now
    double by_c = ct_next_c + ct_z * u;
    ct_u += ct_z * c;
    for (std::size_t i = 0; i < H; ++i)
        by_c += ct_y(i) * next(i);
    for (std::size_t i = 0; i < H; ++i)
        ct_h(i) += by_c * next(i);
    for (std::size_t i = 0; i < H; ++i) {
        double const d = (ct_next_h(i) + ct_y(i) * c + by_c * h(i)) * (1 - next(i) * next(i));
        for (std::size_t j = 0; j < H; ++j) {
            ct_W(i, j) += d * h(j);
            ct_h(j) += d * W(i, j);
        }
        for (std::size_t j = 0; j < x.size(); ++j) {
            ct_V(i, j) += d * x(j);
            ct_x(j) += d * V(i, j);
        }
        ct_s += d * u;
        ct_u += d * s;
    }
    ct_c += 0.9 * by_c;
};

/// A container of this shape with the values in row-major order.
template <class X>
X shaped(std::vector<double> const& values, xloom::shape const& dims)
{
    X result = xloom::enable_tensor<X>::make(dims);
    if (!values.empty())
        std::copy(values.begin(), values.end(), result.template begin<xt::layout_type::row_major>());
    return result;
}

} // namespace recurrence
