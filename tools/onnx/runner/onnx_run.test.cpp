// Runs onnx_run as a user would, on a model made here.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include "npy.hpp"
#include "program_under_test.hpp"
#include "random_input.hpp"
#include "text_model.hpp"

namespace {

using runner::tensor;

/// y = x + x, for float[N, 2]; z = w, for float16[3].
std::string model_bytes()
{
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto& graph = *model.mutable_graph();
    auto const declare = [](onnx::ValueInfoProto& value, char const* name,
                             int type) -> onnx::TensorShapeProto& {
        value.set_name(name);
        value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
        return *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    };
    auto& x = declare(*graph.add_input(), "x", onnx::TensorProto::FLOAT);
    x.add_dim()->set_dim_param("N");
    x.add_dim()->set_dim_value(2);
    declare(*graph.add_input(), "w", onnx::TensorProto::FLOAT16).add_dim()->set_dim_value(3);
    declare(*graph.add_output(), "y", onnx::TensorProto::FLOAT) = x;
    declare(*graph.add_output(), "w", onnx::TensorProto::FLOAT16).add_dim()->set_dim_value(3);
    auto& node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input("x");
    node.add_input("x");
    node.add_output("y");
    return model.SerializeAsString();
}

struct fixture {
    program_under_test program{ONNX_RUN_PROGRAM};
    std::string model = program.write("model.onnx", model_bytes());
};

std::vector<float> floats_in(std::string const& path)
{
    tensor const read = runner::read_npy(path, runner::element_type::float_);
    return {read.items<float>().begin(), read.items<float>().end()};
}

} // namespace

TEST_CASE_FIXTURE(fixture, "random inputs: names, types, shapes, values, the time")
{
    outcome const result = program.run({model});
    CHECK(result.succeeded);
    CHECK(result.out.starts_with("y float[1, 2]: "));
    CHECK(result.out.find("\nw float16[3]: ") != std::string::npos);
    CHECK(result.out.find("\nrun: ") != std::string::npos);
    auto const without_time = [](std::string const& text) { return text.substr(0, text.find("\nrun: ")); };
    CHECK(without_time(program.run({model, "--runs", "3"}).out) == without_time(result.out));
}

TEST_CASE_FIXTURE(fixture, "inputs from .npy files, outputs to others")
{
    std::string const x = program / "x.npy";
    std::string const w = program / "w.npy";
    runner::write_npy(x, tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4.5}));
    runner::write_npy(w, tensor::of<xloom::float16>({3}, std::vector<xloom::float16>{0, 0.5f, -1}));
    outcome const result = program.run({model, "x=" + x, "w=" + w, "--output", program / "written"});
    CHECK(result.succeeded);
    CHECK(result.out.starts_with("y float[2, 2]: 2 4 6 9\nw float16[3]: 0 0.5 -1\nrun: "));
    CHECK(floats_in(program / "written/y.npy") == std::vector<float>{2, 4, 6, 9});
    tensor const halves = runner::read_npy(program / "written/w.npy", runner::element_type::float16);
    CHECK(halves.items<xloom::float16>()[1] == xloom::float16(0.5f));
}

TEST_CASE_FIXTURE(fixture, "subnormal numbers: as they are, or zeros")
{
    std::string const x = program / "x.npy", written = program / "written";
    runner::write_npy(x, tensor::of<float>({1, 2}, std::vector<float>{0x1p-140f, 1}));
    CHECK(program.run({model, "x=" + x, "--output", written}).succeeded);
    CHECK(floats_in(written + "/y.npy") == std::vector<float>{0x1p-139f, 2});
    CHECK(program.run({model, "x=" + x, "--output", written, "--flush-subnormals"}).succeeded);
    CHECK(floats_in(written + "/y.npy") ==
          std::vector<float>{xloom::flush_subnormals::is_supported ? 0 : 0x1p-139f, 2});
}

namespace {

std::string bytes_of(std::string const& graph)
{
    return runner::model_of(runner::graph_of(graph)).SerializeAsString();
}

} // namespace

