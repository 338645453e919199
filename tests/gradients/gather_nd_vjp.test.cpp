// The derivative of GatherND against its definition: ranks, batch axes, rules for indices out of range,
// types, layouts, threads.

#include <doctest/doctest.h>

#include <complex>
#include <cstring>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/grid.hpp"
#include "support/nd_operands.hpp"
#include "support/textbook_vjp.hpp"
#include "support/threads.hpp"
#include "support/xtensor_extras.hpp"

namespace gather_nd_vjp_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

struct sizes {
    textbook::dims data, front;
    std::size_t k, b;
};

/// Small whole numbers, whose sums are exact.
void check_case(std::mt19937& random, sizes const& s, bounds rule)
{
    auto indices = random_indices(random, s.front, s.data, s.k, s.b);
    if (!detail::guarantees_in_range(rule))
        for (std::int64_t& index : indices.items)
            index += random() % 4 == 0 ? (random() % 2 == 0 ? 20 : -20) : 0;
    textbook::dims ct_shape = s.front;
    ct_shape.insert(ct_shape.end(), s.data.begin() + static_cast<std::ptrdiff_t>(s.b + s.k), s.data.end());
    auto const ct = random_items<double>(random, ct_shape);
    auto const expected = textbook::gather_nd_vjp(ct, s.data, indices, s.b, rule);

    gather_nd_vjp_options const options{.batch_dims = static_cast<std::int64_t>(s.b), .bounds = rule};
    auto const ct_tensor = to_tensor<xt::xarray<double>>(ct);
    auto const index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
    auto const result = gather_nd_vjp(s.data, index_tensor, ct_tensor, options);
    CHECK(to_array(result).shape == expected.shape);
    CHECK(to_array(result).items == expected.items);

    auto ct_data = xt::xarray<double, xt::layout_type::column_major>(result * 0 + 7);
    gather_nd_vjp_into(index_tensor, ct_tensor, ct_data, options);
    CHECK(to_array(ct_data).items == to_array(xt::xarray<double>(result + 7)).items); // added to what it held
    using columns = xt::xarray<double, xt::layout_type::column_major>;
    CHECK(gather_nd_vjp(s.data, 1 * index_tensor, columns(ct_tensor), options) == result);
}

} // namespace

TEST_CASE("ranks, tuples of every width, batch axes, sizes of zero")
{
    std::mt19937 random(1);
    sizes const all[] = {{{5}, {7}, 1, 0}, {{5}, {}, 1, 0}, {{5, 3}, {2, 4}, 1, 0}, {{3, 4, 2}, {9}, 2, 0},
        {{3, 4, 2}, {9}, 3, 0}, {{3, 4, 2}, {}, 3, 0}, {{3, 2}, {2}, 0, 0}, {{3, 4}, {3}, 1, 1},
        {{3, 4, 2}, {3, 5}, 1, 1}, {{2, 3, 4, 2}, {2, 3, 4}, 1, 2}, {{2, 3, 4, 2}, {2, 3}, 2, 2},
        {{2, 3, 4}, {2, 5}, 0, 1}, {{3, 0}, {4}, 1, 0}, {{4}, {0}, 1, 0}, {{0, 4}, {0, 3}, 1, 1}};
    for (sizes const& s : all)
        for (bounds const rule : {bounds::check, bounds::assume, bounds::drop, bounds::clip})
            check_case(random, s, rule);
    auto const ct = matrix{{1, 2}, {3, 4}};
    CHECK(gather_nd_vjp<2>(shape{0, 2}, tuples{{0}, {5}}, ct, {.bounds = bounds::drop}).size() == 0);
}

TEST_CASE("every form of data's shape, and of the result")
{
    auto const ct = matrix{{1, 2}, {3, 4}, {5, 6}};
    auto const data = matrix{{0, 0}, {0, 0}};
    auto const indices = tuples{{1}, {0}, {-1}};
    matrix const expected = {{3, 4}, {6, 8}};
    CHECK(gather_nd_vjp({2, 2}, indices, ct) == expected);
    CHECK(gather_nd_vjp<2>(data.shape(), indices, ct) == expected);
    CHECK(gather_nd_vjp(shape{2, 2}, indices, ct) == expected);
    static_assert(std::is_same_v<decltype(gather_nd_vjp({2, 2}, indices, ct)), xt::xarray<double>>);
    static_assert(std::is_same_v<decltype(gather_nd_vjp<2>({2, 2}, indices, ct)), matrix>);

    user::grid<double, 2> grid({3, 2});
    xloom::detail::copy_items(ct, grid);
    auto const result = gather_nd_vjp<2>({2, 2}, indices, grid);
    static_assert(std::is_same_v<decltype(result), user::grid<double, 2> const>);
    CHECK(to_array(result).items == to_array(expected).items);
}

