// Plain operators, where ONNX's own tests do not go: broadcasting, whole numbers, empty tensors, hostile
// sizes, old opsets.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "budget.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"

namespace {

using namespace runner;

template <class T>
tensor of(xloom::shape const& dims, std::initializer_list<T> items)
{
    return tensor::of<T>(dims, {items.begin(), items.size()});
}

tensor numbers(std::initializer_list<std::int64_t> items) { return of<std::int64_t>({items.size()}, items); }

/// A node of its own.
class node {
public:
    node(char const* type, std::int64_t opset) : opset_(opset) { proto_.set_op_type(type); }

    node& with(char const* name, std::integral auto number)
    {
        attribute(name, onnx::AttributeProto::INT).set_i(number);
        return *this;
    }
    node& with(char const* name, float number)
    {
        attribute(name, onnx::AttributeProto::FLOAT).set_f(number);
        return *this;
    }
    node& with(char const* name, char const* text)
    {
        attribute(name, onnx::AttributeProto::STRING).set_s(text);
        return *this;
    }
    node& with(char const* name, std::initializer_list<std::int64_t> list)
    {
        auto& added = attribute(name, onnx::AttributeProto::INTS);
        for (std::int64_t const number : list)
            added.add_ints(number);
        return *this;
    }
    node& outputs(int count)
    {
        for (int k = 0; k < count; ++k)
            proto_.add_output("y" + std::to_string(k));
        return *this;
    }

    std::vector<value> operator()(std::vector<value> const& inputs) const
    {
        std::vector<value const*> pointers;
        for (value const& input : inputs)
            pointers.push_back(&input);
        scope const around;
        return find_operation("", proto_.op_type())->run(call({proto_, opset_, {}}, pointers, around));
    }

private:
    onnx::AttributeProto& attribute(char const* name, onnx::AttributeProto_AttributeType type)
    {
        auto& added = *proto_.add_attribute();
        added.set_name(name);
        added.set_type(type);
        return added;
    }

    onnx::NodeProto proto_{};
    std::int64_t opset_;
};

/// True if the items are equal, zeros also in their sign; NaN is equal to NaN.
template <class T>
bool is_same(T const& a, T const& b)
{
    if constexpr (std::is_floating_point_v<T>)
        return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
    else
        return a == b;
}

template <class T>
void check(std::vector<value> const& outputs, xloom::shape const& dims, std::initializer_list<T> items,
    std::size_t k = 0)
{
    REQUIRE(outputs.size() > k);
    tensor const& got = outputs[k].as_tensor();
    CHECK(fmt::format("{}", got.shape()) == fmt::format("{}", dims));
    auto const all = got.items<T>();
    CHECK(std::equal(all.begin(), all.end(), items.begin(), items.end(), is_same<T>));
}

constexpr float inf = std::numeric_limits<float>::infinity();

} // namespace

TEST_CASE("both operands are broadcast, empty and scalar ones too")
{
    check<float>(node("Add", 14)({of<float>({2, 1}, {1, 2}), of<float>({3}, {10, 20, 30})}), {2, 3},
        {11, 21, 31, 12, 22, 32});
    check<float>(node("Sub", 14)({of<float>({}, {1}), of<float>({1, 1}, {3})}), {1, 1}, {-2});
    check<float>(node("Mul", 14)({of<float>({0, 1}, {}), of<float>({3}, {1, 2, 3})}), {0, 3}, {});
    check<float>(node("Mul", 14)({of<float>({0}, {}), of<float>({1}, {1})}), {0}, {});
    check<float>(node("Sub", 14)({of<float>({2, 1, 2}, {1, 2, 3, 4}), of<float>({2, 1}, {10, 20})}),
        {2, 2, 2}, {-9, -8, -19, -18, -7, -6, -17, -16});
    CHECK_THROWS_WITH_AS(node("Add", 14)({of<float>({2}, {1, 2}), of<float>({3}, {1, 2, 3})}),
        "the shapes [2] and [3] cannot be broadcast to one", runner_error);
    CHECK_THROWS_AS(node("Add", 14)({of<float>({1}, {1}), of<double>({1}, {1})}), runner_error);
    CHECK_THROWS_AS(node("Add", 14)({of<bool>({1}, {true}), of<bool>({1}, {true})}), runner_error);
}

TEST_CASE("up to opset 6 attributes say how the second operand is broadcast")
{
    tensor const a = of<float>({2, 3}, {0, 0, 0, 0, 0, 0});
    check<float>(node("Add", 6).with("broadcast", 1).with("axis", 0)({a, of<float>({2}, {1, 2})}), {2, 3},
        {1, 1, 1, 2, 2, 2});
    check<float>(
        node("Add", 6).with("broadcast", 1)({a, of<float>({3}, {1, 2, 3})}), {2, 3}, {1, 2, 3, 1, 2, 3});
    check<float>(
        node("Add", 6).with("broadcast", 1)({a, of<float>({1, 1}, {1})}), {2, 3}, {1, 1, 1, 1, 1, 1});
    CHECK_THROWS_AS(node("Add", 6)({a, of<float>({3}, {1, 2, 3})}), runner_error);
    CHECK_THROWS_WITH_AS(node("Add", 6).with("broadcast", 1).with("axis", 2)({a, of<float>({3}, {1, 2, 3})}),
        "from axis 2 on, the shape [2, 3] has no room for [3]", runner_error);
    CHECK_THROWS_AS(
        node("Add", 6).with("broadcast", 1).with("axis", 0)({a, of<float>({3}, {1, 2, 3})}), runner_error);
}

TEST_CASE("whole numbers wrap around, and are divided towards zero")
{
    check<std::int8_t>(node("Add", 14)({of<std::int8_t>({2}, {127, -128}), of<std::int8_t>({2}, {1, -1})}),
        {2}, {-128, 127});
    check<std::uint16_t>(
        node("Mul", 14)({of<std::uint16_t>({1}, {65535}), of<std::uint16_t>({1}, {65535})}), {1}, {1});
    check<std::int32_t>(
        node("Div", 14)({of<std::int32_t>({3}, {-7, 7, -8}), of<std::int32_t>({3}, {2, -2, 2})}), {3},
        {-3, -3, -4});
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    check<std::int64_t>(node("Div", 14)({numbers({least}), numbers({-1})}), {1}, {least});
    check<std::int64_t>(node("Mod", 13)({numbers({least}), numbers({-1})}), {1}, {0});
    check<std::int64_t>(node("Neg", 13)({numbers({least})}), {1}, {least});
    check<std::int64_t>(node("Abs", 13)({numbers({least})}), {1}, {least});
    for (char const* const type : {"Div", "Mod"})
        CHECK_THROWS_WITH_AS(
            node(type, 14)({numbers({1}), numbers({0})}), "a whole number is divided by zero", runner_error);
}

TEST_CASE("Mod has the divisor's sign, with fmod the dividend's")
{
    tensor const a = of<std::int32_t>({4}, {-4, 7, -7, 7}), b = of<std::int32_t>({4}, {2, -3, 3, 3});
    check<std::int32_t>(node("Mod", 13)({a, b}), {4}, {0, -2, 2, 1});
    check<std::int32_t>(node("Mod", 13).with("fmod", 1)({a, b}), {4}, {0, 1, -1, 1});
    check<float>(node("Mod", 13).with("fmod", 1)({of<float>({2}, {-4.5f, 4.5f}), of<float>({1}, {2})}), {2},
        {-0.5f, 0.5f});
    CHECK_THROWS_AS(node("Mod", 13)({of<float>({1}, {1}), of<float>({1}, {1})}), runner_error);
}

TEST_CASE("Pow of two types")
{
    check<std::int32_t>(
        node("Pow", 15)({of<std::int32_t>({3}, {3, -2, 2}), numbers({4, 3, 40})}), {3}, {81, -8, 0});
    check<std::int32_t>(
        node("Pow", 15)({of<std::int32_t>({3}, {1, -1, 2}), numbers({-3, -3, -1})}), {3}, {1, -1, 0});
    check<std::int32_t>(
        node("Pow", 15)({of<std::int32_t>({2}, {3, -2}), of<std::uint64_t>({2}, {2, 3})}), {2}, {9, -8});
    check<std::int32_t>(node("Pow", 15)({of<std::int32_t>({2}, {9, 2}), of<float>({}, {0.5f})}), {2}, {3, 1});
    check<float>(node("Pow", 15)({of<float>({2}, {2, -2}), of<std::int32_t>({}, {-1})}), {2}, {0.5f, -0.5f});
}

TEST_CASE("NaN is the larger and the smaller of two; Clip's lower limit yields to the upper one")
{
    for (char const* const type : {"Max", "Min"}) {
        auto const outputs = node(type, 13)({of<float>({2}, {NAN, 1}), of<float>({2}, {1, NAN})});
        for (float const x : outputs[0].as_tensor().items<float>())
            CHECK(std::isnan(x));
    }
    check<float>(node("Max", 13)({of<float>({2}, {1, 5})}), {2}, {1, 5});
    check<std::int8_t>(node("Clip", 12)({of<std::int8_t>({3}, {-9, 0, 9}), of<std::int8_t>({}, {3}),
                           of<std::int8_t>({}, {-3})}),
        {3}, {-3, -3, -3});
    check<float>(node("Clip", 6).with("max", 1.0f)({of<float>({2}, {-5, 5})}), {2}, {-5, 1});
    check<float>(node("Clip", 13)({of<float>({1}, {inf})}), {1}, {std::numeric_limits<float>::max()});
    constexpr double limit = std::numeric_limits<float>::max(); // of Clip's versions 6 to 10
    tensor const wide = of<double>({2}, {-1e300, 1e300});
    check<double>(node("Clip", 6)({wide}), {2}, {-limit, limit});
    for (std::int64_t const opset : {1, 11})
        check<double>(node("Clip", opset)({wide}), {2}, {-1e300, 1e300});
}

TEST_CASE("Equal and Where on strings")
{
    tensor const a = of<std::string>({2}, {"a", "b"}), b = of<std::string>({1}, {"b"});
    check<bool>(node("Equal", 19)({a, b}), {2}, {false, true});
    check<std::string>(
        node("Where", 16)({of<bool>({2, 1}, {true, false}), a, b}), {2, 2}, {"a", "b", "b", "b"});
    CHECK_THROWS_AS(node("Where", 16)({of<bool>({}, {true}), a, numbers({1})}), runner_error);
}

