// Code made of small models: results, memory from call to call, overlap.

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <xloom_onnx/model/program.hpp>

#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

#include "append.hpp"
#include "collatz.hpp"
#include "counting_new.hpp"
#include "doubling.hpp"
#include "edges.hpp"
#include "exchange.hpp"
#include "hierarchy.hpp"
#include "layer.hpp"
#include "quantized.hpp"
#include "sizes.hpp"
#include "smoothing.hpp"
#include "stream.hpp"
#include "views.hpp"

namespace {

/// How many times f() allocates.
template <class F>
std::size_t allocations_of(F f)
{
    std::size_t const before = allocations();
    f();
    return allocations() - before;
}

} // namespace

TEST_CASE("a Loop with a condition stacks outputs of static shapes without allocation")
{
    doubling model;
    doubling::outputs results;
    xt::xtensor<float, 1> const x = {1, 2, 3};
    model.run_into(results, x, 1000);
    std::size_t const trips = 8; // the sums are 12, 24 .. 1536
    REQUIRE(results.before.shape(0) == trips);
    REQUIRE(results.sums.shape(0) == trips);
    REQUIRE(results.pairs.shape(0) == trips);
    float factor = 1;
    for (std::size_t t = 0; t < trips; ++t, factor *= 2) {
        CHECK(results.sums(t) == 12 * factor);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(results.before(t, i) == factor * x(i));
            CHECK(results.pairs(t, 0, i) == factor * x(i));
            CHECK(results.pairs(t, 1, i) == 2 * factor * x(i));
        }
    }
    CHECK(results.last(2) == factor * 3);
    CHECK(allocations_of([&] { model.run_into(results, x, 1000); }) == 0);
    // More iterations grow the buffers; fewer leave them.
    model.run_into(results, x, 1e6F);
    CHECK(results.sums.shape(0) == 18);
    CHECK(results.sums(17) == 12 * 131072.0F);
    model.run_into(results, x, 0);
    CHECK(results.sums.shape(0) == 1);
    CHECK(results.pairs(0, 1, 2) == 6);
}

TEST_CASE("a Loop in a Loop allocates nothing in later calls")
{
    collatz model;
    collatz::outputs results;
    xt::xtensor<std::int64_t, 1> const starts = {6, 27, 2, 97};
    model.run_into(results, starts);
    CHECK(results.steps == xt::xtensor<std::int64_t, 1>{8, 111, 1, 118});
    CHECK(results.peaks == xt::xtensor<std::int64_t, 1>{16, 9232, 2, 9232});
    CHECK(allocations_of([&] { model.run_into(results, starts); }) == 0);
}

TEST_CASE("a DynamicQuantizeLSTM of constant weights, and one of weights that are inputs")
{
    quantized model;
    quantized::outputs results;
    // Each x and each weight is the only number of its row, so that 8 bits hold it; h of the first step is 0.
    xt::xtensor<float, 3> const X = {{{1}, {-2}}};
    xt::xtensor<std::int8_t, 3> const given = {{{100, 100, 100, 100}}};
    xt::xtensor<float, 1> const scale = {0.01F};
    model.run_into(results, X, given, scale);
    auto const expected = [](double weighted) {
        double const gate = 1 / (1 + std::exp(-weighted));
        return gate * std::tanh(gate * std::tanh(weighted));
    };
    for (std::size_t n = 0; n < 2; ++n) {
        double const x = static_cast<double>(X(0, n, 0));
        CHECK(static_cast<double>(results.Y(0, 0, n, 0)) == doctest::Approx(expected(0.5 * x)));
        CHECK(static_cast<double>(results.Z(0, 0, n, 0)) == doctest::Approx(expected(x)));
    }
    CHECK(allocations_of([&] { model.run_into(results, X, given, scale); }) == 0);
}

