// Building blocks for operators of one's own: batches, functions of them, copies, and a view as a tensor.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <xloom/kernels.hpp>

#include "support/special_numbers.hpp"

namespace kernels_test {

/// Row-major items without an owner.
struct row {
    float* items;
    std::size_t count;

    std::size_t size() const { return count; }
};

} // namespace kernels_test

template <>
struct xloom::enable_tensor<kernels_test::row> {
    using value_type = float;
    static constexpr std::size_t rank = 1;
    static constexpr bool is_row_major = true;

    static float* data(kernels_test::row const& r) { return r.items; }
    static std::array<std::size_t, 1> shape(kernels_test::row const& r) { return {r.count}; }
    static std::array<std::ptrdiff_t, 1> strides(kernels_test::row const&) { return {1}; }
};

namespace kernels_test {

namespace kernels = xloom::kernels;

/// Returns f of x as the first item of a batch whose others are all `neighbour`.
template <class T, class F>
T beside(F const& f, T x, T neighbour)
{
    std::vector<T> row(kernels::batch_size<T>, neighbour);
    row.front() = x;
    return kernels::first_item<T>(f(kernels::load_batch(row.data())));
}

template <class T, class F, class Expected>
void check_function(F const& f, Expected const& expected, std::vector<T> const& x)
{
    std::vector<T> y(x.size());
    kernels::map(x.data(), y.data(), x.size(), f);
    for (std::size_t i = 0; i < x.size(); ++i) {
        CAPTURE(x[i]);
        CHECK(y[i] == doctest::Approx(expected(x[i])).epsilon(1e-6));
        CHECK(kernels::first_item<T>(f(kernels::batch_t<T>(x[i]))) == y[i]);
        for (T const neighbour : {T(300), T(1e30), infinity<T>, not_a_number<T>}) {
            CAPTURE(neighbour);
            CHECK(beside(f, x[i], neighbour) == y[i]);
        }
    }
}

TEST_CASE_TEMPLATE("functions of batches give an item the bits that it has alone", T, float, double)
{
    std::vector<T> const x = {-3, T(-0.25), 0, T(0.5), 1, 2, T(3.08), T(3.75), 5, 7, 11, 13, 17, 19};
    std::vector<T> const positive = {T(0.125), 1, 2, T(3.75), 5, 7, 11, 13, 17};
    check_function([](auto const& v) { return kernels::full_exp(v); }, [](T v) { return std::exp(v); }, x);
    check_function([](auto const& v) { return kernels::exp_of(v); }, [](T v) { return std::exp(v); }, x);
    check_function([](auto const& v) { return kernels::sin_of(v); }, [](T v) { return std::sin(v); }, x);
    check_function([](auto const& v) { return kernels::cos_of(v); }, [](T v) { return std::cos(v); }, x);
    check_function([](auto const& v) { return kernels::erf_of(v); }, [](T v) { return std::erf(v); }, x);
    check_function(
        [](auto const& v) { return kernels::log_of(v); }, [](T v) { return std::log(v); }, positive);
    check_function(
        kernels::tanh{}, [](T v) { return std::tanh(v); }, x);
    check_function(
        kernels::relu{}, [](T v) { return v < 0 ? T(0) : v; }, x);
}

TEST_CASE_TEMPLATE("full_exp has subnormal results, exp_of does not", T, float, double)
{
    T const smallest = std::numeric_limits<T>::min(), x = std::log(smallest) - 2;
    kernels::batch_t<T> const batch(x);
    T const y = kernels::first_item<T>(kernels::full_exp(batch));
    CHECK(y > 0);
    CHECK(y == doctest::Approx(std::exp(x)).epsilon(1e-4));
    if constexpr (kernels::has_simd<T>)
        CHECK(kernels::first_item<T>(kernels::exp_of(batch)) == 0);
}

TEST_CASE("log_of is right for the smallest numbers")
{
    constexpr double least = std::numeric_limits<double>::min();
    check_function([](auto const& v) { return kernels::log_of(v); }, [](double v) { return std::log(v); },
        std::vector<double>{least, 2 * least, least / 2, least / 1024, 5e-324});
}

TEST_CASE_TEMPLATE("first_item is the first of different items", T, float, double)
{
    std::array<T, kernels::batch_size<T>> items;
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i] = static_cast<T>(i + 3);
    CHECK(kernels::first_item<T>(kernels::load_batch(items.data())) == 3);
}

TEST_CASE("batches, masks and numbers are told apart")
{
    using batch = kernels::batch_t<float>;
    static_assert(!kernels::is_batch<float> && !kernels::is_mask<bool>);
    static_assert(std::is_same_v<kernels::batch_item_t<batch>, float>);
    static_assert(kernels::is_batch<batch> == kernels::has_simd<float>);
    static_assert(kernels::is_mask<decltype(batch(1) < batch(2))> == kernels::has_simd<float>);
    float const first = kernels::first_item<float>(kernels::select(batch(1) < batch(2), batch(3), batch(4)));
    CHECK(first == 3);
}

TEST_CASE_TEMPLATE("item_by_item calls a function of numbers", V, kernels::batch_t<float>)
{
    if constexpr (kernels::is_batch<V>) {
        auto const sums = kernels::item_by_item([](float a, float b) { return a + b; }, V(1), V(2));
        CHECK(kernels::sum_of<float>(sums) == 3.0f * kernels::batch_size<float>);
    }
}

TEST_CASE("copies between layouts")
{
    std::vector<int> const from = {1, 2, 3, 4, 5, 6};
    std::vector<int> to(6);
    kernels::copy_transposed(from.data(), 3, to.data(), 2, 2, 3);
    CHECK(to == std::vector<int>{1, 4, 2, 5, 3, 6});
    std::vector<int> back(6);
    kernels::strided_copy({3, 2}, {2, 1}, {1, 3})(to.data(), back.data());
    CHECK(back == from);
}

TEST_CASE("a view of one's own that is always row-major is one to the library")
{
    float items[] = {1, 2, 3};
    row const r{items, 3};
    static_assert(xloom::tensor<row> && kernels::is_always_row_major<row>);
    static_assert(std::is_same_v<kernels::item_t<row>, float>);
    CHECK(kernels::is_row_major(kernels::layout_of(r)));
}

TEST_CASE("fail throws an error with the parts as its text")
{
    CHECK_THROWS_WITH_AS(kernels::fail<xloom::shape_error>("own: the shape is ", xloom::shape{2, 3}),
        "own: the shape is [2, 3]", xloom::shape_error);
}

} // namespace kernels_test