TEST_CASE("Cast reads and writes numbers as text, and stays defined out of range")
{
    auto const cast = [](tensor const& x, element_type to) {
        return node("Cast", 19).with("to", static_cast<std::int64_t>(to))({x});
    };
    tensor const texts = of<std::string>({6}, {"1.5", "-INF", "+inf", "1E3", "100", "-0.25"});
    check<float>(cast(texts, element_type::float_), {6}, {1.5f, -inf, inf, 1000, 100, -0.25f});
    check<std::int8_t>(
        cast(of<std::string>({3}, {"100.5", "-7", "300"}), element_type::int8), {3}, {100, -7, 44});
    check<std::string>(cast(of<float>({5}, {314.15926f, 1e-7f, -inf, NAN, 2}), element_type::string), {5},
        {"314.15927", "0.0000001", "-INF", "NaN", "2"});
    check<std::string>(cast(numbers({-5}), element_type::string), {1}, {"-5"});
    check<bool>(
        cast(of<std::string>({3}, {"0.5", "0", "-2"}), element_type::bool_), {3}, {true, false, true});
    check<std::int32_t>(cast(of<float>({4}, {-2.9f, 1e20f, -inf, NAN}), element_type::int32), {4},
        {-2, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(), 0});
    check<std::uint8_t>(cast(numbers({300, -1}), element_type::uint8), {2}, {44, 255});
    check<bool>(cast(of<float>({3}, {0, 0.1f, -0.0f}), element_type::bool_), {3}, {false, true, false});
    CHECK_THROWS_WITH_AS(cast(of<std::string>({1}, {"1 2"}), element_type::float_),
        "the string '1 2' is no number", runner_error);
    check<std::int64_t>(cast(of<std::string>({1}, {"+5"}), element_type::int64), {1}, {5});
    CHECK_THROWS_WITH_AS(cast(of<std::string>({1}, {"+-5"}), element_type::int64),
        "the string '+-5' is no number", runner_error);
    CHECK_THROWS_AS(cast(numbers({1}), element_type::undefined), runner_error);
    // Powers of two: 2.5 is between 2 and 4, 3.5 nearer to 4.
    for (auto const& [mode, low, high] :
        {std::tuple{"down", 2.0f, 2.0f}, {"nearest", 2.0f, 4.0f}, {"up", 4.0f, 4.0f}}) {
        auto const rounded =
            node("Cast", 24).with("to", 24).with("round_mode", mode)({of<float>({2}, {2.5f, 3.5f})});
        auto const items = rounded[0].as_tensor().items<xloom::float8_e8m0>();
        CHECK(static_cast<float>(items[0]) == low);
        CHECK(static_cast<float>(items[1]) == high);
    }
    CHECK_THROWS_WITH_AS(node("Cast", 24).with("to", 24).with("round_mode", "odd")({of<float>({1}, {1})}),
        "round_mode is up, down or nearest, but is 'odd'", runner_error);
    CHECK_THROWS_WITH_AS(node("Cast", 5).with("to", "UNDEFINED")({numbers({3})}),
        "the attribute 'to' is 0, which is no element type", runner_error);
    check<double>(node("Cast", 5).with("to", "DOUBLE")({numbers({3})}), {1}, {3});
}

TEST_CASE("items of every size are moved")
{
    using wide = std::complex<double>;
    check<wide>(
        node("Gather", 13)({of<wide>({2}, {{1, 2}, {3, 4}}), numbers({1, 0})}), {2}, {{3, 4}, {1, 2}});
    check<std::int16_t>(node("Gather", 13)({of<std::int16_t>({2}, {1, 2}), numbers({1, 0})}), {2}, {2, 1});
}

TEST_CASE("a sparse Constant: places along one axis or along all, and what is none")
{
    auto const made = [](xloom::shape const& dims, std::vector<float> const& items,
                          xloom::shape const& places_dims, std::vector<std::int64_t> const& places) {
        onnx::NodeProto proto;
        proto.set_op_type("Constant");
        onnx::AttributeProto& added = *proto.add_attribute();
        added.set_name("sparse_value");
        added.set_type(onnx::AttributeProto::SPARSE_TENSOR);
        onnx::SparseTensorProto& sparse = *added.mutable_sparse_tensor();
        for (std::size_t const dim : dims)
            sparse.add_dims(static_cast<std::int64_t>(dim));
        sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
        sparse.mutable_values()->add_dims(static_cast<std::int64_t>(items.size()));
        for (float const item : items)
            sparse.mutable_values()->add_float_data(item);
        sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
        for (std::size_t const dim : places_dims)
            sparse.mutable_indices()->add_dims(static_cast<std::int64_t>(dim));
        for (std::int64_t const place : places)
            sparse.mutable_indices()->add_int64_data(place);
        scope const around;
        return find_operation("", "Constant")->run(call({proto, 13, {}}, {}, around));
    };
    check<float>(made({2, 3}, {7, 8}, {2}, {1, 5}), {2, 3}, {0, 7, 0, 0, 0, 8});
    check<float>(made({2, 3}, {7, 8}, {2, 2}, {0, 1, 1, 2}), {2, 3}, {0, 7, 0, 0, 0, 8});
    check<float>(made({2}, {}, {0}, {}), {2}, {0, 0});
    for (std::int64_t const place : {-1, 6})
        CHECK_THROWS_WITH_AS(made({2, 3}, {7}, {1}, {place}),
            fmt::format("a sparse tensor's index {} is outside 0 .. 6 - 1", place).c_str(), runner_error);
    CHECK_THROWS_WITH_AS(
        made({2, 3}, {7}, {1, 2}, {0, 3}), "a sparse tensor's index 3 is outside 0 .. 3 - 1", runner_error);
    CHECK_THROWS_WITH_AS(made({2, 3}, {7, 8}, {1}, {0}),
        "a sparse tensor of the shape [2, 3] has values of the shape [2] and indices of the shape [1]",
        runner_error);
    for (xloom::shape const& transposed : {xloom::shape{2, 3}, xloom::shape{1, 3, 2}})
        CHECK_THROWS_WITH_AS(made({2, 2}, {7, 8, 9}, transposed, {0, 1, 1, 0, 1, 1}),
            doctest::Contains("values of the shape [3] and indices of the shape"), runner_error);
}

TEST_CASE("reductions of nothing, and along no axes")
{
    tensor const none = of<float>({2, 0, 1}, {});
    check<float>(node("ReduceSum", 13)({none, numbers({1})}), {2, 1, 1}, {0, 0});
    check<float>(node("ReduceProd", 18).with("keepdims", 0)({none, numbers({1})}), {2, 1}, {1, 1});
    check<float>(node("ReduceMax", 18)({none, numbers({-2})}), {2, 1, 1}, {-inf, -inf});
    check<std::int8_t>(node("ReduceMin", 18)({of<std::int8_t>({0}, {})}), {1}, {127});
    check<bool>(node("ReduceMax", 20)({of<bool>({0}, {})}), {1}, {false});
    CHECK(std::isnan(node("ReduceMean", 18)({none})[0].as_tensor().items<float>()[0]));
    CHECK_THROWS_AS(node("ReduceMean", 18)({of<std::int32_t>({0}, {})}), runner_error);
    CHECK_THROWS_AS(node("ArgMax", 13).with("axis", 1)({none}), runner_error);

    tensor const x = of<float>({2, 2}, {1, -2, 3, -4});
    check<float>(node("ReduceL2", 18).with("noop_with_empty_axes", 1)({x}), {2, 2}, {1, 2, 3, 4});
    check<float>(node("ReduceSum", 13).with("keepdims", 0)({x, numbers({})}), {}, {-2});
    check<float>(node("ReduceMean", 17).with("axes", {0})({x}), {1, 2}, {2, -3});
    check<float>(node("ReduceMax", 18)
                     .with("keepdims", 0)({of<float>({2, 2, 2}, {1, 8, 3, 4, 5, 6, 7, 2}), numbers({0, 2})}),
        {2}, {8, 7});
    CHECK_THROWS_WITH_AS(
        node("ReduceSum", 13)({x, numbers({0, -2})}), "the axis 0 is given twice", runner_error);
    CHECK_THROWS_WITH_AS(
        node("ReduceSum", 13)({x, numbers({2})}), "the axis 2 is none of a tensor of rank 2", runner_error);
}

TEST_CASE("sums and means of -0 alone are -0, those of nothing 0")
{
    tensor const zeros = of<float>({2, 2}, {-0.0f, 0, -0.0f, -0.0f});
    for (char const* const type : {"ReduceSum", "ReduceMean"}) {
        check<float>(
            node(type, 18).with("noop_with_empty_axes", 1)({zeros}), {2, 2}, {-0.0f, 0, -0.0f, -0.0f});
        check<float>(node(type, 18)({zeros, numbers({0})}), {1, 2}, {-0.0f, 0});
        check<float>(node(type, 18)({zeros, numbers({1})}), {2, 1}, {0, -0.0f});
    }
    check<double>(node("ReduceSum", 13)({of<double>({0}, {})}), {1}, {0});
    check<float>(node("ReduceL1", 18)({zeros, numbers({1})}), {2, 1}, {0, 0});
    check<std::int32_t>(node("ReduceSum", 13)({of<std::int32_t>({2}, {-3, 1})}), {1}, {-2});
}

TEST_CASE("ArgMax and ArgMin: the first or the last of equal items, and of NaN")
{
    for (char const* const type : {"ArgMax", "ArgMin"}) {
        tensor const rows = of<float>({4, 3}, {3, NAN, 1, 1, NAN, 3, 2, 2, 2, NAN, 5, NAN});
        check<std::int64_t>(node(type, 13).with("axis", 1)({rows}), {4, 1}, {1, 1, 0, 0});
        check<std::int64_t>(
            node(type, 13).with("axis", 1).with("select_last_index", 1)({rows}), {4, 1}, {1, 1, 2, 2});
    }
}

TEST_CASE("Softmax flattens before opset 13")
{
    tensor const x = of<float>({1, 2, 2}, {0, 0, 0, 0});
    check<float>(node("Softmax", 11)({x}), {1, 2, 2}, {0.25f, 0.25f, 0.25f, 0.25f});
    check<float>(node("Softmax", 13)({x}), {1, 2, 2}, {0.5f, 0.5f, 0.5f, 0.5f});
    check<float>(node("Softmax", 13)({of<float>({0, 3}, {})}), {0, 3}, {});
}

