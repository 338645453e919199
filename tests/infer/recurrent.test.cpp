// The versions of RNN, GRU and LSTM, and the element types of their tensors.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include <xloom/infer/recurrent.hpp>

#include "is_constant.hpp"

namespace infer_recurrent_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr onnx_operator rnn = onnx_operator::rnn, gru = onnx_operator::gru, lstm = onnx_operator::lstm;

struct expected_version {
    onnx_operator op;
    std::int64_t opset;
    std::int64_t version;
};

// Every version, and opsets in between and beyond.
constexpr expected_version versions[] = {{rnn, 1, 1}, {rnn, 3, 1}, {rnn, 6, 1}, {rnn, 7, 7}, {rnn, 13, 7},
    {rnn, 14, 14}, {rnn, 21, 14}, {rnn, 22, 22}, {rnn, latest_opset, 22}, {rnn, 1000, 22}, {gru, 1, 1},
    {gru, 2, 1}, {gru, 3, 3}, {gru, 6, 3}, {gru, 7, 7}, {gru, 13, 7}, {gru, 14, 14}, {gru, 21, 14},
    {gru, 22, 22}, {gru, latest_opset, 22}, {gru, 1000, 22}, {lstm, 1, 1}, {lstm, 3, 1}, {lstm, 6, 1},
    {lstm, 7, 7}, {lstm, 13, 7}, {lstm, 14, 14}, {lstm, 21, 14}, {lstm, 22, 22}, {lstm, latest_opset, 22},
    {lstm, 1000, 22}};

constexpr bool versions_hold()
{
    for (expected_version const& expected : versions)
        if (operator_version(expected.op, expected.opset) != expected.version)
            return false;
    return true;
}

constexpr bool is_listed(std::int64_t opset, element_type element)
{
    return element == float16 || element == float_ || element == double_ ||
           (element == bfloat16 && opset >= 22);
}

// Every operator, opset and element type against the list.
constexpr bool element_types_hold()
{
    for (onnx_operator const op : {rnn, gru, lstm})
        for (std::int64_t opset = 1; opset <= 30; ++opset)
            for (std::size_t number = 0; number < element_type_count; ++number)
                if (auto const element = static_cast<element_type>(number);
                    is_allowed(op, opset, element) != is_listed(opset, element))
                    return false;
    return true;
}

constexpr bool names_hold()
{
    return name_of(rnn) == "RNN" && name_of(gru) == "GRU" && name_of(lstm) == "LSTM";
}

TEST_CASE("RNN, GRU and LSTM: versions, names and element types")
{
    CHECK(always_holds<versions_hold>());
    CHECK(always_holds<element_types_hold>());
    CHECK(always_holds<names_hold>());
}

TEST_CASE("RNN, GRU and LSTM: before the first")
{
    constexpr auto no_rnn = [] { return is_allowed(rnn, 0, float_); };
    constexpr auto no_gru = [] { return operator_version(gru, -1); };
    constexpr auto no_lstm = [] { return operator_version(lstm, 0); };
    constexpr auto first_lstm = [] { return operator_version(lstm, 1); };
    static_assert(
        !is_constant<no_rnn> && !is_constant<no_gru> && !is_constant<no_lstm> && is_constant<first_lstm>);
    CHECK_THROWS_WITH_AS(no_rnn(),
        "xloom::operator_version: RNN begins with opset 1, but opset is 0. Give a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(no_gru(),
        "xloom::operator_version: GRU begins with opset 1, but opset is -1. Give a newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(no_lstm(),
        "xloom::operator_version: LSTM begins with opset 1, but opset is 0. Give a newer opset.",
        option_error);
}

} // namespace

} // namespace infer_recurrent_test
