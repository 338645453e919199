#pragma once
// A custom operator of the test's model.

#include <xtensor/xtensor.hpp>

namespace tested {

struct smooth_options {
    double factor = 1; ///< attributes are double, std::int64_t, strings, or lists of them
};

/// y[t] = y[t - 1] + factor * (x[t] - y[t - 1]), from y[-1] = start; last = y[N - 1].
inline void smooth(xt::xtensor<float, 1> const& x, float start, xt::xtensor<float, 1>& y, float& last,
    smooth_options const& options)
{
    y.resize(x.shape());
    last = start;
    for (std::size_t t = 0; t < x.size(); ++t)
        y(t) = last += static_cast<float>(options.factor) * (x(t) - last);
}

} // namespace tested
