// infer_gather_nd: the official ONNX tests of GatherND's inference, the rules they leave out, and every
// refusal.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <xloom/infer/indexing.hpp>

#include "is_constant.hpp"

namespace infer_gather_nd_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

struct official_case {
    gather_nd_attributes attributes;
    partial_type data, indices, output;
};

constexpr official_case official_cases[] = {
    // test_gathernd, test_gathernd_batchdim_1
    {{}, tensor_type(float_, {4, 5, 6}), tensor_type(int64, {2}), tensor_type(float_, {6})},
    {{.batch_dims = 1}, tensor_type(float_, {2, 2, 2}), tensor_type(int64, {2, 1}),
        tensor_type(float_, {2, 2})},
    // The version conversion test_GatherND, from 11 to the newest. Its indices are floats.
    {{.opset = 11}, tensor_type(float_, {1, 2, 3}), tensor_type(float_, {1, 2, 3}),
        tensor_type(float_, {1, 2})},
    {{.opset = 12}, tensor_type(float_, {1, 2, 3}), tensor_type(float_, {1, 2, 3}),
        tensor_type(float_, {1, 2})},
    {{.opset = 13}, tensor_type(float_, {1, 2, 3}), tensor_type(float_, {1, 2, 3}),
        tensor_type(float_, {1, 2})},
};

constexpr bool official_cases_hold()
{
    for (official_case const& c : official_cases)
        if (infer_gather_nd(c.data, c.indices, untyped, c.attributes) != c.output ||
            infer_gather_nd(c.data.shape(), c.indices.shape(), c.attributes) != c.output.shape())
            return false;
    return true;
}

static_assert(infer_gather_nd({2, 2, 2}, {2, 1}, {.batch_dims = 1}) == partial_shape{2, 2});

// --- what they leave out ---

// Ranks q and r, batch_dims b and k one against another; the axes are told apart by their lengths: data's are
// 100, 101, ...
constexpr bool every_combination_of_ranks()
{
    for (int r = 1; r <= 4; ++r)
        for (int q = 1; q <= 4; ++q)
            for (int b = 0; b <= r; ++b)
                for (int k = 0; k <= r - b; ++k) {
                    partial_shape data, indices, expected;
                    for (int axis = 0; axis < r; ++axis)
                        data.insert(data.rank(), 100 + axis);
                    for (int axis = 0; axis < q - 1; ++axis) {
                        indices.insert(indices.rank(), 200 + axis);
                        expected.insert(expected.rank(), 200 + axis);
                    }
                    indices.insert(indices.rank(), k);
                    for (int axis = b + k; axis < r; ++axis)
                        expected.insert(expected.rank(), 100 + axis);
                    if (infer_gather_nd(data, indices, {.batch_dims = b}) != expected)
                        return false;
                }
    return true;
}

constexpr bool what_is_unknown_stays_unknown()
{
    return infer_gather_nd(unknown_rank, {2, 1}) == unknown_rank &&
           infer_gather_nd({2, 3}, unknown_rank) == unknown_rank &&
           infer_gather_nd({2, 3}, {4, "K"}) == unknown_rank &&
           infer_gather_nd({2, 3}, {4, unknown}) == unknown_rank &&
           infer_gather_nd({2}, {unknown}, {.batch_dims = 5}) == unknown_rank &&
           infer_gather_nd({"A", "B", unknown}, {"N", unknown, 1}) ==
               partial_shape{"N", unknown, "B", unknown} &&
           infer_gather_nd({"A"}, {1}) == partial_shape{} &&
           infer_gather_nd({0, 3}, {0, 1}) == partial_shape{0, 3};
}

// The batch axes differ, and indices has fewer than batch_dims: ONNX's inference does not look.
constexpr bool batch_axes_are_not_compared()
{
    return infer_gather_nd({3, 2, 2}, {2, 1}, {.batch_dims = 1}) == partial_shape{2, 2} &&
           infer_gather_nd({3, 4, 5}, {1}, {.batch_dims = 2}) == partial_shape{};
}

constexpr bool types_follow_data()
{
    return infer_gather_nd(tensor_type(string, {2, 3}), untyped) == tensor_type(string) &&
           infer_gather_nd(tensor_type(bool_), tensor_type(int64, {2})) == tensor_type(bool_) &&
           infer_gather_nd(tensor_type(int2, {2, 3}), tensor_type(undefined, {4, 1})) ==
               tensor_type(int2, {4, 3});
}

constexpr bool a_declared_output_adds_what_it_knows()
{
    partial_type const data = tensor_type(float_, {4, "N"}), indices = tensor_type(int64, {unknown, 1});
    return infer_gather_nd(data, indices, tensor_type(undefined, {7, "M"})) ==
               tensor_type(float_, {7, "M"}) &&
           infer_gather_nd(data, untyped, tensor_type(float_, {7, 8})) == tensor_type(float_, {7, 8});
}

// --- refusals ---

constexpr partial_type infer_data(partial_type const& data)
{
    return infer_gather_nd(data, tensor_type(int64, {2, 1}));
}

constexpr partial_type infer_declared(partial_type const& declared)
{
    return infer_gather_nd(tensor_type(float_, {4, 5}), tensor_type(int64, {3, 1}), declared);
}

constexpr partial_shape infer_batched(std::int64_t batch_dims, std::int64_t opset)
{
    return infer_gather_nd({2, 2, 2}, {2, 1}, {.opset = opset, .batch_dims = batch_dims});
}

constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

TEST_CASE("infer_gather_nd: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(infer_gather_nd(c.data, c.indices, untyped, c.attributes) == c.output);
        CHECK(infer_gather_nd(c.data.shape(), c.indices.shape(), c.attributes) == c.output.shape());
    }
}