TEST_CASE("Slice with negative steps and limits beyond the axis")
{
    tensor const x = of<std::int32_t>({5}, {0, 1, 2, 3, 4});
    constexpr auto most = std::numeric_limits<std::int64_t>::max(),
                   least = std::numeric_limits<std::int64_t>::min();
    auto const slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
        return node("Slice", 13)({x, numbers({start}), numbers({end}), numbers({0}), numbers({step})});
    };
    check<std::int32_t>(slice(most, least, -2), {3}, {4, 2, 0});
    check<std::int32_t>(slice(-2, -5, -1), {3}, {3, 2, 1});
    check<std::int32_t>(slice(3, -1, -1), {0}, {});
    check<std::int32_t>(slice(4, least, least), {1}, {4});
    check<std::int32_t>(slice(least, most, most), {1}, {0});
    check<std::int32_t>(slice(1, most, 3), {2}, {1, 4});
    check<std::int32_t>(slice(4, 1, 1), {0}, {});
    CHECK_THROWS_WITH_AS(slice(0, 1, 0), "a step is 0", runner_error);
    check<std::int32_t>(node("Slice", 1).with("starts", {-2}).with("ends", {9})({x}), {2}, {3, 4});
    check<float>(node("Slice", 13)(
                     {of<float>({2, 0}, {}), numbers({1}), numbers({least}), numbers({1}), numbers({-1})}),
        {2, 0}, {});
    check<float>(
        node("Slice", 13)({of<float>({0, 4}, {}), numbers({2}), numbers({4}), numbers({1})}), {0, 2}, {});
    // An empty list is not an omitted one.
    CHECK_THROWS_WITH_AS(node("Slice", 13)({x, numbers({1}), numbers({2}), numbers({})}),
        "starts, ends, axes and steps have 1, 1, 0 and 0 items", runner_error);
    CHECK_THROWS_WITH_AS(node("Slice", 13)({x, numbers({1}), numbers({2}), numbers({0}), numbers({})}),
        "starts, ends, axes and steps have 1, 1, 1 and 0 items", runner_error);
    CHECK_THROWS_WITH_AS(node("Slice", 1).with("starts", {1}).with("ends", {2}).with("axes", {})({x}),
        "starts, ends, axes and steps have 1, 1, 0 and 0 items", runner_error);
    check<std::int32_t>(node("Slice", 13)({x, numbers({}), numbers({}), numbers({})}), {5}, {0, 1, 2, 3, 4});
}

TEST_CASE("Split into parts that are not equal")
{
    tensor const x = of<float>({5}, {0, 1, 2, 3, 4});
    auto const parts = node("Split", 18).with("num_outputs", 4).outputs(4)({x});
    check<float>(parts, {2}, {2, 3}, 1);
    check<float>(parts, {1}, {4}, 2);
    check<float>(parts, {0}, {}, 3);
    check<float>(node("Split", 13).outputs(2)({x, numbers({1, 4})}), {1}, {0});
    CHECK_THROWS_AS(node("Split", 13).outputs(2)({x}), runner_error);
    CHECK_THROWS_AS(node("Split", 13).outputs(2)({x, numbers({1, 3})}), runner_error);
    CHECK_THROWS_AS(node("Split", 13).outputs(2)({x, numbers({-1, 6})}), runner_error);
    CHECK_THROWS_WITH_AS(node("Split", 18).outputs(2)({x}),
        "it must have either the input split or the attribute num_outputs, but has neither", runner_error);
    CHECK_THROWS_WITH_AS(node("Split", 18).with("num_outputs", 2).outputs(2)({x, numbers({3, 2})}),
        "it must have either the input split or the attribute num_outputs, but has both", runner_error);
    // Up to opset 1 the lengths have the type of what is split.
    check<float>(node("Split", 1).outputs(2)({x, of<float>({2}, {3, 2})}), {2}, {3, 4}, 1);
}

TEST_CASE("Pad cuts off before it adds, and reflects as often as it takes")
{
    tensor const x = of<float>({3}, {1, 2, 3});
    check<float>(node("Pad", 18)({x, numbers({-1, 2})}), {4}, {2, 3, 0, 0});
    check<float>(
        node("Pad", 18).with("mode", "reflect")({x, numbers({3, 3})}), {9}, {2, 3, 2, 1, 2, 3, 2, 1, 2});
    check<float>(node("Pad", 18).with("mode", "edge")({x, numbers({2, 1})}), {6}, {1, 1, 1, 2, 3, 3});
    check<float>(node("Pad", 19).with("mode", "wrap")({x, numbers({4, 1})}), {8}, {3, 1, 2, 3, 1, 2, 3, 1});
    check<float>(node("Pad", 1).with("paddings", {1, 0}).with("value", 7.0f)({x}), {4}, {7, 1, 2, 3});
    CHECK_THROWS_AS(
        node("Pad", 18).with("mode", "edge")({of<float>({0}, {}), numbers({1, 0})}), runner_error);
    CHECK_THROWS_AS(node("Pad", 18)({x, numbers({-2, -2})}), runner_error);
    check<std::string>(node("Pad", 18)({of<std::string>({1}, {"a"}), numbers({1, 0})}), {2}, {"", "a"});
}

TEST_CASE("Reshape")
{
    tensor const x = of<float>({2, 0, 3}, {});
    check<float>(node("Reshape", 14)({x, numbers({0, 0, 3})}), {2, 0, 3}, {});
    check<float>(node("Reshape", 14).with("allowzero", 1)({x, numbers({3, 0})}), {3, 0}, {});
    check<float>(node("Reshape", 14)({of<float>({1, 1}, {5}), numbers({})}), {}, {5});
    check<float>(node("Reshape", 14)({x, numbers({0, -1})}), {2, 0}, {});
    CHECK_THROWS_AS(node("Reshape", 14)({x, numbers({-1, 0})}), runner_error);
    CHECK_THROWS_AS(node("Reshape", 14)({of<float>({4}, {1, 2, 3, 4}), numbers({-1, 3})}), runner_error);
    CHECK_THROWS_AS(node("Reshape", 14)({of<float>({4}, {1, 2, 3, 4}), numbers({-1, -1})}), runner_error);
    CHECK_THROWS_AS(
        node("Reshape", 14)({of<float>({1}, {1}), numbers({1ll << 33, 1ll << 33})}), runner_error);
}

TEST_CASE("sizes that no input justifies are refused")
{
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    tensor const one = of<float>({1}, {1});
    CHECK_THROWS_AS(node("Expand", 13)({one, numbers({huge})}), runner_error);
    CHECK_THROWS_AS(node("Tile", 13)({one, numbers({huge})}), runner_error);
    CHECK_THROWS_AS(
        node("Tile", 13)({of<float>({2}, {1, 2}), numbers({std::numeric_limits<std::int64_t>::max()})}),
        runner_error);
    CHECK_THROWS_AS(node("Pad", 18)({one, numbers({huge, 0})}), runner_error);
    CHECK_THROWS_AS(
        node("Pad", 18)({one, numbers({0, std::numeric_limits<std::int64_t>::max()})}), runner_error);
    CHECK_THROWS_AS(node("ConstantOfShape", 9)({numbers({huge, huge})}), runner_error);
    CHECK_THROWS_AS(node("ConstantOfShape", 9)({numbers({-1})}), runner_error);
    CHECK_THROWS_AS(node("Range", 11)({numbers({0}), numbers({huge}), numbers({1})}), runner_error);
    CHECK_THROWS_AS(
        node("Range", 11)({of<float>({}, {0}), of<float>({}, {inf}), of<float>({}, {1})}), runner_error);
    CHECK_THROWS_AS(node("Range", 11)({numbers({0}), numbers({1}), numbers({0})}), runner_error);
    auto const stashed = [](std::int64_t type, element_type element) {
        tensor const zero(convert(of<float>({}, {0}), element)), two(convert(of<float>({}, {2}), element)),
            half(convert(of<float>({}, {1}), element));
        return node("Range", 27).with("stash_type", type)({zero, two, half});
    };
    CHECK(stashed(1, element_type::float16)[0].as_tensor().size() == 2);
    check<float>(stashed(11, element_type::float_), {2}, {0, 1}); // of no effect
    CHECK_THROWS_WITH_AS(stashed(11, element_type::bfloat16), "Range with stash_type = 11 is not implemented",
        not_implemented);
    CHECK_THROWS_WITH_AS(
        stashed(10, element_type::float16), "stash_type is 1 or 11, but is 10", runner_error);
    CHECK_THROWS_AS(
        node("Expand", 13)({of<std::string>({1}, {std::string(1 << 20, 'a')}), numbers({1 << 20})}),
        runner_error);
    CHECK_THROWS_AS(node("Tile", 13)({of<float>({1, 1}, {1}), numbers({1 << 28, 1 << 28})}), runner_error);
    CHECK_THROWS_AS(node("Concat", 13).with("axis", 0)({}), runner_error);
    CHECK_THROWS_WITH_AS(node("Concat", 13).with("axis", 0)({one, numbers({1})}),
        "it cannot join float[1] and int64[1]", runner_error);
    check<float>(node("Tile", 13)({of<float>({1, 3}, {1, 2, 3}), numbers({2, 3})}), {2, 9},
        {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
    check<std::int32_t>(
        node("ReduceL2", 18)({of<std::int32_t>({2}, {std::numeric_limits<std::int32_t>::min(), 1 << 30})}),
        {1}, {std::numeric_limits<std::int32_t>::max()});
    CHECK_THROWS_AS(node("Tile", 13)({of<float>({1, 1}, {1}), numbers({huge, 0})}), runner_error);
    check<float>(node("Tile", 13)({of<float>({1, 1}, {1}), numbers({1000, 0})}), {1000, 0}, {});
    check<std::int64_t>(node("Range", 11)({numbers({std::numeric_limits<std::int64_t>::min()}),
                            numbers({std::numeric_limits<std::int64_t>::max()}),
                            numbers({std::numeric_limits<std::int64_t>::max()})}),
        {3}, {std::numeric_limits<std::int64_t>::min(), -1, std::numeric_limits<std::int64_t>::max() - 1});
}

TEST_CASE("MatMul of vectors, stacks, whole numbers and nothing")
{
    tensor const m = of<std::int32_t>({2, 2}, {1, 2, 3, 4}), v = of<std::int32_t>({2}, {5, 6});
    check<std::int32_t>(node("MatMul", 13)({m, v}), {2}, {17, 39});
    check<std::int32_t>(node("MatMul", 13)({v, m}), {2}, {23, 34});
    check<std::int32_t>(node("MatMul", 13)({v, v}), {}, {61});
    check<float>(
        node("MatMul", 13)({of<float>({2, 1, 1, 2}, {1, 2, 3, 4}), of<float>({2, 2, 1}, {1, 0, 0, 1})}),
        {2, 2, 1, 1}, {1, 2, 3, 4});
    check<float>(node("MatMul", 13)({of<float>({2, 0}, {}), of<float>({0, 1}, {})}), {2, 1}, {0, 0});
    auto const narrow =
        node("MatMul", 13)({convert(m, element_type::bfloat16), convert(v, element_type::bfloat16)});
    check<std::int32_t>({convert(narrow[0].as_tensor(), element_type::int32)}, {2}, {17, 39});
    CHECK_THROWS_AS(node("MatMul", 13)({of<float>({}, {1}), of<float>({1}, {1})}), runner_error);
    tensor const wide = of<float>({2, 2}, {1, 2, 3, 4}), half = convert(wide, element_type::float16);
    for (auto const& [a, b] : {std::pair{wide, half}, {half, wide}}) {
        CHECK_THROWS_WITH_AS(node("MatMul", 13)({a, b}), "A and B must be of one type", runner_error);
        CHECK_THROWS_WITH_AS(node("Gemm", 13)({a, b}), "A and B must be of one type", runner_error);
        CHECK_THROWS_WITH_AS(node("Gemm", 13)({a, a, b}), "A, B and C must be of one type", runner_error);
    }
    CHECK_THROWS_WITH_AS(node("MatMul", 13)({m, of<std::int32_t>({3, 1}, {1, 2, 3})}), //
        "matrices of the shapes [2, 2] and [3, 1] cannot be multiplied", runner_error);
    // Large enough for packed panels: against sums by hand.
    tensor a(element_type::double_, {9, 11}), b(element_type::double_, {11, 10});
    for (std::size_t i = 0; i < a.size(); ++i)
        a.items<double>()[i] = static_cast<double>(i % 7) - 3;
    for (std::size_t i = 0; i < b.size(); ++i)
        b.items<double>()[i] = static_cast<double>(i % 5) - 2;
    auto const product = node("MatMul", 13)({a, b});
    for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t j = 0; j < 10; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 11; ++k)
                sum += a.items<double>()[i * 11 + k] * b.items<double>()[k * 10 + j];
            CHECK(product[0].as_tensor().items<double>()[i * 10 + j] == sum);
        }
}

