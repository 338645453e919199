// infer_causal_conv: shapes with and without values, and every refusal.

#include <doctest/doctest.h>

#include <xloom/infer/causal_conv.hpp>

namespace infer_causal_conv_test {

using namespace xloom;
using enum element_type; // hides the types of the same names

constexpr partial_type input = tensor_type(float_, {"B", 8, "L"}), weight = tensor_type(float_, {8, 1, 4}),
                       no_shape = tensor_type(float_);

static_assert(infer_causal_conv(input, weight).output == input);
static_assert(infer_causal_conv(input, weight).present_state == tensor_type(float_, {"B", 8, 3}));
static_assert(infer_causal_conv(input, no_shape).present_state == tensor_type(float_, {"B", 8, unknown}));
static_assert(infer_causal_conv(input, tensor_type(float_, {"C", 1, "k"})).present_state ==
              tensor_type(float_, {"B", 8, unknown}));
static_assert(infer_causal_conv(no_shape, weight).output == no_shape);
static_assert(
    infer_causal_conv(no_shape, weight).present_state == tensor_type(float_, {unknown, unknown, 3}));
static_assert(infer_causal_conv(input, tensor_type(float_, {8, 1, 1})).present_state ==
              tensor_type(float_, {"B", 8, 0}));
static_assert(infer_causal_conv(input, weight, {.output = tensor_type(float_, {2, 8, 5})}).output ==
              tensor_type(float_, {2, 8, 5}));

TEST_CASE("infer_causal_conv refuses")
{
    CHECK_THROWS_WITH_AS(infer_causal_conv(input, tensor_type(float_, {8, 1, 0})),
        "xloom::infer_causal_conv: weight must have at least one tap, k >= 1, but weight is float[8, 1, 0]. "
        "Give it a tap.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer_causal_conv(input, tensor_type(float_, {7, 1, 4})),
        "xloom::infer_causal_conv: input and weight must have the same channels, but input is float[B, 8, L] "
        "and weight is float[7, 1, 4]. Give each channel its weights.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer_causal_conv(tensor_type(float_, {8, 3}), weight),
        "xloom::infer_causal_conv: input must have rank 3, but input is float[8, 3]. Lay it out as [B, C, "
        "L].",
        shape_error);
    CHECK_THROWS_AS(infer_causal_conv(input, tensor_type(float_, {8, 4})), shape_error);
    CHECK_THROWS_AS(infer_causal_conv(untyped, weight), type_error);
    CHECK_THROWS_AS(infer_causal_conv(input, untyped), type_error);
    CHECK_THROWS_AS(
        infer_causal_conv(input, weight, {.present_state = tensor_type(float_, {2, 8, 4})}), shape_error);
}

} // namespace infer_causal_conv_test
