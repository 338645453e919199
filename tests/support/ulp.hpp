#pragma once
// How far a number is from the true one, and arguments to try.

#include <cmath>
#include <limits>
#include <vector>

/// The distance in units of the last place that a T has at the exact value.
template <class T, class Wide>
long double ulps_between(T found, Wide const& exact_value)
{
    using std::fabs, std::fmax, std::ilogb, std::ldexp;
    Wide const size = fmax(fabs(exact_value), static_cast<Wide>(std::numeric_limits<T>::min()));
    return static_cast<long double>(fabs(static_cast<Wide>(found) - exact_value) /
                                    ldexp(Wide(1), ilogb(size) + 1 - std::numeric_limits<T>::digits));
}

/// Between lowest and highest, evenly spaced, and of every magnitude.
template <class T>
std::vector<T> arguments(T lowest, T highest = std::numeric_limits<T>::infinity())
{
    std::vector<T> x;
    for (int i = -50'000; i <= 50'000; ++i)
        x.push_back(static_cast<T>(i) * static_cast<T>(0.0021));
    for (int i = -9'000; i <= 1'300; ++i)
        for (T const sign : {T(-1), T(1)})
            x.push_back(sign * std::exp2(static_cast<T>(i) / 100));
    // Where a search found the largest errors of softplus, sigmoid_times_tanh and <cmath>'s tanh.
    for (double const each : {0x1.1412fp-5, -0x1.5ba82ep+1, -0x1.6b4dp-3, 0x1.e2a4cep-5, 0x1.0d5298p-4,
             0x1.ddca18p-3, -0x1.db7d75d016224p-3})
        x.push_back(static_cast<T>(each));
    std::erase_if(x, [lowest, highest](T each) { return each < lowest || each > highest; });
    return x;
}
