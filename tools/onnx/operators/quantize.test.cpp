// Quantization and products of integers beside the textbook's loops, in double and exact integers.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>

#include <xloom_onnx/matmul_integer.hpp>
#include <xloom_onnx/quantize.hpp>

namespace ops = xloom_onnx;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

/// The item of QuantizeLinear for integers: std::nearbyint has ties to even.
template <class To>
int quantized(double x, double scale, int zero)
{
    double const rounded = std::nearbyint(static_cast<double>(static_cast<float>(x / scale))) + zero;
    return static_cast<int>(std::fmin(
        std::fmax(rounded, int{std::numeric_limits<To>::min()}), int{std::numeric_limits<To>::max()}));
}

template <class T>
using array = xt::xarray<T>;

array<float> random_floats(std::vector<std::size_t> const& dims, float least, float most)
{
    static std::mt19937 bits(7);
    std::uniform_real_distribution<float> number(least, most);
    auto result = array<float>::from_shape(dims);
    for (float& each : result)
        each = number(bits);
    return result;
}

template <class T>
array<T> random_integers(std::vector<std::size_t> const& dims)
{
    static std::mt19937 bits(11);
    std::uniform_int_distribution<int> number(
        int{std::numeric_limits<T>::min()}, int{std::numeric_limits<T>::max()});
    auto result = array<T>::from_shape(dims);
    for (T& each : result)
        each = static_cast<T>(number(bits));
    return result;
}

/// Quantizes [2, 5, 3] along each axis, by the tensor, by items of an axis and by blocks, and back.
template <class To>
void check_all_axes()
{
    array<float> const x = random_floats({2, 5, 3}, -300, 300);
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t const block : {0U, 1U, 2U, 7U}) {
            std::vector<std::size_t> dims{x.shape(axis)};
            if (block != 0) {
                dims = {2, 5, 3};
                dims[axis] = (dims[axis] + block - 1) / block;
            }
            array<float> const scale = random_floats(dims, 0.5F, 3);
            array<To> const zero = random_integers<To>(dims);
            std::int64_t const given = static_cast<std::int64_t>(axis) - (block == 1 ? 3 : 0);
            array<To> y;
            ops::quantize_linear_into(
                x, scale, zero, y, {.axis = given, .block_size = static_cast<std::int64_t>(block)});
            array<float> back;
            ops::dequantize_linear_into(
                y, scale, zero, back, {.axis = given, .block_size = static_cast<std::int64_t>(block)});
            std::vector<std::size_t> at(3);
            for (at[0] = 0; at[0] < 2; ++at[0])
                for (at[1] = 0; at[1] < 5; ++at[1])
                    for (at[2] = 0; at[2] < 3; ++at[2]) {
                        std::vector<std::size_t> from{at[axis]};
                        if (block != 0) {
                            from = at;
                            from[axis] /= block;
                        }
                        float const factor = scale.element(from.begin(), from.end());
                        int const shift = zero.element(from.begin(), from.end()),
                                  got = y.element(at.begin(), at.end());
                        CHECK(got == quantized<To>(static_cast<double>(x.element(at.begin(), at.end())),
                                         static_cast<double>(factor), shift));
                        CHECK(back.element(at.begin(), at.end()) == static_cast<float>(got - shift) * factor);
                    }
        }
}

/// The sum of the textbook modulo 2^32.
template <class A, class B>
std::int32_t product(array<A> const& a, array<B> const& b, std::size_t a_first, std::size_t b_first,
    std::size_t depth, std::size_t columns, int a_zero, int b_zero)
{
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < depth; ++k)
        sum +=
            std::int64_t{int{a.flat(a_first + k)} - a_zero} * (int{b.flat(b_first + k * columns)} - b_zero);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum)));
}