TEST_CASE("Conv along one axis: pads, dilation, groups, auto_pad")
{
    tensor const x = of<float>({1, 2, 4}, {1, 2, 3, 4, 10, 20, 30, 40}),
                 w = of<float>({2, 1, 2}, {1, 1, 1, -1});
    check<float>(node("Conv", 11).with("group", 2).with("dilations", {2}).with("pads", {1, 0})({x, w}),
        {1, 2, 3}, {2, 4, 6, -20, -20, -20});
    check<float>(node("Conv", 11)
                     .with("group", 2)
                     .with("strides", {2})
                     .with("auto_pad", "SAME_LOWER")({x, w, of<float>({2}, {0, 1})}),
        {1, 2, 2}, {3, 7, -9, -9});
    check<float>(node("Conv", 11).with("group", 2).with("auto_pad", "SAME_LOWER")({x, w}), {1, 2, 4},
        {1, 3, 5, 7, -10, -10, -10, -10});
    CHECK_THROWS_AS(node("Conv", 11)({x, w}), runner_error);
    CHECK_THROWS_WITH_AS(node("Conv", 11).with("group", 2)({x, w, of<double>({2}, {0, 1})}),
        "X, W and B must be of one type", runner_error);
    CHECK_THROWS_AS(node("Conv", 11).with("group", 2).with("strides", {0})({x, w}), runner_error);
    CHECK_THROWS_AS(node("Conv", 11).with("group", 2).with("dilations", {9})({x, w}), runner_error);
}

TEST_CASE("Conv of no outputs")
{
    node const half = node("Conv", 11).with("strides", {2}).with("auto_pad", "SAME_UPPER");
    for (std::size_t const kernels : {8U, 2U})
        check<float>(half({of<float>({1, 16, 0}, {}), tensor(element_type::float_, {kernels, 16, 1})}),
            {1, kernels, 0}, {});
}

TEST_CASE("MatMulInteger: zero points, types")
{
    tensor const a = of<std::uint8_t>({2, 2}, {1, 2, 3, 255}), b = of<std::int8_t>({2, 1}, {-128, 5});
    check<std::int32_t>(node("MatMulInteger", 10)({a, b}), {2, 1}, {-118, 891});
    check<std::int32_t>(
        node("MatMulInteger", 10)({a, b, of<std::uint8_t>({2}, {1, 3}), of<std::int8_t>({1}, {5})}), {2, 1},
        {0, 0});
    check<std::int32_t>(node("MatMulInteger", 10)({of<std::int8_t>({1}, {-128}), of<std::int8_t>({1}, {-128}),
                            of<std::int8_t>({}, {127}), of<std::int8_t>({}, {127})}),
        {}, {65025});
    CHECK_THROWS_WITH_AS(node("MatMulInteger", 10)({a, of<std::int32_t>({2, 1}, {1, 2})}),
        "the element type int32 is not possible here", impossible_type);
    CHECK_THROWS_WITH_AS(node("MatMulInteger", 10)({a, b, of<std::int8_t>({}, {1})}),
        "a tensor of uint8 is needed, but it holds int8", impossible_type);
    CHECK_THROWS_WITH_AS(node("MatMulInteger", 10)({a, b, of<std::uint8_t>({3}, {1, 1, 1})}),
        "a_zero_point of the shape [3] is not one number, nor one for each row of the shape [2, 2]",
        runner_error);
    CHECK_THROWS_WITH_AS(node("MatMulInteger", 10)(
                             {a, b.reshaped({2}), of<std::uint8_t>({}, {0}), of<std::int8_t>({2}, {1, 0})}),
        "b_zero_point of the shape [2] is not one number, nor one for each column of the shape [2]",
        runner_error);
    with_budget const limits({.bytes = 1 << 16, .tensor_bytes = 1 << 16, .steps = 100});
    tensor const row(element_type::uint8, {1, 30'000});
    CHECK_THROWS_AS(node("MatMulInteger", 10)({row.reshaped({30'000, 1}), row}), runner_error);
}

TEST_CASE("QuantizeLinear: the types of each version, output_dtype, precision")
{
    tensor const x = of<float>({3}, {-3, 2.5f, 700}), one = of<float>({}, {1});
    check<std::uint8_t>(node("QuantizeLinear", 10)({x, one}), {3}, {0, 2, 255});
    check<std::int8_t>(node("QuantizeLinear", 13)
                           .with("axis", 0)({x, of<float>({3}, {2, 1, 10}), of<std::int8_t>({3}, {1, 2, 3})}),
        {3}, {-1, 4, 73}); // -1.5 to even
    check<std::uint8_t>(
        node("QuantizeLinear", 10)({of<std::int32_t>({2}, {-5, 6}), of<float>({1}, {4})}), {2}, {0, 2});
    check<std::uint8_t>(
        node("QuantizeLinear", 19)({of<std::int32_t>({2}, {5, 6}), of<std::int32_t>({}, {4})}), {2}, {1, 2});
    // 33558529 / 8192 is above 4096.5, and as a float 4096.5.
    tensor const large = of<std::int32_t>({}, {33558529}), origin = of<std::int16_t>({}, {0});
    check<std::int16_t>(
        node("QuantizeLinear", 21)({large, of<std::int32_t>({}, {8192}), origin}), {}, {4097});
    check<std::int16_t>(node("QuantizeLinear", 21)({large, of<float>({}, {8192}), origin}), {}, {4096});
    check<std::int16_t>(node("QuantizeLinear", 21).with("output_dtype", 5)({x, one}), {3}, {-3, 2, 700});
    check<std::uint16_t>(
        node("QuantizeLinear", 21)
            .with("axis", -1)
            .with("block_size", 2)
            .with("output_dtype", 0)({x, of<float>({2}, {1, 7}), of<std::uint16_t>({2}, {9, 0})}),
        {3}, {6, 11, 100});
    auto const small = node("QuantizeLinear", 21)({x, one, of<xloom::int4>({}, {xloom::int4(1)})});
    CHECK(small[0].as_tensor().type() == element_type::int4);
    CHECK(small[0].as_tensor().items<xloom::int4>()[1] == 3);
    CHECK(small[0].as_tensor().items<xloom::int4>()[2] == 7);
    tensor const half = of<xloom::float16>({}, {xloom::float16(2.0f)});
    tensor const numbers = of<float>({1}, {4101});
    check<std::int16_t>(node("QuantizeLinear", 23).with("output_dtype", 5)({numbers, half}), {1}, {2050});
    check<std::int16_t>(
        node("QuantizeLinear", 23).with("output_dtype", 5).with("precision", 16)({numbers, half}), {1},
        {2048});
    for (auto const& [opset, zero, text] :
        {std::tuple{std::int64_t{19}, tensor(element_type::int16, {}), "int16 begins with opset 21"},
            {19, tensor(element_type::uint16, {}), "uint16 begins with opset 21"},
            {19, tensor(element_type::int4, {}), "int4 begins with opset 21"},
            {19, tensor(element_type::uint4, {}), "uint4 begins with opset 21"},
            {18, tensor(element_type::float8_e4m3fn, {}), "float8e4m3fn begins with opset 19"},
            {18, tensor(element_type::float8_e4m3fnuz, {}), "float8e4m3fnuz begins with opset 19"},
            {18, tensor(element_type::float8_e5m2fnuz, {}), "float8e5m2fnuz begins with opset 19"},
            {24, tensor(element_type::int2, {}), "int2 begins with opset 25"},
            {13, tensor(element_type::float8_e5m2, {}), "float8e5m2 begins with opset 19"},
            {21, tensor(element_type::float4_e2m1, {}), "float4e2m1 begins with opset 23"},
            {24, tensor(element_type::uint2, {}), "uint2 begins with opset 25"}})
        CHECK_THROWS_WITH_AS(
            node("QuantizeLinear", opset)({x, one, zero}), doctest::Contains(text), impossible_type);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 13)({half, one}),
        "the element type float16 begins with opset 19", impossible_type);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 21)({of<double>({1}, {1}), one}),
        "the element type double is not possible here", impossible_type);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 21)({x, one, of<std::int32_t>({}, {1})}),
        "the element type int32 is not possible here", impossible_type);
    CHECK_THROWS_WITH_AS(
        node("QuantizeLinear", 21).with("output_dtype", 3)({x, one, of<std::uint8_t>({}, {1})}),
        "its output_dtype is int8, but y_zero_point has the element type uint8", runner_error);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 21).with("output_dtype", 77)({x, one}),
        "its output_dtype is 77, which is no element type", runner_error);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 23).with("precision", 11)({x, one}),
        "its precision must be float, float16 or bfloat16, but is double", runner_error);
    check<std::uint8_t>(node("QuantizeLinear", 21).with("block_size", 2)({x, one}), {3}, {0, 2, 255});
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 23).with("precision", 6)({x, one}),
        "its precision must be float, float16 or bfloat16, but is int32", runner_error);
    CHECK_THROWS_WITH_AS(node("QuantizeLinear", 13)({x, of<float>({2}, {1, 1})}),
        "the axis 1 is none of a tensor of rank 1", runner_error);
}