TEST_CASE("a convolution and linear attention: tokens together and one by one")
{
    layer model;
    layer::outputs results;
    xt::xtensor<float, 3> const q = {{{1, 0}, {0, 1}, {1, 1}}}, v = {{{1}, {2}, {3}}},
                                a = {{{-0.1F}, {-0.1F}, {-0.1F}}}, b = {{{1}, {1}, {0.25F}}};
    xt::xtensor<float, 4> past = xt::zeros<float>({1, 1, 2, 1});
    xt::xtensor<float, 3> conv_past = xt::zeros<float>({1, 1, 1});
    model.run_into(results, q, v, a, b, past, conv_past);
    // The state before the third token is [d^2, 2 d], of which its key reads the sum.
    double const d = std::exp(-0.1), read = d * d + 2 * d;
    CHECK(results.y(0, 0, 0) == 1);
    CHECK(results.y(0, 1, 0) == 2);
    CHECK(static_cast<double>(results.y(0, 2, 0)) == doctest::Approx(read + 0.5 * (3 - read)));
    CHECK(results.conv_state(0, 0, 0) == 3);
    CHECK(allocations_of([&] { model.run_into(results, q, v, a, b, past, conv_past); }) == 0);
    layer one_by_one;
    layer::outputs step;
    for (std::size_t t = 0; t < 3; ++t) {
        CAPTURE(t);
        auto const token = [&](xt::xtensor<float, 3> const& of) {
            xt::xtensor<float, 3> one = xt::zeros<float>({std::size_t{1}, std::size_t{1}, of.shape()[2]});
            for (std::size_t i = 0; i < of.shape()[2]; ++i)
                one(0, 0, i) = of(0, t, i);
            return one;
        };
        one_by_one.run_into(step, token(q), token(v), token(a), token(b), past, conv_past);
        CHECK(step.y(0, 0, 0) == results.y(0, t, 0));
        past = step.state;
        conv_past = step.conv_state;
    }
    CHECK(past == results.state);
}

TEST_CASE("a token of a stream: its convolution, its attention and its place in a cache")
{
    stream model;
    stream::outputs results;
    xt::xtensor<float, 3> const x = {{{1, 2}}}, taps = {{{1}, {-1}}}, cache = xt::zeros<float>({1, 4, 2});
    xt::xtensor<float, 4> const state = {{{{1, 0}, {0, 1}}}};
    xt::xtensor<std::int64_t, 1> const at = {5};
    model.run_into(results, x, taps, state, cache, at);
    // The key is (1 + 2 * 1, 3 * -1 + 4 * 2) = (3, 5), the value 0.5 * (x - key) = (-1, -1.5).
    CHECK(results.next == xt::xtensor<float, 4>{{{{-2, -4.5F}, {-5, -6.5F}}}});
    CHECK(results.y == xt::xtensor<float, 3>{{{-12, -17.5F}}});
    CHECK(results.next_taps == xt::xtensor<float, 3>{{{1}, {2}}});
    CHECK(results.next_cache == xt::xtensor<float, 3>{{{0, 0}, {1, 2}, {0, 0}, {0, 0}}});
    CHECK(allocations_of([&] { model.run_into(results, x, taps, state, cache, at); }) == 0);
}

TEST_CASE("states that become views of each other are exchanged")
{
    exchange model;
    std::array<std::vector<float>, 3> states{
        {{1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}, {-1, -2, -3, -4, -5, -6}}};
    xt::xtensor<float, 2> a = xt::zeros<float>({2, 3}), b = xt::zeros<float>({3, 2});
    xt::xtensor<float, 1> c = xt::zeros<float>({6});
    std::copy(states[0].begin(), states[0].end(), a.data());
    std::copy(states[1].begin(), states[1].end(), b.data());
    std::copy(states[2].begin(), states[2].end(), c.data());
    for (std::int64_t trips = 0; trips < 5; ++trips) {
        CAPTURE(trips);
        auto const results = model(a, b, c, trips);
        CHECK(std::equal(states[0].begin(), states[0].end(), results.p.data()));
        CHECK(std::equal(states[1].begin(), states[1].end(), results.q.data()));
        CHECK(std::equal(states[2].begin(), states[2].end(), results.r.data()));
        std::vector<float> above = states[2];
        for (float& each : above)
            each += 1;
        states = {states[1], above, states[0]};
    }
    exchange::outputs results;
    model.run_into(results, a, b, c, 3);
    CHECK(allocations_of([&] { model.run_into(results, a, b, c, 4); }) == 0);
}

