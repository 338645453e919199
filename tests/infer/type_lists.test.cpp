// The versions of If, Loop and Scan, and the types of V: counted, and their traps.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <xloom/infer/versions.hpp>

#include "is_constant.hpp"

namespace infer_type_lists_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

/// The number of types allowed, of all that a tensor, or a sequence or optional up to two deep, can be.
constexpr int count_allowed(onnx_operator op, std::int64_t opset)
{
    int allowed = 0;
    for (std::size_t number = 0; number < element_type_count; ++number) {
        auto const element = static_cast<element_type>(number);
        partial_type const tensor = tensor_type(element);
        partial_type const candidates[] = {tensor, sparse_tensor_type(element), sequence_of(tensor),
            optional_of(tensor), sequence_of(sequence_of(tensor)), sequence_of(optional_of(tensor)),
            optional_of(sequence_of(tensor)), optional_of(optional_of(tensor)),
            sequence_of(sparse_tensor_type(element)), optional_of(sparse_tensor_type(element))};
        for (partial_type const& type : candidates)
            allowed += is_allowed(op, opset, type) ? 1 : 0;
    }
    return allowed;
}

struct expected_count {
    std::int64_t opset;
    std::int64_t if_version;
    int if_count; // and Loop's
    std::int64_t scan_version;
    int scan_count;
};

// Every version, and some opsets in between. Scan begins with 8: 0 before.
constexpr expected_count counts[] = {{1, 1, 15, 0, 0}, {7, 1, 15, 0, 0}, {8, 1, 15, 8, 15}, {9, 1, 15, 9, 15},
    {10, 1, 15, 9, 15}, {11, 11, 15, 11, 15}, {12, 11, 15, 11, 15}, {13, 13, 30, 11, 15},
    {15, 13, 30, 11, 15}, {16, 16, 64, 16, 16}, {18, 16, 64, 16, 16}, {19, 19, 76, 19, 20},
    {20, 19, 76, 19, 20}, {21, 21, 82, 21, 22}, {22, 21, 82, 21, 22}, {23, 23, 85, 23, 23},
    {24, 24, 88, 24, 24}, {25, 25, 94, 25, 26}, {latest_opset, 25, 94, 25, 26}, {1000, 25, 94, 25, 26}};

constexpr bool control_flow_counts_hold(onnx_operator op, expected_count const& expected)
{
    return operator_version(op, expected.opset) == expected.if_version &&
           count_allowed(op, expected.opset) == expected.if_count;
}

constexpr bool scan_counts_hold(expected_count const& expected)
{
    return expected.scan_version == 0 ||
           (operator_version(onnx_operator::scan, expected.opset) == expected.scan_version &&
               count_allowed(onnx_operator::scan, expected.opset) == expected.scan_count);
}

template <std::size_t I = 0>
constexpr bool every_count_holds()
{
    static_assert(control_flow_counts_hold(onnx_operator::if_, counts[I]));
    static_assert(control_flow_counts_hold(onnx_operator::loop, counts[I]));
    static_assert(scan_counts_hold(counts[I]));
    if constexpr (I + 1 < sizeof(counts) / sizeof(counts[0]))
        return every_count_holds<I + 1>();
    else
        return true;
}

// Each element type that came later, with its version.
constexpr bool every_later_type_has_its_version()
{
    struct element_since {
        element_type element;
        std::int64_t version;
    };
    constexpr element_since later[] = {{bfloat16, 16}, {float8_e4m3fn, 19}, {float8_e4m3fnuz, 19},
        {float8_e5m2, 19}, {float8_e5m2fnuz, 19}, {uint4, 21}, {int4, 21}, {float4_e2m1, 23},
        {float8_e8m0, 24}, {uint2, 25}, {int2, 25}};
    for (auto const [element, version] : later)
        for (onnx_operator const op : {onnx_operator::if_, onnx_operator::loop, onnx_operator::scan})
            if (is_allowed(op, version - 1, tensor_type(element)) ||
                !is_allowed(op, version, tensor_type(element)))
                return false;
    return true;
}

constexpr bool traps()
{
    constexpr auto loop = onnx_operator::loop;
    partial_type const float8 = tensor_type(float8_e5m2);
    return !is_allowed(loop, 15, tensor_type(bfloat16)) && is_allowed(loop, 16, tensor_type(bfloat16)) &&
           !is_allowed(onnx_operator::scan, 15, tensor_type(bfloat16)) &&
           is_allowed(onnx_operator::scan, 16, tensor_type(bfloat16)) &&
           is_allowed(loop, 19, optional_of(float8)) && is_allowed(loop, 19, sequence_of(float8)) &&
           !is_allowed(loop, 25, optional_of(sequence_of(float8))) &&
           is_allowed(loop, 25, optional_of(sequence_of(tensor_type(bfloat16)))) &&
           !is_allowed(loop, 25, sequence_of(sequence_of(tensor_type(float_)))) &&
           !is_allowed(loop, 25, optional_of(sequence_of(sequence_of(tensor_type(float_))))) &&
           !is_allowed(loop, 25, sparse_tensor_type(float_)) && !is_allowed(loop, 25, untyped) &&
           !is_allowed(loop, 25, tensor_type(undefined)) &&
           !is_allowed(loop, 25, static_cast<element_type>(element_type_count)) &&
           !is_allowed(loop, 25, sequence_of(untyped)) &&
           !is_allowed(onnx_operator::scan, 25, sequence_of(tensor_type(float_))) &&
           is_allowed(loop, 1, tensor_type(string, {2, "N", unknown}));
}