template <class A, class B>
void check_product(std::size_t M, std::size_t K, std::size_t N)
{
    array<A> const a = random_integers<A>({2, 1, M, K}), a_zero = random_integers<A>({M});
    array<B> const b = random_integers<B>({3, K, N}), b_zero = random_integers<B>({3, 1, N});
    array<std::int32_t> y, plain;
    ops::workspace memory;
    ops::matmul_integer_into(a, b, a_zero, b_zero, y, memory);
    ops::matmul_integer_into(a, b, std::nullopt, std::nullopt, plain, memory);
    REQUIRE(y.shape() == array<int>::shape_type{2, 3, M, N});
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t m = 0; m < M; ++m)
                for (std::size_t n = 0; n < N; ++n) {
                    auto const textbook = [&](int left, int right) {
                        return product(a, b, (i * M + m) * K, j * K * N + n, K, N, left, right);
                    };
                    CHECK(y(i, j, m, n) == textbook(a_zero(m), b_zero(j, 0, n)));
                    CHECK(plain(i, j, m, n) == textbook(0, 0));
                }
}

} // namespace

TEST_CASE("QuantizeLinear and back: of a tensor, of items of an axis, of blocks, for each integer type")
{
    check_all_axes<std::int8_t>();
    check_all_axes<std::uint8_t>();
    check_all_axes<std::int16_t>();
    check_all_axes<std::uint16_t>();
    check_all_axes<xloom::int4>();
    check_all_axes<xloom::uint4>();
    check_all_axes<xloom::int2>();
    check_all_axes<xloom::uint2>();
}

TEST_CASE("QuantizeLinear rounds ties to even, saturates, and takes any number")
{
    array<float> const x{
        0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 126.5F, 127.5F, 3e38F, -inf, inf, -3e38F, std::nanf("")};
    array<std::int8_t> y;
    ops::quantize_linear_into(x, 1.0F, std::nullopt, y);
    CHECK(y == array<std::int8_t>{0, 2, 2, 0, -2, 126, 127, 127, -128, 127, -128, 0});
    ops::quantize_linear_into(x, 1.0F, std::int8_t{-3}, y);
    CHECK(y == array<std::int8_t>{-3, -1, -1, -3, -5, 123, 125, 127, -128, 127, -128, -3});
    array<std::uint16_t> wide;
    ops::quantize_linear_into(array<float>{-1, 65534.5F, 65535.5F, 1e9F}, 1.0F, std::nullopt, wide);
    CHECK(wide == array<std::uint16_t>{0, 65534, 65535, 65535});
    // A scale of 0, or of infinity.
    ops::quantize_linear_into(array<float>{-1, 0, 2}, 0.0F, std::int8_t{1}, y);
    CHECK(y == array<std::int8_t>{-128, 1, 127});
    ops::quantize_linear_into(array<float>{-1, 0, 2}, inf, std::int8_t{1}, y);
    CHECK(y == array<std::int8_t>{1, 1, 1});
    // Integers are divided in double: 16777217 is no float.
    array<std::int16_t> of_integers;
    ops::quantize_linear_into(array<std::int32_t>{16777217, -7}, std::int32_t{2}, std::nullopt, of_integers);
    CHECK(of_integers == array<std::int16_t>{32767, -4});
}

TEST_CASE("QuantizeLinear divides in the precision of the scale, or in the one that is chosen")
{
    xloom::float16 const scale(2.0F);
    array<float> const x{2051, 2053};
    array<std::int16_t> y;
    ops::quantize_linear_into(x, scale, std::nullopt, y);
    CHECK(y == array<std::int16_t>{1026, 1026});                           // 1025.5 and 1026.5: ties to even
    ops::quantize_linear_into(array<float>{4099}, scale, std::nullopt, y); // 2049.5 is 2050 in float16
    CHECK(y == array<std::int16_t>{2050});
    ops::quantize_linear_into(
        array<float>{2053 * 2}, scale, std::nullopt, y, {.precision = xloom::element_type::bfloat16});
    CHECK(y == array<std::int16_t>{2048}); // bfloat16 has 8 bits
    ops::quantize_linear_into(
        array<float>{4101}, scale, std::nullopt, y, {.precision = xloom::element_type::float_});
    CHECK(y == array<std::int16_t>{2050}); // 2050.5 to even
    for (auto const other : {xloom::element_type::int8, xloom::element_type::double_})
        CHECK_THROWS_AS(
            ops::quantize_linear_into(x, scale, std::nullopt, y, {.precision = other}), xloom::option_error);
}

