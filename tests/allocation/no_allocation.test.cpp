// "Nothing is allocated after set-up" means: not between the first call of the body and the last.

#include <doctest/doctest.h>

#include <memory>
#include <new>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/loop_lanes.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/indexing/tensor_scatter.hpp>
#include <xloom/parallel/associative_scan.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>

#include "check_assignment.hpp"
#include "counting_new.hpp"

namespace allocation_no_allocation_test {

namespace {

/// What was allocated between the first and the last call of mark().
class allocation_meter {
public:
    void mark()
    {
        if (calls_++ == 0)
            first_ = allocations();
        last_ = allocations();
    }
    std::size_t between() const { return last_ - first_; }
    int calls() const { return calls_; }

private:
    int calls_ = 0;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
};

constexpr auto running_sum = [](auto& h, auto const& x_t, auto& y_t) {
    xt::noalias(h) = h + x_t;
    xt::noalias(y_t) = h;
};

template <class X, class H>
void check_scan_into(X const& x, H h, xloom::scan_options const& options)
{
    X y = X::from_shape(x.shape());
    allocation_meter meter;
    xloom::scan_into(
        [&](auto& state, auto const& x_t, auto& y_t) {
            meter.mark();
            running_sum(state, x_t, y_t);
        },
        h, x, y, options);
    CHECK(meter.calls() > 1);
    CHECK(meter.between() == 0);
}

} // namespace

TEST_CASE("the meter sees what a body allocates")
{
    xt::xtensor<float, 2> const x = xt::ones<float>({5, 4});
    xt::xtensor<float, 1> h = xt::zeros<float>({4});
    allocation_meter meter;
    xloom::scan_into(
        [&](auto& state, auto const& x_t) {
            meter.mark();
            xt::xtensor<float, 1> const copy = x_t;
            xt::noalias(state) = state + copy;
        },
        h, x);
    CHECK(meter.between() == (counts_containers ? 4 : 0));
}

TEST_CASE("an operator new that does not throw is counted, and refused")
{
    struct alignas(64) line {
        char bytes[64];
    };
    std::size_t const before = allocations();
    std::unique_ptr<int> const number(new (std::nothrow) int(1));
    std::unique_ptr<int[]> const numbers(new (std::nothrow) int[3]);
    std::unique_ptr<line> const one(new (std::nothrow) line);
    std::unique_ptr<line[]> const lines(new (std::nothrow) line[3]);
    CHECK(allocations() - before == 4);
    refusal const none(0);
    std::unique_ptr<int> const refused(new (std::nothrow) int(1));
    CHECK(refused == nullptr);
}

TEST_CASE("scan_into allocates nothing after set-up, along the leading axis or another")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({5, 4, 3});
    check_scan_into(x, xt::xtensor<float, 2>(xt::zeros<float>({4, 3})), {});
    check_scan_into(x, xt::xtensor<float, 2>(xt::zeros<float>({5, 3})),
        {.scan_input_axes = {1}, .scan_output_axes = {1}});
    check_scan_into(x, xt::xtensor<float, 2>(xt::zeros<float>({5, 4})),
        {.scan_input_axes = {-1}, .scan_output_axes = {-1}});
}

TEST_CASE("scan_into allocates nothing after set-up for a rank known at run time")
{
    xt::xarray<double> const x = xt::ones<double>({5, 4, 3});
    check_scan_into(x, xt::xarray<double>(xt::zeros<double>({4, 3})), {});
    check_scan_into(
        x, xt::xarray<double>(xt::zeros<double>({5, 4})), {.scan_input_axes = {2}, .scan_output_axes = {2}});
}

TEST_CASE("scan_into over fixed shapes allocates nothing at all")
{
    xt::xtensor_fixed<float, xt::xshape<5, 4>> x;
    xt::xtensor_fixed<float, xt::xshape<5, 4>> y;
    xt::xtensor_fixed<float, xt::xshape<4>> h;
    x.fill(1);
    h.fill(0);
    std::size_t const before = allocations();
    xloom::scan_into(running_sum, h, x, y);
    CHECK(allocations() == before);
    CHECK(y(4, 3) == 5);
}

