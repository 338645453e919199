// The versions of ScatterND and GatherND, and the element types of their data.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include <xloom/infer/indexing.hpp>

#include "is_constant.hpp"

namespace infer_indexing_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr int count_allowed(onnx_operator op, std::int64_t opset)
{
    int allowed = 0;
    for (std::size_t number = 0; number < element_type_count; ++number)
        allowed += is_allowed(op, opset, static_cast<element_type>(number)) ? 1 : 0;
    return allowed;
}

struct expected_count {
    onnx_operator op;
    std::int64_t opset;
    std::int64_t version;
    int count;
};

// Every version, and opsets in between and beyond.
constexpr expected_count counts[] = {{onnx_operator::scatter_nd, 11, 11, 15},
    {onnx_operator::scatter_nd, 12, 11, 15}, {onnx_operator::scatter_nd, 13, 13, 16},
    {onnx_operator::scatter_nd, 15, 13, 16}, {onnx_operator::scatter_nd, 16, 16, 16},
    {onnx_operator::scatter_nd, 17, 16, 16}, {onnx_operator::scatter_nd, 18, 18, 16},
    {onnx_operator::scatter_nd, latest_opset, 18, 16}, {onnx_operator::scatter_nd, 1000, 18, 16},
    {onnx_operator::gather_nd, 11, 11, 15}, {onnx_operator::gather_nd, 12, 12, 15},
    {onnx_operator::gather_nd, 13, 13, 16}, {onnx_operator::gather_nd, latest_opset, 13, 16},
    {onnx_operator::gather_nd, 1000, 13, 16}};

constexpr bool counts_hold()
{
    for (expected_count const& expected : counts)
        if (operator_version(expected.op, expected.opset) != expected.version ||
            count_allowed(expected.op, expected.opset) != expected.count)
            return false;
    return true;
}

// By name: the fifteen, bfloat16 from 13 on, and what never came.
constexpr bool names_hold()
{
    for (onnx_operator const op : {onnx_operator::scatter_nd, onnx_operator::gather_nd}) {
        for (element_type const element : {uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16,
                 float_, double_, string, bool_, complex64, complex128})
            if (!is_allowed(op, 11, element) || !is_allowed(op, 28, element))
                return false;
        for (element_type const element : {undefined, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2,
                 float8_e5m2fnuz, uint4, int4, float4_e2m1, float8_e8m0, uint2, int2})
            if (is_allowed(op, 11, element) || is_allowed(op, 28, element))
                return false;
        if (is_allowed(op, 12, bfloat16) || !is_allowed(op, 13, bfloat16) || !is_allowed(op, 28, bfloat16))
            return false;
    }
    return name_of(onnx_operator::scatter_nd) == "ScatterND" &&
           name_of(onnx_operator::gather_nd) == "GatherND";
}

TEST_CASE("ScatterND and GatherND: versions and element types")
{
    CHECK(always_holds<counts_hold>());
    CHECK(always_holds<names_hold>());
}

TEST_CASE("ScatterND and GatherND: before the first")
{
    constexpr auto no_scatter = [] { return is_allowed(onnx_operator::scatter_nd, 10, float_); };
    constexpr auto no_gather = [] { return operator_version(onnx_operator::gather_nd, 10); };
    constexpr auto gather = [] { return operator_version(onnx_operator::gather_nd, 11); };
    static_assert(!is_constant<no_scatter> && !is_constant<no_gather> && is_constant<gather>);
    CHECK_THROWS_WITH_AS(no_scatter(),
        "xloom::operator_version: ScatterND begins with opset 11, but opset is 10. Give a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(no_gather(),
        "xloom::operator_version: GatherND begins with opset 11, but opset is 10. Give a newer opset.",
        option_error);
}

} // namespace

} // namespace infer_indexing_test
