#pragma once
// The requirement on the language, and the inline namespace of the library: every header of xloom includes
// this one before it opens `namespace xloom::inline XLOOM_ABI`.
//
// The inline namespace has a name of its own in translation units that must not share inline functions or
// packed weights with others:
//
// - without exceptions: of an inline function that is compiled both with and without them the linker would
//   keep either; with separate namespaces, each translation unit reports errors in its own way;
// - for wider vector units than SSE, or without SIMD: the width of packed weights is that of the unit;
// - with xloom::dispatch, whose objects hold functions for several units: one name for all units, because it
//   is part of the names of the library's functions, so that files for different ones do link.
//
// So a function of one kind of file that has xloom's types in its signature does not link to another kind.

#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
// Unlike an #error, a missing header ends the compilation, before the thousands of errors that would follow.
#include "xloom requires C++20: compile with -std=c++20 (MSVC: /std:c++20)"
#endif

#if !defined(__cpp_exceptions) && defined(XLOOM_DISPATCH)
#error "xloom::dispatch requires exceptions: compile without -fno-exceptions, or without XLOOM_DISPATCH"
#endif

#ifdef XLOOM_DISPATCH
#define XLOOM_ABI abi_dispatch
#elif defined(__cpp_exceptions) && defined(XLOOM_NO_SIMD)
#define XLOOM_ABI abi_no_simd
#elif defined(__cpp_exceptions) && defined(__AVX512F__)
#define XLOOM_ABI abi_avx512
#elif defined(__cpp_exceptions) && defined(__AVX__)
#define XLOOM_ABI abi_avx
#elif defined(__cpp_exceptions)
#define XLOOM_ABI abi_baseline
#elif defined(XLOOM_NO_SIMD)
#define XLOOM_ABI abi_no_exceptions_no_simd
#elif defined(__AVX512F__)
#define XLOOM_ABI abi_no_exceptions_avx512
#elif defined(__AVX__)
#define XLOOM_ABI abi_no_exceptions_avx
#else
#define XLOOM_ABI abi_no_exceptions
#endif

// Kernels use the library's internal types without qualification.
namespace xloom::inline XLOOM_ABI::detail {}
namespace xloom::inline XLOOM_ABI::kernel {
using namespace detail;
}
