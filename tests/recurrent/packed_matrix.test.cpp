#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/larger_error.hpp"
#include "support/textbook_product.hpp"
#include "support/textbook_quantized.hpp"
#include "support/uniform_int.hpp"

namespace packed_matrix_test {

using textbook::product, xloom::weight_storage;

namespace {

template <class Tensor>
Tensor random_tensor(std::mt19937& random, typename Tensor::shape_type const& shape)
{
    std::uniform_real_distribution<double> draw(-1, 1);
    Tensor tensor(shape);
    for (auto& item : tensor)
        item = static_cast<typename Tensor::value_type>(draw(random));
    return tensor;
}

template <class T>
void check_sizes(double tolerance)
{
    std::mt19937 random(1);
    for (std::size_t const M : std::initializer_list<std::size_t>{0, 1, 2, 5, 6, 7, 13})
        for (std::size_t const K : std::initializer_list<std::size_t>{0, 1, 17})
            for (std::size_t const J : std::initializer_list<std::size_t>{0, 1, 7, 8, 9, 64, 70, 200}) {
                CAPTURE(M);
                CAPTURE(K);
                CAPTURE(J);
                auto const B = random_tensor<xt::xtensor<T, 2>>(random, {K, J});
                auto const bias = random_tensor<xt::xtensor<T, 1>>(random, {J});
                std::vector<T> A(M * K + 1, T(0.5)), C(M * (J + 3) + 1, T(-9));
                for (std::size_t i = 0; i < A.size(); ++i)
                    A[i] = static_cast<T>(static_cast<double>(i % 7) - 3);
                xloom::packed_matrix<T> const matrix(B, bias);
                matrix(M, A.data(), K, C.data(), J + 3);
                double largest = 0;
                bool is_untouched = C.back() == T(-9);
                for (std::size_t m = 0; m < M; ++m) {
                    for (std::size_t j = 0; j < J; ++j)
                        largest = larger_error(largest, std::abs(static_cast<double>(C[m * (J + 3) + j]) -
                                                                 product(A.data() + m * K, B, bias, j)));
                    for (std::size_t j = J; j < J + 3; ++j)
                        is_untouched = is_untouched && C[m * (J + 3) + j] == T(-9);
                }
                CHECK(largest < tolerance);
                CHECK(is_untouched);
            }
}

} // namespace

TEST_CASE("packed_matrix: C = A B + bias for all sizes, and nothing beyond C's columns is written")
{
    check_sizes<float>(1e-5);
    check_sizes<double>(1e-13);
}

TEST_CASE("packed_matrix takes B and bias of any strides, and no bias is zeros")
{
    std::mt19937 random(2);
    auto const B = random_tensor<xt::xtensor<float, 2>>(random, {5, 11});
    xt::xtensor<float, 2, xt::layout_type::column_major> const other = B;
    std::vector<float> const A{1, 2, 3, 4, 5};
    std::vector<float> expected(11), C(11);
    xloom::packed_matrix<float>{B}(1, A.data(), 5, expected.data(), 11);
    xloom::packed_matrix<float>{other}(1, A.data(), 5, C.data(), 11);
    CHECK(C == expected);
    CHECK(expected[3] == doctest::Approx(product(
                             A.data(), B, xt::xtensor<float, 1>(std::array<std::size_t, 1>{11}, 0.0f), 3)));
}

TEST_CASE("packed_matrix of B of any strides in every storage")
{
    std::mt19937 random(20);
    for (std::size_t const K : {1u, 18u, 35u})
        for (std::size_t const J : {1u, 75u}) {
            auto const B = random_tensor<xt::xtensor<float, 2>>(random, {K, J});
            auto const A = random_tensor<xt::xtensor<float, 2>>(random, {3, K});
            xt::xtensor<float, 2, xt::layout_type::column_major> const other = B;
            for (weight_storage const storage : xloom::weight_storages) {
                CAPTURE(name_of(storage));
                std::vector<float> expected(3 * J), C(3 * J);
                xloom::packed_matrix<float>(B, {}, storage)(3, A.data(), K, expected.data(), J);
                xloom::packed_matrix<float>(other, {}, storage)(3, A.data(), K, C.data(), J);
                CHECK(C == expected);
            }
        }
}

TEST_CASE("packed_matrix: rows of A may overlap, and a row's bits do not depend on the others")
{
    std::mt19937 random(3);
    auto const B = random_tensor<xt::xtensor<float, 2>>(random, {6, 21});
    auto const A = random_tensor<xt::xtensor<float, 1>>(random, {6 + 2 * 8});
    xloom::packed_matrix<float> const matrix{B};
    std::vector<float> together(9 * 21), alone(21);
    matrix(9, A.data(), 2, together.data(), 21);
    for (std::size_t m = 0; m < 9; ++m) {
        matrix(1, A.data() + 2 * m, 0, alone.data(), 0);
        CHECK(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(m * 21)));
    }
}