TEST_CASE("scan_into with strided elements allocates nothing at all along any axis")
{
    xt::xtensor<float, 2> const x = xt::ones<float>({4, 5});
    xt::xtensor<float, 2> y = x;
    xt::xtensor<float, 1> h = xt::zeros<float>({4});
    std::size_t const before = allocations();
    auto const body = [](auto& state, auto const& x_t, auto& y_t) {
        for (std::size_t i = 0; i < x_t.shape(0); ++i)
            y_t(i) = state(i) += x_t(i);
    };
    xloom::scan_into(
        xloom::strided_elements(body), h, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
    CHECK(allocations() == before);
    CHECK(y(3, 4) == 5);
}

TEST_CASE("scan_into with a workspace allocates nothing in a second call along any axis")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({5, 4, 3});
    xt::xtensor<float, 3> y = x;
    xt::xtensor<float, 2> h = xt::zeros<float>({5, 3});
    xloom::scan_workspace workspace;
    auto const run = [&] {
        xloom::scan_into(running_sum, h, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}}, workspace);
    };
    std::size_t const before = allocations();
    run();
    std::size_t const after = allocations();
    run();
    CHECK(after > before);
    CHECK(allocations() == after);
    CHECK(y(4, 3, 2) == 8);
}

TEST_CASE("scan_batched_into allocates nothing after set-up, for rows of any layout and length")
{
    auto const check = [](auto const& x, auto h, auto y) {
        allocation_meter meter;
        xloom::scan_batched_into(
            [&](auto& state, auto const& x_t, auto& y_t) {
                meter.mark();
                running_sum(state, x_t, y_t);
            },
            h, x, xt::xtensor<int, 1>{3, 5, 0, 1}, y);
        CHECK(meter.calls() == 9);
        CHECK(meter.between() == 0);
    };
    xt::xtensor<float, 3> const x = xt::ones<float>({4, 5, 3});
    xt::xtensor<float, 2> const h = xt::zeros<float>({4, 3});
    check(x, h, x);
    check(xt::xtensor<float, 3, xt::layout_type::column_major>(x),
        xt::xtensor<float, 2, xt::layout_type::column_major>(h),
        xt::xtensor<float, 3, xt::layout_type::column_major>(x));
}

TEST_CASE("scan_batched_into of row-major tensors allocates nothing at all")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({4, 5, 3});
    xt::xtensor<float, 3> y = x;
    xt::xtensor<float, 2> h = xt::zeros<float>({4, 3});
    xt::xtensor<int, 1> const lens = {3, 5, 0, 1};
    std::size_t const before = allocations();
    xloom::scan_batched_into(running_sum, h, x, lens, y);
    CHECK(allocations() == before);
    CHECK(y(1, 4, 2) == 5);
}

TEST_CASE("loop_into allocates nothing after set-up, whatever the layout of its output")
{
    auto const run = [](auto&& y) {
        xt::xtensor<float, 1> h = xt::zeros<float>({4});
        allocation_meter meter;
        xloom::loop_into(
            [&](std::int64_t, auto& state, auto& y_t) {
                meter.mark();
                xt::noalias(state) = state + 1;
                xt::noalias(y_t) = state;
                return true;
            },
            h, y, {.max_trip_count = 6});
        CHECK(meter.calls() == 6);
        CHECK(meter.between() == 0);
    };
    run(xt::xtensor<float, 2>(xt::zeros<float>({6, 4})));
    run(xt::xtensor<float, 2, xt::layout_type::column_major>(xt::zeros<float>({6, 4})));
}

