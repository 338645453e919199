// Scans and loops of the caller's bodies, prefix scans, scatters and gathers.

#include "steady.hpp"

#include <cstddef>
#include <cstdint>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/indexing/tensor_scatter.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/types.hpp>

namespace real_time_calls_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<float, 2>;

constexpr std::size_t calls = 5'000;

constexpr auto decaying_sum = [](auto& h, auto const& x_t, auto& y_t) {
    xt::noalias(h) = 0.5f * h + x_t;
    xt::noalias(y_t) = h;
};

} // namespace

TEST_CASE("scan_into of numbers, of contiguous elements, and of strided ones with a workspace")
{
    xt::xtensor<float, 1> const numbers = xt::ones<float>({12});
    xt::xtensor<float, 1> sums = numbers;
    float sum = 0;
    steady::check(calls, [&] {
        scan_into([](float& h, float x_t, float& y_t) { y_t = h = 0.5f * h + x_t; }, sum, numbers, sums);
    });
    CHECK(sum > 1);

    matrix const x = xt::ones<float>({12, 5});
    matrix y = x;
    xt::xtensor<float, 1> rows = xt::zeros<float>({5}), columns = xt::zeros<float>({12});
    steady::check(calls, [&] { scan_into(decaying_sum, rows, x, y); });
    CHECK(y(11, 4) > 1);
    scan_workspace workspace;
    steady::check(calls, [&] {
        scan_into(decaying_sum, columns, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}}, workspace);
    });
    CHECK(y(11, 4) > 1);
    steady::check(calls, [&] {
        scan_into(strided_elements([](auto& h, auto const& x_t, auto& y_t) {
            for (std::size_t i = 0; i < x_t.shape(0); ++i)
                y_t(i) = h(i) = 0.5f * h(i) + x_t(i);
        }),
            columns, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
    });
    CHECK(y(11, 4) > 1);
}

TEST_CASE("flush_subnormals around a scan_into")
{
    xt::xtensor<float, 1> const silence = xt::zeros<float>({12});
    float tail = 1;
    steady::check(calls, [&] {
        flush_subnormals const flushing;
        scan_into([](float& h, float x_t) { h = 0.9f * h + x_t; }, tail, silence);
    });
    if constexpr (flush_subnormals::is_supported)
        CHECK(tail == 0);
}

TEST_CASE("loop_into of numbers and of contiguous elements")
{
    float value = 1;
    xt::xtensor<float, 1> values = xt::zeros<float>({8});
    auto const halve = [](std::int64_t, float& v, float& y_t) {
        y_t = v;
        return (v = 0.5f * v + 1) < 3;
    };
    steady::check(calls, [&] { loop_into(halve, value, values, {.max_trip_count = 8}); });
    CHECK(values(7) > 1);

    xt::xtensor<float, 1> state = xt::zeros<float>({5});
    matrix y = xt::zeros<float>({8, 5});
    auto const step = [](std::int64_t, auto& v, auto& y_t) {
        xt::noalias(v) = 0.5f * v + 1;
        xt::noalias(y_t) = v;
        return true;
    };
    steady::check(calls, [&] { loop_into(step, state, y, {.max_trip_count = 8}); });
    CHECK(y(7, 4) > 1);
}

TEST_CASE("linear_recurrence_into, associative_scan_into and cumulative operators along each axis")
{
    matrix const a = 0.5f * xt::ones<float>({300, 21}), b = xt::ones<float>({300, 21});
    matrix h = b;
    auto const larger = [](float p, float q) { return p > q ? p : q; };
    for (std::int64_t const axis : {std::int64_t{0}, std::int64_t{1}}) {
        steady::check(calls / 10, [&] { linear_recurrence_into(a, b, 0.0f, h, {.axis = axis}); });
        CHECK(h(299, 20) > 1);
        steady::check(calls / 10, [&] { associative_scan_into(reduction::add, b, h, {.axis = axis}); });
        CHECK(h(299, 20) > 1);
        steady::check(calls / 10, [&] { associative_scan_into(larger, b, h, {.axis = axis}); });
        CHECK(h(299, 20) == 1);
        steady::check(calls / 10, [&] { cumulative_sum_into(b, h, {.axis = axis, .exclusive = true}); });
        CHECK(h(299, 20) == (axis == 0 ? 299 : 20));
        steady::check(calls / 10, [&] { cumulative_prod_into(b, h, {.axis = axis}); });
        CHECK(h(299, 20) == 1);
    }
}