TEST_CASE("DequantizeLinear: the types of each version; DynamicQuantizeLinear")
{
    tensor const x = of<std::int8_t>({2, 1}, {-128, 4}), half = of<float>({2}, {0.5f, 2});
    check<float>(node("DequantizeLinear", 13).with("axis", 0)({x, half, of<std::int8_t>({2}, {127, 1})}),
        {2, 1}, {-127.5f, 6});
    check<float>(
        node("DequantizeLinear", 10)({of<std::int32_t>({2}, {-5, 6}), of<float>({}, {2})}), {2}, {-10, 12});
    check<float>(node("DequantizeLinear", 21)
                     .with("block_size", 2)
                     .with("axis", 0)({x, of<float>({1, 1}, {2}), of<std::int8_t>({1, 1}, {4})}),
        {2, 1}, {-264, 0});
    auto const made = node("DequantizeLinear", 23)
                          .with("output_dtype", 16)({x, of<xloom::float16>({}, {xloom::float16(3.0f)})});
    CHECK(static_cast<float>(made[0].as_tensor().items<xloom::bfloat16>()[0]) == -384);
    auto const like_scale = node("DequantizeLinear", 19)({x, of<xloom::float16>({}, {xloom::float16(3.0f)})});
    CHECK(static_cast<float>(like_scale[0].as_tensor().items<xloom::float16>()[1]) == 12);
    auto const wide_scale =
        node("DequantizeLinear", 19)({x, of<xloom::bfloat16>({}, {xloom::bfloat16(3.0f)})});
    CHECK(static_cast<float>(wide_scale[0].as_tensor().items<xloom::bfloat16>()[1]) == 12);
    check<float>(node("DequantizeLinear", 24)({x, of<xloom::float8_e8m0>({}, {xloom::float8_e8m0(0.25f)})}),
        {2, 1}, {-32, 1});
    CHECK_THROWS_WITH_AS(node("DequantizeLinear", 13)({x, half, of<std::uint8_t>({2}, {127, 1})}),
        "a tensor of int8 is needed, but it holds uint8", impossible_type);
    CHECK_THROWS_WITH_AS(node("DequantizeLinear", 13)({of<std::int64_t>({1}, {1}), half}),
        "the element type int64 is not possible here", impossible_type);
    CHECK_THROWS_WITH_AS(node("DequantizeLinear", 13).with("axis", 0)({x, half, of<std::int8_t>({}, {1})}),
        "the zero point has the shape [], but the scale has the shape [2]", runner_error);
    auto const dynamic = node("DynamicQuantizeLinear", 11).outputs(3)({of<float>({1, 2}, {-255, 255})});
    check<std::uint8_t>(dynamic, {1, 2}, {0, 255});
    check<float>(dynamic, {}, {2}, 1);
    check<std::uint8_t>(dynamic, {}, {128}, 2); // 127.5 to even
    CHECK_THROWS_AS(node("DynamicQuantizeLinear", 11).outputs(3)({of<double>({1}, {1})}), impossible_type);
}

