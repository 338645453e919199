// infer_scatter_nd: the official ONNX tests of ScatterND's inference, the rules they leave out, and every
// refusal.

#include <doctest/doctest.h>

#include <cstdint>

#include <xloom/infer/indexing.hpp>

#include "is_constant.hpp"

namespace infer_scatter_nd_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

struct official_case {
    scatter_nd_attributes attributes;
    partial_type data, indices, updates, output;
};

constexpr partial_type cube = tensor_type(float_, {4, 5, 6}), no_shape = tensor_type(float_),
                       matrix = tensor_type(float_, {2, 3});
constexpr partial_type pairs = tensor_type(int64, {3, 3, 2}), rows = tensor_type(float_, {3, 3, 6});
constexpr partial_type one_pair = tensor_type(int64, {1, 2}), too_wide = tensor_type(float_, {1, 2});
constexpr reduction none = reduction::none, mul = reduction::mul;

constexpr official_case official_cases[] = {
    // test_scatternd, test_scatternd_noshape
    {{11, none}, cube, pairs, rows, cube},
    {{11, none}, no_shape, pairs, rows, no_shape},
    {{13, none}, cube, pairs, rows, cube},
    {{13, none}, no_shape, pairs, rows, no_shape},
    {{16, none}, cube, pairs, rows, cube},
    {{16, none}, no_shape, pairs, rows, no_shape},
    {{18, none}, cube, pairs, rows, cube},
    {{18, none}, no_shape, pairs, rows, no_shape},
    // The version conversions test_ScatterND_1 and _2: updates should be [1].
    {{11, none}, matrix, one_pair, too_wide, matrix},
    {{16, mul}, matrix, one_pair, too_wide, matrix},
};

constexpr bool official_cases_hold()
{
    for (official_case const& c : official_cases)
        if (infer_scatter_nd(c.data, c.indices, c.updates, untyped, c.attributes) != c.output)
            return false;
    return true;
}

// --- what they leave out ---

constexpr bool only_data_counts()
{
    partial_type const vector = tensor_type(bfloat16, {"N"});
    return infer_scatter_nd(vector, untyped, untyped) == vector &&
           infer_scatter_nd(vector, tensor_type(int32, {2, 7}), sequence_of(untyped)) == vector &&
           infer_scatter_nd(tensor_type(string, {}), one_pair, too_wide) == tensor_type(string, {}) &&
           infer_scatter_nd(tensor_type(int4, {unknown, 3}), pairs, untyped) ==
               tensor_type(int4, {unknown, 3});
}

constexpr bool a_declared_output_adds_what_it_knows()
{
    return infer_scatter_nd(tensor_type(float_, {"N", unknown, 6}), pairs, rows,
               tensor_type(undefined, {4, "M", "K"})) == tensor_type(float_, {4, "M", 6}) &&
           infer_scatter_nd(no_shape, pairs, rows, cube) == cube;
}

// none always, add and mul since 16, max and min since 18.
constexpr bool reductions_have_their_versions()
{
    for (std::int64_t opset = 11; opset <= 30; ++opset)
        if (!has_reduction(opset, reduction::none) || has_reduction(opset, reduction::add) != (opset >= 16) ||
            has_reduction(opset, reduction::mul) != (opset >= 16) ||
            has_reduction(opset, reduction::max) != (opset >= 18) ||
            has_reduction(opset, reduction::min) != (opset >= 18) || has_reduction(opset, reduction::mean))
            return false;
    return true;
}

// --- refusals ---

constexpr partial_type infer_reduced(reduction kind, std::int64_t opset)
{
    return infer_scatter_nd(cube, pairs, rows, untyped, {.opset = opset, .reduction = kind});
}

constexpr partial_type infer_data(partial_type const& data) { return infer_scatter_nd(data, pairs, rows); }

constexpr partial_type infer_declared(partial_type const& declared)
{
    return infer_scatter_nd(cube, pairs, rows, declared);
}

TEST_CASE("infer_scatter_nd: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(infer_scatter_nd(c.data, c.indices, c.updates, untyped, c.attributes) == c.output);
    }
}

