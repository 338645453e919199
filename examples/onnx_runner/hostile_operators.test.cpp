// Operators on inputs of all kinds, and what the fuzzers found: an error, or none, within a second.

#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../program_under_test.hpp"
#include "fuzz/targets.hpp"
#include "hostile_model.hpp"
#include "operators.hpp"

using namespace runner;

TEST_CASE("every operator: no inputs, too many, of every kind")
{
    std::vector<value> const kinds{tensor(element_type::float_, {0}), tensor::scalar(1.5f), tensor::scalar(std::int64_t{-1}),
        tensor::scalar(std::string("s")), tensor::scalar(true), tensor::of<float>({2, 1, 2}, std::vector<float>{1, 2, 3, 4}),
        tensor::of<std::int64_t>({2}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 0}), sequence{},
        sequence{tensor::scalar(1.5f), tensor::scalar(std::string("s"))}, value::optional_value{}};
    std::mt19937 source;
    auto const any = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(source); };
    with_budget const limits({.bytes = 1 << 24, .tensor_bytes = 1 << 20, .steps = 10'000});
    for (std::string const& name : operator_names()) {
        std::size_t const dot = name.rfind('.');
        for (int i = 0; i < 300; ++i) {
            hostile_model built(std::vector<std::int64_t>{1, 7, 9, 11, 13, 18}[any(6)]);
            std::size_t const count = i == 0 ? 0 : i == 1 ? 20 : 1 + any(6);
            std::vector<value> inputs;
            std::string letters;
            for (std::size_t k = 0; k < count; ++k) {
                letters += any(12) == 0 ? ' ' : static_cast<char>('a' + k);
                built.graph().add_input()->set_name(std::string(1, static_cast<char>('a' + k)));
                inputs.push_back(kinds[any(kinds.size())]);
            }
            auto& node = built.node(dot == std::string::npos ? name : name.substr(dot + 1), letters, "yz");
            if (dot != std::string::npos)
                node.set_domain(name.substr(0, dot));
            for (char const* const attribute_name : {"axis", "to", "num_scan_inputs", "hidden_size"})
                if (any(2) == 0)
                    attribute(node, attribute_name, onnx::AttributeProto::INT).set_i(static_cast<std::int64_t>(any(3)));
            for (char const* const body : {"body", "then_branch", "else_branch"})
                (void)attribute(node, body, onnx::AttributeProto::GRAPH).mutable_g();
            CAPTURE(name);
            CAPTURE(i);
            (void)complaint([&] { model(built.output("y").proto()).run(inputs); });
        }
    }
}

TEST_CASE("what the fuzzers found")
{
    for (std::string const target : {"model", "tensor"})
        for (auto const& entry : std::filesystem::directory_iterator(FUZZ_FINDINGS + ("/" + target))) {
            std::string const path = entry.path().string();
            CAPTURE(path);
            CHECK(complaint([&] { (target == "model" ? try_model : try_tensor)(read_file(path)); }) == "none");
        }
}
