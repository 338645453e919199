// tensor_ref of items without a type of tensors.

#include <doctest/doctest.h>

#include <array>
#include <limits>

#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/packed_matrix.hpp>

namespace tensor_ref_test {

using namespace xloom;

TEST_CASE("items with a shape are a tensor in row-major order")
{
    std::array<float, 24> items{};
    tensor_ref<float> const all(items.data(), {2, 3, 4});
    CHECK(all.is_given());
    CHECK(all.data() == items.data());
    CHECK(all.rank() == 3);
    CHECK(all.shape() == shape{2, 3, 4});
    CHECK(all.stride(0) == 12);
    CHECK(all.stride(1) == 4);
    CHECK(all.stride(2) == 1);
    CHECK(tensor_ref<float>(items.data(), {}).rank() == 0);
    CHECK(tensor_ref<float>(items.data(), {0, 5}).shape() == shape{0, 5});
    tensor_ref<float const> const none(nullptr, {0});
    CHECK(none.is_given());
}

TEST_CASE("no offset is added to the null pointer of an empty tensor")
{
    tensor_ref<float const> const empty(nullptr, {0, 2, 3}), B(nullptr, {0, 100});
    CHECK(empty.stride(1) == 0);
    xt::xtensor<float, 3> const W = xt::ones<float>({1, 4, 3}), R = xt::ones<float>({1, 4, 1});
    auto const result = lstm(empty, lstm_weights<float>({.W = W, .R = R}));
    CHECK(result.Y_h == xt::xtensor<float, 3>(xt::zeros<float>({1, 2, 1})));
    std::vector<float> C(100, 7.0f);
    packed_matrix<float>{B}(1, C.data(), 0, C.data(), 100);
    CHECK(C == std::vector<float>(100));
}

TEST_CASE("weights in arrays compute as those in tensors")
{
    xt::xtensor<float, 3> const X = {{{1, -2}}, {{3, 0.5f}}}, W = {{{0.5f, 1}, {-1, 2}, {0.25f, 0}, {1, 1}}},
                                R = {{{1}, {2}, {-1}, {0.5f}}};
    auto const expected = lstm(X, {.W = W, .R = R});
    std::array<float, 8> const W_items{0.5f, 1, -1, 2, 0.25f, 0, 1, 1};
    float const R_items[]{1, 2, -1, 0.5f};
    auto const found = lstm(X, {.W = {W_items.data(), {1, 4, 2}}, .R = {R_items, {1, 4, 1}}});
    CHECK(found.Y == expected.Y);
}

TEST_CASE("a reference that writes is one that reads, but not the other way round")
{
    xt::xtensor<float, 2> x = {{1, 2, 3}, {4, 5, 6}};
    tensor_ref<float> const writes(x);
    tensor_ref<float const> const reads = writes;
    CHECK(reads.is_given());
    CHECK(reads.data() == x.data());
    CHECK(reads.rank() == 2);
    CHECK(reads.shape() == shape{2, 3});
    CHECK(reads.stride(0) == 3);
    tensor_ref<float> none;
    CHECK(!tensor_ref<float const>(none).is_given());
}

TEST_CASE("the last state of a call is the initial state of the next one")
{
    xt::xtensor<float, 3> const X = {{{1}}, {{-2}}}, W = {{{0.5f}, {-1}, {0.25f}, {1}}},
                                R = {{{1}, {2}, {-1}, {0.5f}}};
    lstm_weights<float> const weights({.W = W, .R = R});
    xt::xtensor<float, 3> last = xt::zeros<float>({1, 1, 1});
    xt::xtensor<float, 4> Y = xt::zeros<float>({2, 1, 1, 1});
    lstm_outputs<float> const first{.Y_h = last};
    lstm_into(X, weights, {}, first);
    lstm_into(X, weights, {.initial_h = first.Y_h}, {.Y = Y});
    CHECK(Y == lstm(X, {.W = W, .R = R, .initial_h = last}).Y);
}

TEST_CASE("a shape that no memory has is refused")
{
    float item = 0;
    constexpr std::size_t half = std::numeric_limits<std::size_t>::max() / 2;
    CHECK_THROWS_WITH_AS(tensor_ref<float>(&item, {half, 4}),
        "xloom::tensor_ref: the shape must fit in memory, but it is [9223372036854775807, 4]. Reduce its "
        "dimensions.",
        shape_error);
    CHECK_THROWS_AS(tensor_ref<float>(&item, {0, half, 4}), shape_error);
}

} // namespace tensor_ref_test