TEST_CASE_TEMPLATE(
    "element types", T, float, double, long double, std::complex<float>, float16, bfloat16, float8_e4m3fn)
{
    xt::xtensor<T, 1> const ct = {T(1), T(2), T(3)};
    auto const ct_data = gather_nd_vjp<1>({2}, xt::xtensor<std::uint16_t, 2>{{1}, {0}, {1}}, ct);
    CHECK(ct_data(0) == T(2));
    CHECK(ct_data(1) == T(4));
}

TEST_CASE("storage floats are rounded after each addition, or once")
{
    auto const ct = xt::xtensor<bfloat16, 1>(xt::ones<bfloat16>({1000}));
    auto const indices = tuples(xt::zeros<std::int64_t>({1000, 1}));
    CHECK(gather_nd_vjp<1>({1}, indices, ct)(0) == 256); // 256 + 1 is rounded to 256
    CHECK(gather_nd_vjp<1>({1}, indices, ct, {.accumulate_in_float = true})(0) == 1000);
    xt::xtensor<bfloat16, 1> sum = {bfloat16(1)};
    gather_nd_vjp_into(indices, ct, sum, {.accumulate_in_float = true});
    CHECK(sum(0) == 1000); // 1001 is rounded once
    auto const batched = gather_nd_vjp<2>({2, 1}, xt::xtensor<int, 3>(xt::zeros<int>({2, 500, 1})),
        xt::xtensor<bfloat16, 2>(xt::ones<bfloat16>({2, 500})),
        {.batch_dims = 1, .accumulate_in_float = true});
    CHECK(batched(0, 0) == 500);
    CHECK(batched(1, 0) == 500);
}

TEST_CASE("the same bits on any number of threads, with and without promises")
{
    std::mt19937 random(2);
    struct work {
        std::size_t slices, size, count;
    };
    for (work const& each : {work{5000, 1, 150'000}, work{4, 1, 150'000}, work{40, 3000, 60}}) {
        std::size_t const slices = each.slices, size = each.size, count = each.count;
        auto ct = matrix::from_shape({count, size});
        for (double& item : ct)
            item = std::ldexp(double(random() % 1000), int(random() % 40) - 20);
        auto indices = tuples::from_shape({count, 1});
        for (std::int64_t& index : indices)
            index = static_cast<std::int64_t>(random() % slices);
        auto const check = [&](gather_nd_vjp_options const& options) {
            auto const expected = gather_nd_vjp<2>({slices, size}, indices, ct, options);
            for (std::size_t const threads : {2u, 3u, 8u}) {
                auto const result =
                    gather_nd_vjp<2>({slices, size}, indices, ct, options, threads_policy(threads));
                CHECK(std::memcmp(result.data(), expected.data(), result.size() * sizeof(double)) == 0);
            }
        };
        check({});
        std::sort(indices.begin(), indices.end());
        check({.sorted = true});
        // Batch entries: a slice is named by its entry, too.
        auto const batched_ct =
            xt::xtensor<double, 3>(xt::reshape_view(ct, {std::size_t{2}, count / 2, size}));
        auto const batched = xt::xtensor<std::int64_t, 3>(
            xt::reshape_view(indices, {std::size_t{2}, count / 2, std::size_t{1}}));
        gather_nd_vjp_options const options{.batch_dims = 1, .sorted = true};
        auto const expected = gather_nd_vjp<3>({2, slices, size}, batched, batched_ct, options);
        CHECK(
            gather_nd_vjp<3>({2, slices, size}, batched, batched_ct, options, threads_policy(3)) == expected);
    }
}

} // namespace gather_nd_vjp_test
