// Runs onnx_test as a user would, on test folders made here.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include "byte_order.hpp"
#include "program_under_test.hpp"
#include "text_model.hpp"

namespace {

namespace fs = std::filesystem;

void write(fs::path const& path, std::string const& bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

/// y = operator(x, x), for float[2].
std::string model_of(std::string const& type)
{
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto& graph = *model.mutable_graph();
    auto const declare = [](onnx::ValueInfoProto& value, char const* name) {
        value.set_name(name);
        auto& tensor = *value.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(onnx::TensorProto::FLOAT);
        tensor.mutable_shape()->add_dim()->set_dim_value(2);
    };
    declare(*graph.add_input(), "x");
    declare(*graph.add_output(), "y");
    auto& node = *graph.add_node();
    node.set_op_type(type);
    node.add_input("x");
    node.add_input("x");
    node.add_output("y");
    return model.SerializeAsString();
}

std::string tensor_of(std::initializer_list<float> items, std::string const& name = "")
{
    onnx::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<std::int64_t>(items.size()));
    tensor.set_raw_data(std::string(sizeof(float) * items.size(), '\0'));
    runner::copy_in_order<float>(std::endian::little, reinterpret_cast<char const*>(items.begin()),
        items.size(), tensor.mutable_raw_data()->data());
    return tensor.SerializeAsString();
}

struct fixture {
    program_under_test program{ONNX_TEST_PROGRAM};

    fs::path add(std::string const& name, std::string const& type = "Add") const
    {
        fs::path const folder = program / ("tests/" + name);
        write(folder / "model.onnx", model_of(type));
        write(folder / "test_data_set_0/input_0.pb", tensor_of({1, -3}));
        write(folder / "test_data_set_0/output_0.pb", tensor_of({2, -6}, "y"));
        return folder;
    }
    outcome run() const { return program.run({program / "tests"}); }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "one line for each folder, sorted, and the counts")
{
    add("b");
    add("a/deeper");
    add("c", "Frobnicate");
    outcome const result = run();
    CHECK(result.out == "PASS a/deeper\nPASS b\nSKIP c: operator Frobnicate is not implemented\n2 passed, 0 "
                        "failed, 1 skipped\n");
    CHECK(result.succeeded);
    CHECK(program.run({program / "tests/b"}).out == "PASS b\n1 passed, 0 failed, 0 skipped\n");
}

TEST_CASE_FIXTURE(fixture, "control: one flipped byte of an expected output is a failure")
{
    fs::path const output = add("a") / "test_data_set_0/output_0.pb";
    CHECK(run().succeeded);
    std::string const bytes = read_file(output.string());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == bytes.size() - 8 || i == bytes.size() - 4)
            continue; // the last digits of the two floats: within the tolerance
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ 0xff);
        write(output, flipped);
        outcome const result = run();
        CAPTURE(i);
        CHECK(result.out.starts_with("FAIL a: "));
        CHECK(result.out.ends_with("\n0 passed, 1 failed, 0 skipped\n"));
        CHECK_FALSE(result.succeeded);
    }
}

TEST_CASE_FIXTURE(fixture, "several data sets: all must be right")
{
    fs::path const folder = add("a");
    write(folder / "test_data_set_1/input_0.pb", tensor_of({5, 0}));
    write(folder / "test_data_set_1/output_0.pb", tensor_of({10, 1}));
    CHECK(run().out == "FAIL a: test_data_set_1: the output 'y' item [1] is 0, but must be 1\n0 passed, 1 "
                       "failed, 0 skipped\n");
}

TEST_CASE_FIXTURE(fixture, "an error that is expected, and one that does not come")
{
    fs::path const folder = add("a");
    write(folder / "expect_error.txt", "the shapes do not fit");
    fs::remove(folder / "test_data_set_0/output_0.pb");
    CHECK(
        run().out == "FAIL a: an error is expected, but it runs to its end\n0 passed, 1 failed, 0 skipped\n");
    fs::remove(folder / "test_data_set_0/input_0.pb");
    CHECK(run().out == "PASS a\n1 passed, 0 failed, 0 skipped\n");
    write(folder / "model.onnx", model_of("Frobnicate"));
    CHECK(run().out == "SKIP a: operator Frobnicate is not implemented\n0 passed, 0 failed, 1 skipped\n");
}

