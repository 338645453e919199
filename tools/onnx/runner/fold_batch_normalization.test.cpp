// BatchNormalization after a Conv: what is folded, what is not, and how far the results are apart.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model.hpp"
#include "text.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

std::vector<float> random_items(std::size_t count, std::mt19937& source, float least = -1)
{
    std::uniform_real_distribution<float> item(least, 1);
    std::vector<float> made(count);
    for (float& each : made)
        each = item(source);
    return made;
}

std::string constant(std::string const& name, std::string const& dims, std::vector<float> const& items)
{
    return fmt::format("{} = Constant<value = float[{}] {{{}}}>() ", name, dims, fmt::join(items, ", "));
}

constexpr std::size_t M = 3, C = 2, K = 3, L = 9;

/// A Conv [M, C, K] of x [1, C, L], and a BatchNormalization with a small epsilon.
struct sample {
    std::vector<float> w, b, s, shift, mean, variance;

    explicit sample(std::mt19937& source)
        : w(random_items(M * C * K, source)),
          b(random_items(M, source)),
          s(random_items(M, source)),
          shift(random_items(M, source)),
          mean(random_items(M, source)),
          variance(random_items(M, source, 0.01F))
    {}

    std::string constants() const
    {
        return constant("w", "3, 2, 3", w) + constant("b", "3", b) + parameters();
    }
    std::string parameters() const
    {
        return constant("s", "3", s) + constant("t", "3", shift) + constant("m", "3", mean) +
               constant("v", "3", variance);
    }
};

std::string const both = "c = Conv(x, w, b) y = BatchNormalization<epsilon = 0.001>(c, s, t, m, v) ";

tensor input(std::vector<float> const& items) { return tensor::of<float>({1, C, L}, items); }

std::size_t steps_of(std::string const& text)
{
    return model(model_of(graph_of(text))).prepared().steps().size();
}

} // namespace

TEST_CASE("a Conv computes the BatchNormalization after it, within the rounding of its weights")
{
    std::mt19937 source(5);
    for (int round = 0; round < 20; ++round) {
        sample const of(source);
        std::vector<float> const x = random_items(C * L, source);
        model const made(
            model_of(graph_of("g (float[1, 2, L] x) => (float[] y) { " + of.constants() + both + "}")));
        REQUIRE(made.prepared().steps().size() == 1);
        tensor const y = made.run({input(x)}).at(0).as_tensor();
        for (std::size_t m = 0; m < M; ++m) {
            double const factor = double(of.s[m]) / std::sqrt(double(of.variance[m]) + double(0.001F));
            for (std::size_t o = 0; o < L - K + 1; ++o) {
                double sum = double(of.b[m]), size = std::abs(sum) + std::abs(double(of.mean[m]));
                for (std::size_t c = 0; c < C; ++c)
                    for (std::size_t k = 0; k < K; ++k) {
                        double const product = double(of.w[(m * C + c) * K + k]) * double(x[c * L + o + k]);
                        sum += product;
                        size += std::abs(product);
                    }
                double const expected = (sum - double(of.mean[m])) * factor + double(of.shift[m]);
                double const bound = (size * std::abs(factor) + std::abs(double(of.shift[m]))) *
                                     double(C * K + 2) * double(std::numeric_limits<float>::epsilon()) / 2;
                CHECK(std::abs(double(y.items<float>()[m * (L - K + 1) + o]) - expected) <= bound);
            }
        }
    }
}

TEST_CASE("an omitted epsilon is the float 1e-5 in folded weights, too")
{
    std::string text = "g (float[1, 1, 1] x) => (float[] y) { " + constant("w", "1, 1, 1", {1});
    for (char const* const name : {"b", "t", "m", "v"})
        text += constant(name, "1", {0});
    model const made(model_of(graph_of(
        text + constant("s", "1", {1}) + "c = Conv(x, w, b) y = BatchNormalization(c, s, t, m, v) }")));
    REQUIRE(made.prepared().steps().size() == 1);
    tensor const y = made.run({tensor::scalar(1.0F).reshaped({1, 1, 1})}).at(0).as_tensor();
    CHECK(y.items<float>()[0] == static_cast<float>(1 / std::sqrt(double(1e-5F))));
}

TEST_CASE("a Conv without a bias, in double, in a body")
{
    std::mt19937 source(6);
    sample const of(source);
    CHECK(steps_of("g (float[1, 2, L] x) => (float[] y) { " + of.constants() +
                   "c = Conv(x, w) y = BatchNormalization(c, s, t, m, v) }") == 1);
    CHECK(steps_of("g (float[1, 2, L] x) => (float[] y) { " + of.constants() +
                   "c = Conv(x, w, ) y = BatchNormalization(c, s, t, m, v) }") == 1);
    std::string wide = of.constants();
    for (std::size_t at = wide.find("float["); at != std::string::npos; at = wide.find("float["))
        wide.replace(at, 5, "double");
    CHECK(steps_of("g (double[1, 2, L] x) => (double[] y) { " + wide + both + "}") == 1);
    std::string const doubled = constant("f", "3, 2, 3", of.w) + "w = Cast<to = 11>(f) " + of.parameters();
    CHECK(steps_of("g (double[1, 2, L] x) => (double[] y) { " + doubled +
                   "c = Conv(x, w) y = BatchNormalization(c, s, t, m, v) }") ==
          2); // w is no constant of the file
    std::string const branch =
        "(float[] u) { " + of.constants() + "c = Conv(x, w, b) u = BatchNormalization(c, s, t, m, v) }";
    model const nested(
        model_of(graph_of("g (float[1, 2, L] x, bool p) => (float[] y) { y = If(p)<then_branch = a () => " +
                          branch + ", else_branch = e () => " + branch + "> }")));
    CHECK(nested.prepared().steps().at(0).bodies.at("then_branch")->steps().size() == 1);
}