TEST_CASE("floating-point numbers of 8 and 4 bits")
{
    array<float> const x{1.5F, -0.0F, 1e6F};
    array<xloom::float8_e4m3fn> y;
    ops::quantize_linear_into(x, 0.5F, xloom::float8_e4m3fn(0.0F), y);
    CHECK(static_cast<float>(y(0)) == 3);
    CHECK(std::signbit(static_cast<float>(y(1))));
    CHECK(static_cast<float>(y(2)) == 448);
    ops::quantize_linear_into(x, 0.5F, std::nullopt, y, {.saturate = false});
    CHECK(std::isnan(static_cast<float>(y(2))));
    array<xloom::float4_e2m1> small;
    ops::quantize_linear_into(array<float>{1.25F, 100}, 0.5F, std::nullopt, small);
    CHECK(static_cast<float>(small(0)) == 2); // 2.5 is a tie of 2 and 3
    CHECK(static_cast<float>(small(1)) == 6);
    array<xloom::float16> back;
    ops::dequantize_linear_into(y, xloom::float8_e8m0(4.0F), std::nullopt, back);
    CHECK(static_cast<float>(back(0)) == 12);
}

TEST_CASE("DequantizeLinear of int32 is exact where its difference is")
{
    array<float> y;
    ops::dequantize_linear_into(
        array<std::int32_t>{std::numeric_limits<std::int32_t>::max(), 5}, 0.5F, std::int32_t{-1}, y);
    CHECK(y == array<float>{0x1p30F, 3});
    float number = 0;
    ops::dequantize_linear_into(std::uint8_t{7}, 2.0F, std::uint8_t{9}, number);
    CHECK(number == -4);
}

TEST_CASE("shapes and options of quantization that do not fit")
{
    array<float> const x = xt::zeros<float>({2, 3});
    array<std::int8_t> y;
    array<float> const two{1, 1};
    CHECK_THROWS_AS(ops::quantize_linear_into(x, two, std::nullopt, y), xloom::shape_error);
    CHECK_NOTHROW(ops::quantize_linear_into(x, two, std::nullopt, y, {.axis = 0}));
    CHECK_THROWS_AS(ops::quantize_linear_into(x, two, std::nullopt, y, {.axis = 2}), xloom::option_error);
    CHECK_THROWS_AS(ops::quantize_linear_into(x, two, std::int8_t{0}, y, {.axis = 0}), xloom::shape_error);
    CHECK_NOTHROW(ops::quantize_linear_into(x, 1.0F, std::int8_t{0}, y, {.block_size = 2})); // of all items
    CHECK_THROWS_AS(ops::quantize_linear_into(x, array<float>{1}, std::nullopt, y, {.block_size = 2}),
        xloom::shape_error);
    CHECK_THROWS_AS(
        ops::quantize_linear_into(x, 1.0F, std::nullopt, y, {.block_size = -2}), xloom::option_error);
    CHECK_THROWS_AS(ops::quantize_linear_into(x, two, std::nullopt, y, {.axis = 0, .block_size = -2}),
        xloom::option_error);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    array<float> const scale = xt::ones<float>({2, 1});
    CHECK_NOTHROW(ops::quantize_linear_into(x, scale, std::nullopt, y, {.block_size = most}));
    array<float> const none = xt::zeros<float>({2, 0});
    ops::quantize_linear_into(none, 1.0F, std::nullopt, y);
    CHECK(y.shape() == array<int>::shape_type{2, 0});
}