TEST_CASE("infer_gather_nd: rules beyond the official tests")
{
    CHECK(always_holds<every_combination_of_ranks>());
    CHECK(always_holds<what_is_unknown_stays_unknown>());
    CHECK(always_holds<batch_axes_are_not_compared>());
    CHECK(always_holds<types_follow_data>());
    CHECK(always_holds<a_declared_output_adds_what_it_knows>());
}

TEST_CASE("infer_gather_nd: batch_dims")
{
    constexpr auto negative = [] { return infer_batched(-1, latest_opset); };
    constexpr auto at_11 = [] { return infer_batched(1, 11); };
    constexpr auto at_12 = [] { return infer_batched(1, 12); };
    constexpr auto too_old = [] { return infer_batched(0, 10); };
    static_assert(is_constant<at_12>);
    CHECK(at_12() == partial_shape{2, 2});
    check_refused<negative, option_error>(
        "xloom::infer_gather_nd: batch_dims must not be negative, but batch_dims is -1. Count the leading "
        "axes that data and indices "
        "share.");
    check_refused<at_11, option_error>(
        "xloom::infer_gather_nd: before opset 12 there are no batch axes, but opset is 11 and batch_dims is "
        "1. Use a newer opset.");
    check_refused<too_old, option_error>(
        "xloom::operator_version: GatherND begins with opset 11, but opset is 10. Give a newer opset.");
}

TEST_CASE("infer_gather_nd: shapes")
{
    constexpr auto scalar_data = [] { return infer_gather_nd(partial_shape{}, {2, 1}); };
    constexpr auto scalar_indices = [] { return infer_gather_nd({2, "N"}, partial_shape{}); };
    constexpr auto long_tuple = [] { return infer_gather_nd({2, "N"}, {4, 3}); };
    constexpr auto long_batched = [] { return infer_gather_nd({2, 3, 4}, {2, 3}, {.batch_dims = 1}); };
    constexpr auto longest_tuple = [] { return infer_gather_nd({2, 3}, {longest}, {.batch_dims = longest}); };
    constexpr auto negative_tuple = [] { return infer_gather_nd({2, 3}, {4, -1}); };
    check_refused<scalar_data, shape_error>(
        "xloom::infer_gather_nd: data and indices must have at least one axis, but data is [] and indices is "
        "[2, 1]. Give each an axis.");
    check_refused<scalar_indices, shape_error>(
        "xloom::infer_gather_nd: data and indices must have at least one axis, but data is [2, N] and "
        "indices is []. Give each an axis.");
    check_refused<long_tuple, shape_error>(
        "xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank less batch_dims, "
        "but data is [2, N], indices is [4, 3] and batch_dims is 0. Index fewer axes.");
    check_refused<long_batched, shape_error>(
        "xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank less batch_dims, "
        "but data is [2, 3, 4], indices is [2, 3] and batch_dims is 1. Index fewer axes.");
    check_refused<longest_tuple, shape_error>(
        "xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank less batch_dims, "
        "but data is [2, 3], indices is [9223372036854775807] and batch_dims is 9223372036854775807. Index "
        "fewer axes.");
    check_refused<negative_tuple, shape_error>(
        "xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank less batch_dims, "
        "but data is [2, 3], indices is [4, -1] and batch_dims is 0. Index fewer axes.");

    constexpr auto over_max_rank = [] {
        return infer_gather_nd({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
    };
    check_refused<over_max_rank, shape_error>(
        "xloom::infer_gather_nd: a tensor may have at most 16 axes (max_rank), but output has 17. Merge some "
        "of them.");
}

TEST_CASE("infer_gather_nd: data")
{
    constexpr auto no_type = [] { return infer_data(untyped); };
    constexpr auto optional = [] { return infer_data(optional_of(tensor_type(float_, {4}))); };
    constexpr auto no_element = [] { return infer_data(tensor_type(undefined, {4})); };
    check_refused<no_type, type_error>(
        "xloom::infer_gather_nd: data must be a tensor of a known element type, but data is untyped. Give a "
        "tensor's type.");
    check_refused<optional, type_error>(
        "xloom::infer_gather_nd: data must be a tensor of a known element type, but data is "
        "optional(float[4]). Give a tensor's type.");
    check_refused<no_element, type_error>(
        "xloom::infer_gather_nd: data must be a tensor of a known element type, but data is undefined[4]. "
        "Give a tensor's type.");
}

TEST_CASE("infer_gather_nd: declared output")
{
    constexpr auto kind = [] { return infer_declared(optional_of(tensor_type(float_))); };
    constexpr auto element = [] { return infer_declared(tensor_type(double_)); };
    constexpr auto rank = [] { return infer_declared(tensor_type(float_, {3})); };
    constexpr auto dimension = [] { return infer_declared(tensor_type(float_, {3, 4})); };
    check_refused<kind, type_error>(
        "xloom::infer_gather_nd: an inferred type must be of the declared kind, but output is inferred as "
        "float[3, 5] and declared as "
        "optional(float[...]). Declare what is inferred, or nothing.");
    check_refused<element, type_error>(
        "xloom::infer_gather_nd: an inferred type must have the declared element type, but output is "
        "inferred as float[3, 5] and declared "
        "as double[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_gather_nd: an inferred shape must have the declared rank, but output is inferred as "
        "float[3, 5] and declared as "
        "float[3]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_gather_nd: an inferred dimension must equal the declared one, but output is inferred "
        "as float[3, 5] and declared as "
        "float[3, 4]. Declare what is inferred, or a symbol.");
}

} // namespace

} // namespace infer_gather_nd_test
