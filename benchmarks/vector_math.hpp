#pragma once
// The vector functions of the C library (libmvec) and of SLEEF for the vector unit that is compiled for, as
// loops over contiguous numbers.

#include <cstddef>
#include <cstring>

#include <immintrin.h>

#ifdef XLOOM_HAS_SLEEF
#include <sleef.h>
#endif

namespace bench {

#if defined(__AVX512F__)
using floats = __m512;
using doubles = __m512d;
#define XLOOM_LIBMVEC_FLOATS(name) _ZGVeN16v_##name##f
#define XLOOM_LIBMVEC_DOUBLES(name) _ZGVeN8v_##name
#define XLOOM_SLEEF_FLOATS(name) Sleef_##name##f16_u10avx512f
#define XLOOM_SLEEF_DOUBLES(name) Sleef_##name##d8_u10avx512f
#elif defined(__AVX2__)
using floats = __m256;
using doubles = __m256d;
#define XLOOM_LIBMVEC_FLOATS(name) _ZGVdN8v_##name##f
#define XLOOM_LIBMVEC_DOUBLES(name) _ZGVdN4v_##name
#define XLOOM_SLEEF_FLOATS(name) Sleef_##name##f8_u10avx2
#define XLOOM_SLEEF_DOUBLES(name) Sleef_##name##d4_u10avx2
#else
using floats = __m128;
using doubles = __m128d;
#define XLOOM_LIBMVEC_FLOATS(name) _ZGVbN4v_##name##f
#define XLOOM_LIBMVEC_DOUBLES(name) _ZGVbN2v_##name
#define XLOOM_SLEEF_FLOATS(name) Sleef_##name##f4_u10sse2
#define XLOOM_SLEEF_DOUBLES(name) Sleef_##name##d2_u10sse2
#endif

// The C library declares these only to the compiler's vectoriser.
extern "C" {
floats XLOOM_LIBMVEC_FLOATS(tanh)(floats);
floats XLOOM_LIBMVEC_FLOATS(exp)(floats);
doubles XLOOM_LIBMVEC_DOUBLES(tanh)(doubles);
doubles XLOOM_LIBMVEC_DOUBLES(exp)(doubles);
}

struct libmvec {
    static floats tanh(floats x) { return XLOOM_LIBMVEC_FLOATS(tanh)(x); }
    static floats exp(floats x) { return XLOOM_LIBMVEC_FLOATS(exp)(x); }
    static doubles tanh(doubles x) { return XLOOM_LIBMVEC_DOUBLES(tanh)(x); }
    static doubles exp(doubles x) { return XLOOM_LIBMVEC_DOUBLES(exp)(x); }
};

#ifdef XLOOM_HAS_SLEEF
/// With an error of at most 1 ULP.
struct sleef {
    static floats tanh(floats x) { return XLOOM_SLEEF_FLOATS(tanh)(x); }
    static floats exp(floats x) { return XLOOM_SLEEF_FLOATS(exp)(x); }
    static doubles tanh(doubles x) { return XLOOM_SLEEF_DOUBLES(tanh)(x); }
    static doubles exp(doubles x) { return XLOOM_SLEEF_DOUBLES(exp)(x); }
};
#endif

template <class T>
struct vector_of {
    using type = floats;
};
template <>
struct vector_of<double> {
    using type = doubles;
};

/// Computes y = f(x) for `count` numbers, a multiple of the vectors' length.
template <class T, class F>
void for_each_vector(T const* x, std::size_t count, T* y, F const& f)
{
    for (std::size_t i = 0; i < count; i += sizeof(floats) / sizeof(T)) {
        typename vector_of<T>::type numbers;
        std::memcpy(&numbers, x + i, sizeof numbers);
        numbers = f(numbers);
        std::memcpy(y + i, &numbers, sizeof numbers);
    }
}

} // namespace bench