TEST_CASE("scan_lanes_into allocates one buffer, loop_lanes_into nothing")
{
    xt::xtensor<float, 2> x = xt::ones<float>({70, 200}), s = xt::zeros<float>({70, 3});
    xt::xtensor<float, 1> h = xt::zeros<float>({70}), limit = xt::ones<float>({70});
    xt::xtensor<std::int64_t, 1> trip_counts = xt::zeros<std::int64_t>({70});
    auto const sum = [](auto& a, auto& b, auto const& x_t, auto& y_t) { y_t = a = b[1] = a + x_t; };
    auto const rise = [](auto& a, auto const& top) {
        a = a + 0.125f;
        return a < top;
    };
    std::size_t before = allocations();
    xloom::scan_lanes_into(sum, std::tie(h, s), x, std::nullopt, x);
    CHECK(allocations() - before == 1);
    h.fill(0);
    before = allocations();
    xloom::loop_lanes_into(rise, h, limit, trip_counts);
    CHECK(allocations() == before);
    CHECK(trip_counts(69) == 8);
}

TEST_CASE("parallel scans and reductions of segments into the caller's results allocate nothing")
{
    xt::xtensor<float, 3> x = xt::ones<float>({20, 3, 40});
    xt::xtensor<std::ptrdiff_t, 1> const splits = {0, 7, 7, 20}; // of this size they are not copied
    auto totals = xt::xtensor<float, 3>::from_shape({3, 3, 40});
    std::size_t const before = allocations();
    for (std::int64_t axis = 0; axis < 3; ++axis)
        xloom::associative_scan_into(xloom::reduction::max, x, x, {.axis = axis});
    xloom::linear_recurrence_into(x, x, 0.0f, x);
    xloom::segment_scan_into(xloom::reduce_max, x, splits, x);
    xloom::segment_reduce_into(xloom::reduce_max, x, splits, totals);
    CHECK(allocations() == before);
}

TEST_CASE("scatter_nd_into and gather_nd_into allocate nothing for row-major operands")
{
    xt::xtensor<float, 3> data = xt::zeros<float>({5, 6, 7});
    xt::xtensor<std::int64_t, 2> const items = {{1, 2, 3}, {-1, -1, -1}}, slices = {{1, 2}, {4, 0}};
    xt::xtensor<float, 1> item_updates = xt::ones<float>({2});
    xt::xtensor<float, 2> slice_updates = xt::ones<float>({2, 7});
    std::size_t const before = allocations();
    xloom::scatter_nd_into(xloom::reduction::add, data, items, item_updates);
    xloom::scatter_nd_into(xloom::reduce_max, data, slices, slice_updates, {.bounds = xloom::bounds::clip});
    xloom::gather_nd_into(data, items, item_updates);
    xloom::gather_nd_into(data, slices, slice_updates);
    CHECK(allocations() == before);
    CHECK(data(1, 2, 3) == 1);
    // The meter works: a mean needs a count for each slice.
    xloom::scatter_nd_into(xloom::reduction::mean, data, items, item_updates);
    CHECK(allocations() > before);
}

TEST_CASE("tensor_scatter_into, and tensor_scatter of a cache that is moved in, allocate nothing")
{
    xt::xtensor<float, 3> cache = xt::zeros<float>({2, 6, 7});
    xt::xtensor<float, 3> const update = xt::ones<float>({2, 2, 7});
    xt::xtensor<std::int64_t, 1> const starts = {1, 4};
    std::size_t const before = allocations();
    xloom::tensor_scatter_into(cache, update, {.write_indices = starts});
    cache = xloom::tensor_scatter(std::move(cache), update, {.write_indices = starts});
    CHECK(allocations() == before);
    CHECK(cache(1, 5, 6) == 1);
}