TEST_CASE_FIXTURE(fixture, "limits of time, steps and memory")
{
    std::string const endless = program.write("endless.onnx",
        bytes_of("g (float x) => (y) { m = Constant<value_int = 9223372036854775807>() y = Loop<body = b (i, "
                 "c, s) => (d, t) { d = Identity(c) t = Neg(s) }>(m, , x) }"));
    CHECK(program.complaint({endless, "--time-limit", "0.2"}).ends_with("the model takes more than 0.2 s"));
    CHECK(program.complaint({endless, "--step-limit", "1000"})
              .ends_with(": the model takes more than 1000 steps"));

    std::string const large =
        program.write("large.onnx", bytes_of("g (float[1000, 1000] x) => (y) { y = Shape(x) }"));
    CHECK(program.run({large}).succeeded);
    CHECK(program.run({large, "--time-limit", "0", "--step-limit", "0", "--memory-limit", "0"}).succeeded);
    CHECK(program.complaint({large, "--memory-limit", "8"}) ==
          "the input 'x': a tensor of the shape [1000, 1000] would take more than 1048576 bytes");
    CHECK(program.complaint({large, "--time-limit", "-1"}) == "--time-limit must not be negative");
    CHECK(program.complaint({large, "--memory-limit", "18446744073709551615"}) ==
          "--memory-limit is more than there can be");

    // An operator that does not check the time: some 2^38 products. Before it, its weights are made in time.
    std::string const long_one = program.write(
        "long.onnx", bytes_of("g (float[61440, 1, 1] x) => (y) { w_dims = Constant<value_ints = [1, 4096, "
                              "1]>() r_dims = Constant<value_ints = [1, 4096, "
                              "1024]>() w = ConstantOfShape(w_dims) r = ConstantOfShape(r_dims) h, y = "
                              "LSTM<hidden_size = 1024>(x, w, r) }"));
    CHECK(program.complaint({long_one, "--time-limit", "4"}).starts_with("the model takes more than "));
}

TEST_CASE_FIXTURE(
    fixture, "names and strings are printed in a line, and written to files without what no name has")
{
    onnx::ModelProto named = runner::model_of(
        runner::graph_of("g (float x) => (y) { y = Constant<value_strings = [\"two lines\"]>() }"));
    auto& node = *named.mutable_graph()->mutable_node(0);
    node.mutable_attribute(0)->set_strings(0, "two\nlines");
    node.set_output(0, "y\n\x1b");
    named.mutable_graph()->mutable_output(0)->set_name("y\n\x1b");
    CHECK(program.run({program.write("named.onnx", named.SerializeAsString())})
              .out.starts_with("y\\n\\x1b string[1]: \"two\\nlines\"\n"));

    CHECK(
        program.run({program.write("named.onnx", named.SerializeAsString()), "--output", program / "written"})
            .succeeded);
    tensor const texts = runner::read_npy(program / "written/y__.npy", runner::element_type::string);
    CHECK(texts.items<std::string>()[0] == "two\nlines");

    *node.mutable_attribute(0) = onnx::AttributeProto();
    node.mutable_attribute(0)->set_name("value_float");
    node.mutable_attribute(0)->set_type(onnx::AttributeProto::FLOAT);
    CHECK(
        program.run({program.write("named.onnx", named.SerializeAsString()), "--output", program / "written"})
            .succeeded);
    CHECK(std::filesystem::exists(program / "written/y__.npy"));
}