TEST_CASE("packed_matrix: an assigned matrix replaces the old one, but not in its copies")
{
    xt::xtensor<float, 2> const first = {{1, 2}, {3, 4}}, same_size = {{5, 6}, {7, 8}}, wider = {{9, 10, 11}};
    xt::xtensor<float, 1> const bias = {100, 200}, ones = {1, 1, 1}, one = {1};
    std::vector<float> const A = {1, 10};
    auto const product_of = [&](xloom::packed_matrix<float> const& matrix) {
        std::vector<float> C(matrix.columns());
        matrix(1, A.data(), 2, C.data(), C.size());
        return C;
    };
    xloom::packed_matrix<float> matrix(first, bias);
    auto const copy = matrix;
    matrix.assign(same_size);
    CHECK(product_of(matrix) == std::vector<float>{75, 86});
    CHECK(product_of(copy) == std::vector<float>{131, 242});
    matrix.assign(wider, ones);
    CHECK(product_of(matrix) == std::vector<float>{10, 11, 12});
    CHECK_THROWS_AS(matrix.assign(first, one), xloom::shape_error);
    CHECK(product_of(matrix) == std::vector<float>{10, 11, 12});
    xloom::packed_matrix<float> narrow(first, {}, weight_storage::bfloat16);
    narrow.assign(same_size);
    CHECK(narrow.storage() == weight_storage::bfloat16);
    CHECK(product_of(narrow) == std::vector<float>{75, 86});
}

TEST_CASE("packed_matrix says what is wrong")
{
    xt::xtensor<float, 2> const B = xt::xtensor<float, 2>::from_shape({2, 3});
    xt::xtensor<float, 1> const bias = xt::xtensor<float, 1>::from_shape({2});
    CHECK_THROWS_WITH_AS(xloom::packed_matrix<float>(B, bias),
        "xloom::packed_matrix: the operands must have the shapes that K = 2 and J = 3 give them, but bias is "
        "[2] instead of [J] = [3]. "
        "Give it that shape.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::packed_matrix<float>(xloom::tensor_ref<float const>()),
        "xloom::packed_matrix: B must be given, but it is omitted. Give it 2 axes.", xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::packed_matrix<float>{bias},
        "xloom::packed_matrix: B must have 2 axes, but its shape is [2]. Give it 2.", xloom::shape_error);
}

namespace {

constexpr weight_storage narrow[] = {weight_storage::float16, weight_storage::bfloat16, weight_storage::int8};

/// Returns the bits of C = A B for M rows.
std::vector<std::uint32_t> bits_of_product(xloom::packed_matrix<float> const& B, std::vector<float> const& A)
{
    std::size_t const M = A.size() / B.depth();
    std::vector<float> C(M * B.columns());
    B(M, A.data(), B.depth(), C.data(), B.columns());
    std::vector<std::uint32_t> bits;
    for (float const x : C)
        bits.push_back(std::isnan(x) ? 0x7fc00000 : std::bit_cast<std::uint32_t>(x));
    return bits;
}

} // namespace

