// Every header of the library under function-like macros named min, max and check, as <windows.h> and
// <AssertMacros.h> have them. What the library includes is included before: not every one of those headers
// stands such macros.

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
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifndef XLOOM_NO_SIMD
#include <xsimd/xsimd.hpp>
#endif
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <xloom/tensor/xtensor.hpp>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define check(assertion) static_assert(false, "the macro of the test")

#include <xloom/storage_types.hpp>
#include <xloom/tbb.hpp>
#include <xloom/xloom.hpp>

namespace macros_test {

#undef min
#undef max
#undef check

TEST_CASE("the headers stand macros named min, max and check")
{
    xt::xtensor<float, 1> const data = {1, 5};
    xt::xtensor<int, 2> const indices = {{0}, {1}};
    xt::xtensor<float, 1> const updates = {3, 4};
    CHECK(xloom::scatter_nd(data, indices, updates, {.reduction = xloom::reduction::max}) ==
          xt::xtensor<float, 1>{3, 5});
    CHECK(xloom::to_string(xloom::axes{1}) == "[1]");
}

} // namespace macros_test
