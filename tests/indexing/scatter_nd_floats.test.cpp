// Floating-point and complex numbers and strings with every reduction that means something for them, against
// the textbook.

#include "support/every_reduction.hpp"

namespace scatter_nd_floats_test {

using namespace xloom;

TEST_CASE("float") { check_type<float>(all_five); }
TEST_CASE("double") { check_type<double>(all_five); }
TEST_CASE("long double") { check_type<long double>(all_five); }
TEST_CASE("complex64") { check_type<std::complex<float>>({reduction::none, reduction::add, reduction::mul}); }
TEST_CASE("complex128")
{
    check_type<std::complex<double>>({reduction::none, reduction::add, reduction::mul});
}
TEST_CASE("string: add joins") { check_type<std::string>({reduction::none, reduction::add}); }

TEST_CASE_TEMPLATE("max and min: NaN wins, whatever the order", T, float, double, long double)
{
    T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {1}, {2}, {2}, {3}, {3}};
    xt::xtensor<T, 1> const data = {nan, 1, 1, -infinity}, updates = {5, nan, nan, 5, 5, infinity};
    for (reduction const kind : {reduction::max, reduction::min}) {
        auto const result = scatter_nd(kind, data, indices, updates);
        CHECK(result(0) != result(0));
        CHECK(result(1) != result(1));
        CHECK(result(2) != result(2));
        CHECK(result(3) == (kind == reduction::max ? infinity : -infinity));
    }
}

} // namespace scatter_nd_floats_test