namespace {

/// Draws numbers which have the scale 1/127 for each 1024 of them, and are not near a tie of their rounding.
void fill_far_from_ties(std::mt19937& random, float* x, std::size_t count, std::size_t step)
{
    uniform_int<int> integer(-126, 126);
    std::uniform_real_distribution<double> rest(-0.45, 0.45);
    for (std::size_t i = 0; i < count; ++i)
        x[i * step] = i % 1024 == 0 ? -1 : static_cast<float>((integer(random) + rest(random)) / 127);
}

} // namespace

TEST_CASE("packed_matrix of dynamic_int8: the products of the rounded numbers")
{
    std::mt19937 random(18);
    for (std::size_t const K : {0u, 1u, 3u, 4u, 5u, 127u, 1024u, 1025u, 2500u})
        for (std::size_t const J : {1u, 64u, 65u, 150u})
            for (std::size_t const M : {1u, 5u, 13u}) {
                CAPTURE(K);
                CAPTURE(J);
                CAPTURE(M);
                auto A = xt::xtensor<float, 2>::from_shape({M, K}),
                     B = xt::xtensor<float, 2>::from_shape({K, J});
                for (std::size_t m = 0; m < M && K > 0; ++m)
                    fill_far_from_ties(random, A.data() + m * K, K, 1);
                for (std::size_t j = 0; j < J && K > 0; ++j)
                    fill_far_from_ties(random, B.data() + j, K, J);
                auto const bias = random_tensor<xt::xtensor<float, 1>>(random, {J});
                std::vector<float> C(M * J), row(J);
                xloom::packed_matrix<float> const matrix(B, bias, weight_storage::dynamic_int8);
                matrix(M, A.data(), K, C.data(), J);
                for (std::size_t m = 0; m < M; ++m) {
                    matrix(1, A.data() + m * K, K, row.data(), J);
                    CHECK(std::equal(row.begin(), row.end(), C.begin() + static_cast<std::ptrdiff_t>(m * J)));
                }
                for (std::size_t j = 0; j < J && K > 0; ++j)
                    textbook::round_to_8_bits(&B(0, j), K, J);
                double worst = 0;
                for (std::size_t m = 0; m < M; ++m) {
                    std::vector<float> rounded(A.begin() + static_cast<std::ptrdiff_t>(m * K),
                        A.begin() + static_cast<std::ptrdiff_t>((m + 1) * K));
                    textbook::round_rows_to_8_bits(rounded, K);
                    for (std::size_t j = 0; j < J; ++j)
                        worst = larger_error(worst, std::abs(static_cast<double>(C[m * J + j]) -
                                                             product(rounded.data(), B, bias, j)));
                }
                CHECK(worst < 4e-5);
            }
}

TEST_CASE("packed_matrix of dynamic_int8 is exact for integers of 8 bits, for as many as share a scale")
{
    std::size_t const K = 1024, J = 70, M = 9;
    std::mt19937 random(5);
    uniform_int<int> draw(-127, 127);
    auto A = xt::xtensor<float, 2>::from_shape({M, K}), B = xt::xtensor<float, 2>::from_shape({K, J});
    for (auto* const tensor : {&A, &B})
        for (float& item : *tensor)
            item = static_cast<float>(draw(random));
    for (std::size_t k = 0; k < K; ++k)
        A(0, k) = B(k, 0) = 127;
    for (std::size_t m = 0; m < M; ++m)
        A(m, 0) = -127;
    for (std::size_t j = 0; j < J; ++j)
        B(K - 1, j) = 127;
    std::vector<float> C(M * J);
    xloom::packed_matrix<float>(B, {}, weight_storage::dynamic_int8)(M, A.data(), K, C.data(), J);
    xt::xtensor<float, 1> const zeros = xt::zeros<float>({J});
    for (std::size_t m = 0; m < M; ++m)
        for (std::size_t j = 0; j < J; ++j)
            CHECK(static_cast<double>(C[m * J + j]) == product(A.data() + m * K, B, zeros, j));
}

