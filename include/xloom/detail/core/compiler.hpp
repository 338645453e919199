#pragma once
// Attributes, pragmas and functions of compilers, beside the standard's. With a compiler that has none, the
// code is the same, but slower.

#include <cstddef>
#include <cstdint>
#include <version>

#include <xloom/detail/core/abi.hpp>

#if defined(__GNUC__) || defined(__clang__)

/// A function that is inlined at any level of optimisation.
#define XLOOM_ALWAYS_INLINE [[gnu::always_inline]]
/// A lambda that is inlined at any level of optimisation; the macro follows its parameters.
#define XLOOM_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))
/// A function into which all calls are inlined.
#define XLOOM_FLATTEN [[gnu::flatten]]
#define XLOOM_NOINLINE [[gnu::noinline]]
/// A function that is called rarely: not inlined, and placed apart from its callers.
#define XLOOM_COLD [[gnu::noinline, gnu::cold]]
/// Unrolls the loop after it `count` times.
#define XLOOM_UNROLL(count) XLOOM_PRAGMA(GCC unroll count)
#define XLOOM_PRAGMA(words) _Pragma(#words)
/// An alias of a vector of `bytes` bytes, by the extension of g++ and clang.
#define XLOOM_VECTOR(bytes) [[gnu::vector_size(bytes)]]

#else

#define XLOOM_ALWAYS_INLINE
#define XLOOM_ALWAYS_INLINE_LAMBDA
#define XLOOM_FLATTEN
#define XLOOM_NOINLINE
#define XLOOM_COLD
#define XLOOM_UNROLL(count)
#define XLOOM_VECTOR(bytes)

#endif

/// Defined where the standard library has threads and locks. libc++ for WebAssembly has none, nor has
/// libstdc++ for bare-metal processors.
#ifdef __cpp_lib_scoped_lock
#define XLOOM_HAS_STD_THREADS
#endif

// What g++ 12 reports falsely, between BEGIN and END: operands that its own AVX-512 intrinsics leave
// undefined, and scoped enumerators that have the names of types.
#if defined(__GNUC__) && !defined(__clang__)
#define XLOOM_BEGIN_FALSE_UNINITIALIZED                                                                      \
    XLOOM_PRAGMA(GCC diagnostic push)                                                                        \
    XLOOM_PRAGMA(GCC diagnostic ignored "-Wuninitialized")                                                   \
    XLOOM_PRAGMA(GCC diagnostic ignored "-Wmaybe-uninitialized")
#define XLOOM_BEGIN_FALSE_SHADOW                                                                             \
    XLOOM_PRAGMA(GCC diagnostic push) XLOOM_PRAGMA(GCC diagnostic ignored "-Wshadow")
#define XLOOM_END_FALSE_WARNINGS XLOOM_PRAGMA(GCC diagnostic pop)
#else
#define XLOOM_BEGIN_FALSE_UNINITIALIZED
#define XLOOM_BEGIN_FALSE_SHADOW
#define XLOOM_END_FALSE_WARNINGS
#endif

namespace xloom::inline XLOOM_ABI::detail {

/// Sets `product` to a * b modulo 2^n, and returns true if that is not a * b.
constexpr bool mul_overflows(std::size_t a, std::size_t b, std::size_t& product) noexcept
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_mul_overflow(a, b, &product); // a division takes longer than a small call
#else
    product = a * b;
    return b != 0 && product / b != a;
#endif
}

/// Loads a line into the caches that Locality names: 3 all, 2 all but the first.
template <int Locality>
inline void prefetch_to_read([[maybe_unused]] void const* line) noexcept
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(line, 0, Locality);
#endif
}
template <int Locality>
inline void prefetch_to_write([[maybe_unused]] void const* line) noexcept
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(line, 1, Locality);
#endif
}

/// Prefetches the item that is `count` strides ahead of another one; it need not exist.
template <int Locality, class T>
inline void prefetch_ahead(T const* item, std::ptrdiff_t stride, std::size_t count) noexcept
{
    auto const bytes = static_cast<std::uintptr_t>(stride) * (count * sizeof(T));
    prefetch_to_read<Locality>(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(item) + bytes));
}

/// True if the compiler cancels what is added and subtracted: -ffast-math, g++'s -fassociative-math. clang
/// has no macro for parts of -ffast-math.
inline constexpr bool is_reassociated =
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
    true;
#else
    false;
#endif

/// Has the compiler take `value`, a number or a vector, for one that it does not know: no instruction
/// combines its computation with its use.
template <class T>
XLOOM_ALWAYS_INLINE inline void forget_value([[maybe_unused]] T& value) noexcept
{
#if !defined(__GNUC__) && !defined(__clang__)
#elif defined(__x86_64__) || defined(__i386__)
    asm("" : "+v"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#else
    asm("" : "+m"(value));
#endif
}

/// Has the compiler take `items` for written, so that it neither clears them nor warns.
template <class T>
XLOOM_ALWAYS_INLINE inline void take_for_written([[maybe_unused]] T& items) noexcept
{
#if defined(__GNUC__) || defined(__clang__)
    asm("" : "=m"(items));
#endif
}

} // namespace xloom::inline XLOOM_ABI::detail