TEST_CASE_FIXTURE(fixture, "damaged files and files that are missing are failures")
{
    fs::path const folder = add("a");
    auto const why = [&] {
        outcome const result = run();
        CHECK_FALSE(result.succeeded);
        return result.out.substr(0, result.out.find('\n'));
    };
    write(folder / "test_data_set_0/input_0.pb", tensor_of({1, -3}).substr(0, 9));
    std::string const input = fs::canonical(folder / "test_data_set_0/input_0.pb").string();
    CHECK(why() == "FAIL a: the file " + input + " is no tensor of ONNX, or a damaged one");
    fs::remove(input);
    CHECK(why() == "FAIL a: Add: its input 'x' is not given");
    fs::remove(folder / "test_data_set_0/output_0.pb");
    write(folder / "test_data_set_0/input_0.pb", tensor_of({1, -3}));
    CHECK(why() == "FAIL a: the graph has 1 outputs, but the data set 0");
    fs::remove_all(folder / "test_data_set_0");
    CHECK(why() == "FAIL a: it has neither test_data_set_* nor expect_error.txt");
    std::string const model = fs::canonical(folder / "model.onnx").string();
    add("a");
    write(model, "");
    CHECK(why() == "FAIL a: the file " + model + " is no model of ONNX: it has no graph");
    write(model, "no model");
    CHECK(why() == "FAIL a: the file " + model + " is no model of ONNX, or a damaged one");
}

TEST_CASE_FIXTURE(fixture, "where the text contradicts the recorded end, the text wins; there only")
{
    std::string const table =
        program.write("table.tsv", "# name, tab, reason\na\tthe text says so\nb\tneeds none\n");
    auto const outputs = [&] { return program.run({"--text-wins", table, program / "tests"}).out; };
    write(add("a") / "test_data_set_0/output_0.pb", tensor_of({2, 7}));
    add("b");
    CHECK(outputs() == "PASS a (text wins: the text says so)\nPASS b\n2 passed, 0 failed, 0 skipped\n");
    write(add("c") / "test_data_set_0/output_0.pb", tensor_of({2, 7}));
    fs::remove(fs::path(program / "tests/a/model.onnx"));
    write(program / "tests/a/model.onnx", "no model");
    std::string const result = outputs();
    CHECK(result.find("FAIL a: ") == 0);
    CHECK(result.find("FAIL c: the output 'y' item [1] is -6, but must be 7\n") != std::string::npos);
    for (auto const& [line, shown] : {std::pair{"ab", "ab"}, {"a\t", "a\\t"}, {"\tb", "\\tb"}}) {
        program.write("table.tsv", "\n" + std::string(line) + "\n");
        CHECK(program.complaint({"--text-wins", table, program / "tests"}) ==
              table + ": a line is no name, tab and reason: " + shown);
    }
    program.write("table.tsv", "a\t1\nb\t2\nc\t3\nd\t4\n");
    CHECK(program.complaint({"--text-wins", table, program / "tests"}) == table + ": 4 tests, more than 3");
}

TEST_CASE_FIXTURE(fixture, "a list of operators: the tests that need no others, and none of them missing")
{
    add("a");
    add("b", "Frobnicate");
    add("c", "Grok");
    write(add("d") / "model.onnx",
        runner::model_of(
            runner::graph_of("g (bool c, float[2] x) => (float[2] y) { y = If(c)<then_branch = t () => "
                             "(p) { p = Neg(x) }, else_branch = e () => (q) { q = Add(x, x) }> }"))
            .SerializeAsString()); // Neg, too
    std::string const list = program.write("operators.txt", "# three\nAdd\nGrok\nIf\n");
    outcome const result = program.run({"--operators", list, program / "tests"});
    CHECK(result.out == "PASS a\nFAIL c: operator Grok is not implemented\n1 passed, 1 failed, 0 skipped\n");
    CHECK_FALSE(result.succeeded);
}

namespace {

/// A tensor of another type than float, of these bytes.
std::string tensor_of_bytes(onnx::TensorProto::DataType type, std::vector<std::int64_t> const& dims,
    std::string const& bytes, std::string const& name = "")
{
    onnx::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (std::int64_t const dim : dims)
        tensor.add_dims(dim);
    tensor.set_raw_data(bytes);
    return tensor.SerializeAsString();
}

} // namespace