TEST_CASE("the final state of an inner loop is a scan output of the outer one")
{
    hierarchy model;
    xt::xtensor<float, 1> const start{2, 3};
    xt::xtensor<float, 3> x({3, 4, 2}, 1.0F);
    x(2, 3, 1) = 10;
    for (bool const deep : {true, false}) {
        auto const results = model(start, x, 3, deep);
        CHECK(results.ends == xt::xtensor<float, 2>{{6, 7}, {6, 7}, {6, 16}});
        float const factor = deep ? 8 : -1;
        for (std::size_t t = 0; t < 3; ++t)
            for (std::size_t i = 0; i < 2; ++i)
                CHECK(results.chosen(t, i, 0) == factor * start(i));
        CHECK(results.powers == xt::xtensor<float, 2>{{2, 3}, {4, 9}, {8, 27}});
    }
    hierarchy::outputs results;
    model.run_into(results, start, x, 3, true);
    CHECK(allocations_of([&] { model.run_into(results, start, x, 3, true); }) == 0);
}

TEST_CASE("tensors that a loop appends to a sequence are joined")
{
    append model;
    auto const results = model({{1, 2, 3}, {4, 5, 6}}, 3);
    CHECK(results.rows == xt::xtensor<float, 2>{{0, 0, 0}, {0, 0, 0}, {-1, -2, -3}, {-4, -5, -6},
                              {-2, -4, -6}, {-8, -10, -12}});
    CHECK(results.numbers == xt::xtensor<float, 1>{0, 42, 84});
    CHECK(results.first == xt::xtensor<float, 1>{0, 0, 0});
}

TEST_CASE("states that are handed through, outputs that nobody uses, the least of all ends")
{
    edges model;
    xt::xtensor<float, 1> const x{1, 2, 3};
    auto const results = model(x, 4, 0, true);
    CHECK(results.backwards == xt::xtensor<float, 1>{3, 2, 1});
    CHECK(results.kept == x);
    CHECK(results.grown == xt::xtensor<float, 1>{5, 10, 15});
    CHECK(results.last == x);
    CHECK(results.chosen == xt::xtensor<float, 1>{6, 12, 18});
    CHECK(results.picked == 1);
    CHECK(model(x, 4, 2, false).picked == -2);
}

TEST_CASE("shapes that a run finds too large are refused")
{
    sizes model;
    sizes::outputs results;
    constexpr std::int64_t half = std::int64_t{1} << 32;
    xt::xtensor<float, 1> const x{7};
    auto const run = [&](std::int64_t length, std::int64_t trips, std::int64_t start, std::int64_t limit,
                         std::int64_t delta) {
        model.run_into(results, x, xt::xtensor<std::int64_t, 1>{length}, trips, start, limit, delta);
    };
    run(3, 2, 0, 6, 2);
    CHECK(results.expanded == xt::xtensor<float, 1>{7, 7, 7});
    CHECK(results.rows == xt::xtensor<float, 1>{0, 1});
    CHECK(results.numbers == xt::xtensor<std::int64_t, 1>{0, 2, 4});
    CHECK_THROWS_WITH_AS(run(half << 30, 2, 0, 6, 2),
        "xloom_onnx::expand_into: a tensor of the shape [4611686018427387904] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(run(3, half << 29, 0, 6, 2),
        "Loop: a tensor of the shape [2305843009213693952] does not fit in memory", xloom::shape_error);
    CHECK_THROWS_WITH_AS(run(3, 2, 0, half << 29, 1),
        "xloom_onnx::range_into: a tensor of the shape [2305843009213693952] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        run(3, 2, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), -1),
        "xloom_onnx::range_into: a tensor of the shape [18446744073709551615] does not fit in memory",
        xloom::shape_error);
}

TEST_CASE("views keep the memory of their items")
{
    views model;
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}}, y = {{1, 2}, {3, 4}};
    // e = {{1, 4}, {2, 5}, {3, 6}}, v = {{1, 4, 2}, {5, 3, 6}}, f = {{1, 5}, {4, 3}, {2, 6}}, g = v
    for (int call = 0; call < 2; ++call) {
        auto const results = model(x, y);
        CHECK(results.p == xt::xtensor<float, 2>{{21, 29}, {29, 70}});
        CHECK(results.q == xt::xtensor<float, 1>{7, 8});
        CHECK(results.s == xt::xtensor<float, 2>{{-5, -3}});
        CHECK(results.t == xt::xtensor<float, 2>{{2, 4}, {6, 8}});
        CHECK(results.u == xt::xtensor<float, 1>{-2, -4, -1});
        CHECK(std::abs(results.r(0, 2) - std::tanh(2.0F)) < 1e-6F);
    }
}

