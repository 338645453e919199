// Vectors of floats rounded to storage floats, against the conversions of single numbers.

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/detail/kernel/widen.hpp>

namespace widen_test {

namespace {

/// Every number of 16 bits, those half way between two of them and beside these, NaN, and random patterns.
template <class Stored>
std::vector<float> hard_numbers()
{
    std::vector<float> numbers;
    auto const add = [&](float number) {
        auto const pattern = std::bit_cast<std::uint32_t>(number);
        for (std::uint32_t const near : {pattern, pattern + 1, pattern - 1})
            numbers.push_back(std::bit_cast<float>(near));
    };
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
        for (std::uint32_t const half : {0x0000u, 0x8000u})
            add(std::bit_cast<float>(upper << 16 | half));
    for (int i = 1; i < 4096; ++i) {
        float const subnormal = static_cast<float>(i) * 0x1p-25f; // halves of float16's smallest number
        add(subnormal), add(-subnormal);
        add(65504.0f + static_cast<float>(i) / 64);
    }
    std::mt19937 random(1);
    for (int i = 0; i < 100'000; ++i)
        numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    numbers.resize(numbers.size() / 64 * 64);
    return numbers;
}

} // namespace

TEST_CASE_TEMPLATE("store_narrowed: the bits of a conversion", Stored, xloom::float16, xloom::bfloat16)
{
    namespace kernel = xloom::kernel;
    constexpr std::size_t width = kernel::batch_size<float>;
    std::vector<float> const numbers = hard_numbers<Stored>();
    bool are_equal = true;
    for (std::size_t i = 0; i + width <= numbers.size(); i += width) {
        Stored found[width];
        kernel::store_narrowed(found, kernel::load_batch(numbers.data() + i));
        for (std::size_t j = 0; j < width; ++j)
            are_equal = are_equal && found[j].bits() == Stored(numbers[i + j]).bits();
    }
    CHECK(are_equal);
}

} // namespace widen_test
