// Recurrences and products, whose assembly has no fused multiply-add.

#include <complex>

#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/kernel/affine.hpp>

using namespace xloom::kernel;

template <class T>
void compose_all(affine_map<T> const* x, affine_map<T>* y, int count)
{
    for (int i = 1; i < count; ++i)
        y[i] = compose{}(y[i - 1], x[i]);
}
template void compose_all(affine_map<float> const*, affine_map<float>*, int);
template void compose_all(affine_map<double> const*, affine_map<double>*, int);
template void compose_all(affine_map<long double> const*, affine_map<long double>*, int);
template void compose_all(affine_map<std::complex<float>> const*, affine_map<std::complex<float>>*, int);
template void compose_all(affine_map<lanes_t<float>> const*, affine_map<lanes_t<float>>*, int);

void multiply_all(std::complex<double> const* x, std::complex<double>* y, int count)
{
    for (int i = 1; i < count; ++i)
        y[i] = ordered_product<std::complex<double>>{}(y[i - 1], x[i]);
}

void scale_all(std::complex<float> const* x, std::complex<float>* y, int count)
{
    for (int i = 0; i < count; ++i)
        y[i] = xloom::reduce_mul(y[i], x[i]);
}