TEST_CASE("an input that is among the outputs is an overlap_error")
{
    views model;
    views::outputs results;
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    results.p = {{1, 2}, {3, 4}};
    CHECK_THROWS_WITH_AS(
        model.run_into(results, x, results.p), doctest::Contains("views: the input y"), xloom::overlap_error);
    CHECK(results.p == xt::xtensor<float, 2>{{1, 2}, {3, 4}});
    xt::xtensor<float, 2> const y = results.p;
    model.run_into(results, x, y);
    CHECK(results.t == xt::xtensor<float, 2>{{2, 4}, {6, 8}});
}

TEST_CASE("an input in a sequence or an optional among the outputs is an overlap_error, too")
{
    using row = xt::xtensor<float, 1>;
    using rows = std::vector<row>;
    auto const overlaps = [](auto const& input, auto&... outputs) {
        try {
            xloom_onnx::check_overlap("m", {"x"}, std::tie(input), std::tie(outputs...));
            return false;
        } catch (xloom::overlap_error const&) {
            return true;
        }
    };
    row one{1, 2}, other{1, 2};
    rows several{{1, 2}, {1, 2}}, none;
    std::optional<row> held = one, empty;
    std::optional<rows> all = several;
    CHECK(overlaps(one, other, one));
    CHECK_FALSE(overlaps(one, other, several, none, held, empty, all));
    CHECK(overlaps(several, several));
    CHECK(overlaps(several[1], several));
    CHECK_FALSE(overlaps(several, none));
    CHECK(overlaps(held, held));
    CHECK(overlaps(*held, held));
    CHECK_FALSE(overlaps(held, empty));
    CHECK(overlaps((*all)[0], all));
    CHECK(overlaps(*all, all));
}

TEST_CASE("a custom operator is a call of the user's function")
{
    smoothing model;
    auto const results = model({4, 0, -4}, 0);
    CHECK(results.y == xt::xtensor<float, 1>{2, 1.5F, -0.875F});
    CHECK(results.last == -0.875F);
}

