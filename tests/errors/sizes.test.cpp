// Sizes that a caller chooses, and that overflow: a shape_error before anything is allocated.

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <xtensor/xstrided_view.hpp>

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/gradients/linear_recurrence_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/parallel/row_splits.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/parallel/segment_softmax.hpp>

#include "../support/xtensor_extras.hpp"

namespace errors_sizes_test {

namespace {

using ids = xt::xtensor<int, 1>;

constexpr std::size_t minus_one = std::numeric_limits<std::size_t>::max();
constexpr std::size_t eighth = std::size_t{1}
                               << (std::numeric_limits<std::size_t>::digits - 3); // of all bytes

std::string refused(
    std::string const& op, std::string const& result, std::string const& dims, std::string const& remedy)
{
    return op + ": the size of a result must fit in memory, but " + result + " would have the shape " + dims +
           ". " + remedy;
}

template <class X>
std::string too_large(std::string const& op, std::string const& name, X const& operand)
{
    return op + ": the size of an operand must fit in memory, but " + name + " has the shape " +
           xloom::detail::concat(operand.shape()) + ". Reduce a dimension.";
}

constexpr char const* computing = "xloom: the buffers of an operator must fit in memory, but its sizes "
                                  "need more bytes than std::ptrdiff_t can count. Choose smaller sizes.";

} // namespace

TEST_CASE("the number of segments")
{
    for (std::size_t const segments : {minus_one, minus_one / 2, eighth - 1, eighth, 2 * eighth}) {
        CAPTURE(segments);
        std::string const items = std::to_string(segments == minus_one ? segments : segments + 1);
        CHECK_THROWS_WITH_AS(xloom::row_splits_of(ids{0, 1}, segments),
            refused("xloom::row_splits_of", "row_splits", "[" + items + "]", "Pass the number of segments.")
                .c_str(),
            xloom::shape_error);
    }
}

TEST_CASE("the number of bins")
{
    for (std::size_t const bins : {minus_one, eighth, eighth + 5}) {
        CAPTURE(bins);
        std::string const text =
            refused("xloom::bincount", "the result", "[" + std::to_string(bins) + "]", "Ask for fewer bins.");
        CHECK_THROWS_WITH_AS(
            xloom::bincount(ids{0, 1}, {.minlength = bins}), text.c_str(), xloom::shape_error);
        CHECK_THROWS_WITH_AS(xloom::bincount(ids{0, 1}, xt::xtensor<float, 1>{1, 2}, {.minlength = bins}),
            text.c_str(), xloom::shape_error);
        CHECK_THROWS_AS(xloom::bincount(ids::from_shape({0}), {.minlength = bins}), xloom::shape_error);
    }
}

TEST_CASE("values without rows, but with long ones")
{
    auto const values = xt::xtensor<float, 2>::from_shape({0, 2 * eighth});
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(xloom::reduction::add, values, ids{0, 0, 0}),
        refused("xloom::segment_reduce", "the result", "[2, " + std::to_string(2 * eighth) + "]",
            "Reduce a dimension.")
            .c_str(),
        xloom::shape_error);
}

