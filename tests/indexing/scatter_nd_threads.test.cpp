// ScatterND and GatherND on several threads: the bits of one.

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <stdexcept>

#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "support/reduced_options.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"

namespace scatter_nd_threads_test {

using namespace xloom;

namespace {

constexpr threads_or_backwards policies[] = {
    {1, false}, {2, false}, {3, false}, {8, false}, {2, true}, {3, true}, {8, true}};

using indices_2d = xt::xtensor<std::int64_t, 2>;

/// Numbers of many magnitudes, whose sum depends on their order.
template <class T>
xt::xtensor<T, 2> numbers(std::size_t rows, std::size_t columns)
{
    std::mt19937 random(5);
    auto result = xt::xtensor<T, 2>::from_shape({rows, columns});
    for (T& item : result.storage())
        item = static_cast<T>(
            std::ldexp(static_cast<float>(random() % 1000) - 500.0f, static_cast<int>(random() % 12) - 9));
    return result;
}

indices_2d random_rows(std::size_t count, std::size_t rows)
{
    std::mt19937 random(6);
    auto indices = indices_2d::from_shape({count, 1});
    for (std::int64_t& index : indices.storage())
        index = static_cast<std::int64_t>(random() % rows);
    return indices;
}

template <class T>
bool have_same_bits(xt::xtensor<T, 2> const& a, xt::xtensor<T, 2> const& b)
{
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_all_policies(xt::xtensor<T, 2> const& data, indices_2d const& indices,
    xt::xtensor<T, 2> const& updates, reduced_options const& options)
{
    auto const expected = scatter_nd(options.reduction, data, indices, updates, options);
    CHECK(!have_same_bits(expected, data));
    for (threads_or_backwards const& policy : policies) {
        CAPTURE(policy.threads);
        CHECK(
            have_same_bits(scatter_nd(options.reduction, data, indices, updates, options, policy), expected));
    }
}

/// More than eight threads' worth of updates, and no multiple of anything.
constexpr std::size_t many = 8 * (std::size_t{1} << 14) + 1001;

} // namespace

TEST_CASE_TEMPLATE("heavy duplicates: four slots for all updates", T, float, float16)
{
    for (reduction const kind : {reduction::none, reduction::add})
        check_all_policies<T>(
            numbers<T>(4, 1), random_rows(many, 4), numbers<T>(many, 1), {.reduction = kind});
}

TEST_CASE("updates far apart, some of them twice")
{
    check_all_policies<float>(numbers<float>(100'000, 1), random_rows(many, 100'000), numbers<float>(many, 1),
        {.reduction = reduction::add});
}

TEST_CASE("short rows go to owners, long rows are cut among the threads")
{
    check_all_policies<float>(numbers<float>(300, 9), random_rows(many / 9, 300), numbers<float>(many / 9, 9),
        {.reduction = reduction::add});
    check_all_policies<float>(numbers<float>(50, 1025), random_rows(150, 50), numbers<float>(150, 1025),
        {.reduction = reduction::add});
}

TEST_CASE("what is counted, dropped or promised")
{
    auto const data = numbers<float>(1000, 1);
    auto const updates = numbers<float>(many, 1);
    auto indices = random_rows(many, 1200);
    check_all_policies<float>(data, indices, updates, {.reduction = reduction::add, .bounds = bounds::drop});
    check_all_policies<float>(data, indices, updates,
        {.reduction = reduction::mean, .bounds = bounds::clip, .include_self = false});
    check_all_policies<float>(
        data, indices, updates, {.bounds = bounds::drop, .duplicates = duplicates::first});
    std::sort(indices.begin(), indices.end());
    check_all_policies<float>(
        data, indices, updates, {.reduction = reduction::add, .bounds = bounds::clip, .sorted = true});
    for (std::size_t i = 0; i < many; ++i)
        indices(i, 0) = static_cast<std::int64_t>((i * 7919) % many);
    check_all_policies<float>(
        numbers<float>(many, 1), indices, updates, {.reduction = reduction::add, .unique = true});
}

TEST_CASE("all updates in one slice, sorted: one thread does them")
{
    check_all_policies<float>(numbers<float>(3, 1),
        indices_2d(xt::ones<std::int64_t>({many, std::size_t{1}})), numbers<float>(many, 1),
        {.reduction = reduction::add, .sorted = true});
}

TEST_CASE("sorted, with one that is omitted among the updates of a slice")
{
    auto indices = indices_2d(xt::ones<std::int64_t>({many, std::size_t{1}}));
    for (std::size_t i = 0; i < many; i += 2)
        indices(i, 0) = 9;
    check_all_policies<float>(numbers<float>(3, 1), indices, numbers<float>(many, 1),
        {.reduction = reduction::add, .bounds = bounds::drop, .sorted = true});
}

TEST_CASE("a policy of no threads, or of more than there is memory for, does all the work")
{
    auto const data = numbers<float>(10, 1);
    auto const indices = random_rows(3, 10);
    auto const updates = numbers<float>(3, 1);
    auto const scattered = scatter_nd(data, indices, updates);
    auto const gathered = gather_nd(data, indices);
    for (std::size_t const parts : {std::size_t{0}, ~std::size_t{0}}) {
        threads_or_backwards const policy{parts, true};
        CHECK(scatter_nd(data, indices, updates, {}, policy) == scattered);
        CHECK(gather_nd(data, indices, {}, policy) == gathered);
    }
    auto const column = numbers<float>(5000, 1);
    auto const many_rows = random_rows(20 * many, 5000);
    auto const many_updates = numbers<float>(20 * many, 1);
    CHECK(scatter_nd(reduce_add, column, many_rows, many_updates, {}, threads_or_backwards{256, true}) ==
          scatter_nd(reduce_add, column, many_rows, many_updates));
}

TEST_CASE("column-major data")
{
    xt::xtensor<float, 2, xt::layout_type::column_major> const data = numbers<float>(40, 9);
    auto const indices = random_rows(many / 9, 40);
    auto const updates = numbers<float>(many / 9, 9);
    auto const expected = scatter_nd(reduce_add, data, indices, updates);
    CHECK(scatter_nd(reduce_add, data, indices, updates, {}, policies[2]) == expected);
    CHECK(scatter_nd(reduce_add, data, indices, updates, {}, policies[6]) == expected);
}

TEST_CASE("what a reduction throws on another thread passes through")
{
    auto const fails = [](float old, float update) -> float {
        return update == 77.0f ? throw std::runtime_error("no 77") : old + update;
    };
    auto data = numbers<float>(4, 1);
    auto updates = numbers<float>(many, 1);
    updates(many / 2, 0) = 77.0f;
    CHECK_THROWS_WITH_AS(scatter_nd_into(fails, data, random_rows(many, 4), updates, {}, policies[2]),
        "no 77", std::runtime_error);
}

TEST_CASE("a copy that is made row by row")
{
    auto indices = random_rows(400, 300);
    check_all_policies<double>(
        numbers<double>(300, 441), indices, numbers<double>(400, 441), {.reduction = reduction::add});
    std::fill(indices.begin(), indices.end(), 299);
    check_all_policies<double>(
        numbers<double>(300, 441), indices, numbers<double>(400, 441), {.reduction = reduction::add});
}

TEST_CASE("GatherND")
{
    auto const data = numbers<float>(1000, 9);
    auto const indices = random_rows(many, 1000);
    auto const expected = gather_nd<2>(data, indices);
    for (threads_or_backwards const& policy : policies)
        CHECK(gather_nd<2>(data, indices, {}, policy) == expected);
    auto output = xt::xtensor<float, 2>::from_shape({many, 9});
    gather_nd_into(data, indices, output, {}, threads_policy(2)); // as users write it
    CHECK(output == expected);
}

} // namespace scatter_nd_threads_test
