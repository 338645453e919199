// ScatterND into a copy of data whose copies share their items, with each other or with data.

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include <xloom/indexing/scatter_nd.hpp>

namespace scatter_nd_copied_types_test {

using namespace xloom;

namespace {

/// A view: a copy of it refers to the same items.
struct span_of_ints {
    int* first;
    std::size_t count;
};

/// A handle, like cv::Mat: copies share the items, and `make` gives new ones.
struct shared_ints {
    std::shared_ptr<std::vector<int>> items;
};

/// The same, whose items are known to be row-major.
struct row_major_ints : shared_ints {
    std::size_t size() const { return items->size(); }
};

xt::xtensor<int, 2> const indices = {{1}};
xt::xtensor<int, 1> const updates = {7};
xt::xtensor<int, 1> const expected = {1, 7, 1};

} // namespace

} // namespace scatter_nd_copied_types_test

template <>
struct xloom::enable_tensor<scatter_nd_copied_types_test::span_of_ints> {
    using value_type = int;
    static constexpr std::size_t rank = 1;
    static int* data(scatter_nd_copied_types_test::span_of_ints const& s) { return s.first; }
    static std::array<std::size_t, 1> shape(scatter_nd_copied_types_test::span_of_ints const& s)
    {
        return {s.count};
    }
    static std::array<std::ptrdiff_t, 1> strides(scatter_nd_copied_types_test::span_of_ints const&)
    {
        return {1};
    }
};

template <>
struct xloom::enable_tensor<scatter_nd_copied_types_test::shared_ints> {
    using value_type = int;
    static constexpr std::size_t rank = 1;
    static int* data(scatter_nd_copied_types_test::shared_ints const& s) { return s.items->data(); }
    static std::array<std::size_t, 1> shape(scatter_nd_copied_types_test::shared_ints const& s)
    {
        return {s.items->size()};
    }
    static std::array<std::ptrdiff_t, 1> strides(scatter_nd_copied_types_test::shared_ints const&)
    {
        return {1};
    }
    static scatter_nd_copied_types_test::shared_ints make(xloom::shape const& dims)
    {
        return {std::make_shared<std::vector<int>>(dims[0])};
    }
};

template <>
struct xloom::enable_tensor<scatter_nd_copied_types_test::row_major_ints>
    : xloom::enable_tensor<scatter_nd_copied_types_test::shared_ints> {
    static constexpr bool is_row_major = true;
    static scatter_nd_copied_types_test::row_major_ints make(xloom::shape const& dims)
    {
        return {{std::make_shared<std::vector<int>>(dims[0])}};
    }
};

namespace scatter_nd_copied_types_test {

TEST_CASE("data whose strides repeat one item: the result has an item for each place")
{
    xt::xtensor<int, 1, xt::layout_type::dynamic> data;
    data.resize({3}, std::array<std::ptrdiff_t, 1>{0});
    data.data()[0] = 1;
    CHECK(scatter_nd(data, indices, updates) == expected);
    CHECK(data.data()[0] == 1);
}

TEST_CASE("a view type of one's own: its items stay as they are")
{
    std::vector<int> items = {1, 1, 1};
    constexpr char const* text =
        "xloom::scatter_nd: the result must have memory of its own for every item, but copies of data's type "
        "refer to data's items or repeat "
        "one. Copy the container that data refers to, or call xloom::scatter_nd_into.";
    span_of_ints const view{items.data(), 3};
    CHECK_THROWS_WITH_AS(scatter_nd(view, indices, updates), text, overlap_error);
    CHECK_THROWS_WITH_AS(scatter_nd(span_of_ints{items.data(), 3}, indices, updates), text, overlap_error);
    CHECK(items == std::vector<int>{1, 1, 1});
    span_of_ints variable = view;
    scatter_nd_into(variable, indices, updates);
    CHECK(items == std::vector<int>{1, 7, 1});
}

TEST_CASE_TEMPLATE(
    "a handle to items that copies share: the result has new ones", T, shared_ints, row_major_ints)
{
    T const data{{std::make_shared<std::vector<int>>(3, 1)}};
    T const result = scatter_nd(data, indices, updates);
    CHECK(*data.items == std::vector<int>{1, 1, 1});
    CHECK(*result.items == std::vector<int>{1, 7, 1});
}

} // namespace scatter_nd_copied_types_test
