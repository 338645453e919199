// Cursors over some iterations of a scan: they see the elements that a scan over all iterations sees.

#include <doctest/doctest.h>

#include <vector>

#include <xloom/control_flow/scan.hpp>

namespace run_scan_cursor_range_test {

using namespace xloom;

namespace {

/// Returns the first item of each element of x along `axis`, in the iterations of `range`.
template <class X>
std::vector<int> items_seen(X const& x, std::size_t axis, bool reverse, kernel::iterations const& range)
{
    std::tuple<X const&> const operands(x);
    auto traversals = detail::traversals_of(operands);
    traversals[0].axis = axis;
    traversals[0].reverse = reverse;
    auto cursors = detail::cursor_set<std::tuple<X const&>, false>::start(operands, traversals, range);
    std::vector<int> seen;
    for (std::size_t t = range.begin; t < range.end; ++t) {
        detail::enter_all(cursors);
        auto const [element] = detail::input_elements(cursors);
        seen.push_back(element(0));
        detail::leave_all(cursors);
    }
    return seen;
}

TEST_CASE("cursors over a part of the iterations, for every axis, direction and layout")
{
    xt::xtensor<int, 2> const rows = {{0, 1, 2, 3, 4}, {10, 11, 12, 13, 14}};
    xt::xtensor<int, 2, xt::layout_type::column_major> const columns = rows;
    using list = std::vector<int>;
    CHECK(items_seen(rows, 1, false, kernel::all_iterations(5)) == list{0, 1, 2, 3, 4});
    CHECK(items_seen(rows, 1, false, {2, 4, 5}) == list{2, 3});
    CHECK(items_seen(rows, 1, true, {1, 4, 5}) == list{3, 2, 1});
    CHECK(items_seen(columns, 1, false, {2, 5, 5}) == list{2, 3, 4});
    CHECK(items_seen(columns, 1, true, {4, 5, 5}) == list{0});
    CHECK(items_seen(rows, 0, false, {1, 2, 2}) == list{10});
    CHECK(items_seen(rows, 0, true, {1, 2, 2}) == list{0});
    CHECK(items_seen(rows, 1, false, {3, 3, 5}) == list{});
}

} // namespace
} // namespace run_scan_cursor_range_test
