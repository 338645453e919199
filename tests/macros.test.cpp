// Every header of the library under the macros of common names that <windows.h>, X11, Qt and <AssertMacros.h>
// define. What the library includes is included before: not every one of those headers stands such macros.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#ifdef __cpp_lib_jthread
#include <stop_token>
#endif
#ifndef XLOOM_NO_SIMD
#include <xsimd/xsimd.hpp>
#endif
#include <Eigen/Core>
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif
#ifdef XLOOM_TEST_TBB
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

#include <xloom/detail/tensor/xtensor.hpp>

// <windows.h> and what it includes
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define hyper __int64
#define near
#define far
#define pascal __stdcall
#define cdecl
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define THIS INTERFACE* This
#define ERROR 0
#define DIFFERENCE 11
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define DELETE (0x00010000L)
#define STRICT 1
#define ABSOLUTE 1
#define RELATIVE 2
#define OPAQUE 2
#define TRANSPARENT 1
#define NO_ERROR 0L
#define Yield()
#define GetObject GetObjectA
#define SendMessage SendMessageA

// X11
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define True 1
#define False 0
#define Always 2
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define Unsorted 0
#define Opposite 4
#define Expose 12
#define FocusIn 9
#define FocusOut 10
#define KeyPress 2
#define KeyRelease 3
#define CurrentTime 0L
#define CursorShape 0
#define DestroyAll 0
#define GrayScale 1
#define NoSymbol 0L

// Qt
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
#define forever for (;;)

// <AssertMacros.h>
#define check(assertion) static_assert(false, "the macro of the test")
#define require(assertion, label) static_assert(false, "the macro of the test")
#define verify(assertion) static_assert(false, "the macro of the test")

#if __has_include(<dlpack/dlpack.h>)
#include <xloom/interop/dlpack.hpp>
#endif
#include <xloom/interop/eigen.hpp>
#if __has_include(<nlohmann/json.hpp>)
#include <xloom/interop/json.hpp>
#endif
#ifdef XLOOM_TEST_TBB
#include <xloom/interop/tbb.hpp>
#endif
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>
#include <xloom/xloom.hpp>

namespace macros_test {

#undef min
#undef max
#undef check

TEST_CASE("the headers stand the macros of windows.h, X11 and Qt")
{
    xt::xtensor<float, 1> const data = {1, 5};
    xt::xtensor<int, 2> const indices = {{0}, {1}};
    xt::xtensor<float, 1> const updates = {3, 4};
    CHECK(xloom::scatter_nd(xloom::reduction::max, data, indices, updates) == xt::xtensor<float, 1>{3, 5});
    CHECK(xloom::to_string(xloom::axes{1}) == "[1]");
    xt::xtensor<float, 2> const x = {{1, 5, 2}, {-1, -2, 0}};
    auto const highest = [](auto const& h, auto const& x_t) { return xloom::scan_step{xloom::max(h, x_t)}; };
    CHECK(xloom::scan_lanes(highest, updates, x).final_state == xt::xtensor<float, 1>{5, 4});
}

} // namespace macros_test