TEST_CASE("scatter_nd_into allocates nothing for updates that are broadcast, of any layout")
{
    xt::xtensor<float, 3> data = xt::zeros<float>({5, 6, 7});
    xt::xtensor<std::int64_t, 2> const items = {{1, 2, 3}, {-1, -1, -1}}, rows = {{1, 2}, {4, 0}};
    xt::xtensor<float, 1> const row = xt::ones<float>({7});
    xt::xtensor<float, 2, xt::layout_type::column_major> const all = xt::ones<float>({2, 7});
    std::size_t const before = allocations();
    xloom::scatter_nd_into(xloom::reduction::add, data, items, xloom::broadcast(1));
    xloom::scatter_nd_into(xloom::reduction::add, data, rows, xloom::broadcast(1));
    xloom::scatter_nd_into(xloom::reduce_add, data, rows, xloom::broadcast(row));
    xloom::scatter_nd_into(xloom::reduce_add, data, rows, xloom::broadcast(all));
    CHECK(allocations() == before);
    CHECK(data(1, 2, 3) == 4);
    // The meter works: without the mark, updates that are not row-major are copied.
    xloom::scatter_nd_into(xloom::reduce_add, data, rows, all);
    CHECK((allocations() > before) == counts_containers);
}

TEST_CASE("scatter_nd of data that is moved in allocates nothing")
{
    xt::xtensor<float, 1> data = {1, 2, 3};
    xt::xtensor<std::int64_t, 2> const indices = {{1}};
    xt::xtensor<float, 1> const updates = {9};
    std::size_t const before = allocations();
    data = xloom::scatter_nd(std::move(data), indices, updates);
    CHECK(allocations() == before);
    CHECK(data(1) == 9);
}

TEST_CASE("data that is moved into scatter_nd is still there when memory runs out")
{
    xt::xtensor<int, 1> const before = {1, 2, 3}, expected = {10, 2, 3};
    xt::xtensor<int, 2> const indices = {{0}, {0}};
    xt::xtensor<int, 1> const updates = {10, 20};
    std::size_t refused = 0;
    for (bool is_done = false; !is_done;) {
        xt::xtensor<int, 1> data = before, result;
        try {
            refusal const from_then_on(refused);
            result = xloom::scatter_nd(xloom::reduction::mean, std::move(data), indices, updates);
            is_done = true;
        } catch (std::bad_alloc const&) {
            ++refused;
            REQUIRE(data.storage().size() == 3);
            CHECK(data == before);
        }
        if (is_done)
            CHECK(result == expected);
    }
    CHECK(refused > 0);
}

TEST_CASE("scan_forward_into and scan_vjp_into allocate nothing in their loops, for every checkpoint")
{
    using namespace xloom;
    xt::xtensor<float, 2> const x = xt::ones<float>({40, 4});
    xt::xtensor<float, 2> y = x, ct_x = x;
    xt::xtensor<float, 1> h = xt::zeros<float>({4}), ct_h = h;
    for (checkpoint const& checkpoints :
        {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(4), checkpoint::online(5)}) {
        scan_residuals<xt::xtensor<float, 1>> residuals(checkpoints);
        for (int call = 0; call < 2; ++call) {
            allocation_meter forward, backward;
            allocation_meter* meter = &forward;
            auto const body = [&](auto& state, auto const& x_t, auto& y_t) {
                meter->mark();
                running_sum(state, x_t, y_t);
            };
            scan_forward_into(body, h, x, std::tuple(), y, residuals);
            meter = &backward;
            scan_vjp_into(
                body,
                [&](auto const&, auto const&, auto const& ct_next, auto const& ct_y_t, auto& ct_state,
                    auto& ct_x_t) {
                    meter->mark();
                    xt::noalias(ct_state) += ct_next + ct_y_t;
                    xt::noalias(ct_x_t) += ct_next + ct_y_t;
                },
                x, std::tuple(), residuals, cotangents().outputs(y),
                gradients().init(ct_h).scan_inputs(ct_x));
            CHECK(forward.calls() == 40);
            CHECK(forward.between() == 0);
            CHECK(backward.calls() >= 40);
            CHECK(backward.between() == 0);
        }
    }
}

