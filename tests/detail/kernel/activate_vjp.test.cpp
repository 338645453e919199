// The derivatives of gates whose sums are clipped.

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include <xloom/detail/kernel/activate_vjp.hpp>

namespace activate_vjp_test {

using namespace xloom::kernel;

TEST_CASE_TEMPLATE("a sum that is clipped has the slope 0, one at a limit has not", T, float, double)
{
    std::vector<T> sums = {-1, T(-0.75), T(-0.5), T(0.5), T(0.75), 1};
    std::size_t const units = sums.size();
    sums.resize(whole_batches<T>(units));
    std::vector<T> value(sums.size()), slope(sums.size());
    gate<T> const f{{xloom::activation::affine, 2, 0}, T(0.75), true};
    differentiate_gate(f, sums.data(), value.data(), slope.data(), units);
    value.resize(units);
    slope.resize(units);
    CHECK(value == std::vector<T>{T(-1.5), T(-1.5), -1, 1, T(1.5), T(1.5)});
    CHECK(slope == std::vector<T>{0, 2, 2, 2, 2, 0});
}

} // namespace activate_vjp_test
