#pragma once
// SIMD batches for the kernels: those of xsimd where it supports the type, else scalars, so that one template
// serves both. With XLOOM_NO_SIMD defined, which must be the same in all translation units of a program,
// xsimd is not included. It is defined here for targets whose vector units xsimd does not support.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>

// This goes first, so that the linker name of the namespace does not depend on the order of includes.
#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>

#ifndef XLOOM_NO_SIMD
#include <xsimd/config/xsimd_config.hpp>
// xsimd has vector units of WebAssembly from version 10 on, but takes those of Emscripten only.
#if defined(__wasm_simd128__) && XSIMD_VERSION_MAJOR >= 10 && !XSIMD_WITH_WASM
#undef XSIMD_WITH_WASM
#define XSIMD_WITH_WASM 1
#undef XSIMD_NO_SUPPORTED_ARCHITECTURE
#endif
#include <xsimd/xsimd.hpp>
#ifdef XSIMD_NO_SUPPORTED_ARCHITECTURE
#define XLOOM_NO_SIMD
#endif
#endif

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

#ifdef XLOOM_NO_SIMD
template <class T>
inline constexpr bool has_simd = false;
#else
/// True for float and double if the target has vector units for them.
template <class T>
inline constexpr bool has_simd = xsimd::has_simd_register<T>::value;
#endif

namespace detail {

template <class T, bool = has_simd<T>>
struct batch_of {
    using type = T;
    static constexpr std::size_t size = 1;
};
#ifndef XLOOM_NO_SIMD
template <class T>
struct batch_of<T, true> {
    using type = xsimd::batch<T>;
    static constexpr std::size_t size = type::size;
};
#endif

} // namespace detail

template <class T>
using batch_t = typename detail::batch_of<T>::type;

template <class T>
inline constexpr std::size_t batch_size = detail::batch_of<T>::size;

/// True for a SIMD batch of any item type.
template <class V>
inline constexpr bool is_batch = false;
/// True for the result of a comparison of batches.
template <class V>
inline constexpr bool is_mask = false;

namespace detail {

template <class V>
struct item_of_batch {
    using type = V;
};

} // namespace detail

#ifndef XLOOM_NO_SIMD
template <class T, class Arch>
inline constexpr bool is_batch<xsimd::batch<T, Arch>> = true;
template <class T, class Arch>
inline constexpr bool is_mask<xsimd::batch_bool<T, Arch>> = true;

namespace detail {

template <class T, class Arch>
struct item_of_batch<xsimd::batch<T, Arch>> {
    using type = T;
};
template <class T, class Arch>
struct item_of_batch<xsimd::batch_bool<T, Arch>> {
    using type = T;
};

} // namespace detail
#endif

/// The item type of a batch or mask; of a number its own type.
template <class V>
using batch_item_t = typename detail::item_of_batch<V>::type;

/// Returns `count` rounded up to whole batches.
template <class T>
constexpr std::size_t whole_batches(std::size_t count) noexcept
{
    return xloom::detail::ceil_div(count, batch_size<T>) * batch_size<T>;
}

template <class T>
batch_t<T> load_batch(T const* from)
{
    if constexpr (has_simd<T>)
        return batch_t<T>::load_unaligned(from);
    else
        return *from;
}

template <class T>
void store_batch(T* to, std::type_identity_t<batch_t<T>> const& batch)
{
    if constexpr (has_simd<T>)
        batch.store_unaligned(to);
    else
        *to = batch;
}

/// Returns a * b + c, rounded once if the processor can.
///
/// Why std::fma: a compiler that may contract a * b + c decides for each expression, so that a sum would have
/// other bits in a batch than in a single row.
template <class V>
V multiply_add(V const& a, V const& b, V const& c)
{
#ifdef FP_FAST_FMAF
    if constexpr (std::is_same_v<V, float>)
        return std::fma(a, b, c);
#endif
#ifdef FP_FAST_FMA
    if constexpr (std::is_same_v<V, double>)
        return std::fma(a, b, c);
#endif
    return a * b + c;
}