namespace {

/// Two parts, run one after the other.
struct two_parts {
    static constexpr std::size_t concurrency() { return 2; }
    template <class F>
    static void for_each(std::size_t parts, F const& f)
    {
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }
};

} // namespace

TEST_CASE("parallel scans allocate nothing, whatever the policy")
{
    for (std::size_t const neighbours : std::initializer_list<std::size_t>{1, 3, 19}) {
        xt::xtensor<double, 2> rows = xt::ones<double>({std::size_t{30'000}, neighbours});
        xt::xtensor<double, 2> columns = xt::transpose(rows);
        xt::xtensor<double, 2> const a = rows;
        auto const add = [](double left, double right) { return left + right; };
        std::size_t const before = allocations();
        xloom::cumulative_sum_into(rows, rows, {}, two_parts());
        xloom::cumulative_sum_into(columns, columns, {.axis = 1}, two_parts());
        xloom::associative_scan_into(add, rows, rows, {}, two_parts());
        xloom::linear_recurrence_into(a, rows, 0.0, rows, {}, two_parts());
        CHECK(allocations() == before);
    }
}

TEST_CASE("forward passes allocate nothing at all after one of the same sizes, for every checkpoint")
{
    using namespace xloom;
    using vec = xt::xtensor<double, 1>;
    xt::xtensor<double, 2> const x = xt::ones<double>({40, 4});
    xt::xtensor<double, 2> y = x;
    auto const step = [](vec& h, auto const& x_t, auto& y_t) {
        xt::noalias(h) = 0.5 * h + x_t;
        xt::noalias(y_t) = h;
    };
    auto const trip = [](std::int64_t t, vec& v, auto& y_t) {
        xt::noalias(v) = 0.5 * v;
        xt::noalias(y_t) = v;
        return t < 38;
    };
    for (checkpoint const& policy : {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(5),
             checkpoint::online(1), checkpoint::online(6)}) {
        vec h = {1, 2, 3, 4};
        scan_residuals<vec> of_scan(policy);
        loop_residuals<vec> of_loop(policy);
        for (int call = 0; call < 3; ++call) {
            std::size_t const before = allocations();
            scan_forward_into(step, h, x, std::tuple(), y, of_scan);
            loop_forward_into(trip, h, std::tuple(), y, of_loop, {.max_trip_count = 39});
            std::size_t const during = allocations() - before;
            CHECK((during == 0) == (call != 0));
        }
    }
}

TEST_CASE("residuals of scans: an assignment that runs out of memory leaves them as they were")
{
    using namespace xloom;
    using vec = xt::xtensor<double, 1>;
    auto const body = [](vec& h, double x_t) { h = 0.5 * h + x_t; };
    auto const forward = [&](std::size_t length, vec h) {
        scan_residuals<vec> residuals;
        vec const x = xt::ones<double>({length});
        scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals);
        return residuals;
    };
    auto const backward = [&](scan_residuals<vec>& residuals, std::size_t length) {
        vec const x = xt::ones<double>({length});
        vec ct_h = {0, 0}, ct_x = x;
        scan_vjp_into(
            body,
            [](vec const& h, double, vec const& ct_next, vec& ct_state, double&) {
                ct_state += 0.5 * ct_next * h;
            },
            x, std::tuple(), residuals, cotangents().states(vec{1, 1}),
            gradients().init(ct_h).scan_inputs(ct_x));
        return ct_h;
    };
    auto target = forward(2, {1, 2});
    auto const other = forward(1000, {3, 4});
    vec const expected = backward(target, 2);
    check_assignment(target, other, [&](auto& residuals) { return backward(residuals, 2) == expected; });
    auto copy = other;
    CHECK(backward(target, 1000) == backward(copy, 1000));
}

} // namespace allocation_no_allocation_test
