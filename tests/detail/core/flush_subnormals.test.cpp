// flush_subnormals: what is computed while it lives, on which threads, and what it leaves alone.

#include <doctest/doctest.h>

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include <xloom/interop/threads.hpp>
#include <xloom/types.hpp>

#include "support/threads.hpp"

namespace flush_subnormals_test {

using xloom::flush_subnormals;

namespace {

/// Half the smallest normal number, computed when it is called; 0 where subnormal numbers are zeros.
template <class T>
T half_of_the_least()
{
    T volatile least = std::numeric_limits<T>::min();
    return least / T(2);
}

/// A subnormal number, in memory, as an operand.
template <class T>
T with_a_subnormal_operand()
{
    T volatile tiny = std::numeric_limits<T>::denorm_min();
    return tiny * T(16777216);
}

bool is_flushing() { return half_of_the_least<float>() == 0; }

} // namespace

TEST_CASE_TEMPLATE("subnormal results and operands are zeros while the guard lives", T, float, double)
{
    T const flushed_operand = flush_subnormals::is_supported ? T(0) : with_a_subnormal_operand<T>();
    T const flushed_result = flush_subnormals::is_supported ? T(0) : half_of_the_least<T>();
    CHECK(half_of_the_least<T>() > 0);
    CHECK(with_a_subnormal_operand<T>() > 0);
    {
        flush_subnormals const guard;
        CHECK(half_of_the_least<T>() == flushed_result);
        CHECK(with_a_subnormal_operand<T>() == flushed_operand);
    }
    CHECK(half_of_the_least<T>() > 0);
    CHECK(with_a_subnormal_operand<T>() > 0);
}

TEST_CASE("guards nest, and an exception restores what was there")
{
    bool const supported = flush_subnormals::is_supported;
    try {
        flush_subnormals const outer;
        try {
            flush_subnormals const inner;
            throw std::runtime_error("of a body");
        } catch (std::runtime_error const&) {
            CHECK(is_flushing() == supported);
            throw;
        }
    } catch (std::runtime_error const&) {}
    CHECK_FALSE(is_flushing());
}

TEST_CASE("the rounding mode and the exception flags are left alone")
{
    std::feclearexcept(FE_ALL_EXCEPT);
    float volatile one = 1, zero = 0;
    {
        flush_subnormals const guard;
        one = one / zero;
        std::fesetround(FE_UPWARD);
    }
    CHECK(std::fetestexcept(FE_DIVBYZERO) != 0);
    CHECK(std::fegetround() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
}

TEST_CASE("a mode that drops flags leaves those that were raised before it")
{
    using xloom::detail::raised_flags, xloom::detail::subnormal_mode;
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    {
        subnormal_mode<raised_flags::dropped> const mode(xloom::detail::flush_bits);
        CHECK(is_flushing() == flush_subnormals::is_supported);
    }
    CHECK_FALSE(is_flushing());
    CHECK(std::fetestexcept(FE_DIVBYZERO) != 0);
    std::feclearexcept(FE_ALL_EXCEPT);
}

TEST_CASE_TEMPLATE("the threads of a policy have the mode of the caller, for the call", Policy,
    threads_policy, xloom::thread_policy)
{
    Policy const policy(4);
    auto const flushing_parts = [&] {
        std::atomic<std::size_t> count = 0;
        policy.for_each(64, [&](std::size_t) { count += is_flushing() ? 1 : 0; });
        return count.load();
    };
    CHECK(flushing_parts() == 0);
    {
        flush_subnormals const guard;
        CHECK(flushing_parts() == (flush_subnormals::is_supported ? 64 : 0));
    }
    CHECK(flushing_parts() == 0);
}

} // namespace flush_subnormals_test