TEST_CASE("ConvTranspose of hostile sizes, of types")
{
    tensor const x = of<float>({1, 1, 2}, {1, 2}), w = of<float>({1, 1, 2}, {3, 4});
    check<float>(node("ConvTranspose", 11).with("strides", {2})({x, w}), {1, 1, 4}, {3, 4, 6, 8});
    check<float>(node("ConvTranspose", 1).with("auto_pad", "SAME_LOWER")({x, w, of<float>({1}, {1})}),
        {1, 1, 2}, {11, 9}); // 3, 10, 8 of which the first is cut
    auto const half = node("ConvTranspose", 22)({of<xloom::float16>({1, 1, 1}, {xloom::float16(2.0f)}),
        of<xloom::float16>({1, 1, 1}, {xloom::float16(1.5f)})});
    CHECK(static_cast<float>(half[0].as_tensor().items<xloom::float16>()[0]) == 3);
    with_budget const limits({.bytes = 1 << 24, .tensor_bytes = 1 << 20, .steps = 100'000});
    std::int64_t const most = (std::int64_t{1} << 31) - 1;
    CHECK_THROWS_WITH_AS(node("ConvTranspose", 11).with("strides", {most})({x, w}),
        doctest::Contains("would take more than 1048576 bytes"), runner_error);
    CHECK_THROWS_WITH_AS(node("ConvTranspose", 11).with("output_shape", {most})({x, w}),
        doctest::Contains("would take more than 1048576 bytes"), runner_error);
    CHECK_THROWS_WITH_AS(node("ConvTranspose", 11).with("pads", {most, most})({x, w}),
        "pads of 2147483647 and 2147483647 items cannot be cut from 3", runner_error);
    CHECK_THROWS_WITH_AS(node("ConvTranspose", 11)({x, of<double>({1, 1, 1}, {1})}),
        "X, W and B must be of one type", runner_error);
    CHECK_THROWS_WITH_AS(node("ConvTranspose", 11)({tensor(element_type::float_, {1, 1, 1, 1, 1, 1}), w}),
        "ConvTranspose along more than three axes is not implemented", not_implemented);
    check<float>(node("ConvTranspose", 11)
                     .with("group", most)(
                         {tensor(element_type::float_, {1, 0, 1}), tensor(element_type::float_, {0, 0, 1})}),
        {1, 0, 1}, {});
    tensor const wide(element_type::float_, {1, 60'000, 1});
    CHECK_THROWS_AS(node("ConvTranspose", 11)({wide.reshaped({1, 1, 60'000}), wide.reshaped({1, 1, 60'000})}),
        runner_error);
}

TEST_CASE("MaxPool: every type, indices in both orders, NaN, what its versions have")
{
    tensor const x = of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 9, 5, 6, 9, 8});
    node const pool = node("MaxPool", 12).with("kernel_shape", {2, 2});
    check<float>(pool({x}), {1, 1, 2, 2}, {9, 9, 9, 9});
    check<std::int64_t>(node(pool).outputs(2)({x}), {1, 1, 2, 2}, {4, 4, 4, 4}, 1);
    tensor const two = of<float>({1, 2, 1, 2}, {1, 3, 4, 2});
    node const row = node("MaxPool", 8).with("kernel_shape", {1, 2}).outputs(2);
    check<std::int64_t>(row({two}), {1, 2, 1, 1}, {1, 2}, 1);
    check<std::int64_t>(node("MaxPool", 8)
                            .with("kernel_shape", {2, 2})
                            .with("storage_order", 1)
                            .outputs(2)({of<float>({1, 2, 2, 3}, {0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0})}),
        {1, 2, 1, 2}, {0, 4, 9, 9}, 1);
    check<float>(
        node("MaxPool", 10).with("kernel_shape", {2, 2}).with("strides", {2, 2}).with("ceil_mode", 1)({x}),
        {1, 1, 2, 2}, {9, 5, 9, 8});
    check<double>(
        node("MaxPool", 1).with("kernel_shape", {2}).with("pads", {1, 0})({of<double>({1, 1, 2}, {-3, -5})}),
        {1, 1, 2}, {-3, -3});
    check<std::uint8_t>(
        node("MaxPool", 12).with("kernel_shape", {2})({of<std::uint8_t>({1, 1, 3}, {1, 200, 3})}), {1, 1, 2},
        {200, 200});
    check<std::int8_t>(node("MaxPool", 12)
                           .with("kernel_shape", {1})
                           .with("pads", {1, 0})({of<std::int8_t>({1, 1, 2}, {-7, 3})}),
        {1, 1, 3}, {-128, -7, 3}); // nothing but padding
    auto const half = node("MaxPool", 12)
                          .with("kernel_shape", {2})({tensor::of<xloom::float16>(
                              {1, 1, 2}, std::vector{xloom::float16(-2.0f), xloom::float16(-1.5f)})});
    CHECK(static_cast<float>(half[0].as_tensor().items<xloom::float16>()[0]) == -1.5f);
    CHECK_THROWS_WITH_AS(node("MaxPool", 11).with("kernel_shape", {2})({of<std::int8_t>({1, 1, 2}, {1, 2})}),
        "the element type int8 begins with opset 12", runner_error);
    CHECK_THROWS_WITH_AS(node("MaxPool", 12).with("kernel_shape", {2})({of<std::int64_t>({1, 1, 2}, {1, 2})}),
        "the element type int64 is not possible here", runner_error);
}

TEST_CASE("AveragePool: padding, dilations; global pools along any axes")
{
    tensor const x = of<float>({1, 1, 4}, {1, 2, 3, 6});
    node const pool =
        node("AveragePool", 19).with("kernel_shape", {3}).with("strides", {2}).with("pads", {1, 1});
    check<float>(pool({x}), {1, 1, 2}, {1.5f, 11 / 3.0f});
    check<float>(node(pool).with("count_include_pad", 1)({x}), {1, 1, 2}, {1, 11 / 3.0f});
    // The last window leaves the padded input: of its three items one is 0, one is none.
    check<float>(
        node(pool).with("count_include_pad", 1).with("ceil_mode", 1)({of<float>({1, 1, 3}, {1, 2, 3})}),
        {1, 1, 2}, {1, 5 / 3.0f});
    check<float>(node("AveragePool", 19)
                     .with("kernel_shape", {2})
                     .with("strides", {3})
                     .with("pads", {0, 1})
                     .with("ceil_mode", 1)
                     .with("count_include_pad", 1)({x}),
        {1, 1, 2}, {1.5f, 3});
    check<float>(
        node("AveragePool", 19).with("kernel_shape", {2}).with("dilations", {3})({x}), {1, 1, 1}, {3.5f});
    check<float>(node("AveragePool", 7).with("kernel_shape", {2}).with("auto_pad", "SAME_LOWER")({x}),
        {1, 1, 4}, {1, 1.5f, 2.5f, 4.5f});
    check<double>(
        node("GlobalAveragePool", 1)({of<double>({1, 2, 2, 1}, {1, 2, 3, 5})}), {1, 2, 1, 1}, {1.5, 4});
    check<float>(
        node("GlobalMaxPool", 1)({of<float>({1, 2, 1, 1, 2, 1}, {1, 2, 7, 5})}), {1, 2, 1, 1, 1, 1}, {2, 7});
    check<float>(node("GlobalMaxPool", 1)({of<float>({1, 1, 0}, {})}), {1, 1, 1}, {-inf});
    CHECK_THROWS_WITH_AS(node("GlobalMaxPool", 1)({of<float>({1, 2}, {1, 2})}),
        "X must have spatial axes, but has the shape [1, 2]", runner_error);
}

TEST_CASE("pools of hostile sizes")
{
    tensor const x = of<float>({1, 1, 2, 2}, {1, 2, 3, 4});
    std::int64_t const most = (std::int64_t{1} << 31) - 1;
    with_budget const limits({.bytes = 1 << 24, .tensor_bytes = 1 << 20, .steps = 100'000});
    auto const run = [&](std::initializer_list<std::int64_t> kernel, std::initializer_list<std::int64_t> pads,
                         std::int64_t dilation, char const* type) {
        return node(type, 19)
            .with("kernel_shape", kernel)
            .with("pads", pads)
            .with("dilations", {dilation, 1})({x});
    };
    for (char const* const type : {"MaxPool", "AveragePool"}) {
        CHECK_THROWS_WITH_AS(run({1, 1}, {most, most, most, most}, 1, type),
            doctest::Contains("does not fit in memory"), runner_error);
        CHECK_THROWS_WITH_AS(run({1, 1}, {0, 1 << 29, 0, 0}, 1, type),
            doctest::Contains("would take more than 1048576 bytes"), runner_error);
        CHECK_THROWS_WITH_AS(run({2, 2}, {0, 0, 0, 0}, most, type),
            "a kernel of 2147483648 items does not fit into 2 padded ones", runner_error);
        CHECK_THROWS_WITH_AS(
            run({2, 2}, {0, 0, 0}, 1, type), "its pads are [0, 0, 0] for 2 spatial axes", runner_error);
        CHECK_THROWS_WITH_AS(run({2, most + 1}, {0, 0, 0, 0}, 1, type),
            "its kernel_shape are [2, 2147483648] for 2 spatial axes", runner_error);
        // A kernel that is much larger than the input takes no longer than that.
        auto const whole = run({most, most}, {most, most, 0, 0}, 1, type);
        CHECK(whole[0].as_tensor().shape() == xloom::shape{1, 1, 3, 3});
        CHECK(whole[0].as_tensor().items<float>()[8] == (type == std::string("MaxPool") ? 4 : 2.5f));
        CHECK_THROWS_AS(
            node(type, 19).with("kernel_shape", {2, 2}).with("strides", {0, 1})({x}), runner_error);
    }
    check<float>(node("MaxPool", 12).with("kernel_shape", {2})({tensor(element_type::float_, {0, 3, 4})}),
        {0, 3, 3}, {});
    // The row of 16-bit floats is of floats, and along the axis before the last if that is none.
    with_budget const small({.bytes = 100'000});
    for (xloom::shape const& dims : {xloom::shape{1, 1, 1, 20'000}, {1, 1, 20'000, 1}})
        CHECK_THROWS_WITH_AS(
            node("AveragePool", 19).with("kernel_shape", {1, 1})({zeros(element_type::float16, dims)}),
            "all tensors together would take more than 100000 bytes", runner_error);
}

TEST_CASE("Einsum: labels, ellipses, diagonals, what it broadcasts and what it refuses")
{
    auto const run = [](char const* equation, std::vector<value> const& operands) {
        return node("Einsum", 12).with("equation", equation)(operands);
    };
    tensor const a = of<float>({2, 2}, {1, 2, 3, 4}), b = of<float>({2, 2}, {5, 6, 7, 8}),
                 v = of<float>({2}, {10, 100});
    check<float>(run("ij,jk->ik", {a, b}), {2, 2}, {19, 22, 43, 50});
    check<float>(run(" i j , j k ", {a, b}), {2, 2}, {19, 22, 43, 50});
    check<float>(run("ij,kj->ki", {a, b}), {2, 2}, {17, 39, 23, 53});
    check<float>(run("bA,AB", {a, b}), {2, 2}, {19, 43, 22, 50}); // B before b
    check<float>(run("ii->i", {a}), {2}, {1, 4});
    check<float>(run("ii", {a}), {}, {5});
    check<float>(run("ij->", {a}), {}, {10});
    check<float>(run("ii,jj->ij", {a, b}), {2, 2}, {5, 8, 20, 32});
    check<float>(run("ij,jk,k->i", {a, b, v}), {2}, {190 + 2200, 430 + 5000});
    check<float>(run("ij,k->", {a, v}), {}, {1100});
    check<float>(run("i,i->i", {v, v}), {2}, {100, 10000});
    check<float>(run("...,...->...", {a, v}), {2, 2}, {10, 200, 30, 400});
    check<float>(run("...i,i", {a, v}), {2}, {210, 430});
    check<float>(
        run("i...->...i", {of<float>({2, 1, 3}, {1, 2, 3, 4, 5, 6})}), {1, 3, 2}, {1, 4, 2, 5, 3, 6});
    check<float>(run("b...ij,b...jk->b...ik",
                     {of<float>({1, 2, 1, 2}, {1, 2, 3, 4}), of<float>({1, 1, 2, 1}, {5, 6})}),
        {1, 2, 1, 1}, {17, 39});
    check<float>(run("ij,jk->ik", {a, of<float>({1, 2}, {1, 2})}), {2, 2}, {3, 6, 7, 14}); // j is broadcast
    check<float>(run(",i->i", {of<float>({}, {3}), v}), {2}, {30, 300});
    check<float>(run("->", {of<float>({}, {3})}), {}, {3});
    check<float>(run("ij,jk->ik", {of<float>({2, 0}, {}), of<float>({0, 1}, {})}), {2, 1}, {0, 0});
    check<float>(run("ij,jk->ik", {of<float>({0, 2}, {}), b}), {0, 2}, {});
    CHECK(std::isnan(run("i,i->", {v, of<float>({2}, {1, std::nanf("")})})[0].as_tensor().items<float>()[0]));
    check<std::int8_t>(
        run("i,i", {of<std::int8_t>({2}, {100, 100}), of<std::int8_t>({2}, {2, 1})}), {}, {44});
    for (element_type const type : {element_type::float16, element_type::bfloat16, element_type::double_,
             element_type::int8, element_type::int16, element_type::int32, element_type::int64,
             element_type::uint8, element_type::uint16, element_type::uint32, element_type::uint64})
        for (auto const& equation : {"ij,jk->ik", "ij,jk,->ik"}) {
            std::vector<value> operands{convert(a, type), convert(b, type)};
            if (equation == std::string("ij,jk,->ik"))
                operands.push_back(convert(of<float>({}, {1}), type));
            check<float>({convert(run(equation, operands)[0].as_tensor(), element_type::float_)}, {2, 2},
                {19, 22, 43, 50});
        }
    auto const refuses = [&](char const* equation, std::vector<value> const& operands, char const* why) {
        CHECK_THROWS_WITH_AS(run(equation, operands),
            ("the equation \"" + std::string(equation) + "\" " + why).c_str(), runner_error);
    };
    refuses("ij->i", {a, b}, "must have a term for each of 2 operands");
    refuses("ij,jk->ik", {a}, "must have a term for each of 1 operands");
    refuses("i->i", {a}, "has the term \"i\" for a tensor of rank 2");
    refuses("ijk...->i", {a}, "has the term \"ijk...\" for a tensor of rank 2");
    refuses("i1->i", {a}, "is malformed at \"1\"");
    refuses("i......->i", {a}, "is malformed at \"...\"");
    refuses("i.->i", {a}, "is malformed at \".\"");
    refuses("ij->k", {a}, "has the label k in its result, which must be there once, and in an operand");
    refuses("ij->ii", {a}, "has the label i in its result, which must be there once, and in an operand");
    refuses("i...->i", {a}, "lacks the ellipsis in its result");
    refuses("ij,j->i", {a, of<float>({3}, {1, 2, 3})}, "gives an axis the dimensions 2 and 3");
    CHECK_THROWS_AS(run("i,i", {v, numbers({1, 2})}), runner_error);
    CHECK_THROWS_AS(run("i", {of<bool>({1}, {true})}), runner_error);
    tensor const many(element_type::float_, {1 << 16});
    CHECK_THROWS_AS(run("a,b,c,d->", {many, many, many, many}), runner_error); // 2^64 products
    budget few;
    few.steps = 1000;
    with_budget const limited(few);
    CHECK_THROWS_AS(run("a,b,->", {many, many, of<float>({}, {1})}), runner_error);
}

TEST_CASE("BatchNormalization: parameters of channels and of items, of other types, in double")
{
    tensor const x = of<float>({1, 2, 2}, {1, 3, 5, 9}), scale = of<float>({2}, {2, 1}),
                 b = of<float>({2}, {0, 1}), mean = of<float>({2}, {1, 5}),
                 variance = of<float>({2}, {3, 15});
    check<float>(node("BatchNormalization", 15).with("epsilon", 1.0f)({x, scale, b, mean, variance}),
        {1, 2, 2}, {0, 2, 1, 2});
    check<float>(node("BatchNormalization", 15)
                     .with("epsilon", 1.0f)({x, scale, b, of<double>({2}, {1, 5}), of<double>({2}, {3, 15})}),
        {1, 2, 2}, {0, 2, 1, 2});
    check<double>(node("BatchNormalization", 9)
                      .with("epsilon", 1.0f)({of<double>({2, 1}, {5, 6}), of<double>({1}, {1}),
                          of<double>({1}, {0}), of<double>({1}, {4}), of<double>({1}, {3})}),
        {2, 1}, {0.5, 1});
    tensor const of_items = of<float>({2, 2}, {1, 1, 1, 2});
    check<float>(node("BatchNormalization", 7)
                     .with("epsilon", 0.0f)
                     .with("spatial", 0)({x, of_items, of_items, of_items, of<float>({2, 2}, {1, 1, 1, 4})}),
        {1, 2, 2}, {1, 3, 5, 9});
    CHECK_THROWS_WITH_AS(node("BatchNormalization", 15)({x, scale, b, mean, of<float>({1}, {1})}),
        "input_var must have the shape [2] for X of the shape [1, 2, 2], but has [1]", runner_error);
    // Without channels there is one.
    check<float>(node("BatchNormalization", 15)
                     .with("epsilon", 1.0f)({of<float>({3}, {1, 3, 5}), of<float>({1}, {4}),
                         of<float>({1}, {1}), of<float>({1}, {3}), of<float>({1}, {3})}),
        {3}, {-3, 1, 5});
    CHECK_THROWS_WITH_AS(node("BatchNormalization", 15)({of<float>({}, {1}), scale, b, mean, variance}),
        "X must have a batch, but has the shape []", runner_error);
    CHECK_THROWS_WITH_AS(
        node("BatchNormalization", 15)({x, of<std::string>({2}, {"2", "1"}), b, mean, variance}),
        "the element type string is not possible here", runner_error);
}

TEST_CASE("InstanceNormalization and LayerNormalization: rows, moments, what is broadcast")
{
    tensor const x = of<double>({1, 2, 2}, {1, 3, 5, 11});
    check<double>(node("InstanceNormalization", 6)
                      .with("epsilon", 0.0f)({x, of<double>({2}, {1, 2}), of<double>({2}, {0, 1})}),
        {1, 2, 2}, {-1, 1, -1, 3});
    CHECK_THROWS_WITH_AS(node("InstanceNormalization", 6)({x, of<double>({2}, {1, 2}), of<double>({1}, {0})}),
        "B must have the shape [2] for an input of the shape [1, 2, 2], but has [1]", runner_error);
    CHECK_THROWS_AS(
        node("InstanceNormalization", 6)({x, of<float>({2}, {1, 2}), of<double>({2}, {0, 1})}), runner_error);
    auto const rows =
        node("LayerNormalization", 17).with("epsilon", 0.0f).outputs(3)({x, of<double>({2}, {1, 2})});
    check<double>(rows, {1, 2, 2}, {-1, 2, -1, 2});
    check<float>(rows, {1, 2, 1}, {2, 8}, 1);
    check<float>(rows, {1, 2, 1}, {1, 1 / 3.0f}, 2);
    auto const whole =
        node("LayerNormalization", 17)
            .with("epsilon", 1.0f)
            .with("axis", 0)
            .outputs(1)({of<double>({2, 1}, {4, 4}), of<double>({2, 1}, {7, 8}), of<double>({1}, {3})});
    check<double>(whole, {2, 1}, {3, 3});
    auto const none = node("LayerNormalization", 17).outputs(3)({of<float>({2, 0}, {}), of<float>({1}, {1})});
    CHECK(std::isnan(none[1].as_tensor().items<float>()[1]));
    CHECK_THROWS_WITH_AS(node("LayerNormalization", 17).outputs(1)({x, of<double>({2, 1, 2}, {1, 1, 1, 1})}),
        "Scale of the shape [2, 1, 2] cannot be broadcast to X of the shape [1, 2, 2]", runner_error);
}

TEST_CASE("RMSNormalization: rows, element types, what is broadcast")
{
    auto const with_epsilon = [](float epsilon) {
        return node("RMSNormalization", 23).with("epsilon", epsilon);
    };
    tensor const x = of<float>({1, 2, 2}, {1, 7, -5, 5}), scale = of<float>({2}, {1, 2}); // mean squares 25
    check<float>(with_epsilon(39)({x, scale}), {1, 2, 2}, {0.125f, 1.75f, -0.625f, 1.25f});
    check<double>(with_epsilon(39)({x, of<double>({2, 1}, {1, 1e40})}), {1, 2, 2},
        {0.125, 0.875, -0.625 * 1e40, 0.625 * 1e40}); // in the type of scale
    check<float>(with_epsilon(7).with("axis", 1)({of<float>({1, 2, 2}, {1, 3, 5, 1}), of<float>({}, {3})}),
        {1, 2, 2}, {0.75f, 2.25f, 3.75f, 0.75f});
    check<float>(node("RMSNormalization", 23)({of<float>({2, 0}, {}), of<float>({1}, {1})}), {2, 0}, {});
    for (element_type const type : {element_type::float16, element_type::bfloat16, element_type::double_}) {
        auto const rows = with_epsilon(39)({convert(x, type), convert(scale, type)});
        check<float>(
            {convert(rows[0].as_tensor(), element_type::float_)}, {1, 2, 2}, {0.125f, 1.75f, -0.625f, 1.25f});
    }
    // A quotient is rounded to the type of x before it is scaled: 0.4472136 is 0.44726562 in float16.
    check<float>(with_epsilon(0)(
                     {convert(of<float>({2}, {1, 3}), element_type::float16), of<float>({2}, {1000, 1000})}),
        {2}, {447.265625f, 1341.796875f});
    auto const tiny =
        node("RMSNormalization", 23)({of<float>({2, 1}, {std::nanf(""), 0}), of<float>({}, {1})});
    CHECK(std::isnan(tiny[0].as_tensor().items<float>()[0]));
    CHECK(tiny[0].as_tensor().items<float>()[1] == 0);
    CHECK_THROWS_WITH_AS(node("RMSNormalization", 23)({x, of<float>({3}, {1, 1, 1})}),
        "the shapes [1, 2, 2] and [3] cannot be broadcast to one", runner_error);
    CHECK_THROWS_WITH_AS(node("RMSNormalization", 23).with("axis", 3)({x, scale}),
        "the axis 3 is none of a tensor of rank 3", runner_error);
    CHECK_THROWS_AS(node("RMSNormalization", 23)({numbers({1}), scale}), runner_error);
}

TEST_CASE("HardSwish, Trilu, ReduceLogSumExp, Dropout")
{
    check<float>(
        node("HardSwish", 14)({of<float>({4}, {-4, -1.5f, 1.5f, 5})}), {4}, {-0.0f, -0.375f, 1.125f, 5});
    tensor const x = of<std::string>({2, 3}, {"a", "b", "c", "d", "e", "f"});
    check<std::string>(node("Trilu", 14)({x}), {2, 3}, {"a", "b", "c", "", "e", "f"});
    check<std::string>(
        node("Trilu", 14).with("upper", 0)({x, numbers({1})}), {2, 3}, {"a", "b", "", "d", "e", "f"});
    check<std::string>(node("Trilu", 14)({x, numbers({std::numeric_limits<std::int64_t>::min()})}), {2, 3},
        {"a", "b", "c", "d", "e", "f"});
    check<bool>(
        node("Trilu", 14)({of<bool>({2, 1, 1}, {true, true}), numbers({1})}), {2, 1, 1}, {false, false});
    CHECK_THROWS_WITH_AS(
        node("Trilu", 14)({numbers({1})}), "X must have matrices, but has the shape [1]", runner_error);
    CHECK_THROWS_WITH_AS(
        node("Trilu", 14)({x, numbers({})}), "k must be one number, but has the shape [0]", runner_error);
    check<double>(node("ReduceLogSumExp", 13)
                      .with("axes", {1})
                      .with("keepdims", 0)(
                          {of<double>({3, 2}, {1000, -3000, -HUGE_VAL, -HUGE_VAL, HUGE_VAL, HUGE_VAL})}),
        {3}, {1000, -HUGE_VAL, HUGE_VAL});
    check<std::int32_t>(node("ReduceLogSumExp", 18)({of<std::int32_t>({2}, {7, 7})}), {1}, {7}); // 7.69
    auto const sum = node("ReduceLogSumExp", 18)({of<float>({3}, {1, 3, 2})});
    CHECK(std::fabs(static_cast<double>(sum[0].as_tensor().items<float>()[0]) -
                    std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0))) < 1e-6);
    tensor const y = of<float>({2}, {1, 2});
    auto const kept = node("Dropout", 13).outputs(2)({y, of<float>({}, {0.5f}), of<bool>({}, {false})});
    check<float>(kept, {2}, {1, 2});
    check<bool>(kept, {2}, {true, true}, 1);
    check<float>(node("Dropout", 7).outputs(2)({y}), {2}, {1, 1}, 1);
    check<float>(node("Dropout", 13)({y, of<float>({}, {0}), of<bool>({}, {true})}), {2}, {1, 2});
    CHECK_THROWS_WITH_AS(node("Dropout", 13)({y, of<float>({}, {0.5f}), of<bool>({}, {true})}),
        "Dropout in training (training_mode = true) is not implemented", not_implemented);
}

TEST_CASE("Gelu and Swish are near their definitions in double, for each type")
{
    tensor const x = of<double>({9}, {-40, -3, -1, -0.25, 0, 0.5, 1, 2.75, 1e4});
    auto const is_near = [&](auto const& with_options, auto const& reference) {
        for (auto const& [type, error] :
            {std::pair{element_type::double_, 1e-14}, {element_type::float_, 1e-6},
                {element_type::float16, 2e-3}, {element_type::bfloat16, 2e-2}}) {
            tensor const given = convert(x, type);
            tensor const wide = convert(given, element_type::double_);
            tensor const got = convert(with_options({given})[0].as_tensor(), element_type::double_);
            for (std::size_t i = 0; i < x.size(); ++i) {
                double const at = wide.items<double>()[i], expected = reference(at);
                CAPTURE(at);
                CHECK(std::fabs(got.items<double>()[i] - expected) <= error * (1 + std::fabs(at)));
            }
        }
        tensor const edges = of<float>({3}, {std::nanf(""), inf, 1e30f});
        auto const result = with_options({edges});
        auto const got = result[0].as_tensor().template items<float>();
        CHECK(std::isnan(got[0]));
        CHECK(got[1] == inf);
        CHECK(got[2] == 1e30f);
    };
    auto const cubic = [](double at) {
        return 0.5 * at * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (at + 0.044715 * at * at * at)));
    };
    auto const exact = [](double at) { return 0.5 * at * std::erfc(-at / std::sqrt(2.0)); };
    is_near(node("Gelu", 20), exact);
    is_near(node("Gelu", 20).with("approximate", "none"), exact);
    is_near(node("Gelu", 20).with("approximate", "tanh"), cubic);
    is_near(node("Swish", 24), [](double at) { return at / (1 + std::exp(-at)); });
    is_near(node("Swish", 24).with("alpha", 0.5f), [](double at) { return at / (1 + std::exp(-at / 2)); });
    check<float>(node("Gelu", 20)({of<float>({0, 2}, {})}), {0, 2}, {});
    check<float>(node("Swish", 24)({of<float>({}, {0})}), {}, {0});
    CHECK_THROWS_WITH_AS(node("Gelu", 20).with("approximate", "Tanh")({x}),
        "approximate is none or tanh, but is 'Tanh'", runner_error);
    CHECK_THROWS_AS(node("Swish", 24)({numbers({1})}), runner_error);
}

TEST_CASE("an attribute that is omitted is a float, too")
{
    tensor const x = of<double>({2}, {-1, 1});
    check<double>(node("LeakyRelu", 16)({x}), {2}, {-static_cast<double>(0.01f), 1});
    check<double>(
        node("HardSigmoid", 6)({x}), {2}, {0.5 - static_cast<double>(0.2f), static_cast<double>(0.2f) + 0.5});
}

TEST_CASE("PRelu: slopes broadcast one way, of channels up to opset 6")
{
    tensor const x = of<float>({1, 2, 2}, {-1, 2, -3, -4}), slope = of<float>({2}, {10, 100});
    check<float>(node("PRelu", 16)({x, slope}), {1, 2, 2}, {-10, 2, -30, -400});
    check<float>(node("PRelu", 6)({x, slope}), {1, 2, 2}, {-10, 2, -300, -400});
    check<float>(node("PRelu", 1)({x, of<float>({1}, {2})}), {1, 2, 2}, {-2, 2, -6, -8});
    check<std::int64_t>(node("PRelu", 9)({numbers({-2, 3}), numbers({5})}), {2}, {-10, 3});
    CHECK(std::isnan(node("PRelu", 16)({of<float>({1}, {std::nanf("")}), of<float>({1}, {2})})[0]
                         .as_tensor()
                         .items<float>()[0]));
    CHECK_THROWS_WITH_AS(node("PRelu", 16)({slope, x}),
        "a slope of the shape [1, 2, 2] cannot be broadcast to X of the shape [2]", runner_error);
    CHECK_THROWS_AS(node("PRelu", 16)({of<float>({1}, {1}), slope}), runner_error);
    CHECK_THROWS_AS(node("PRelu", 16)({slope, of<double>({1}, {1})}), runner_error);
}

TEST_CASE("OneHot: indices of any type, out of range, negative; values of any type")
{
    tensor const two = of<float>({2}, {0, 5});
    check<float>(node("OneHot", 11)({numbers({1, -1, 3, -4, -3}), numbers({3}), two}), {5, 3},
        {0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5, 0, 0});
    check<float>(node("OneHot", 10)({numbers({-1, 0}), numbers({2}), two}), {2, 2}, {0, 0, 5, 0});
    check<std::string>(node("OneHot", 9)
                           .with("axis", 0)({of<std::uint8_t>({1, 2}, {1, 255}), of<float>({}, {2}),
                               of<std::string>({2}, {"off", "on"})}),
        {2, 1, 2}, {"off", "off", "on", "off"});
    check<bool>(node("OneHot", 11)
                    .with("axis", -2)({of<float>({4}, {-0.5f, 1.9f, inf, std::nanf("")}), numbers({2}),
                        of<bool>({2}, {false, true})}),
        {2, 4}, {true, false, false, false, false, true, false, false});
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    check<float>(node("OneHot", 11)({of<std::uint64_t>({1}, {most}), numbers({2}), two}), {1, 2}, {0, 0});
    check<float>(
        node("OneHot", 11)({numbers({std::numeric_limits<std::int64_t>::min(), 0}), numbers({1}), two}),
        {2, 1}, {0, 5});
    check<float>(node("OneHot", 11)({numbers({0}), numbers({0}), two}), {1, 0}, {});
    constexpr std::int64_t cut = std::int64_t{1} << 32; // by a std::size_t of 32 bits
    check<float>(
        node("OneHot", 11)({numbers({cut + 1, -cut - 1}), numbers({3}), two}), {2, 3}, {0, 0, 0, 0, 0, 0});
    CHECK_THROWS_WITH_AS(
        node("OneHot", 11)({numbers({0}), numbers({-1}), two}), "the depth -1 is negative", runner_error);
    CHECK_THROWS_WITH_AS(node("OneHot", 11)({numbers({0}), numbers({1, 2}), two}),
        "its depth must be one number, but has the shape [2]", runner_error);
    CHECK_THROWS_WITH_AS(node("OneHot", 11)({numbers({0}), numbers({1}), of<float>({1}, {1})}),
        "values must have the shape [2], but have the shape [1]", runner_error);
    CHECK_THROWS_WITH_AS(node("OneHot", 11).with("axis", 2)({numbers({0}), numbers({1}), two}),
        "the axis 2 is none of a tensor of rank 2", runner_error);
    CHECK_THROWS_AS(
        node("OneHot", 11)({numbers({0}), numbers({std::numeric_limits<std::int64_t>::max()}), two}),
        runner_error);
}

TEST_CASE("NonZero: row-major indices, every type, rank 0")
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    check<std::int64_t>(
        node("NonZero", 13)({of<float>({2, 3}, {0, nan, -0.0f, 1e-45f, 0, -1})}), {2, 3}, {0, 1, 1, 1, 0, 2});
    check<std::int64_t>(
        node("NonZero", 9)({of<bool>({2, 1, 2}, {true, false, false, true})}), {3, 2}, {0, 1, 0, 0, 0, 1});
    check<std::int64_t>(node("NonZero", 13)({of<std::string>({3}, {"", "0", ""})}), {1, 1}, {1});
    check<std::int64_t>(node("NonZero", 13)({of<std::complex<float>>({2}, {{0, 1}, {0, 0}})}), {1, 1}, {0});
    for (element_type const type : {element_type::float16, element_type::bfloat16, element_type::double_,
             element_type::int8, element_type::int16, element_type::int32, element_type::int64,
             element_type::uint8, element_type::uint16, element_type::uint32, element_type::uint64})
        check<std::int64_t>(
            node("NonZero", 13)({convert(of<float>({4}, {0, 3, 0, 1}), type)}), {1, 2}, {1, 3});
    check<std::int64_t>(node("NonZero", 13)({of<float>({}, {5})}), {0, 1}, {});
    check<std::int64_t>(node("NonZero", 13)({of<float>({}, {0})}), {0, 0}, {});
    check<std::int64_t>(node("NonZero", 13)({of<float>({2, 0}, {})}), {2, 0}, {});
}

TEST_CASE("TopK: order, ties, NaN, axes, K of every version")
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    tensor const x = of<float>({6}, {2, nan, 5, 2, -inf, nan});
    auto const largest = node("TopK", 11)({x, numbers({5})});
    CHECK(std::isnan(largest[0].as_tensor().items<float>()[1]));
    check<std::int64_t>(largest, {5}, {1, 5, 2, 0, 3}, 1);
    auto const smallest = node("TopK", 24).with("largest", 0).with("sorted", 0)({x, numbers({4})});
    check<float>(smallest, {4}, {-inf, 2, 2, 5});
    check<std::int64_t>(smallest, {4}, {4, 0, 3, 2}, 1);
    check<std::int64_t>(node("TopK", 11).with("largest", 0)({x, numbers({6})}), {6}, {4, 0, 3, 2, 1, 5}, 1);
    tensor const matrix = of<std::int64_t>({2, 3}, {1, 9, 4, 7, 9, 4});
    auto const columns = node("TopK", 11).with("axis", -2)({matrix, numbers({1})});
    check<std::int64_t>(columns, {1, 3}, {7, 9, 4});
    check<std::int64_t>(columns, {1, 3}, {1, 0, 0}, 1);
    auto const attribute =
        node("TopK", 1).with("axis", 1).with("k", 2)({of<double>({2, 3}, {1, 9, 4, 7, 9, 4})});
    check<double>(attribute, {2, 2}, {9, 4, 9, 7});
    check<std::int64_t>(attribute, {2, 2}, {1, 2, 1, 0}, 1);
    for (element_type const type : {element_type::float16, element_type::bfloat16, element_type::double_,
             element_type::int8, element_type::int16, element_type::int32, element_type::uint8,
             element_type::uint16, element_type::uint32, element_type::uint64}) {
        auto const rows = node("TopK", 11)({convert(matrix, type), numbers({2})});
        check<std::int64_t>({convert(rows[0].as_tensor(), element_type::int64)}, {2, 2}, {9, 4, 9, 7});
        check<std::int64_t>(rows, {2, 2}, {1, 2, 1, 0}, 1);
    }
    check<std::int64_t>(node("TopK", 10)({of<float>({2}, {1, 2}), numbers({0})}), {0}, {}, 1);
    check<std::int64_t>(node("TopK", 11)({of<float>({0, 3}, {}), numbers({2})}), {0, 2}, {}, 1);
    CHECK_THROWS_WITH_AS(
        node("TopK", 11)({matrix, numbers({4})}), "K must be 0 to 3 for the axis -1, but is 4", runner_error);
    CHECK_THROWS_WITH_AS(node("TopK", 11)({matrix, numbers({-1})}),
        "K must be 0 to 3 for the axis -1, but is -1", runner_error);
    CHECK_THROWS_WITH_AS(node("TopK", 11).with("axis", 2)({matrix, numbers({1})}),
        "the axis 2 is none of a tensor of rank 2", runner_error);
    CHECK_THROWS_WITH_AS(node("TopK", 11)({matrix, numbers({1, 2})}),
        "its K must be one number, but has 2 items", runner_error);
    CHECK_THROWS_AS(node("TopK", 11)({of<float>({}, {1}), numbers({1})}), runner_error);
    CHECK_THROWS_AS(node("TopK", 11)({of<bool>({1}, {true}), numbers({1})}), runner_error);
}