TEST_CASE("scatter_nd_into and gather_nd_into of items and of slices, out of range too")
{
    xt::xtensor<float, 3> data = xt::zeros<float>({5, 6, 7});
    xt::xtensor<std::int64_t, 2> const items = {{1, 2, 3}, {-1, -1, -1}}, slices = {{1, 2}, {4, 0}},
                                       outside = {{9, 2}, {4, 0}};
    xt::xtensor<float, 1> item_values = xt::ones<float>({2});
    matrix slice_values = xt::ones<float>({2, 7});
    steady::check(calls, [&] { scatter_nd_into(data, items, item_values); });
    steady::check(calls, [&] { scatter_nd_into(reduction::add, data, items, item_values); });
    steady::check(calls, [&] { scatter_nd_into(reduce_max, data, slices, slice_values); });
    steady::check(calls, [&] { scatter_nd_into(reduction::add, data, slices, broadcast(1)); });
    steady::check(calls, [&] { scatter_nd_into(data, outside, slice_values, {.bounds = bounds::drop}); });
    CHECK(data(1, 2, 3) > 1);
    steady::check(calls, [&] { gather_nd_into(data, items, item_values); });
    steady::check(calls, [&] { gather_nd_into(data, slices, slice_values); });
    steady::check(calls, [&] { gather_nd_into(data, outside, slice_values, {.bounds = bounds::clip}); });
    CHECK(item_values(0) == data(1, 2, 3));
}

TEST_CASE("scatter_elements_into and gather_elements_into along every axis, out of range too")
{
    xt::xtensor<float, 3> data = xt::zeros<float>({5, 6, 7});
    xt::xtensor<float, 3> values = xt::ones<float>({5, 6, 7});
    xt::xtensor<std::int64_t, 3> const first = xt::zeros<std::int64_t>({5, 6, 7}), last = first - 1,
                                       outside = first + 9;
    for (std::int64_t const axis : {0, 1, 2}) {
        steady::check(calls, [&] { scatter_elements_into(data, first, values, {.axis = axis}); });
        steady::check(
            calls, [&] { scatter_elements_into(reduction::add, data, last, values, {.axis = axis}); });
        steady::check(calls, [&] { scatter_elements_into(reduce_max, data, last, values, {.axis = axis}); });
        steady::check(
            calls, [&] { scatter_elements_into(reduction::add, data, first, broadcast(1), {.axis = axis}); });
        steady::check(calls,
            [&] { scatter_elements_into(data, outside, values, {.axis = axis, .bounds = bounds::drop}); });
        CHECK(data(0, 0, 0) > 1);
        steady::check(calls, [&] { gather_elements_into(data, first, values, {.axis = axis}); });
        CHECK(values(0, 0, 0) == data(0, 0, 0));
        steady::check(calls,
            [&] { gather_elements_into(data, outside, values, {.axis = axis, .bounds = bounds::clip}); });
        CHECK(values(0, 0, 0) != data(0, 0, 0));
    }
    xt::xtensor<std::int32_t, 3> const few = {{{4, 1}}, {{0, 3}}};
    xt::xtensor<float, 3> some = xt::ones<float>({2, 1, 2});
    steady::check(calls, [&] { scatter_elements_into(data, few, some); });
    steady::check(calls, [&] { gather_elements_into(data, few, some); });
}

TEST_CASE("tensor_scatter_into, beyond the end of a circular cache too")
{
    xt::xtensor<float, 3> cache = xt::zeros<float>({2, 6, 7});
    xt::xtensor<float, 3> const update = xt::ones<float>({2, 2, 7});
    xt::xtensor<std::int64_t, 1> const starts = {1, 5};
    steady::check(calls, [&] {
        tensor_scatter_into(
            cache, update, {.write_indices = starts}, {.mode = tensor_scatter_mode::circular});
    });
    CHECK(cache(1, 0, 6) == 1);
}

TEST_CASE("storage floats: linear_recurrence_into, associative_scan_into, scatter_nd_into and gather_nd_into")
{
    using items = xt::xtensor<float16, 2>;
    items a = items::from_shape({40, 21});
    a.fill(float16(0.5f));
    items const b = a;
    items h = a;
    steady::check(calls, [&] { linear_recurrence_into(a, b, float16(0), h); });
    steady::check(calls, [&] { associative_scan_into(reduction::max, b, h, {.axis = 1}); });
    CHECK(float(h(39, 20)) == 0.5f);
    xt::xtensor<std::int64_t, 2> const rows = {{1}, {0}};
    items updates = items::from_shape({2, 21});
    updates.fill(float16(0.25f));
    steady::check(calls, [&] { scatter_nd_into(reduction::max, h, rows, updates); });
    steady::check(calls, [&] { gather_nd_into(h, rows, updates); });
    CHECK(float(updates(1, 20)) == 0.5f);
}

} // namespace real_time_calls_test