TEST_CASE("packed_matrix of dynamic_int8: special numbers concern their row only")
{
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::max(),
                    tiny = std::numeric_limits<float>::denorm_min();
    xt::xtensor<float, 2> const B = {{1, 0}, {0.5f, 2}, {-1, tiny}};
    xt::xtensor<float, 1> const bias = {10, 20};
    xloom::packed_matrix<float> const matrix(B, bias, weight_storage::dynamic_int8);
    auto const row = [&](std::initializer_list<float> a) {
        // The last of several rows, then alone.
        std::vector<float> rows = {1, 2, 3, 4, 5, 6};
        rows.insert(rows.end(), a);
        std::vector<float> C(6), alone(2);
        matrix(3, rows.data(), 3, C.data(), 2);
        matrix(1, rows.data() + 6, 3, alone.data(), 2);
        CHECK(std::isfinite(C[0] + C[1] + C[2] + C[3]));
        for (std::size_t j = 0; j < 2; ++j)
            CHECK((C[4 + j] == alone[j] || std::isnan(C[4 + j] + alone[j])));
        return alone;
    };
    for (float const a : {infinity, -infinity, nan, -nan}) {
        CHECK(std::isnan(row({1, a, 2})[0]));
        CHECK(std::isnan(row({0, 0, a})[1]));
    }
    for (float const a : {0.0f, -0.0f, tiny, -0x1p-101f})
        CHECK(row({a, -0.0f, a}) == std::vector<float>{10, 20});
    CHECK(row({huge, 0, huge / 4})[0] == doctest::Approx(huge * (95.0 / 127)));
    CHECK(row({0, 0x1p-100f, 0}) == std::vector<float>{10, 20});

    // The smallest and largest scales.
    xt::xtensor<float, 2> const large = {{0x1p100f}, {-0x1p100f}}, small = {{0x1p-126f}, {0}};
    std::vector<float> C(1);
    std::vector<float> const a = {0x1p-100f, 0x1p-101f}, b = {0x1p126f, 1};
    xloom::packed_matrix<float>(large, {}, weight_storage::dynamic_int8)(1, a.data(), 2, C.data(), 1);
    CHECK(C[0] == doctest::Approx(1 - 64.0 / 127));
    xloom::packed_matrix<float>(small, {}, weight_storage::dynamic_int8)(1, b.data(), 2, C.data(), 1);
    CHECK(C[0] == doctest::Approx(1).epsilon(0.01));

    // Scales whose product is beyond all numbers.
    xt::xtensor<float, 2> const upper = {{1e5f, 1e5f}, {0, 1e5f}};
    xloom::packed_matrix<float> const of_upper(upper, bias, weight_storage::dynamic_int8);
    for (float const x : {huge, -huge}) {
        std::vector<float> const rows = {1, x, 1, x};
        std::vector<float> both(4), one(2);
        of_upper(2, rows.data(), 2, both.data(), 2);
        of_upper(1, rows.data(), 2, one.data(), 2);
        CHECK(one == std::vector<float>{10, std::copysign(infinity, x)});
        CHECK(both == std::vector<float>{one[0], one[1], one[0], one[1]});
    }
}

namespace {

xt::xtensor<float, 2> rounded_to_bfloat16(xt::xtensor<float, 2> numbers)
{
    for (float* x = numbers.data(); x != numbers.data() + numbers.size(); ++x)
        *x = static_cast<float>(xloom::bfloat16(*x));
    return numbers;
}

/// What vdpbf16ps computes of rounded numbers along column j: of each two products the second is added first.
float sum_of_pairs(float const* a, xt::xtensor<float, 2> const& B, float sum, std::size_t j)
{
    std::size_t const K = B.shape(0), J = B.shape(1);
    auto const add = [&](std::size_t k) {
        if (k < K)
            sum = std::fma(a[k], B.data()[k * J + j], sum);
    };
    for (std::size_t k = 0; k < K; k += 2) {
        add(k + 1);
        add(k);
    }
    return sum;
}

} // namespace