TEST_CASE("infer_scatter_nd: rules beyond the official tests")
{
    CHECK(always_holds<only_data_counts>());
    CHECK(always_holds<a_declared_output_adds_what_it_knows>());
    CHECK(always_holds<reductions_have_their_versions>());
}

TEST_CASE("infer_scatter_nd: reductions")
{
    constexpr auto add_at_13 = [] { return infer_reduced(reduction::add, 13); };
    constexpr auto min_at_17 = [] { return infer_reduced(reduction::min, 17); };
    constexpr auto mean = [] { return infer_reduced(reduction::mean, latest_opset); };
    constexpr auto max_at_18 = [] { return infer_reduced(reduction::max, 18); };
    constexpr auto too_old = [] { return infer_reduced(reduction::none, 10); };
    static_assert(is_constant<max_at_18>);
    check_refused<add_at_13, option_error>(
        "xloom::infer_scatter_nd: ONNX's reductions are none, from opset 16 on add and mul, from 18 on max "
        "and min, but reduction is add "
        "and opset is 13. Use a newer opset.");
    check_refused<min_at_17, option_error>(
        "xloom::infer_scatter_nd: ONNX's reductions are none, from opset 16 on add and mul, from 18 on max "
        "and min, but reduction is min "
        "and opset is 17. Use a newer opset.");
    check_refused<mean, option_error>(
        "xloom::infer_scatter_nd: ONNX's reductions are none, from opset 16 on add and mul, from 18 on max "
        "and min, but reduction is mean "
        "and opset is 28. Use one of these.");
    check_refused<too_old, option_error>(
        "xloom::operator_version: ScatterND begins with opset 11, but opset is 10. Give a newer opset.");
}

TEST_CASE("infer_scatter_nd: data")
{
    constexpr auto no_type = [] { return infer_data(untyped); };
    constexpr auto sequence = [] { return infer_data(sequence_of(cube)); };
    constexpr auto sparse = [] { return infer_data(sparse_tensor_type(float_, {3})); };
    constexpr auto no_element = [] { return infer_data(tensor_type(undefined, {4})); };
    check_refused<no_type, type_error>(
        "xloom::infer_scatter_nd: data must be a tensor of a known element type, but data is untyped. Give a "
        "tensor's type.");
    check_refused<sequence, type_error>(
        "xloom::infer_scatter_nd: data must be a tensor of a known element type, but data is seq(float[4, 5, "
        "6]). Give a tensor's type.");
    check_refused<sparse, type_error>(
        "xloom::infer_scatter_nd: data must be a tensor of a known element type, but data is sparse "
        "float[3]. Give a tensor's type.");
    check_refused<no_element, type_error>(
        "xloom::infer_scatter_nd: data must be a tensor of a known element type, but data is undefined[4]. "
        "Give a tensor's type.");
}

TEST_CASE("infer_scatter_nd: declared output")
{
    constexpr auto kind = [] { return infer_declared(sequence_of(cube)); };
    constexpr auto element = [] { return infer_declared(tensor_type(int64, {4, 5, 6})); };
    constexpr auto rank = [] { return infer_declared(tensor_type(float_, {4, 5})); };
    constexpr auto dimension = [] { return infer_declared(tensor_type(float_, {4, 5, 7})); };
    check_refused<kind, type_error>(
        "xloom::infer_scatter_nd: an inferred type must be of the declared kind, but output is inferred as "
        "float[4, 5, 6] and declared as "
        "seq(float[4, 5, 6]). Declare what is inferred, or nothing.");
    check_refused<element, type_error>(
        "xloom::infer_scatter_nd: an inferred type must have the declared element type, but output is "
        "inferred as float[4, 5, 6] and "
        "declared as int64[4, 5, 6]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_scatter_nd: an inferred shape must have the declared rank, but output is inferred as "
        "float[4, 5, 6] and declared as "
        "float[4, 5]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_scatter_nd: an inferred dimension must equal the declared one, but output is inferred "
        "as float[4, 5, 6] and declared "
        "as float[4, 5, 7]. Declare what is inferred, or a symbol.");
}

} // namespace

} // namespace infer_scatter_nd_test