TEST_CASE("operands that repeat an item, and results that do not")
{
    xt::xtensor<double, 1> const one = {1};
    auto const x = xt::strided_view(one, xt::dynamic_shape<std::size_t>{eighth + 5},
        xt::dynamic_shape<std::ptrdiff_t>{0}, 0, xt::layout_type::dynamic);
    std::string const dims = "[" + std::to_string(eighth + 5) + "]", remedy = "Reduce a dimension.";
    CHECK_THROWS_WITH_AS(xloom::cumulative_sum(x),
        refused("xloom::cumulative_sum", "the result", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::segment_scan(xloom::reduction::add, x, ids{0, 1}),
        refused("xloom::segment_scan", "the result", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::segment_softmax(x, ids{0, 1}),
        refused("xloom::segment_softmax", "the result", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence(x, x, 0.0),
        refused("xloom::linear_recurrence", "h", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence_vjp(x, x, 0.0, x, x),
        refused("xloom::linear_recurrence_vjp", "ct_a", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::scatter_nd(x, xt::xtensor<int, 2>{{0}}, xt::xtensor<double, 1>{1}),
        refused("xloom::scatter_nd", "the result", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::scatter_nd_vjp(x, xt::xtensor<int, 2>{{0}}, xt::xtensor<double, 1>{1}, x),
        refused("xloom::scatter_nd_vjp", "ct_data", dims, remedy).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::take(x, 0), too_large("xloom::take", "x", x).c_str(), xloom::shape_error);
}

TEST_CASE("lazy operands")
{
    auto const x = xt::zeros<double>(std::array<std::size_t, 1>{eighth + 5});
    CHECK_THROWS_WITH_AS(xloom::cumulative_sum(x), computing, xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::segment_reduce(xloom::reduction::add, x, ids{0}), computing, xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::take(x, 0), computing, xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::scatter_nd(x, xt::xtensor<int, 2>{{0}}, xt::xtensor<double, 1>{1}), computing,
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::row_splits_of(xt::zeros<std::int64_t>(std::array<std::size_t, 1>{eighth}), 1),
        computing, xloom::shape_error);
}

TEST_CASE("lazy initial states")
{
    auto const h0 = xt::zeros<double>(std::array<std::size_t, 1>{eighth + 5});
    auto const body = [](auto const& h, double) { return xloom::scan_step{h}; };
    xt::xtensor<double, 1> const x = {1, 2};
    CHECK_THROWS_WITH_AS(xloom::scan(body, h0, x), computing, xloom::shape_error);
    auto const two_states = [](auto const& h, double c, double) {
        return xloom::scan_step{std::tuple(h, c)};
    };
    CHECK_THROWS_WITH_AS(xloom::scan(two_states, std::tuple(h0, 0.0), x), computing, xloom::shape_error);
    auto const trip = [](std::int64_t, bool, auto const& h) { return xloom::loop_step{true, h}; };
    CHECK_THROWS_WITH_AS(xloom::loop(trip, h0, {.max_trip_count = 1}), computing, xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence(x, x, h0), computing, xloom::shape_error);
}

TEST_CASE("states and scan inputs that repeat an item, as often as sizes overflow")
{
    xt::xtensor<double, 1> const one = {1}, x = {1, 2};
    // 274177 * 67280421310721 is 2^64 + 1.
    auto const repeated = [&](std::initializer_list<std::size_t> dims) {
        return xt::strided_view(one, xt::dynamic_shape<std::size_t>(dims),
            xt::dynamic_shape<std::ptrdiff_t>(dims.size(), 0), 0, xt::layout_type::dynamic);
    };
    auto const h0 = repeated({274177, 67280421310721}), wide = repeated({2, 274177, 67280421310721});
    CHECK_THROWS_WITH_AS(xloom::scan([](auto const& h, double) { return xloom::scan_step{h}; }, h0, x),
        computing, xloom::shape_error);
    double sum = 0;
    auto const add = [](double& h, auto const& x_t) { h += x_t.data()[0]; };
    CHECK_THROWS_WITH_AS(xloom::scan_into(add, sum, wide),
        too_large("xloom::scan_into", "scan_inputs[0]", wide).c_str(), xloom::shape_error);
    CHECK(sum == 0);
}

TEST_CASE("lazy parameters of a derivative")
{
    auto const w = xt::zeros<double>(std::array<std::size_t, 1>{eighth + 5});
    xt::xtensor<double, 1> const x = {1, 2};
    auto const body = [](double h, double, auto const&) { return xloom::scan_step{h}; };
    auto const body_vjp = [](double, double, auto const&, double, double&, double&, auto&) {};
    CHECK_THROWS_WITH_AS(xloom::scan_vjp(body, body_vjp, 0.0, x, w), computing, xloom::shape_error);
}

TEST_CASE("lazy cotangents of states")
{
    auto const ct = xt::zeros<double>(std::array<std::size_t, 1>{eighth + 5});
    xt::xtensor<double, 1> const h0 = {1, 2};
    auto const body = [](auto const& h) { return xloom::scan_step{h}; };
    auto const body_vjp = [](auto const&, auto const&, auto&) {};
    auto scanned = xloom::scan_vjp(body, body_vjp, h0, std::tuple(), std::tuple(), {.length = 1});
    CHECK_THROWS_WITH_AS(scanned.pullback(ct, std::tuple()), computing, xloom::shape_error);
    auto const trip = [](std::int64_t, bool, auto const& h) { return xloom::loop_step{true, h}; };
    auto const trip_vjp = [](std::int64_t, auto const&, auto const&, auto&) {};
    auto looped = xloom::loop_vjp(trip, trip_vjp, h0, std::tuple(), {.max_trip_count = 1});
    CHECK_THROWS_WITH_AS(looped.pullback(ct, std::tuple()), computing, xloom::shape_error);
}

TEST_CASE("a lazy condition")
{
    auto const cond = xt::zeros<bool>(std::array<std::size_t, 2>{eighth, 16});
    auto const never = [] { return 1; };
    CHECK_THROWS_WITH_AS(xloom::if_(cond, never, never), computing, xloom::shape_error);
}

// Views that repeat an item have sizes that no memory has.
TEST_CASE("operands whose sizes overflow")
{
    xt::xtensor<double, 1> item = {1};
    xt::xtensor<std::int64_t, 1> zero = {0};
    auto const repeated = []<class X>(X& first, std::size_t n, std::size_t m) {
        using extents = std::array<std::size_t, 2>;
        return xt::xstrided_view<X&, extents, xt::layout_type::dynamic>(
            first, extents{n, m}, std::array<std::ptrdiff_t, 2>{0, 0}, 0, xt::layout_type::dynamic);
    };
    constexpr std::size_t root = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
    auto const x = repeated(item, root, root);
    auto const rows = repeated(zero, eighth, 2);
    CHECK_THROWS_WITH_AS(xloom::gather_nd<1>(x, xt::xtensor<int, 2>{{0, 0}}),
        too_large("xloom::gather_nd", "data", x).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::gather_elements(x, xt::xtensor<int, 2>{{0}}),
        too_large("xloom::gather_elements", "data", x).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::take<1>(x, ids{0}), too_large("xloom::take", "x", x).c_str(), xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::compress<1>(xt::xtensor<bool, 1>{true}, x),
        too_large("xloom::compress", "x", x).c_str(), xloom::shape_error);
    xt::xtensor<bool, 1> yes = {true};
    auto const repeated_yes = repeated(yes, eighth, 1);
    auto const mask = xt::view(repeated_yes, xt::all(), 0);
    CHECK_THROWS_WITH_AS(xloom::compress<1>(mask, ids{1}), too_large("xloom::compress", "mask", mask).c_str(),
        xloom::shape_error);
    auto y = xt::xtensor<double, 2>::from_shape({1, 1});
    CHECK_THROWS_WITH_AS(xloom::scatter_nd_into(y, rows, xloom::broadcast(1.0)),
        too_large("xloom::scatter_nd_into", "indices", rows).c_str(), xloom::shape_error);
    double ct_h0 = 0;
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence_vjp_into(x, x, 1.0, x, x, {.h0 = ct_h0}),
        too_large("xloom::linear_recurrence_vjp_into", "a", x).c_str(), xloom::shape_error);
}

} // namespace errors_sizes_test