TEST_CASE("packed_matrix of dynamic_bfloat16: the products of the rounded numbers, to the bit")
{
    std::mt19937 random(19);
    for (std::size_t const K : {0u, 1u, 2u, 3u, 17u, 128u, 511u, 512u, 1027u})
        for (std::size_t const J : {1u, 64u, 65u, 150u})
            for (std::size_t const M : {1u, 5u, 31u}) {
                CAPTURE(K);
                CAPTURE(J);
                CAPTURE(M);
                auto const A = random_tensor<xt::xtensor<float, 2>>(random, {M, K}),
                           B = random_tensor<xt::xtensor<float, 2>>(random, {K, J});
                auto const bias = random_tensor<xt::xtensor<float, 1>>(random, {J});
                xloom::packed_matrix<float> const matrix(B, bias, weight_storage::dynamic_bfloat16);
                std::vector<float> C(M * J);
                matrix(M, A.data(), K, C.data(), J);
                auto const a = rounded_to_bfloat16(A), b = rounded_to_bfloat16(B);
                std::size_t different = 0;
                for (std::size_t m = 0; m < M; ++m)
                    for (std::size_t j = 0; j < J; ++j)
                        different += C[m * J + j] != sum_of_pairs(a.data() + m * K, b, bias(j), j);
                CHECK(different == 0);
            }
}

TEST_CASE("packed_matrix of dynamic_bfloat16: special numbers are those of their products")
{
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::max();
    xt::xtensor<float, 2> const B = {{1, 0}, {0.5f, 2}, {-1, 0x1p-126f}};
    xt::xtensor<float, 1> const bias = {10, 20};
    xloom::packed_matrix<float> const matrix(B, bias, weight_storage::dynamic_bfloat16);
    auto const row = [&](std::initializer_list<float> a) {
        std::vector<float> rows = {1, 2, 3, 4, 5, 6}; // the last of several rows, then alone
        rows.insert(rows.end(), a);
        std::vector<float> C(6), alone(2);
        matrix(3, rows.data(), 3, C.data(), 2);
        matrix(1, rows.data() + 6, 3, alone.data(), 2);
        CHECK((C[0] == 9 && C[1] == 24 && C[2] == 10.5f && C[3] == 30));
        for (std::size_t j = 0; j < 2; ++j)
            CHECK((C[4 + j] == alone[j] || std::isnan(C[4 + j] + alone[j])));
        return alone;
    };
    CHECK(row({0, infinity, 2}) == std::vector<float>{infinity, infinity});
    CHECK(row({0, 2, -infinity}) == std::vector<float>{infinity, -infinity});
    CHECK(std::isnan(row({infinity, 0, 0})[1]));
    CHECK(std::isnan(row({0, 0, nan})[0]));
    CHECK(row({huge, 0, 0})[0] == infinity); // which is what it rounds to
    CHECK(row({-0.0f, 0, -0.0f}) == std::vector<float>{10, 20});
    CHECK(row({0, 0, 0x1p-140f}) == std::vector<float>{10, 20}); // a subnormal number is zero
    CHECK(row({1.00390625f, 0, 0})[0] == 11);                    // halfway: to the even one
    CHECK(row({1.01171875f, 0, 0})[0] == 11.015625f);
}

TEST_CASE("packed_matrix in 16 bits: every pattern has its value, for one row and for more")
{
    for (weight_storage const storage : {weight_storage::float16, weight_storage::bfloat16}) {
        // Subnormal numbers, infinities and NaNs among them, in a matrix [1, 65536] and its transpose.
        auto B = xt::xtensor<float, 2>::from_shape({1, 65536});
        for (unsigned bits = 0; bits < 65536; ++bits)
            B(0, bits) = storage == weight_storage::float16
                             ? static_cast<float>(xloom::float16::from_bits(bits))
                             : static_cast<float>(xloom::bfloat16::from_bits(bits));
        xloom::packed_matrix<float> const full(B), stored(B, {}, storage);
        CHECK(stored.storage() == storage);
        CHECK(stored.bytes() < full.bytes());
        for (std::vector<float> const& A : {std::vector<float>{1}, {1, -0.75f}, {1, 2, 3, 4, 5, 6, 7}})
            CHECK(bits_of_product(stored, A) == bits_of_product(full, A));
    }
}