/// Returns a / b, rounded once.
template <class V>
V divide(V const& a, V const& b)
{
    return a / b;
}

/// Returns `yes` if the condition is true, else `no`.
template <class T>
T select(bool condition, T const& yes, T const& no)
{
    return condition ? yes : no;
}

#ifndef XLOOM_NO_SIMD

template <class T>
xsimd::batch<T> multiply_add(xsimd::batch<T> const& a, xsimd::batch<T> const& b, xsimd::batch<T> const& c)
{
#ifdef __AVX512F__ // where xsimd 8 multiplies, then adds
    if constexpr (sizeof(a) == 64 && std::is_same_v<T, float>)
        return _mm512_fmadd_ps(a, b, c);
    else if constexpr (sizeof(a) == 64)
        return _mm512_fmadd_pd(a, b, c);
    else
#endif
        return xsimd::fma(a, b, c);
}

#ifdef __aarch64__ // where xsimd multiplies floats with an estimate of 1 / b
template <std::derived_from<xsimd::neon> Arch>
xsimd::batch<float, Arch> divide(xsimd::batch<float, Arch> const& a, xsimd::batch<float, Arch> const& b)
{
    return vdivq_f32(a, b);
}
#endif

template <class T>
xsimd::batch<T> select(
    xsimd::batch_bool<T> const& condition, xsimd::batch<T> const& yes, xsimd::batch<T> const& no)
{
    return xsimd::select(condition, yes, no);
}

