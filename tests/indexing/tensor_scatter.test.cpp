// TensorScatter: every axis, mode, layout and element type against the textbook; errors; memory.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <xloom/indexing/tensor_scatter.hpp>
#include <xloom/interop/threads.hpp>

#include "support/textbook_tensor_scatter.hpp"
#include "support/xtensor_extras.hpp"

namespace tensor_scatter_test {

using namespace xloom;

namespace {

constexpr auto circular = tensor_scatter_mode::circular;
using starts = xt::xtensor<std::int64_t, 1>;

/// Returns items that all differ, but for bool.
template <class T>
xt::xtensor<T, 4> items(std::array<std::size_t, 4> const& shape, int first)
{
    auto made = xt::xtensor<T, 4>::from_shape(shape);
    int next = first;
    for (T& item : made) {
        if constexpr (std::is_same_v<T, std::string>)
            item = "a string that is too long for the object, number " + std::to_string(next);
        else
            item = static_cast<T>(next);
        next += std::is_same_v<T, bool> ? (next % 3 == 0 ? 1 : 2) : 1;
    }
    return made;
}

/// A type of a user's, which is neither trivial nor ordered.
struct label {
    label() = default;
    explicit label(int of) : text(std::to_string(of)) {}
    std::string text{};
    friend bool operator==(label const&, label const&) = default;
};

std::array<std::size_t, 4> const cache_shape = {3, 4, 5, 2};

std::array<std::size_t, 4> update_shape(std::size_t axis, std::size_t length)
{
    auto shape = cache_shape;
    shape[axis] = length;
    return shape;
}

template <class F>
void check_overlap(F const& call, char const* text)
{
    CHECK_THROWS_WITH_AS(call(), text, overlap_error);
}

} // namespace

TEST_CASE_TEMPLATE("every axis, length and start, in both modes, copied, moved and in place", T, bool,
    std::int8_t, float, double, std::string, label)
{
    for (std::size_t axis = 1; axis < 4; ++axis)
        for (std::size_t length = 0; length <= cache_shape[axis]; ++length) {
            std::size_t const N = cache_shape[axis];
            auto const cache = items<T>(cache_shape, 0), update = items<T>(update_shape(axis, length), 1000);
            for (std::size_t first = 0; first < N; ++first) {
                CAPTURE(axis);
                CAPTURE(length);
                CAPTURE(first);
                std::vector<std::size_t> const at = {first, (first + 1) % N, 0};
                starts const begin = {
                    static_cast<std::int64_t>(at[0]), static_cast<std::int64_t>(at[1] + 7 * N), 0};
                auto const expected = textbook::tensor_scatter(cache, update, at, axis);
                tensor_scatter_options const options = {
                    .axis = static_cast<std::int64_t>(axis), .mode = circular};
                CHECK(tensor_scatter(cache, update, {.write_indices = begin}, options) == expected);
                CHECK(tensor_scatter(cache, update, {.write_indices = begin},
                          {.axis = options.axis - 4, .mode = circular}) == expected);
                auto moved = cache;
                T const* const memory = moved.data();
                moved = tensor_scatter(std::move(moved), update, {.write_indices = begin}, options);
                CHECK(moved == expected);
                CHECK(moved.data() == memory);
                auto written = cache;
                tensor_scatter_into(written, update, {.write_indices = begin}, options);
                CHECK(written == expected);
                if (at[0] + length <= N && at[1] + length <= N) {
                    xt::xtensor<std::uint8_t, 1> const small = {
                        static_cast<std::uint8_t>(at[0]), static_cast<std::uint8_t>(at[1]), 0};
                    CHECK(tensor_scatter(cache, update, {.write_indices = small}, {.axis = options.axis}) ==
                          expected);
                }
            }
            CHECK(tensor_scatter(cache, update, {}, {.axis = static_cast<std::int64_t>(axis)}) ==
                  textbook::tensor_scatter(cache, update, {0, 0, 0}, axis));
        }
}

TEST_CASE("the axis is the last but one; views and expressions of any layout")
{
    auto const cache = items<double>(cache_shape, 0), update = items<double>(update_shape(2, 3), 1000);
    starts const begin = {4, 0, 2};
    auto const expected = textbook::tensor_scatter(cache, update, {4, 0, 2}, 2);
    CHECK(tensor_scatter(cache, update, {.write_indices = begin}, {.mode = circular}) == expected);
    xt::xarray<double> const any_rank = cache;
    CHECK(tensor_scatter(any_rank, update, {.write_indices = begin}, {.mode = circular}) == expected);
    CHECK(
        tensor_scatter(cache + 0.0, update * 1.0, {.write_indices = begin}, {.mode = circular}) == expected);
    xt::xtensor<double, 4> turned_cache = xt::transpose(cache, {3, 1, 2, 0});
    xt::xtensor<double, 4> const turned_update = xt::transpose(update, {1, 3, 0, 2});
    auto view = xt::transpose(turned_cache, {3, 1, 2, 0});
    tensor_scatter_into(
        view, xt::transpose(turned_update, {2, 0, 3, 1}), {.write_indices = begin}, {.mode = circular});
    CHECK(xt::xtensor<double, 4>(xt::transpose(turned_cache, {3, 1, 2, 0})) == expected);
}

TEST_CASE("a position of more than 32 bits")
{
    auto const cache = items<int>({1, 1, 3, 1}, 0), update = items<int>({1, 1, 1, 1}, 1000);
    starts const begin = {4'294'967'297}; // 2 modulo 3
    CHECK(tensor_scatter(cache, update, {.write_indices = begin}, {.mode = circular}) ==
          textbook::tensor_scatter(cache, update, {2}, 2));
}

TEST_CASE("the same items on several threads")
{
    auto const cache = items<int>({7, 2, 300, 64}, 0), update = items<int>({7, 2, 299, 64}, 1 << 20);
    starts const begin = {0, 1, 2, 150, 298, 299, 300};
    auto const expected = textbook::tensor_scatter(cache, update, {0, 1, 2, 150, 298, 299, 0}, 2);
    for (std::size_t const threads : {1u, 2u, 3u, 16u})
        CHECK(tensor_scatter(cache, update, {.write_indices = begin}, {.mode = circular},
                  thread_policy(threads)) == expected);
}

TEST_CASE("no batch entries and no positions")
{
    auto const none = xt::xtensor<float, 3>::from_shape({0, 4, 2}),
               one = xt::xtensor<float, 3>::from_shape({0, 1, 2});
    auto const no_starts = starts::from_shape({0});
    CHECK(tensor_scatter(none, one, {.write_indices = no_starts}).shape(1) == 4);
    auto const empty = xt::xtensor<float, 3>::from_shape({2, 0, 2});
    starts const zeros = {0, 0}, beyond = {5, 7};
    CHECK(tensor_scatter(empty, empty, {.write_indices = zeros}).shape(0) == 2);
    CHECK(tensor_scatter(empty, empty, {.write_indices = beyond}, {.mode = circular}).shape(0) == 2);
}

TEST_CASE("what is refused, with the cache unchanged even if it is moved in")
{
    xt::xtensor<int, 3> cache = xt::ones<int>({2, 4, 3});
    auto const before = cache;
    xt::xtensor<int, 3> const update = xt::zeros<int>({2, 2, 3}), longer = xt::zeros<int>({2, 5, 3}),
                              wider = xt::zeros<int>({2, 2, 4});
    xt::xtensor<int, 2> const matrix = xt::ones<int>({2, 4});
    auto const refuse = [&](auto const& from, auto const& kind, char const* text,
                            tensor_scatter_inputs const& inputs, tensor_scatter_options const& options) {
        using error = std::remove_cvref_t<decltype(kind)>;
        CHECK_THROWS_WITH_AS(tensor_scatter(std::move(cache), from, inputs, options), text, error);
        CHECK(cache == before);
    };
    shape_error const shape_kind("");
    index_error const index_kind("");
    option_error const option_kind("");
    refuse(update, shape_kind,
        "xloom::tensor_scatter: the axis must be one of past_cache after the batch axis, but options.axis "
        "is 0 "
        "and past_cache is [2, 4, 3]. Name such an axis.",
        {}, {.axis = 0});
    refuse(update, shape_kind,
        "xloom::tensor_scatter: the axis must be one of past_cache after the batch axis, but options.axis "
        "is 3 "
        "and past_cache is [2, 4, 3]. Name such an axis.",
        {}, {.axis = 3});
    CHECK_THROWS_WITH_AS(tensor_scatter(matrix, matrix),
        "xloom::tensor_scatter: the axis must be one of past_cache after the batch axis, but options.axis "
        "is -2 "
        "and past_cache is [2, 4]. Name such an axis.",
        shape_error);
    refuse(longer, shape_kind,
        "xloom::tensor_scatter: update must be as long as past_cache along every axis but the written one, "
        "and "
        "no longer along that, but update is [2, 5, 3] and past_cache is [2, 4, 3] (options.axis -2). Give "
        "it "
        "that shape.",
        {}, {.mode = circular});
    refuse(wider, shape_kind,
        "xloom::tensor_scatter: update must be as long as past_cache along every axis but the written one, "
        "and "
        "no longer along that, but update is [2, 2, 4] and past_cache is [2, 4, 3] (options.axis 1). Give it "
        "that shape.",
        {}, {.axis = 1});
    starts const three = {0, 0, 0}, late = {2, 3}, early = {-1, 9};
    refuse(update, shape_kind,
        "xloom::tensor_scatter: write_indices must have the shape [B] = [2], but it is [3]. Give one index "
        "for "
        "each batch entry.",
        {.write_indices = three}, {});
    xt::xtensor<std::int64_t, 2> const column = {{0}, {0}};
    refuse(update, shape_kind,
        "xloom::tensor_scatter: write_indices must have the shape [B] = [2], but it is [2, 1]. Give one "
        "index for each batch entry.",
        {.write_indices = column}, {});
    refuse(update, index_kind,
        "xloom::tensor_scatter: in linear mode write_indices must be in [0, 2], so that the update fits, but "
        "write_indices[1] is 3. Correct it, or use the circular mode.",
        {.write_indices = late}, {});
    refuse(update, index_kind,
        "xloom::tensor_scatter: write_indices must be in [0, 9223372036854775807], but write_indices[0] is "
        "-1. Correct it.",
        {.write_indices = early}, {.mode = circular});
    refuse(update, option_kind,
        "xloom::tensor_scatter: options.mode must be linear or circular, but it is number 7. Choose one of "
        "the "
        "two.",
        {}, {.mode = static_cast<tensor_scatter_mode>(7)});
}

TEST_CASE("a cache that is written shares no memory")
{
    xt::xtensor<int, 3> cache = xt::ones<int>({2, 4, 3});
    check_overlap([&] { tensor_scatter_into(cache, cache); },
        "xloom::tensor_scatter_into: an operand that is written must have memory of its own, but past_cache "
        "overlaps update. Copy one of the two.");
    CHECK(tensor_scatter(cache, cache) == cache);
    xt::xtensor<std::int64_t, 3> own = xt::zeros<std::int64_t>({2, 4, 3});
    xt::xtensor<std::int64_t, 3> const update = xt::ones<std::int64_t>({2, 1, 3});
    auto const inside = xt::view(own, xt::all(), 0, 0);
    check_overlap([&] { tensor_scatter_into(own, update, {.write_indices = inside}); },
        "xloom::tensor_scatter_into: an operand that is written must have memory of its own, but past_cache "
        "overlaps write_indices. Copy one of the two.");
}

} // namespace tensor_scatter_test
