// The derivative of ScatterND on several threads: the bits of one.

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include <xloom/gradients/scatter_nd_vjp.hpp>

#include "support/reduced_options.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/vjp_cases.hpp"

namespace scatter_nd_vjp_threads_test {

using namespace xloom;

namespace {

constexpr threads_or_backwards policies[] = {{2, false}, {3, false}, {8, true}};

using indices_2d = xt::xtensor<std::int64_t, 2>;
using matrix = xt::xtensor<float, 2>;

/// Few different numbers near 1, so that there are ties, and products of many stay finite.
matrix numbers(std::mt19937& random, std::size_t rows, std::size_t columns)
{
    auto result = matrix::from_shape({rows, columns});
    for (float& item : result)
        item = 1.0f + static_cast<float>(static_cast<int>(random() % 9) - 4) / 64.0f;
    return result;
}

bool have_same_bits(matrix const& a, matrix const& b)
{
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_all(std::size_t slices, std::size_t columns, std::size_t count, indices_2d const& indices,
    bounds rule, bool is_sorted = false)
{
    std::mt19937 random(7);
    auto const ct = numbers(random, slices, columns), data = numbers(random, slices, columns),
               updates = numbers(random, count, columns);
    for (reduced_vjp_options options : all_vjp_options(false)) {
        bool const is_extremum = options.reduction == reduction::max || options.reduction == reduction::min;
        if (options.bounds != rule || (options.ties == ties::first && !is_extremum))
            continue;
        options.sorted = is_sorted;
        CAPTURE(describe(options));
        auto const expected = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
        for (threads_or_backwards const& policy : policies) {
            CAPTURE(policy.threads);
            auto const result =
                scatter_nd_vjp(options.reduction, data, indices, updates, ct, options, policy);
            CHECK(have_same_bits(result.data, expected.data));
            CHECK(have_same_bits(result.updates, expected.updates));
            auto sums = data;
            scatter_nd_vjp_into(
                options.reduction, data, indices, updates, ct, {.data = sums}, options, policy);
            CHECK(have_same_bits(sums, data + expected.data));
        }
    }
}

indices_2d random_rows(std::size_t count, std::size_t rows)
{
    std::mt19937 random(6);
    auto indices = indices_2d::from_shape({count, 1});
    for (std::int64_t& index : indices)
        index = static_cast<std::int64_t>(random() % (rows + 1)) - (random() % 2 == 0 ? 1 : 0);
    return indices;
}

/// More than three threads' worth of updates.
constexpr std::size_t many = 3 * (std::size_t{1} << 14) + 1001;

} // namespace

TEST_CASE("single items, few of which are named often")
{
    check_all(20'000, 1, many, random_rows(many, 20'000), bounds::drop);
    check_all(4, 1, many, random_rows(many, 4), bounds::clip);
}

TEST_CASE("short and long slices")
{
    check_all(300, 9, many / 9, random_rows(many / 9, 300), bounds::drop);
    check_all(20, 2001, 90, random_rows(90, 20), bounds::clip);
}

TEST_CASE("sorted slices")
{
    auto indices = random_rows(many, 20'000);
    for (std::int64_t& index : indices)
        index = index < 0 ? 0 : index;
    std::sort(indices.begin(), indices.end());
    check_all(20'001, 1, many, indices, bounds::clip, true);
}

TEST_CASE("different slices, as promised and as checked")
{
    std::mt19937 random(8);
    std::size_t const count = many;
    auto const indices = to_tensor<indices_2d>(different_indices(random, count, {count}, 1));
    auto const ct = numbers(random, count, 1), data = numbers(random, count, 1),
               updates = numbers(random, count, 1);
    for (reduced_vjp_options const& options : all_vjp_options(true)) {
        if (options.bounds != bounds::check || options.duplicates != duplicates::last)
            continue;
        CAPTURE(describe(options));
        auto const expected = scatter_nd_vjp(options.reduction, data, indices, updates, ct, options);
        auto const result =
            scatter_nd_vjp(options.reduction, data, indices, updates, ct, options, threads_policy(3));
        CHECK(have_same_bits(result.data, expected.data));
        CHECK(have_same_bits(result.updates, expected.updates));
    }
}

TEST_CASE("a policy of no threads, or of more than there are updates")
{
    std::mt19937 random(9);
    auto const ct = numbers(random, 5000, 1), updates = numbers(random, many, 1);
    auto const indices = random_rows(many, 5000);
    reduced_vjp_options const options{.bounds = bounds::clip};
    auto const expected = scatter_nd_vjp(options.reduction, ct, indices, updates, ct, options);
    for (std::size_t const parts : {std::size_t{0}, ~std::size_t{0}}) {
        auto const result = scatter_nd_vjp(
            options.reduction, ct, indices, updates, ct, options, threads_or_backwards{parts, true});
        CHECK(have_same_bits(result.data, expected.data));
        CHECK(have_same_bits(result.updates, expected.updates));
    }
}

} // namespace scatter_nd_vjp_threads_test
