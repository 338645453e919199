#include <doctest/doctest.h>

#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <xloom/control_flow/scan.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace run_scan_workspace_test {

namespace {

constexpr auto add = [](auto& h, auto const& x_t, auto& y_t) {
    for (std::size_t i = 0; i < h.size(); ++i)
        y_t(i) = h(i) = h(i) + x_t(i);
};

xloom::scan_options const last_axis{.scan_input_axes = {1}, .scan_output_axes = {1}};

/// xtensor's own allocator does not align items to more than a SIMD batch.
template <class T, std::size_t Rank>
using tensor = xt::xtensor<T, Rank, xt::layout_type::row_major, std::allocator<T>>;

/// Sums along axis 1, and the workspace's size afterwards.
template <class T>
std::size_t check_sums(std::size_t rows, std::size_t steps, T const& one, xloom::scan_workspace& workspace)
{
    tensor<T, 2> x = tensor<T, 2>::from_shape({rows, steps}), y = x;
    x.fill(one);
    tensor<T, 1> h = tensor<T, 1>::from_shape({rows});
    h.fill(T{});
    xloom::scan_into(add, h, x, y, last_axis, workspace);
    T sum{};
    for (std::size_t t = 0; t < steps; ++t) {
        sum = sum + one;
        for (std::size_t row = 0; row < rows; ++row)
            REQUIRE(y(row, t) == sum);
    }
    return workspace.bytes();
}

struct alignas(128) wide {
    double value = 0;
    friend wide operator+(wide const& a, wide const& b) { return {a.value + b.value}; }
    friend bool operator==(wide const&, wide const&) = default;
};

} // namespace

TEST_CASE("a workspace serves calls of any size and element type")
{
    xloom::scan_workspace workspace;
    CHECK(workspace.bytes() == 0);
    std::size_t const small = check_sums<float>(3, 20, 1, workspace);
    CHECK(small > 0);
    CHECK(check_sums<float>(3, 20, 2, workspace) == small);
    std::size_t const large = check_sums<double>(300, 7, 0.5, workspace);
    CHECK(large > small);
    CHECK(check_sums<float>(3, 20, 1, workspace) == large);
    CHECK(check_sums<std::complex<float>>(2, 3, {1, 2}, workspace) == large);
    check_sums<std::string>(2, 3, "a string that is too long for its object", workspace);
    check_sums<wide>(2, 3, {1}, workspace);
    check_sums<float>(0, 3, 1, workspace);
    check_sums<float>(3, 0, 1, workspace);
}

TEST_CASE("a workspace is free again after an exception of the body")
{
    xloom::scan_workspace workspace;
    std::size_t const bytes = check_sums<float>(3, 20, 1, workspace);
    xt::xtensor<float, 2> const x = xt::ones<float>({3, 20});
    xt::xtensor<float, 2> y = x;
    xt::xtensor<float, 1> h = xt::zeros<float>({3});
    auto const fail = [](auto&, auto const&, auto&) { throw std::runtime_error("stopped"); };
    CHECK_THROWS_AS(xloom::scan_into(fail, h, x, y, last_axis, workspace), std::runtime_error);
    CHECK(check_sums<float>(3, 20, 1, workspace) == bytes);
}

TEST_CASE("a scan in a body may use the workspace of the outer one")
{
    xloom::scan_workspace workspace;
    xt::xtensor<float, 3> const x = xt::ones<float>({3, 4, 5});
    xt::xtensor<float, 3> y = xt::zeros<float>({3, 4, 5});
    xloom::scan_into(
        [&](auto const& x_t, auto& y_t) {
            xt::xtensor<float, 1> h = xt::zeros<float>({3});
            xloom::scan_into(add, h, x_t, y_t, last_axis, workspace);
        },
        std::tie(), x, y, {.scan_input_axes = {2}, .scan_output_axes = {2}}, workspace);
    for (std::size_t t = 0; t < 4; ++t)
        CHECK(y(2, t, 4) == static_cast<float>(t + 1));
}

TEST_CASE("copies of a workspace are independent")
{
    xloom::scan_workspace workspace;
    check_sums<float>(3, 20, 1, workspace);
    xloom::scan_workspace copy = workspace;
    CHECK(copy.bytes() == 0);
    check_sums<double>(30, 20, 1, copy);
    check_sums<float>(3, 20, 1, workspace);
}

} // namespace run_scan_workspace_test