TEST_CASE("a name that is new in a body is not that of an outer value which the body gives")
{
    std::mt19937 source(8);
    sample const of(source);
    std::string const branch = "(float[] u, float[] w_folded) { " + of.constants() +
                               "c = Conv(x, w, b) u = BatchNormalization(c, s, t, m, v) }";
    model const nested(model_of(graph_of(
        "g (float[1, 2, L] x, bool p) => (float[] y, float[] z) { " + constant("w_folded", "1", {7}) +
        "y, z = If(p)<then_branch = a () => " + branch + ", else_branch = e () => " + branch + "> }")));
    auto const results = nested.run({input(std::vector<float>(C * L)), tensor::scalar(true)});
    CHECK(results.at(1).as_tensor().items<float>()[0] == 7);
}

TEST_CASE("a BatchNormalization stays where something else reads the Conv, or a run makes or breaks a number")
{
    std::mt19937 source(7);
    sample const of(source);
    std::string const start = "g (float[1, 2, L] x";
    CHECK(steps_of(start + ") => (float[] y, float[] c) { " + of.constants() + both + "}") == 2);
    CHECK(steps_of(start + ") => (float[] y, float[] z) { " + of.constants() + both + "z = Neg(c) }") == 3);
    CHECK(steps_of(start + ", float[3, 2, 3] w) => (float[] y) { " + constant("b", "3", of.b) +
                   of.parameters() + both + "}") == 2);
    CHECK(
        steps_of(start + ", bool p) => (float[] y, float[] z) { " + of.constants() + both +
                 "z = If(p)<then_branch = a () => (float[] u) { u = Neg(c) }, else_branch = e () => (float[] "
                 "u) { u = Abs(x) }> }") == 3);
    CHECK_THROWS_WITH_AS(
        model(model_of(graph_of(start + ") => (float[] y) { " + of.constants() + both + "}"), 6)),
        doctest::Contains("in training (is_test = 0) is not implemented"), std::exception);
    // Other outputs, parameters, attributes and weights.
    auto const stays = [&](std::string const& constants, std::string const& nodes, std::int64_t opset = 14) {
        CAPTURE(nodes);
        onnx::GraphProto const graph = graph_of(start + ") => (float[] y) { " + constants + nodes + " }");
        CHECK(model(model_of(graph, opset)).proto().node_size() == graph.node_size());
    };
    std::string const all = of.constants();
    stays(all, "c = Conv(x, w, b) y = BatchNormalization<spatial = 1>(c, s, t, m, v) d = Neg(c)", 7);
    stays(all, "c = Conv(x, w, b) y = BatchNormalization<is_test = 1>(c, s, t, m, v)", 6);
    stays(all, "c = Conv(x, w, b) y = BatchNormalization(c, s, t, m, n) n = Neg(v)");
    stays(all, "c = Conv(x, w, b) y = BatchNormalization(c, s, t, n, v) n = Neg(m)");
    stays(all, "c = Conv(x, w, b) y = BatchNormalization(c, s, n, m, v) n = Neg(t)");
    stays(all, "c = Conv(x, w, b) y = BatchNormalization(c, n, t, m, v) n = Neg(s)");
    stays(all, "c = Conv(x, w, n) y = BatchNormalization(c, s, t, m, v) n = Neg(b)");
    stays(all + constant("long", "4", {1, 2, 3, 4}),
        "c = Conv(x, w, b) y = BatchNormalization(c, s, long, m, v)");
    stays(all, "c = Conv(x, w, b) y = BatchNormalization(c, s, t, m, v) d = Conv(x, w)");
    // What is wrong with a BatchNormalization is said, too.
    auto const error_with = [&](std::string const& attributes, std::int64_t opset = 14) {
        return error_of(start + ") => (float[] y) { " + all + "c = Conv(x, w, b) y = BatchNormalization<" +
                            attributes + ">(c, s, t, m, v) }",
            {input(std::vector<float>(C * L))}, opset);
    };
    CHECK(error_with("epsilon = 0.001") == "none");
    CHECK(
        error_with("epsilon = 1") == "BatchNormalization: its attribute 'epsilon' must be FLOAT, but is INT");
    CHECK(error_with("training_mode = 0.5") ==
          "BatchNormalization: its attribute 'training_mode' must be INT, but is FLOAT");
    CHECK(error_with("spatial = 1")
              .starts_with("BatchNormalization: it has no attribute 'spatial' at opset 14"));
    CHECK(error_with("unknown = 1")
              .starts_with("BatchNormalization: it has no attribute 'unknown' at opset 14"));
    CHECK(error_with("epsilon = 0.5, epsilon = 0.5") ==
          "BatchNormalization: its attribute 'epsilon' is given twice");
    // Parameters of another element type are the operators' to judge.
    auto const with_bias = [&](std::string const& bias) {
        return error_of(start + ") => (float[] y) { " + constant("w", "3, 2, 3", of.w) + of.parameters() +
                            bias + both + "}",
            {input(std::vector<float>(C * L))});
    };
    CHECK(with_bias(constant("b", "3", of.b)) == "none");
    CHECK(with_bias("b = Constant<value = double[3] {1, 2, 3}>() ").starts_with("Conv: "));
    CHECK(with_bias("b = Constant<value = int64[3] {1, 2, 3}>() ").starts_with("Conv: "));
    CHECK(with_bias("b = Constant<value = string[3] {\"1\", \"2\", \"x\"}>() ").starts_with("Conv: "));
    // Functions hide the operators of their names.
    auto const with_function = [&](std::string const& domain, char const* name, char const* negates) {
        onnx::GraphProto graph = graph_of(start + ") => (float[] y) { " + all + both + "}");
        onnx::ModelProto proto = model_of(graph);
        auto& import = *proto.add_opset_import();
        import.set_domain(domain.empty() ? "own" : domain);
        import.set_version(18);
        onnx::FunctionProto& function = *proto.add_functions();
        auto const status = onnx::OnnxParser::Parse(
            function, fmt::format("<domain: \"\", opset_import: [\"\" : 18]> f {}", negates).c_str());
        REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
        function.set_domain(domain);
        function.set_name(name);
        for (onnx::NodeProto& node : *proto.mutable_graph()->mutable_node())
            if (node.op_type() == name)
                node.set_domain(domain);
        return model(proto).prepared().steps().size();
    };
    CHECK(with_function("", "Conv", "(a, b, c) => (d) { d = Neg(a) }") == 2);
    CHECK(with_function("", "BatchNormalization", "<epsilon> (a, b, c, d, e) => (f) { f = Neg(a) }") == 2);
    std::string const constants_are =
        "<value> () => (b) { a = Constant<value: tensor = @value>() b = Neg(a) }";
    CHECK(with_function("own", "Constant", constants_are.c_str()) == 2);
    sample far = of; // 100 (b - 3e38) is no float
    far.mean[1] = 3e38F;
    far.s[1] = 100;
    far.variance[1] = 1;
    stays(far.constants(), both);
    sample infinite = of;
    infinite.variance[1] = -0.001F;
    CHECK(steps_of(start + ") => (float[] y) { " + infinite.constants() + both + "}") == 2);
    sample zero = of;
    zero.variance = std::vector<float>(3, 1.0F);
    zero.w.assign(zero.w.size(), 0.0F);
    tensor const y = model(model_of(graph_of(start + ") => (float[] y) { " + zero.constants() + both + "}")))
                         .run({input(std::vector<float>(C * L, std::numeric_limits<float>::infinity()))})
                         .at(0)
                         .as_tensor();
    CHECK(std::isnan(y.items<float>()[0]));
}