TEST_CASE_FIXTURE(fixture, "inputs with initializers, which data sets have by name, in order or not at all")
{
    onnx::ModelProto model = runner::model_of(runner::graph_of(
        "g (float[2] x, float[2] w, float[2] b) => (float[2] y) { p = Mul(x, w) y = Add(p, b) }"));
    for (char const* const name : {"w", "b"})
        model.mutable_graph()->add_initializer()->ParseFromString(tensor_of({2, 3}, name));
    fs::path const folder = program / "tests/a", set = folder / "test_data_set_0";
    write(folder / "model.onnx", model.SerializeAsString());
    auto const result_for = [&](std::vector<std::string> const& inputs, std::string const& output) {
        fs::remove_all(set);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            write(set / ("input_" + std::to_string(i) + ".pb"), inputs[i]);
        write(set / "output_0.pb", output);
        return run().out;
    };
    std::string const passed = "PASS a\n1 passed, 0 failed, 0 skipped\n";
    CHECK(result_for({tensor_of({1, 10})}, tensor_of({4, 33})) == passed); // x alone
    CHECK(
        result_for({tensor_of({1, 10}), tensor_of({5, 6}), tensor_of({0, 1})}, tensor_of({5, 61})) == passed);
    CHECK(result_for({tensor_of({5, 6}, "b"), tensor_of({1, 10}, "x")}, tensor_of({7, 36})) == passed);
    CHECK(result_for({}, tensor_of({0, 0})).starts_with("FAIL a: "));
    CHECK(result_for({tensor_of({1, 1}), tensor_of({1, 1}), tensor_of({1, 1}), tensor_of({1, 1})}, "")
              .starts_with("FAIL a: the graph has 3 inputs, but the data set more\n"));
    CHECK(result_for({tensor_of({1, 10})}, tensor_of({4, 33}, "z"))
              .starts_with("FAIL a: the graph's output 0 is 'y', but the data set's 'z'\n"));
}

TEST_CASE_FIXTURE(fixture, "bfloat16 that was recorded as uint16, and one item for a whole type")
{
    fs::path const folder = program / "tests/a", set = folder / "test_data_set_0";
    auto const result_of = [&](std::string const& graph, std::int64_t opset, std::string const& input,
                               std::string const& output) {
        fs::remove_all(folder);
        write(folder / "model.onnx", runner::model_of(runner::graph_of(graph), opset).SerializeAsString());
        write(set / "input_0.pb", input);
        write(set / "output_0.pb", output);
        std::string const out = run().out;
        return out.substr(0, out.find('\n'));
    };
    std::string const bits("\x80\x3f\0\xc0", 4); // 1 and -2
    std::string const negated("\x80\xbf\0\x40", 4);
    std::string const opposite = "g (bfloat16[2] x) => (bfloat16[2] y) { y = Neg(x) }";
    using proto = onnx::TensorProto;
    CHECK(result_of(opposite, 18, tensor_of_bytes(proto::UINT16, {2}, bits),
              tensor_of_bytes(proto::BFLOAT16, {2}, negated)) == "PASS a");
    CHECK(result_of(opposite, 18, tensor_of_bytes(proto::BFLOAT16, {2}, bits),
              tensor_of_bytes(proto::UINT16, {2}, bits)) ==
          "FAIL a: the output 'y' item [0] is -1, but must be 1; so 2 of 2");
    std::string const like = "g (float[2, N] x) => (float[2, N] y) { y = Neg(x) }";
    CHECK(result_of(like, 18, tensor_of({3}),
              tensor_of_bytes(proto::FLOAT, {2, 1}, std::string("\0\0\x40\xc0\0\0\x40\xc0", 8))) == "PASS a");
    // ScatterND copies bits: another NaN of float16 is one, another number is none.
    std::string const scattered = "g (float16[1] x) => (float16[1] y) { i = Constant<value = int64[1, 1] "
                                  "{0}>() y = ScatterND(x, i, x) }";
    CHECK(result_of(scattered, 18, tensor_of_bytes(proto::FLOAT16, {1}, std::string("\0\x3c", 2)),
              tensor_of_bytes(proto::FLOAT16, {1}, std::string("\x01\x3c", 2))) ==
          "FAIL a: the output 'y' item [0] is 1, but must be 1.00097656");
    std::string const negative = "g (float16[1] x) => (float16[1] y) { y = Neg(x) }";
    CHECK(result_of(negative, 18, tensor_of_bytes(proto::FLOAT16, {1}, std::string("\0\x3c", 2)),
              tensor_of_bytes(proto::FLOAT16, {1}, std::string("\x01\xbc", 2))) == "PASS a");
}

TEST_CASE_FIXTURE(fixture, "nothing to run is no success")
{
    fs::create_directories(fs::path(program / "tests"));
    outcome const result = run();
    CHECK(result.out == "0 passed, 0 failed, 0 skipped\n");
    CHECK_FALSE(result.succeeded);
    CHECK(program.complaint({program / "nowhere"}).find("nowhere") != std::string::npos);
    CHECK(program.complaint({}) == "no folder is given (see --help)");
    CHECK(program.run({"--help"}).out.find("FOLDER...") != std::string::npos);
    CHECK(program.complaint({"--operators", "nowhere.txt", program / "tests"}) ==
          "the file nowhere.txt cannot be opened");
}
