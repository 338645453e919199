// difference: what counts as the expected value.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "compare.hpp"

namespace {

using namespace runner;

template <class T>
std::string difference_of(T got, T expected, small_floats compared = small_floats::closely)
{
    return difference(tensor::scalar<T>(got), tensor::scalar<T>(expected), compared);
}

template <class T>
std::string difference_of_small(unsigned got, unsigned expected, small_floats compared)
{
    return difference_of(T::from_bits(got), T::from_bits(expected), compared);
}

} // namespace

TEST_CASE("floats may differ by a little")
{
    CHECK(difference_of(1.0001f, 1.0f) == "");
    CHECK(difference_of(1.0002f, 1.0f) == "item [] is 1.00020003, but must be 1");
    CHECK(difference_of(9e-6f, 0.0f) == "");
    CHECK(difference_of(2e-5f, 0.0f) != "");
    CHECK(difference_of(1.00000009, 1.0) == "");
    CHECK(difference_of(1.0000002, 1.0) != "");
    using xloom::bfloat16;
    using xloom::float16;
    CHECK(difference_of(float16(1.003), float16(1.0)) == "");
    CHECK(difference_of(float16(1.006), float16(1.0)) == "item [] is 1.00585938, but must be 1");
    CHECK(difference_of(bfloat16(1.0157), bfloat16(1.0)) == "");
    CHECK(difference_of(bfloat16(1.0234), bfloat16(1.0)) != "");
    CHECK(difference_of(bfloat16(1e-6), bfloat16(0.0)) != "");
}

TEST_CASE("NaN equals NaN, infinities equal themselves alone")
{
    float const nan = std::numeric_limits<float>::quiet_NaN();
    float const inf = std::numeric_limits<float>::infinity();
    CHECK(difference_of(nan, -nan) == "");
    CHECK(difference_of(nan, 1.0f) != "");
    CHECK(difference_of(1.0f, nan) != "");
    CHECK(difference_of(inf, inf) == "");
    CHECK(difference_of(-inf, inf) == "item [] is -inf, but must be inf");
    CHECK(difference_of(std::numeric_limits<float>::max(), inf) != "");
    CHECK(difference_of(inf, std::numeric_limits<float>::max()) != "");
}

TEST_CASE("where bits are required, 16-bit floats must have them; 8-bit ones always")
{
    using xloom::float16;
    using xloom::float8_e4m3fn;
    CHECK(difference_of_small<float16>(0x3c01, 0x3c00, small_floats::closely) == "");
    CHECK(difference_of_small<float16>(0x3c01, 0x3c00, small_floats::exactly) != "");
    CHECK(difference_of_small<float16>(0x8000, 0, small_floats::exactly) != "");
    CHECK(difference_of_small<float16>(0x7e00, 0xfe01, small_floats::exactly) == "");
    CHECK(difference_of_small<float8_e4m3fn>(0x39, 0x38, small_floats::closely) != "");
    CHECK(difference_of_small<float8_e4m3fn>(0x7f, 0xff, small_floats::closely) == ""); // NaN
    CHECK(difference_of_small<float8_e4m3fn>(0x7f, 0x38, small_floats::closely) != "");
    CHECK(difference_of(1.00005f, 1.0f, small_floats::exactly) == "");
}

TEST_CASE("everything else is equal or not")
{
    CHECK(difference_of<std::int64_t>(2, 2) == "");
    CHECK(difference_of<std::int64_t>(3, 2) == "item [] is 3, but must be 2");
    CHECK(difference_of(true, false) == "item [] is true, but must be false");
    CHECK(difference_of<std::string>("a", "b") == "item [] is \"a\", but must be \"b\"");
    CHECK(difference_of<std::complex<float>>({1, 2}, {1, 3}) == "item [] is (1, 2), but must be (1, 3)");
    CHECK(difference_of<std::complex<float>>({2, 3}, {1, 3}) == "item [] is (2, 3), but must be (1, 3)");
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(difference_of<std::complex<float>>({nan, 1}, {nan, 1}) == "");
    CHECK(difference_of<std::complex<float>>({1, nan}, {1, 1}) != "");
    CHECK(difference_of<std::complex<float>>({1, 1}, {nan, 1}) != "");
}

TEST_CASE("types and shapes, then the first item that differs")
{
    std::vector<float> const six{0, 1, 2, 3, 4, 5};
    std::vector<float> const other{0, 1, 2, 9, 4, 9};
    tensor const expected = tensor::of<float>({2, 3}, six);
    CHECK(difference(tensor::of<float>({3, 2}, six), expected) == "is float[3, 2], but must be float[2, 3]");
    CHECK(difference(tensor::scalar(1.0), expected) == "is double[], but must be float[2, 3]");
    CHECK(difference(tensor::of<float>({2, 3}, other), expected) ==
          "item [1, 0] is 9, but must be 3; so 2 of 6");
    CHECK(difference(tensor(element_type::float_, {0, 2}), tensor(element_type::float_, {0, 3})) ==
          "is float[0, 2], but must be float[0, 3]");
}

TEST_CASE("sequences and optionals")
{
    auto const held = [](value v) {
        return value(value::optional_value{std::make_shared<value const>(std::move(v))});
    };
    value const empty(value::optional_value{});
    value const one(sequence{tensor::scalar(1.0f)});
    value const two(sequence{tensor::scalar(1.0f), tensor::scalar(2.0f)});
    CHECK(difference(two, two) == "");
    CHECK(difference(one, two) == "is a sequence of 1, but must be a sequence of 2");
    CHECK(difference(value(sequence{tensor::scalar(1.0f), tensor::scalar(3.0f)}), two) ==
          "element 1 item [] is 3, but must be 2");
    CHECK(difference(tensor::scalar(1.0f), one) == "is float[], but must be sequence of 1");
    CHECK(difference(empty, empty) == "");
    CHECK(difference(held(one), held(one)) == "");
    CHECK(difference(empty, held(one)) == "is empty optional, but must be optional sequence of 1");
    CHECK(
        difference(held(tensor::scalar(2.0f)), held(tensor::scalar(1.0f))) == "item [] is 2, but must be 1");
}
