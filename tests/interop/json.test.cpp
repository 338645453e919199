// Weights from JSON files that tools/from_torch.py wrote, against what PyTorch 1.13 computed with them; and
// files that are refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <xloom/interop/json.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/stack.hpp>

#include "support/recording.hpp"
#include "support/xtensor_extras.hpp"

namespace json_test {

using namespace xloom;
using recorded::check_equal, recorded::output_of, recorded::pytorch;

namespace {

using matrices = xt::xtensor<float, 3>;

std::string file_of(std::string const& module) { return XLOOM_TEST_DATA "/from_torch/" + module + ".json"; }

std::string text_of(std::string const& module)
{
    std::ifstream file(file_of(module));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Checks the outputs of a module of GRUs or RNNs, which stack(X, layers, start) runs.
template <class Weights, class Stack>
void check_module(std::string const& name, std::vector<Weights> const& layers, Stack const& stack)
{
    matrices const X = pytorch().tensor<3>(name + ".X"), h_0 = pytorch().tensor<3>(name + ".h_0");
    REQUIRE(layers.size() * layers[0].sizes().D == h_0.shape(0));
    auto const [Y, Y_h] = stack(X, layers, h_0);
    check_equal(output_of(Y), pytorch().tensor<3>(name + ".output"));
    check_equal(Y_h, pytorch().tensor<3>(name + ".h_n"));
}

void check_lstm(std::string const& name)
{
    matrices const X = pytorch().tensor<3>(name + ".X"), h_0 = pytorch().tensor<3>(name + ".h_0"),
                   c_0 = pytorch().tensor<3>(name + ".c_0");
    auto const layers = read_lstm(file_of(name));
    REQUIRE(layers.size() * layers[0].sizes().D == h_0.shape(0));
    auto const [Y, Y_h, Y_c] = lstm_stack(X, layers, {.initial_h = h_0, .initial_c = c_0});
    check_equal(output_of(Y), pytorch().tensor<3>(name + ".output"));
    check_equal(Y_h, pytorch().tensor<3>(name + ".h_n"));
    check_equal(Y_c, pytorch().tensor<3>(name + ".c_n"));
}

auto const run_gru = [](matrices const& X, auto const& layers, matrices const& h_0) {
    return gru_stack(X, layers, {.initial_h = h_0});
};
auto const run_rnn = [](matrices const& X, auto const& layers, matrices const& h_0) {
    return rnn_stack(X, layers, {.initial_h = h_0});
};

/// A file of a text, which is removed with the object.
class scratch_file {
public:
    explicit scratch_file(std::string const& text) { std::ofstream(path) << text; }
    scratch_file(scratch_file const&) = delete;
    ~scratch_file() { std::remove(path); }

    static constexpr char const* path = "xloom_json_test.json";
};

/// Reads a text as a file with read_gru.
template <class Item = float>
std::vector<gru_weights<Item>> read_text(std::string const& text)
{
    scratch_file const file(text);
    return read_gru<Item>(file.path);
}

/// Checks that a file is refused, with an error whose text follows "xloom::read_gru: " and the path.
template <class Error>
void check_refused(std::string const& text, std::string const& message)
{
    INFO(text);
    std::string const expected = "xloom::read_gru: " + std::string(scratch_file::path) + message;
    CHECK_THROWS_WITH_AS((void)read_text(text), expected.c_str(), Error);
}

} // namespace

TEST_CASE("modules of PyTorch: two layers in both directions")
{
    check_lstm("lstm");
    check_module("gru", read_gru(file_of("gru")), run_gru);
    check_module("rnn", read_rnn(file_of("rnn")), run_rnn);
    check_module("relu_two", read_rnn(file_of("relu_two")), run_rnn);
}

TEST_CASE("an LSTM of PyTorch with proj_size")
{
    check_lstm("projected");
    CHECK(read_lstm(file_of("projected"))[1].sizes().K == 2);
}

TEST_CASE("modules of PyTorch without bias, one with the batch first")
{
    check_lstm("lstm_without_bias");

    auto const layers = read_gru(file_of("gru_without_bias"));
    REQUIRE(layers.size() == 1);
    CHECK(layers[0].layout() == 1);
    matrices const X = xt::transpose(pytorch().tensor<3>("gru_without_bias.X"), {1, 0, 2});
    matrices const h_0 = xt::transpose(pytorch().tensor<3>("gru_without_bias.h_0"), {1, 0, 2});
    auto const [Y, Y_h] = gru(X, layers[0], {.initial_h = h_0});
    check_equal(matrices(xt::transpose(Y_h, {1, 0, 2})), pytorch().tensor<3>("gru_without_bias.h_n"));
    matrices const output = xt::transpose(xt::view(Y, xt::all(), xt::all(), 0), {1, 0, 2});
    check_equal(output, pytorch().tensor<3>("gru_without_bias.output"));
}

TEST_CASE("a module of PyTorch over a stream, a step at a time")
{
    check_module("stream", read_gru(file_of("stream")), run_gru);

    std::vector<gru_cell<float>> cells;
    for (auto const& weights : read_gru(file_of("stream")))
        cells.emplace_back(weights);
    matrices const X = pytorch().tensor<3>("stream.X"), output = pytorch().tensor<3>("stream.output");
    matrices h = pytorch().tensor<3>("stream.h_0");
    for (std::size_t t = 0; t < X.shape(0); ++t) {
        xt::xtensor<float, 1> x_t = xt::view(X, t, 0);
        for (std::size_t l = 0; l < cells.size(); ++l) {
            xt::xtensor<float, 1> h_l = xt::view(h, l, 0);
            cells[l](h_l, x_t);
            xt::view(h, l, 0) = h_l;
            x_t = h_l;
        }
        check_equal(x_t, xt::xtensor<float, 1>(xt::view(output, t, 0)));
    }
    check_equal(h, pytorch().tensor<3>("stream.h_n"));
}

TEST_CASE("how weights are packed")
{
    CHECK(read_lstm(file_of("lstm"), weight_storage::int8)[1].storage() == weight_storage::int8);
    CHECK(read_gru(file_of("gru"), for_training)[0].is_for_training());
    lstm_weights<double> const wide = read_lstm<double>(file_of("lstm")).at(0);
    CHECK(wide.direction() == direction::bidirectional);
}

TEST_CASE("numbers")
{
    auto const read = [](std::string const& number) {
        gru_weights<float> const weights = read_text(R"({"op_type":"GRU","layers":[{"W":[[[0],[0],[)" +
                                                     number + R"(]]],"R":[[[0],[0],[0]]],"B":null}]})")
                                               .at(0);
        return gru(matrices{{{1}}}, weights).Y_h(0, 0, 0) * 2; // z is 1/2
    };
    CHECK(read("0") == 0);
    gru_weights<double> const wide = read_text<double>(
        R"({"op_type":"GRU","layers":[{"W":[[[0],[0],[0.1]]],"R":[[[0],[0],[0]]],"B":null}]})")
                                         .at(0);
    CHECK(gru(xt::xtensor<double, 3>{{{1}}}, wide).Y_h(0, 0, 0) == 0.5 * std::tanh(0.1));
    CHECK(read("1e38") == 1);
    CHECK(read("-3.4028234663852886e38") == -1);
    CHECK(read("3.4028235e38") == 1); // the largest float's shortest digits, above it as a double
    CHECK(read("-3.4028235677973362e38") == -1);
    CHECK(read("-7") == doctest::Approx(-0.9999983369));
    CHECK(read("0.5") == doctest::Approx(0.4621171573));
    CHECK_THROWS_AS((void)read("3.4028235677973366e38"), file_error); // 0x1.ffffffp127 rounds to infinity
    CHECK_THROWS_AS((void)read("3.5e38"), file_error);
    CHECK_THROWS_AS((void)read("1e400"), file_error);
    CHECK_THROWS_AS((void)read("NaN"), file_error);
    CHECK_THROWS_AS((void)read("\"1\""), file_error);
    CHECK_THROWS_AS((void)read("true"), file_error);
}

TEST_CASE("files that are refused")
{
    std::string const remedy = ". Write the file with tools/from_torch.py.";
    auto const gru = [](std::string const& rest) { return R"({"op_type":"GRU",)" + rest + "}"; };
    std::string const unreadable =
        " must be a file with text, but is empty or cannot be read. Correct the path.";
    CHECK_THROWS_WITH_AS(
        (void)read_lstm("no_such.json"), ("xloom::read_lstm: no_such.json" + unreadable).c_str(), file_error);
    CHECK_THROWS_WITH_AS((void)read_rnn("."), ("xloom::read_rnn: ." + unreadable).c_str(), file_error);
    check_refused<file_error>("", unreadable);
    check_refused<file_error>("[1", " must be a JSON object, but is no JSON" + remedy);
    check_refused<file_error>("[1]", " must be a JSON object, but is array" + remedy);
    check_refused<file_error>("{}", ": op_type must be GRU, but is null" + remedy);
    check_refused<file_error>(text_of("lstm"), ": op_type must be GRU, but is LSTM" + remedy);
    check_refused<file_error>(
        gru(R"("layers":[])"), ": layers must be a list of at least one layer, but is empty" + remedy);
    check_refused<file_error>(gru(R"("layers":[7])"), ": layers[0].W must be a list, but is null" + remedy);
    check_refused<file_error>(gru(R"("layers":[{"W":[[[1],[2],3]]}])"),
        ": layers[0].W[0][2] must be a list, but is number" + remedy);
    check_refused<file_error>(gru(R"("layers":[{"W":[[[1],[2],[3,4]]]}])"),
        ": layers[0].W[0][2] must be a list of 1, as those before it, but is one of 2" + remedy);
    check_refused<file_error>(gru(R"("layers":[{"W":[[[1],[[2]],[3]]]}])"),
        ": layers[0].W[0][1][0] must be a number, but is array" + remedy);
    check_refused<file_error>(gru(R"("layers":[{"W":[[[1],[1e39],[3]]]}])"),
        ": layers[0].W[0][1][0] must be at most 340282346638528859811704183484516925440.000000 in magnitude, "
        "but "
        "is 999999999999999939709166371603178586112.000000" +
            remedy);
    std::string const layers = R"("layers":[{"W":[[[1],[2],[3]]],"R":[[[1],[2],[3]]]}])";
    CHECK(read_text(gru(layers)).size() == 1);
    check_refused<file_error>(
        gru(R"("layout":1.5,)" + layers), ": layout must be an integer, but is number" + remedy);
    check_refused<file_error>(gru(R"("layout":18446744073709551615,)" + layers),
        ": layout must be at most 9223372036854775807, but is 18446744073709551615" + remedy);
    std::string const one_layer = layers.substr(0, layers.size() - 2); // open for further members
    std::string const by_hand = ", which is not read. Construct such weights from constants and options.";
    for (std::string const name : {"direction", "clip", "input_forget", "activation_alpha", "activation_beta",
             "P", "initial_h", "initial_c", "sequence_lens"}) {
        std::string const member = '"' + name + "\":1", text = " must have no " + name + by_hand;
        check_refused<file_error>(gru(member + "," + layers), text);
        check_refused<file_error>(gru(one_layer + "," + member + "}]"), ": layers[0]" + text);
    }
    for (std::string const name : {"layout", "hidden_size", "activations", "linear_before_reset"})
        check_refused<file_error>(gru(one_layer + ",\"" + name + "\":0}]"),
            ": layers[0] must have no " + name + ", which is of all layers. Move it out of layers.");
    for (std::string const name : {"B", "projection"})
        check_refused<file_error>(gru('"' + name + "\":[]," + layers),
            " must have no " + name + ", which is of one layer. Move it into layers.");
    check_refused<file_error>(gru(one_layer + ",\"projection\":[]}]"),
        ": layers[0] must have no projection, which is of an LSTM alone. Remove it.");
    CHECK(read_text(gru(R"("hidden_size":1,"name":"spare",)" + layers)).size() == 1);
    check_refused<file_error>(gru(R"("activations":[1],)" + layers),
        ": activations must be a list of names, but one is number" + remedy);
    check_refused<file_error>(
        gru(R"("activations":"Tanh",)" + layers), ": activations must be a list, but is string" + remedy);
    check_refused<file_error>(
        gru(R"("layers":{"1":{},"0":{}})"), ": layers must be a list, but is object" + remedy);
    check_refused<option_error>(gru(R"("layout":2,)" + layers),
        ": layers[0]: layout must be 0 or 1, but layout is 2. Choose 1 where the batch axis comes first.");
    check_refused<option_error>(gru(R"("hidden_size":7,)" + layers),
        ": layers[0]: hidden_size must be R's last dimension, but hidden_size is 7 and R is [1, 3, 1]. "
        "Correct one of them.");
    check_refused<shape_error>(gru(R"("layers":[{"W":[[[1],[2],[3]]],"R":[[[1],[2]]]}])"),
        ": layers[0]: the operands must have the shapes that D = 1, I = 1 and H = 1 give them, but R is [1, "
        "2, 1] "
        "instead of [D, 3H, H] = [1, 3, 1]. Give it that shape.");
    for (std::string const wrong : {"[]", "[[]]", "[[[]]]", "[[[1],[2],[3]],[[1],[2],[3]],[[1],[2],[3]]]"}) {
        INFO(wrong);
        CHECK_THROWS_AS(
            (void)read_text(gru(R"("layers":[{"W":)" + wrong + R"(,"R":[[[1],[2],[3]]]}])")), shape_error);
        CHECK_THROWS_AS(
            (void)read_text(gru(R"("layers":[{"W":[[[1],[2],[3]]],"R":)" + wrong + "}]")), shape_error);
    }
}

TEST_CASE("a file that is cut, or of which a byte is changed, is read or refused")
{
    std::string const text = text_of("gru_without_bias");
    std::size_t const end = text.find_last_not_of('\n');
    for (std::size_t size = 0; size <= end; ++size) {
        INFO(size);
        CHECK_THROWS_AS((void)read_text(text.substr(0, size)), file_error);
    }
    std::size_t read = 0, refused = 0;
    for (std::size_t i = 0; i <= end; ++i)
        for (char const byte : {'[', ']', ',', '9', '"', '\0', '\xff'}) {
            std::string changed = text;
            changed[i] = byte;
            try {
                read += read_text(changed).size();
            } catch (file_error const&) {
                ++refused;
            } catch (error const&) {
                ++refused;
            }
        }
    CHECK(read + refused == 7 * (end + 1));
    CHECK(read > 0);
    CHECK(refused > read);
}

} // namespace json_test