TEST_CASE("constants that a folded Conv no longer reads are gone, others are not")
{
    std::mt19937 source(9);
    sample const of(source);
    auto const constants_of = [&](std::string const& nodes, std::string const& outputs) {
        model const made(model_of(
            graph_of("g (float[1, 2, L] x) => (" + outputs + ") { " + of.constants() + nodes + "}")));
        return made.proto().initializer_size() + static_cast<int>(std::ranges::count(made.proto().node(),
                                                     "Constant", &onnx::NodeProto::op_type));
    };
    CHECK(constants_of(both, "float[] y") == 2); // the products
    CHECK(constants_of(both + "n = Neg(b) o = Neg(v)", "float[] y") == 4);
    CHECK(constants_of(both, "float[] y, float[3] m") == 3);
    CHECK(constants_of(both + "d = Conv(x, k, b) z = BatchNormalization(d, s, t, m, v) " +
                           constant("k", "3, 2, 3", of.w),
              "float[] y, float[] z") == 4);

    onnx::GraphProto graph = graph_of(
        "g (float[1, 2, L] x) => (float[] y) { " + of.parameters() + constant("b", "3", of.b) + both + "}");
    onnx::TensorProto& w = *graph.add_initializer();
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    for (std::int64_t const dim : {3, 2, 3})
        w.add_dims(dim);
    for (float const item : of.w)
        w.add_float_data(item);
    model const made(model_of(graph));
    CHECK(made.proto().initializer_size() == 2);
    CHECK(std::ranges::count(made.proto().initializer(), "w", &onnx::TensorProto::name) == 0);

    // What is given twice stays, and is reported.
    *graph.add_initializer() = graph.initializer(0);
    graph.mutable_initializer(1)->set_float_data(0, 7);
    CHECK_THROWS_WITH_AS(model(model_of(graph)), "the graph has two initializers 'w'", runner_error);
}