TEST_CASE("a program reads inputs and writes outputs as .npy files")
{
    namespace fs = std::filesystem;
    fs::path const folder = fs::temp_directory_path() / "xloom_generated_test";
    fs::create_directories(folder);
    auto const written = [&](char const* name, auto const& x) {
        std::ofstream(folder / name, std::ios::binary) << xt::dump_npy(x);
        return (folder / name).string();
    };
    std::string const x = "x=" + written("x.npy", xt::xtensor<float, 1>{4, 0, -4});
    std::string const start = "start=" + written("start.npy", xt::xtensor<float, 1>{0});
    std::vector<std::string> const names{"x", "start"};
    auto const files_of = [&](std::vector<std::string> const& arguments) {
        return xloom_onnx::program_files(arguments, names);
    };

    auto const files = files_of({x, start, "--output=" + (folder / "results").string()});
    CHECK(files.input<xt::xtensor<float, 1>>("x") == xt::xtensor<float, 1>{4, 0, -4});
    CHECK(files.input<float>("start") == 0);
    files.output("a/y", "a_y.npy", xt::xtensor<float, 2>{{1, 2}, {3, 4}});
    CHECK(
        xt::load_npy<float>((folder / "results" / "a_y.npy").string()) == xt::xarray<float>{{1, 2}, {3, 4}});
    files.output("last", "last.npy", 5.0F);
    CHECK(*xt::load_npy<float>((folder / "results" / "last.npy").string()).begin() == 5);

    // The bytes of NumPy's array(["a", "né"]) and float16 array([1, 0.5]).
    auto const items_in = [&](char const* name) {
        std::ifstream file(folder / "results" / name, std::ios::binary);
        std::string const bytes(std::istreambuf_iterator<char>(file), {});
        return bytes.substr(bytes.find('\n') + 1);
    };
    xt::xtensor<std::string, 1> const words = {"a", "n\xc3\xa9"};
    files.output("words", "words.npy", words);
    CHECK(items_in("words.npy") == std::string("a\0\0\0\0\0\0\0n\0\0\0\xe9\0\0\0", 16));
    files.output("word", "word.npy", std::string("a"));
    CHECK(items_in("word.npy") == std::string("a\0\0\0", 4));
    xt::xtensor<xloom::float16, 1> const halves = {xloom::float16(1.0F), xloom::float16(0.5F)};
    files.output("halves", "halves.npy", halves);
    CHECK(items_in("halves.npy") == std::string("\0\x3c\0\x38", 4));
    auto const written_ones =
        xloom_onnx::program_files({"words=" + (folder / "results/words.npy").string(),
                                      "halves=" + (folder / "results/halves.npy").string()},
            {"words", "halves"});
    CHECK(written_ones.input<xt::xtensor<std::string, 1>>("words") == words);
    CHECK(written_ones.input<xt::xtensor<xloom::float16, 1>>("halves") == halves);

    using matrix = xt::xtensor<float, 2>;
    using numbers = xt::xtensor<double, 1>;
    CHECK_THROWS_WITH_AS(
        files.input<matrix>("x"), doctest::Contains("rank 2, but has 1"), xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        files.input<float>("x"), doctest::Contains("one item, but has 3"), xloom::shape_error);
    CHECK_THROWS_WITH_AS(files.input<numbers>("x"), doctest::Contains("x.npy"), std::runtime_error);
    // [[1, 2, 3], [4, 5, 6]] with its first index varying fastest, as NumPy saves a transposed array
    auto const saved = [&](std::string const& head, std::string const& items) {
        std::string const length{static_cast<char>(head.size()), '\0'};
        std::ofstream(folder / "x.npy", std::ios::binary)
            << "\x93NUMPY\x01" << '\0' << length << head << items;
    };
    std::string const head = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
    saved(head, "\x01\x04\x02\x05\x03\x06");
    using bytes = xt::xtensor<std::uint8_t, 2>;
    CHECK(files.input<bytes>("x") == bytes{{1, 2, 3}, {4, 5, 6}});
    saved(head, "\x01\x04\x02\x05\x03");
    CHECK_THROWS_WITH_AS(
        files.input<bytes>("x"), doctest::Contains("ends before its last item"), std::runtime_error);
    saved("{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", "");
    CHECK_THROWS_WITH_AS(
        files.input<bytes>("x"), doctest::Contains("ends before its last item"), std::runtime_error);
    saved("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x02");
    CHECK_THROWS_WITH_AS(files.input<bool>("x"), doctest::Contains("no bool"), std::runtime_error);

    struct counter {
        struct outputs {
            int total = 0;
        };
        int calls = 0;
        void run_into(outputs& results, int step) { results.total = step * ++calls; }
    };
    counter counted;
    CHECK(files.run(counted, 5).total == 5);
    CHECK(files_of({x, start, "--runs=3"}).run(counted, 5).total == 20);
    for (char const* const wrong : {"--runs=0", "--runs=2x", "--runs="})
        CHECK_THROWS_WITH_AS(files_of({x, start, wrong}),
            doctest::Contains("--runs must be a positive number"), xloom::option_error);

    CHECK_THROWS_WITH_AS(files_of({x}), doctest::Contains("the input start is missing"), xloom::option_error);
    CHECK_THROWS_WITH_AS(files_of({x, x, start}), doctest::Contains("twice"), xloom::option_error);
    CHECK_THROWS_WITH_AS(files_of({x, start, "z=z.npy"}), doctest::Contains("z=z.npy"), xloom::option_error);
    CHECK_THROWS_WITH_AS(files_of({x, "start=1"}).input<float>("start"), doctest::Contains("a file .npy"),
        xloom::option_error);
    CHECK(xloom_onnx::run_program(0, nullptr, names, [](auto const&) {}) == 1);
    std::string program = "program", x_text = x, start_text = start;
    std::array<char*, 3> const arguments{program.data(), x_text.data(), start_text.data()};
    CHECK(xloom_onnx::run_program(3, arguments.data(), names, [](auto const&) {}) == 0);
    fs::remove_all(folder);
}
