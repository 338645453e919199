// The identifier xloom in a caller's own code, and a specialisation under the name that callers write.

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include <xloom/control_flow/scan.hpp>

#define XLOOM_ABI_TEST_STRING(text) #text
#define XLOOM_ABI_TEST_EXPANDED(text) XLOOM_ABI_TEST_STRING(text)

namespace abi_test {

namespace names {

namespace xloom {
inline int answer() { return 42; }
} // namespace xloom

struct station {
    int xloom = 7;
};

/// Two numbers, a tensor by its specialisation of enable_tensor.
struct pair_of_numbers {
    double values[2];
};

} // namespace names

} // namespace abi_test

template <>
struct xloom::enable_tensor<abi_test::names::pair_of_numbers> {
    using value_type = double;
    static constexpr std::size_t rank = 1;

    static double const* data(abi_test::names::pair_of_numbers const& x) { return x.values; }
    static xloom::shape shape(abi_test::names::pair_of_numbers const&) { return {2}; }
    static xloom::strides strides(abi_test::names::pair_of_numbers const&) { return {1}; }
};

namespace abi_test {

TEST_CASE("the identifier xloom is a caller's to use in a scope of its own")
{
    names::station const station;
    int const xloom = names::xloom::answer() + station.xloom;
    CHECK(xloom == 49);
    CHECK(std::string_view(XLOOM_ABI_TEST_EXPANDED(xloom)) == "xloom");
}

TEST_CASE("xloom::enable_tensor is specialised under its name without the inline namespace")
{
    names::pair_of_numbers const x{{3, 4}};
    double sum = 0;
    xloom::scan_into([](double& h, double x_t) { h += x_t; }, sum, x);
    CHECK(sum == 7);
}

} // namespace abi_test