namespace detail {

// Return the second operand if one is NaN. The operand order of xsimd's min and max depends on its version.
#ifdef __SSE2__
inline __m128 lesser(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
inline __m128 greater(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
inline __m128d lesser(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
inline __m128d greater(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
#endif
#ifdef __AVX__
inline __m256 lesser(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
inline __m256 greater(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
inline __m256d lesser(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
inline __m256d greater(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
#endif
#ifdef __AVX512F__
inline __m512 lesser(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
inline __m512 greater(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
inline __m512d lesser(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
inline __m512d greater(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
#endif

/// Returns a mask of the first `count` items. Requires count < the number of bits.
template <class Mask>
Mask mask_of_first(std::size_t count)
{
    return static_cast<Mask>((1U << count) - 1);
}

} // namespace detail

/// Returns min(x, limit); NaN stays NaN. One instruction on x86.
template <class T, class Arch>
xsimd::batch<T, Arch> min_nan_second(xsimd::batch<T, Arch> const& limit, xsimd::batch<T, Arch> const& x)
{
#ifdef __SSE2__
    return detail::lesser(limit, x);
#else
    return select(x > limit, limit, x);
#endif
}

/// Returns max(x, limit); NaN stays NaN. One instruction on x86.
template <class T, class Arch>
xsimd::batch<T, Arch> max_nan_second(xsimd::batch<T, Arch> const& limit, xsimd::batch<T, Arch> const& x)
{
#ifdef __SSE2__
    return detail::greater(limit, x);
#else
    return select(x < limit, limit, x);
#endif
}

#endif

/// Returns the sum of a batch's numbers.
template <class T>
T sum_of(batch_t<T> const& batch)
{
    if constexpr (!has_simd<T>)
        return batch;
#ifndef XLOOM_NO_SIMD
    else
#if XSIMD_VERSION_MAJOR < 9
        return xsimd::hadd(batch);
#else
        return xsimd::reduce_add(batch); // not xloom's reduce_add
#endif
#endif
}

/// Returns a batch that is in a register. Why: g++ repeats a load in each instruction that uses
/// the batch, and processors load two of them a cycle.
template <class T>
batch_t<T> in_register(std::type_identity_t<batch_t<T>> batch)
{
#if defined(__x86_64__) && !defined(XLOOM_NO_SIMD)
    if constexpr (has_simd<T>)
        forget_value(batch.data);
#endif
    return batch;
}

/// Returns the sum of each of as many batches as a batch has numbers.
template <class T>
batch_t<T> sums_of(T const* batches)
{
    constexpr std::size_t count = batch_size<T>;
    batch_t<T> rows[count];
    for (std::size_t i = 0; i < count; ++i)
        rows[i] = load_batch(batches + i * count);
    if constexpr (!has_simd<T>)
        return rows[0];
#ifndef XLOOM_NO_SIMD
#ifdef __AVX512F__
    else if constexpr (std::is_same_v<T, float> &&
                       count == 16) { // xsimd 8 returns these sums in another order
        __m512i const even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                      odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        for (std::size_t left = count / 2; left > 0; left /= 2)
            for (std::size_t i = 0; i < left; ++i)
                rows[i] = _mm512_add_ps(_mm512_permutex2var_ps(rows[2 * i], even, rows[2 * i + 1]),
                    _mm512_permutex2var_ps(rows[2 * i], odd, rows[2 * i + 1]));
        return rows[0];
    }
#endif
    else
        return xsimd::haddp(rows);
#endif
}

/// Loads the first `count` items into a batch, padded with `fill`. Requires count < batch_size.
template <class T>
batch_t<T> load_first(T const* from, std::size_t count, T fill = T(0))
{
#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
    if constexpr (sizeof(batch_t<T>) == 64 && std::is_same_v<T, float>)
        return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), detail::mask_of_first<__mmask16>(count), from);
    else if constexpr (sizeof(batch_t<T>) == 64 && std::is_same_v<T, double>)
        return _mm512_mask_loadu_pd(_mm512_set1_pd(fill), detail::mask_of_first<__mmask8>(count), from);
#endif
    T items[batch_size<T>];
    std::fill(std::copy_n(from, count, items), std::end(items), fill);
    return load_batch(items);
}

template <class T>
void store_first(std::type_identity_t<batch_t<T>> const& batch, T* to, std::size_t count)
{
#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
    if constexpr (sizeof(batch_t<T>) == 64 && std::is_same_v<T, float>)
        return _mm512_mask_storeu_ps(to, detail::mask_of_first<__mmask16>(count), batch);
    else if constexpr (sizeof(batch_t<T>) == 64 && std::is_same_v<T, double>)
        return _mm512_mask_storeu_pd(to, detail::mask_of_first<__mmask8>(count), batch);
#endif
    T items[batch_size<T>];
    store_batch(items, batch);
    std::copy_n(items, count, to);
}

/// Returns f of the items of batches, one by one.
template <class F, class V, class... Vs>
    requires(is_batch<V>)
V item_by_item(F const& f, V const& first, Vs const&... others)
{
    constexpr std::size_t size = V::size;
    batch_item_t<V> x[1 + sizeof...(Vs)][size];
    store_batch(x[0], first);
    std::size_t n = 1;
    (store_batch(x[n++], others), ...);
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (sizeof...(Vs) == 0)
            x[0][i] = f(x[0][i]);
        else
            x[0][i] = f(x[0][i], x[1][i]);
    }
    return load_batch(x[0]);
}

/// Computes y[i] = f(x[i]) for i < count. f takes and returns a T or a batch. x and y may be the same array.
///
/// Why the remainder uses a batch too: an item's result must not depend on its position. Why flatten: f's
/// constants stay in registers only if all its calls are inlined, which g++ does not always do.
template <class T, class F>
XLOOM_FLATTEN void map(T const* x, T* y, std::size_t count, F const& f)
{
    std::size_t i = 0;
    for (; i + batch_size<T> <= count; i += batch_size<T>)
        store_batch(y + i, f(load_batch(x + i)));
    if constexpr (has_simd<T>)
        if (i < count)
            store_first(f(load_first(x + i, count - i)), y + i, count - i);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