TEST_CASE("DynamicQuantizeLinear")
{
    array<std::uint8_t> y;
    float scale = 0;
    std::uint8_t zero = 0;
    ops::dynamic_quantize_linear_into(array<float>{-1, 0, 1.55F}, y, scale, zero); // a step of 0.01
    CHECK(scale == 2.55F / 255);
    CHECK(zero == 100);
    CHECK(y == array<std::uint8_t>{0, 100, 255});
    ops::dynamic_quantize_linear_into(array<float>{255, 510}, y, scale, zero);
    CHECK(scale == 2);
    CHECK(y == array<std::uint8_t>{128, 255}); // 127.5 to even
    for (array<float> const& x : {array<float>{0, 0}, array<float>{-0.0F, 0}}) {
        ops::dynamic_quantize_linear_into(x, y, scale, zero);
        CHECK(scale == 1);
        CHECK(zero == 0);
        CHECK(y == array<std::uint8_t>{0, 0});
    }
    array<float> const none = xt::zeros<float>({0, 2});
    ops::dynamic_quantize_linear_into(none, y, scale, zero);
    CHECK(scale == 1);
    ops::dynamic_quantize_linear_into(array<float>{1, std::nanf(""), -4}, y, scale, zero);
    CHECK(std::isnan(scale));
    CHECK(y == array<std::uint8_t>{0, 0, 0});
    ops::dynamic_quantize_linear_into(array<float>{-3e38F, 3e38F, inf}, y, scale, zero);
    CHECK(scale == inf);
}

TEST_CASE("MatMulInteger: all types, zero points of rows and columns, stacks")
{
    for (std::size_t const K : {1U, 2U, 17U, 64U})
        for (std::size_t const N : {1U, 3U, 4U, 9U}) {
            check_product<std::uint8_t, std::uint8_t>(3, K, N);
            check_product<std::int8_t, std::uint8_t>(1, K, N);
            check_product<std::uint8_t, std::int8_t>(2, K, N);
            check_product<std::int8_t, std::int8_t>(5, K, N);
        }
}

TEST_CASE("MatMulInteger wraps around, and takes vectors and nothing")
{
    ops::workspace memory;
    std::size_t const depth = 70'000; // 70'000 * 255^2 is above 2^32
    array<std::uint8_t> a = array<std::uint8_t>::from_shape({depth}), b = a;
    a.fill(255);
    b.fill(0);
    std::int32_t y = 0;
    ops::matmul_integer_into(a, b, std::nullopt, std::uint8_t{255}, y, memory);
    CHECK(y == static_cast<std::int32_t>(static_cast<std::uint32_t>(-70'000LL * 255 * 255)));
    array<std::uint8_t> const left = xt::zeros<std::uint8_t>({2, 0}), right = xt::zeros<std::uint8_t>({0, 3});
    array<std::int32_t> none;
    ops::matmul_integer_into(left, right, std::uint8_t{3}, std::nullopt, none, memory);
    CHECK(none == xt::zeros<std::int32_t>({2, 3}));
    array<std::uint8_t> const square = xt::zeros<std::uint8_t>({2, 2});
    CHECK_THROWS_AS(ops::matmul_integer_into(square, right, std::nullopt, std::nullopt, none, memory),
        xloom::shape_error);
    array<std::uint8_t> const three = xt::zeros<std::uint8_t>({3});
    CHECK_THROWS_AS(
        ops::matmul_integer_into(square, square, three, std::nullopt, none, memory), xloom::shape_error);
    CHECK_THROWS_AS(
        ops::matmul_integer_into(square, square, std::nullopt, three, none, memory), xloom::shape_error);
    CHECK_THROWS_AS(
        ops::matmul_integer_into(square, square, square, std::nullopt, none, memory), xloom::shape_error);
    CHECK_THROWS_AS(
        ops::matmul_integer_into(square, square, std::nullopt, square, none, memory), xloom::shape_error);
}