TEST_CASE("type lists: every version's number of types")
{
    static_assert(every_count_holds());
    for (expected_count const& expected : counts) {
        CAPTURE(expected.opset);
        CHECK(control_flow_counts_hold(onnx_operator::if_, expected));
        CHECK(control_flow_counts_hold(onnx_operator::loop, expected));
        CHECK(scan_counts_hold(expected));
    }
}

TEST_CASE("type lists: traps")
{
    CHECK(always_holds<every_later_type_has_its_version>());
    CHECK(always_holds<traps>());
}

constexpr bool names_hold()
{
    return name_of(onnx_operator::if_) == "If" && name_of(onnx_operator::loop) == "Loop" &&
           name_of(onnx_operator::scan) == "Scan" && name_of(static_cast<onnx_operator>(14)) == "If" &&
           name_of(static_cast<onnx_operator>(-1)) == "If";
}

TEST_CASE("name_of: If, Loop and Scan") { CHECK(always_holds<names_hold>()); }

constexpr bool recurrences_hold()
{
    constexpr auto attention = onnx_operator::linear_attention, conv = onnx_operator::causal_conv_with_state,
                   cache = onnx_operator::tensor_scatter;
    int of_attention = 0, of_conv = 0, of_cache = 0;
    for (std::size_t number = 0; number < element_type_count; ++number) {
        auto const element = static_cast<element_type>(number);
        of_attention += is_allowed(attention, 27, element) ? 1 : 0;
        of_conv += is_allowed(conv, 27, element) ? 1 : 0;
        of_cache += is_allowed(cache, latest_opset, element) ? 1 : 0;
    }
    return of_attention == 3 && of_conv == 3 && of_cache == 24 && is_allowed(attention, 27, bfloat16) &&
           !is_allowed(conv, 27, double_) && is_allowed(cache, 24, float8_e8m0) &&
           !is_allowed(cache, latest_opset, int2) && operator_version(attention, latest_opset) == 27 &&
           operator_version(conv, 27) == 27 && operator_version(cache, latest_opset) == 24 &&
           name_of(attention) == "LinearAttention" && name_of(conv) == "CausalConvWithState" &&
           name_of(cache) == "TensorScatter";
}

TEST_CASE("LinearAttention, CausalConvWithState and TensorScatter: names, versions, element types")
{
    CHECK(always_holds<recurrences_hold>());
    CHECK_THROWS_WITH_AS(operator_version(onnx_operator::linear_attention, 26),
        "xloom::operator_version: LinearAttention begins with opset 27, but opset is 26. Give a newer opset.",
        option_error);
}

/// An operator and the opsets of ONNX that changed it, in ascending order, then 0.
struct changes {
    onnx_operator op;
    std::int64_t opsets[10];
};

constexpr changes history[] = {{onnx_operator::if_, {1, 11, 13, 16, 19, 21, 23, 24, 25}},
    {onnx_operator::loop, {1, 11, 13, 16, 19, 21, 23, 24, 25}},
    {onnx_operator::scan, {8, 9, 11, 16, 19, 21, 23, 24, 25}}, {onnx_operator::gather_nd, {11, 12, 13}},
    {onnx_operator::gather_elements, {11, 13}}, {onnx_operator::scatter_nd, {11, 13, 16, 18}},
    {onnx_operator::scatter_elements, {11, 13, 16, 18}}, {onnx_operator::cumsum, {11, 14}},
    {onnx_operator::rnn, {1, 7, 14, 22}}, {onnx_operator::gru, {1, 3, 7, 14, 22}},
    {onnx_operator::lstm, {1, 7, 14, 22}}, {onnx_operator::linear_attention, {27}},
    {onnx_operator::causal_conv_with_state, {27}}, {onnx_operator::tensor_scatter, {24}}};

TEST_CASE("operator_version: every operator at every opset")
{
    for (changes const& of : history) {
        std::string const name(name_of(of.op));
        CAPTURE(name);
        std::size_t newest = 0;
        CHECK_THROWS_AS(operator_version(of.op, of.opsets[0] - 1), option_error);
        for (std::int64_t opset = of.opsets[0]; opset <= latest_opset + 1; ++opset) {
            if (opset == of.opsets[newest + 1])
                ++newest;
            CAPTURE(opset);
            CHECK(operator_version(of.op, opset) == of.opsets[newest]);
        }
    }
}

TEST_CASE("operator_version: before the first")
{
    constexpr auto no_scan = [] { return is_allowed(onnx_operator::scan, 7, tensor_type(float_)); };
    constexpr auto no_if = [] { return operator_version(onnx_operator::if_, -1); };
    constexpr auto scan = [] { return is_allowed(onnx_operator::scan, 8, tensor_type(float_)); };
    static_assert(!is_constant<no_scan> && !is_constant<no_if> && is_constant<scan>);
    CHECK_THROWS_WITH_AS(no_scan(),
        "xloom::operator_version: Scan begins with opset 8, but opset is 7. Give a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(no_if(),
        "xloom::operator_version: If begins with opset 1, but opset is -1. Give a newer opset.",
        option_error);
}

} // namespace

} // namespace infer_type_lists_test
