// infer_scatter_elements, infer_gather_elements and infer_cumsum: versions, types, rules and refusals.

#include <doctest/doctest.h>

#include <xloom/infer/cumsum.hpp>
#include <xloom/infer/indexing.hpp>

#include "is_constant.hpp"

namespace infer_elements_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr partial_type data = tensor_type(float_, {"N", 4}), indices = tensor_type(int64, {"K", 3});

constexpr bool rules_hold()
{
    partial_type const vector = tensor_type(float_, {4}); // has only the axis that is the default
    return infer_scatter_elements(data, indices, indices) == data &&
           infer_scatter_elements(vector, indices, indices) == vector &&
           infer_gather_elements(vector, tensor_type(int64, {3})) == tensor_type(float_, {3}) &&
           infer_scatter_elements(tensor_type(string), untyped, untyped, tensor_type(undefined, {3})) ==
               tensor_type(string, {3}) &&
           infer_scatter_elements(data, indices, data, untyped,
               {.opset = 18, .axis = -2, .reduction = reduction::max}) == data &&
           infer_gather_elements(data, indices) == tensor_type(float_, {"K", 3}) &&
           infer_gather_elements(data, untyped) == tensor_type(float_) &&
           infer_gather_elements(data, tensor_type(int32, {7})) == tensor_type(float_, {7}) &&
           infer_gather_elements(tensor_type(bool_), indices, tensor_type(bool_, {5, 3}),
               {.opset = 11, .axis = 9}) == tensor_type(bool_, {5, 3}) &&
           infer_cumsum(data, tensor_type(int32, {})) == data &&
           infer_cumsum(data, untyped, tensor_type(float_, {5, 4}), {.opset = 11}) ==
               tensor_type(float_, {5, 4});
}

constexpr bool versions_hold()
{
    return operator_version(onnx_operator::scatter_elements, 12) == 11 &&
           operator_version(onnx_operator::scatter_elements, 17) == 16 &&
           operator_version(onnx_operator::scatter_elements, latest_opset) == 18 &&
           operator_version(onnx_operator::gather_elements, 12) == 11 &&
           operator_version(onnx_operator::gather_elements, latest_opset) == 13 &&
           operator_version(onnx_operator::cumsum, 13) == 11 &&
           operator_version(onnx_operator::cumsum, latest_opset) == 14 &&
           name_of(onnx_operator::scatter_elements) == "ScatterElements" &&
           name_of(onnx_operator::gather_elements) == "GatherElements" &&
           name_of(onnx_operator::cumsum) == "CumSum";
}

constexpr bool element_types_hold()
{
    for (auto const op : {onnx_operator::scatter_elements, onnx_operator::gather_elements})
        if (is_allowed(op, 12, bfloat16) || !is_allowed(op, 13, bfloat16) || !is_allowed(op, 11, string) ||
            is_allowed(op, latest_opset, int4))
            return false;
    int at_11 = 0, at_14 = 0;
    for (std::size_t number = 0; number < element_type_count; ++number) {
        auto const element = static_cast<element_type>(number);
        at_11 += is_allowed(onnx_operator::cumsum, 13, element) ? 1 : 0;
        at_14 += is_allowed(onnx_operator::cumsum, 14, element) ? 1 : 0;
    }
    return at_11 == 6 && at_14 == 8 && is_allowed(onnx_operator::cumsum, 14, bfloat16) &&
           !is_allowed(onnx_operator::cumsum, 14, int8);
}

} // namespace

TEST_CASE("infer_scatter_elements, infer_gather_elements, infer_cumsum: rules, versions, element types")
{
    CHECK(always_holds<rules_hold>());
    CHECK(always_holds<versions_hold>());
    CHECK(always_holds<element_types_hold>());
}

TEST_CASE("infer_scatter_elements, infer_gather_elements, infer_cumsum: refusals")
{
    constexpr auto axis = [] { return infer_scatter_elements(data, indices, data, untyped, {.axis = 2}); };
    constexpr auto gather_axis = [] { return infer_gather_elements(data, indices, untyped, {.axis = -3}); };
    constexpr auto reduced = [] {
        return infer_scatter_elements(
            data, indices, data, untyped, {.opset = 13, .reduction = reduction::add});
    };
    constexpr auto old = [] { return infer_gather_elements(data, indices, untyped, {.opset = 10}); };
    constexpr auto no_tensor = [] { return infer_cumsum(sequence_of(data), untyped); };
    constexpr auto declared = [] { return infer_cumsum(data, untyped, tensor_type(int64)); };
    static_assert(!is_constant<axis> && !is_constant<gather_axis> && !is_constant<reduced> &&
                  !is_constant<old> && !is_constant<no_tensor> && !is_constant<declared>);
    CHECK_THROWS_WITH_AS(axis(),
        "xloom::infer_scatter_elements: an axis of a tensor of rank r must be in [-r, r - 1], but axis is 2 "
        "and data is float[N, 4]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_AS(gather_axis(), shape_error);
    CHECK_THROWS_WITH_AS(reduced(),
        "xloom::infer_scatter_elements: ONNX's reductions are none, from opset 16 on add and mul, from 18 on "
        "max and min, but reduction is add and opset is 13. Use a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(old(),
        "xloom::operator_version: GatherElements begins with opset 11, but opset is 10. Give a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(no_tensor(),
        "xloom::infer_cumsum: x must be a tensor of a known element type, but x is seq(float[N, 4]). Give a "
        "tensor's type.",
        type_error);
    CHECK_THROWS_AS(declared(), type_error);
}

} // namespace infer_elements_test
