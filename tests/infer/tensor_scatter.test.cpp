// infer_tensor_scatter: the cache's type, and every refusal.

#include <doctest/doctest.h>

#include <xloom/infer/tensor_scatter.hpp>

#include "is_constant.hpp"

namespace infer_tensor_scatter_test {

using namespace xloom;
using enum element_type; // hides the types of the same names

constexpr partial_type cache = tensor_type(float16, {"B", 8, 4096, 64}),
                       update = tensor_type(float16, {"B", 8, 1, 64}), no_shape = tensor_type(string);

constexpr bool the_cache_has_the_type()
{
    return infer_tensor_scatter(cache, update) == cache &&
           infer_tensor_scatter(cache, untyped, untyped, {.axis = 3}) == cache &&
           infer_tensor_scatter(no_shape, untyped) == no_shape &&
           infer_tensor_scatter(no_shape, untyped, tensor_type(string, {2, 3, 4})) ==
               tensor_type(string, {2, 3, 4});
}

TEST_CASE("infer_tensor_scatter: the type of the cache") { CHECK(always_holds<the_cache_has_the_type>()); }

TEST_CASE("infer_tensor_scatter refuses")
{
    CHECK_THROWS_WITH_AS(infer_tensor_scatter(cache, update, untyped, {.axis = -4}),
        "xloom::infer_tensor_scatter: the axis must be one of past_cache after the batch axis, but axis is "
        "-4 "
        "and past_cache is float16[B, 8, 4096, 64]. Name such an axis.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer_tensor_scatter(tensor_type(float_, {2, 3}), update),
        "xloom::infer_tensor_scatter: the axis must be one of past_cache after the batch axis, but axis is "
        "-2 and past_cache is float[2, 3]. Name such an axis.",
        shape_error);
    CHECK_THROWS_AS(infer_tensor_scatter(cache, update, untyped, {.axis = 4}), shape_error);
    CHECK_THROWS_WITH_AS(infer_tensor_scatter(untyped, update),
        "xloom::infer_tensor_scatter: past_cache must be a tensor of a known element type, but past_cache is "
        "untyped. Give a tensor's type.",
        type_error);
    CHECK_THROWS_AS(infer_tensor_scatter(cache, update, tensor_type(float_, {2, 8, 4096, 64})), type_error);
    CHECK_THROWS_AS(infer_tensor_scatter(cache, update, tensor_type(float16, {2, 8, 4, 64})), shape_error);
    CHECK_THROWS_WITH_AS(infer_tensor_scatter(cache, tensor_type(float16, {"B", 9, 1, 64})),
        "xloom::infer_tensor_scatter: update must have the shape of past_cache but for axis -2, but update "
        "is "
        "float16[B, 9, 1, 64] and past_cache is float16[B, 8, 4096, 64]. Correct one of them.",
        shape_error);
    CHECK_THROWS_AS(infer_tensor_scatter(cache, tensor_type(float16, {"B", 8, 64})), shape_error);
    CHECK(infer_tensor_scatter(cache, tensor_type(float16, {2, 8, 4096, 1}), untyped, {.axis = 3}) == cache);
}

} // namespace infer_tensor_scatter_test
