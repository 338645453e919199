// A temporary may be an operand that is kept or written where its items outlive it, and nowhere else.

#include <doctest/doctest.h>

#include <memory>
#include <span>
#include <vector>

#include <xloom/detail/tensor/tensor_ref.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "support/xtensor_extras.hpp"

namespace tensor_borrowed_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<float, 2>;
using array = xt::xarray<float>;

/// A view of an operand of type X: one that holds X itself if X is no reference.
template <class X>
using row_of = decltype(xt::view(std::declval<X>(), xt::all(), 0));
template <class X>
using strided_of = decltype(xt::strided_view(std::declval<X>(), xt::xstrided_slice_vector{}));
template <class X>
using transpose_of = decltype(xt::transpose(std::declval<X>()));
template <class Buffer>
using adapted =
    decltype(xt::adapt(std::declval<Buffer>(), std::declval<std::array<std::size_t, 2> const&>()));

template <class X>
constexpr bool is_kept = detail::find_ref_error<X, float const>() == detail::ref_error::none;
template <class X>
constexpr bool is_written = detail::find_ref_error<X, float>() == detail::ref_error::none;
template <class X>
constexpr bool is_length = detail::find_ref_error<X, int const>() == detail::ref_error::none;
template <class X>
constexpr bool is_carried = detail::mutable_items_of<X, float>;

} // namespace

TEST_CASE("a tensor_ref refers to variables, views of them, and adaptors of others' memory")
{
    static_assert(is_kept<matrix&> && is_kept<matrix const&> && is_written<matrix&>);
    static_assert(is_kept<row_of<matrix&>> && is_written<row_of<matrix&>> && is_kept<row_of<matrix const&>>);
    static_assert(is_kept<row_of<row_of<array&>>> && is_kept<strided_of<row_of<matrix&>>>);
    static_assert(is_kept<strided_of<array&>> && is_kept<transpose_of<matrix&>> &&
                  is_kept<strided_of<transpose_of<array const&>>>);
    static_assert(is_kept<adapted<std::vector<float>&>> && is_kept<adapted<std::vector<float> const&>>);
    static_assert(is_kept<row_of<adapted<std::vector<float>&>>>);
    static_assert(is_kept<element_view<float, 1>> && is_written<fixed_element_view<float, 2>>);
    static_assert(is_kept<row_of<element_view<float>>>);
    float items[6] = {1, 2, 3, 4, 5, 6};
    std::array<std::size_t, 2> const dims = {2, 3};
    tensor_ref<float> const ref = xt::adapt(&items[0], 6, xt::no_ownership(), dims);
    CHECK(ref.data() == items);
    tensor_ref<float> const row = xt::view(xt::adapt(&items[0], 6, xt::no_ownership(), dims), 1);
    CHECK(row.data() == items + 3);
    using lens = xt::xtensor<int, 1>;
    static_assert(is_length<lens&> && is_length<decltype(xt::view(std::declval<lens&>(), xt::range(0, 2)))>);
}

TEST_CASE("a tensor_ref refers to no temporary, nor to a view or an adaptor that holds one")
{
    static_assert(!is_kept<matrix> && !is_written<matrix> && !is_kept<matrix const>);
    static_assert(
        !is_kept<row_of<matrix>> && !is_written<row_of<matrix>> && !is_kept<row_of<row_of<matrix>>>);
    static_assert(!is_kept<strided_of<array>> && !is_kept<transpose_of<matrix>> &&
                  !is_kept<strided_of<transpose_of<array>>>);
    static_assert(!is_kept<adapted<std::vector<float>>> && !is_kept<row_of<adapted<std::vector<float>>>>);
    using owner = decltype(xt::adapt(std::declval<float*>(), std::size_t{6}, xt::acquire_ownership(),
        std::declval<std::array<std::size_t, 2> const&>()));
    static_assert(!is_kept<owner>);
    using shared = decltype(xt::adapt_smart_ptr(
        std::declval<std::shared_ptr<float[]>>(), std::declval<std::vector<std::size_t> const&>()));
    static_assert(!is_kept<shared>);
    using lens = xt::xtensor<int, 1>;
    static_assert(!is_length<lens> && !is_length<decltype(xt::view(std::declval<lens>(), xt::range(0, 2)))>);
}

TEST_CASE("a view that holds a temporary can be named, and is then a variable")
{
    auto const held = xt::transpose(matrix{{1, 2}, {3, 4}});
    static_assert(is_kept<decltype((held))>);
    tensor_ref<float const> const ref = held;
    CHECK(ref.data()[ref.stride(0)] == 2);
}

TEST_CASE("a cell writes states that outlive the step")
{
    using state = xt::xtensor<float, 1>;
    static_assert(is_carried<state&> && is_carried<std::vector<float>&> && is_carried<std::span<float>> &&
                  is_carried<element_view<float, 1>>);
    static_assert(is_carried<row_of<matrix&>>);
    static_assert(!is_carried<state> && !is_carried<std::vector<float>> && !is_carried<row_of<matrix>>);
}

} // namespace tensor_borrowed_test