TEST_CASE("packed_matrix in a narrow type: the error is at most that of the rounded numbers")
{
    std::mt19937 random(8);
    for (std::size_t const K : std::initializer_list<std::size_t>{0, 1, 3, 127, 128, 129, 300})
        for (std::size_t const J : std::initializer_list<std::size_t>{1, 7, 64, 65, 150})
            for (std::size_t const M : std::initializer_list<std::size_t>{1, 2, 5, 13})
                for (weight_storage const storage : narrow) {
                    CAPTURE(K);
                    CAPTURE(J);
                    CAPTURE(M);
                    CAPTURE(name_of(storage));
                    auto const B = random_tensor<xt::xtensor<float, 2>>(random, {K, J});
                    auto const bias = random_tensor<xt::xtensor<float, 1>>(random, {J});
                    auto const A = random_tensor<xt::xtensor<float, 2>>(random, {M, K});
                    std::vector<float> C(M * J);
                    xloom::packed_matrix<float>(B, bias, storage)(M, A.data(), K, C.data(), J);
                    bool is_within = true;
                    for (std::size_t m = 0; m < M; ++m)
                        for (std::size_t j = 0; j < J; ++j) {
                            // Half a unit of each number, and the rounding of the sum.
                            double bound = 1e-5, largest = 0;
                            for (std::size_t k = 0; k < K; ++k)
                                largest = std::max(largest, std::abs(static_cast<double>(B(k, j))));
                            for (std::size_t k = 0; k < K; ++k) {
                                double const b = std::abs(static_cast<double>(B(k, j)));
                                bound += std::abs(static_cast<double>(A(m, k))) *
                                         (storage == weight_storage::int8         ? largest / 254
                                             : storage == weight_storage::float16 ? b * 0x1p-11 + 0x1p-25
                                                                                  : b * 0x1p-8);
                            }
                            double const error =
                                static_cast<double>(C[m * J + j]) - product(A.data() + m * K, B, bias, j);
                            is_within = is_within && std::abs(error) <= bound;
                        }
                    CHECK(is_within);
                }
}

TEST_CASE("packed_matrix in int8: zeros, huge and subnormal columns")
{
    // The columns have the scales 0, 1, 2^100, and twice the smallest normal number.
    constexpr float least = std::numeric_limits<float>::min();
    xt::xtensor<float, 2> const B = {{0, 127, 0x1p100f * 127, 100 * least, least / 4},
        {0, -64, -0x1p100f, -2 * least, 0}, {0, 0.5f, 0x1p99f * 3, 0, 0}, {0, 1.5f, 0, least, 0}};
    xloom::packed_matrix<float> const matrix(B, {}, weight_storage::int8);
    std::vector<float> A(16);
    for (std::size_t k = 0; k < 4; ++k)
        A[k * 5] = 1; // the rows of the unit matrix
    std::vector<float> C(20);
    matrix(4, A.data(), 4, C.data(), 5);
    // Ties are rounded to even.
    CHECK(C == std::vector<float>{0, 127, 0x1p100f * 127, 100 * least, 0, 0, -64, -0x1p100f, -2 * least, 0, 0,
                   0, 0x1p100f * 2, 0, 0, 0, 2, 0, least, 0});
    matrix(1, A.data(), 4, C.data(), 5);
    CHECK(C[1] == 127);
}

TEST_CASE("packed_matrix: numbers that a narrow type cannot hold are an option_error")
{
    xt::xtensor<float, 2> const B = {{1, -1e6f}};
    CHECK_THROWS_WITH_AS(xloom::packed_matrix<float>(B, {}, weight_storage::float16),
        "xloom::packed_matrix: storage float16 requires weights whose magnitude rounds to at most 65504, but "
        "one of B is -1000000.000000. Use weight_storage::full or bfloat16.",
        xloom::option_error);
    CHECK(xloom::packed_matrix<float>(B, {}, weight_storage::full).storage() == weight_storage::full);
}

} // namespace packed_matrix_test