TEST_CASE("TensorScatter writes an update from an index on, one for each batch entry")
{
    tensor const cache = of<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6}),
                 update = of<float>({2, 2, 1}, {10, 20, 30, 40});
    check<float>(node("TensorScatter", 24)({cache, update}), {2, 3, 1}, {10, 20, 3, 30, 40, 6});
    check<float>(
        node("TensorScatter", 24)({cache, update, numbers({1, 0})}), {2, 3, 1}, {1, 10, 20, 30, 40, 6});
    check<float>(node("TensorScatter", 24).with("mode", "circular")({cache, update, numbers({2, 4})}),
        {2, 3, 1}, {20, 2, 10, 4, 30, 40});
    check<std::string>(node("TensorScatter", 24)
                           .with("axis", 1)({of<std::string>({1, 2}, {"a", "b"}),
                               of<std::string>({1, 1}, {"c"}), numbers({1})}),
        {1, 2}, {"a", "c"});
    CHECK_THROWS_AS(node("TensorScatter", 24)({cache, update, numbers({2, 0})}), xloom::index_error);
    CHECK_THROWS_AS(node("TensorScatter", 24)({cache, update, numbers({-1, 0})}), xloom::index_error);
    CHECK_THROWS_AS(node("TensorScatter", 24).with("axis", 0)({cache, update}), xloom::shape_error);
    CHECK_THROWS_WITH_AS(node("TensorScatter", 24)({cache, of<double>({2, 1, 1}, {1, 2})}),
        "past_cache and update must have one element type", runner_error);
    CHECK_THROWS_WITH_AS(node("TensorScatter", 24).with("mode", "cyclic")({cache, update}),
        "its mode is 'cyclic'", runner_error);
}