TEST_CASE_FIXTURE(fixture, "sequences and optionals are printed and written element by element")
{
    std::string const x = program / "x.npy", written = program / "parts";
    runner::write_npy(x, tensor::of<float>({2}, std::vector<float>{1, 2}));
    std::string const parts = program.write(
        "parts.onnx", bytes_of("g (float[2] x) => (s, o, none) { s = SequenceConstruct(x, x) o = Optional(x) "
                               "none = Optional() }"));
    outcome const result = program.run({parts, "x=" + x, "--output", written});
    CHECK(result.err == "");
    CHECK(result.out.starts_with("s sequence of 2\ns[0] float[2]: 1 2\ns[1] float[2]: 1 2\n"
                                 "o optional float[2]\no[0] float[2]: 1 2\nnone empty optional\nrun: "));
    for (char const* const name : {"/s.0.npy", "/s.1.npy", "/o.npy"})
        CHECK(floats_in(written + name) == std::vector<float>{1, 2});
    CHECK_FALSE(std::filesystem::exists(written + "/none.npy"));

    std::string const many =
        program.write("many.onnx", bytes_of("g (float[9] x) => (float[9] y) { y = Abs(x) }"));
    runner::write_npy(x, tensor::of<float>({9}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    CHECK(program.run({many, "x=" + x}).out.starts_with("y float[9]: 1 2 3 4 5 6 7 8 ...\n"));
    onnx::ModelProto alike =
        runner::model_of(runner::graph_of("g (float[2] x) => (a, b) { a = Abs(x) b = Neg(x) }"));
    for (int k : {0, 1}) {
        std::string const name = k == 0 ? "a/b" : "a_b";
        alike.mutable_graph()->mutable_output(k)->set_name(name);
        alike.mutable_graph()->mutable_node(k)->set_output(0, name);
    }
    CHECK(program.run({program.write("alike.onnx", alike.SerializeAsString())}).succeeded);
    outcome const twice = program.run({program / "alike.onnx", "--output", written});
    CHECK(twice.err == "onnx_run: two outputs would be written to 'a_b.npy'\n");
}

TEST_CASE_FIXTURE(fixture, "inputs that no file gives: initializers, random numbers, nothing")
{
    onnx::ModelProto proto =
        runner::model_of(runner::graph_of("g (string[1] t, bool[2] c, int8[3] i, float[2] w, s, o) => "
                                          "(string[1] t, bool[2] c, int8[3] i, float[2] w, s, o) { }"));
    auto& graph = *proto.mutable_graph();
    auto& w = *graph.add_initializer();
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(2);
    w.add_float_data(3);
    w.add_float_data(4);
    (void)graph.mutable_input(4)->mutable_type()->mutable_sequence_type();
    (void)graph.mutable_input(5)->mutable_type()->mutable_optional_type();
    auto const run = [&] { return program.run({program.write("defaults.onnx", proto.SerializeAsString())}); };
    std::string const out = run().out;
    CHECK(out.starts_with("t string[1]: \"\"\nc bool[2]: "));
    CHECK(out.find("\nw float[2]: 3 4\ns sequence of 0\no empty optional\nrun: ") != std::string::npos);
    std::istringstream digits(out.substr(out.find("\ni int8[3]: ") + 12));
    for (int k = 0, digit = -1; k < 3; ++k) {
        digits >> digit;
        CHECK((0 <= digit && digit <= 9));
    }
    auto const complaint = [&] {
        std::string const err = run().err;
        return err.substr(0, err.find('\n'));
    };
    CHECK(program.complaint({program / "defaults.onnx", "s=s.npy"}) ==
          "the input 's': only tensors are read from .npy files");
    (void)graph.mutable_input(5)->mutable_type()->mutable_map_type();
    CHECK(complaint() == "onnx_run: the input 'o': its type is none of tensor, sequence and optional");
    (void)graph.mutable_input(4)->mutable_type()->mutable_tensor_type();
    CHECK(complaint() == "onnx_run: the input 's': the element type 0 is none of ONNX's");
}

TEST_CASE("random integers are those of their types")
{
    std::mt19937 source(1);
    auto const range_of = [&]<class T>(std::type_identity<T>) {
        onnx::TypeProto type;
        type.mutable_tensor_type()->set_elem_type(static_cast<int>(xloom::element_type_of<T>));
        type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1000);
        tensor const made = runner::random_input(type, source).as_tensor();
        auto const [least, most] = std::ranges::minmax_element(made.items<T>());
        return std::pair<int, int>(*least, *most);
    };
    CHECK(range_of(std::type_identity<std::int8_t>()) == std::pair(0, 9));
    CHECK(range_of(std::type_identity<xloom::uint4>()) == std::pair(0, 9));
    CHECK(range_of(std::type_identity<xloom::int4>()) == std::pair(0, 7));
    CHECK(range_of(std::type_identity<xloom::uint2>()) == std::pair(0, 3));
    CHECK(range_of(std::type_identity<xloom::int2>()) == std::pair(0, 1));
}

TEST_CASE_FIXTURE(fixture, "what it refuses")
{
    CHECK(program.run({"--help"}).out.find("MODEL [INPUT=FILE.npy ...]") != std::string::npos);
    CHECK(program.complaint({model, "x=a.npy", "x=b.npy"}) == "the input 'x' is given twice");
    std::string const x = program / "x.npy";
    runner::write_npy(x, tensor::of<double>({1, 2}, std::vector<double>{1, 2}));
    CHECK(program.complaint({model, "x=" + x}) ==
          "the input 'x': the file " + x + " cannot be read as float: its items are '<f8', not '<f4'");
    runner::write_npy(x, tensor::of<float>({1, 2}, std::vector<float>{1, 2}));
    std::string const bytes = read_file(x);
    program.write("x.npy", bytes.substr(0, bytes.size() - 1));
    CHECK(program.complaint({model, "x=" + x}) ==
          "the input 'x': the file " + x + " cannot be read as float: it ends before its last item");
    CHECK(program.complaint({model, "x=nowhere.npy"}) ==
          "the input 'x': the file nowhere.npy cannot be opened");
    CHECK(program.complaint({model, "q=nowhere.npy"}) == "the model has no input 'q'");
    CHECK(program.complaint({model, "x"}) == "an input is given as NAME=FILE.npy, but here as 'x'");
    CHECK(program.complaint({model, "--runs", "0"}) == "--runs must be at least 1");
    CHECK(program.complaint({"nowhere.onnx"}) == "the file nowhere.onnx cannot be opened");
    CHECK(program.complaint({}) == "no model is given (see --help)");
}

TEST_CASE("every type of .npy")
{
    using runner::element_type;
    std::string const path = "npy_types.tmp.npy";
    for (int type = 1; type < static_cast<int>(xloom::element_type_count); ++type) {
        tensor zeros(static_cast<element_type>(type), {2, 3});
        if (zeros.type() != element_type::string)
            std::fill_n(zeros.bytes(), 6 * zeros.item_size(), std::byte{0});
        runner::write_npy(path, zeros);
        tensor const read = runner::read_npy(path, zeros.type());
        CHECK(read.type() == zeros.type());
        CHECK(read.shape() == zeros.shape());
        if (zeros.type() == element_type::string)
            CHECK(std::ranges::equal(read.items<std::string>(), zeros.items<std::string>()));
        else
            CHECK(std::equal(read.bytes(), read.bytes() + 6 * read.item_size(), zeros.bytes()));
    }
    std::filesystem::remove(path);
}

TEST_CASE(".npy files are those of NumPy")
{
    std::string const path = "npy_bytes.tmp.npy";
    auto const written = [&](tensor const& t) {
        runner::write_npy(path, t);
        return read_file(path);
    };
    // Each header has 128 bytes with the magic number, and ends with a line.
    auto const file = [](std::string const& type, std::string const& shape, std::string const& items) {
        std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
        head.resize(117, ' ');
        return std::string("\x93NUMPY\x01\0\x76\0", 10) + head + "\n" + items;
    };
    CHECK(written(tensor::of<xloom::float16>({2}, std::vector<xloom::float16>{1, 0.5f})) ==
          file("<f2", "(2,)", std::string("\0\x3c\0\x38", 4)));
    CHECK(written(tensor::scalar(1.0f)) == file("<f4", "()", std::string("\0\0\x80\x3f", 4)));
    CHECK(written(tensor::of<std::uint8_t>({1, 2}, std::vector<std::uint8_t>{7, 8})) ==
          file("|u1", "(1, 2)", "\x07\x08"));
    std::vector<std::string> const words{"a", "n\xc3\xa9", "\xf0\x9f\x98\x80"};
    CHECK(written(tensor::of<std::string>({3}, words)) ==
          file("<U2", "(3,)", std::string("a\0\0\0\0\0\0\0n\0\0\0\xe9\0\0\0\0\xf6\x01\0\0\0\0\0", 24)));
    tensor const read = runner::read_npy(path, runner::element_type::string);
    CHECK(std::ranges::equal(read.items<std::string>(), words));

    // A file of no strings, however long they would be; one that is shorter than it says; a wrong character.
    auto const read_string = [&](std::string const& bytes) {
        std::istringstream stream(bytes);
        return runner::read_npy(stream, "x.npy", runner::element_type::string);
    };
    CHECK(read_string(file("<U1073741823", "(0,)", "")).size() == 0);
    CHECK_THROWS_WITH(read_string(file("<U1073741824", "(0,)", "")), // 32 bits cannot count its bytes
        "the file x.npy cannot be read as string: its items are '<U1073741824', not '<U' and a length");
    CHECK_THROWS_WITH(read_string(file("<U2", "(1,)", "abcd")),
        "the file x.npy cannot be read as string: it ends before its last item");
    CHECK_THROWS_WITH(read_string(file("<U1", "(1,)", "\xff\xff\xff\xff")),
        "the file x.npy cannot be read as string: a string holds a number that is no character");
    CHECK_THROWS_WITH(read_string(file("<f4", "(1,)", "abcd")),
        "the file x.npy cannot be read as string: its items are '<f4', not '<U' and a length");
    auto const error = [&](std::string const& bytes) {
        try {
            read_string(bytes);
            return std::string();
        } catch (runner::runner_error const& refused) {
            std::string const text = refused.what(), start = "the file x.npy cannot be read as string: ";
            return text.substr(text.starts_with(start) ? start.size() : 0);
        }
    };
    std::string const whole = file("<U1", "(0,)", "");
    CHECK(error(whole) == "");
    for (std::size_t const length : {std::size_t{0}, std::size_t{5}, std::size_t{9}, std::size_t{127}})
        CHECK(error(whole.substr(0, length)) == "it ends within its header");
    CHECK(error("\x93NUMPX" + whole.substr(6)) == "it does not begin as a .npy file");
    for (char const version : {'\0', '\4'})
        CHECK(error(whole.substr(0, 6) + version + whole.substr(7)) == "it does not begin as a .npy file");
    for (std::string const type : {"<U", "<Ux", "<U2x", "<U4294967297", "<U99999999999999999999"})
        CHECK(error(file(type, "(0,)", "")) == "its items are '" + type + "', not '<U' and a length");
    for (std::string const shape : {"(-1,)", "(1;)", "(1", "(x,)", "(99999999999999999999,)"})
        CHECK(error(file("<U1", shape, "")) == "its shape is no list of sizes");
    CHECK(error(file("<U1", "(0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "")) == "");
    CHECK(error(file("<U1", "(0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "")) == "its array has more than 16 axes");
    CHECK(error("\x93NUMPY\x02" + std::string("\0\xff\xff\xff\0", 5)) ==
          "its header has 16777215 bytes, more than 65536");

    auto const complaint = [&](std::vector<std::string> const& texts) {
        try {
            runner::write_npy(path, tensor::of<std::string>({texts.size()}, texts));
            return std::string();
        } catch (runner::runner_error const& error) {
            return std::string(error.what());
        }
    };
    CHECK(complaint({"a\xff"}) ==
          "the file " + path + " cannot be written: a string holds bytes that are no UTF-8");
    CHECK(complaint({std::string("a\0", 2)}) ==
          "the file " + path +
              " cannot be written: a string ends with a null character, which .npy files cannot store");
    CHECK(read_file(path).size() == 152); // nothing is written before
    runner::with_budget const small({.bytes = 1'000'000});
    CHECK(complaint({std::string(200'000, 'a'), "", "", ""}) ==
          "the file " + path + " cannot be written: it would have 4 items of 800000 bytes");
    std::filesystem::remove(path);
}
