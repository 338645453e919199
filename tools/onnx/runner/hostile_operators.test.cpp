// Operators on inputs of all kinds, and what the fuzzers found: an error, or none, within a second.

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "fuzz/targets.hpp"
#include "hostile_model.hpp"
#include "operators.hpp"
#include "program_under_test.hpp"
#include "signatures.hpp"

using namespace runner;

namespace {

class hostile_nodes {
public:
    std::size_t any(std::size_t count)
    {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(source_);
    }

    /// As many values as an operator takes, now and then others.
    std::size_t count_for(std::vector<arity> const& formal)
    {
        if (any(20) == 0)
            return any(2) == 0 ? 0 : 20;
        auto const required = static_cast<std::size_t>(std::ranges::count(formal, arity::required));
        bool const is_open =
            !formal.empty() && (formal.back() == arity::any_number || formal.back() == arity::one_or_more);
        return required + any(formal.size() - required + (is_open ? 4 : 1));
    }

    /// Each attribute that an operator has, or not, of its type.
    void add_attributes(onnx::NodeProto& node, signature const& known)
    {
        for (attribute_rule const& each : known.attributes)
            if (each.is_required || any(2) == 0)
                fill(
                    attribute(node, std::string(each.name).c_str(), attribute_type_of(each.kind)), each.kind);
    }

private:
    void fill(onnx::AttributeProto& added, attribute_kind kind)
    {
        auto const number = [&] { return static_cast<std::int64_t>(any(3)) - (any(4) == 0 ? 2 : 0); };
        added.set_i(kind == attribute_kind::int_
                        ? number()
                        : static_cast<std::int64_t>(any(2)) + (kind == attribute_kind::element ? 1 : 0));
        added.set_f(static_cast<float>(number()));
        added.set_s(std::vector<char const*>{"", "add", "reverse", "SAME_UPPER", "edge", "FLOAT", "linear",
            "delta", "silu", "circular", "tanh", "ij,...j->i..."}[any(12)]);
        for (std::size_t k = any(4); k != 0; --k) {
            added.add_ints(kind == attribute_kind::flags ? static_cast<std::int64_t>(any(2)) : number());
            added.add_floats(static_cast<float>(number()));
            added.add_strings(any(2) == 0 ? "Tanh" : "Affine");
        }
        added.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
        added.mutable_t()->add_float_data(1);
        (void)added.mutable_g(), (void)added.mutable_sparse_tensor(), (void)added.mutable_tp();
    }

    std::mt19937 source_{};
};

} // namespace

TEST_CASE("every operator: no inputs, too many, of every kind")
{
    std::vector<value> const kinds{tensor(element_type::float_, {0}), tensor::scalar(1.5f),
        tensor::scalar(std::int64_t{-1}), tensor::scalar(std::string("s")), tensor::scalar(true),
        tensor::of<float>({2, 1, 2}, std::vector<float>{1, 2, 3, 4}), tensor(element_type::float_, {2, 0, 2}),
        tensor::of<float>({2, 1, 1, 2}, std::vector<float>{1, 2, 3, 4}),
        tensor::of<std::int64_t>({2}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 0}),
        sequence{}, sequence{tensor::scalar(1.5f), tensor::scalar(std::string("s"))},
        value::optional_value{}};
    hostile_nodes random;
    std::size_t run = 0;
    for (std::string const& name : operator_names()) {
        std::size_t const dot = name.rfind('.');
        std::string const domain = dot == std::string::npos ? "" : name.substr(0, dot);
        for (int i = 0; i < 300; ++i) {
            std::int64_t const opset = std::vector<std::int64_t>{1, 7, 9, 11, 13, 18, 28}[random.any(7)];
            signature const* const known = find_signature(name, domain.empty() ? opset : 1);
            if (known == nullptr)
                continue;
            hostile_model built(opset);
            std::vector<value> inputs;
            std::string letters;
            for (std::size_t k = 0, count = random.count_for(known->inputs); k < count; ++k) {
                letters += random.any(12) == 0 ? ' ' : static_cast<char>('a' + k);
                built.graph().add_input()->set_name(std::string(1, static_cast<char>('a' + k)));
                inputs.push_back(kinds[random.any(kinds.size())]);
            }
            bool const is_full = domain.empty() || domain == own_domain;
            auto& node = built.node(is_full ? name : name.substr(dot + 1), letters, "yz");
            if (known->outputs == std::vector{arity::required})
                node.mutable_output()->RemoveLast();
            node.set_domain(domain);
            random.add_attributes(node, *known);
            CAPTURE(name);
            CAPTURE(i);
            with_budget const limits({.bytes = 1 << 24, .tensor_bytes = 1 << 20, .steps = 10'000});
            run += complaint([&] { model(built.output("y").proto()).run(inputs); }) == "none" ? 1 : 0;
        }
    }
    CHECK(run > 500); // not all is refused
}

TEST_CASE("what the fuzzers found")
{
    for (std::string const target : {"model", "tensor"})
        for (auto const& entry : std::filesystem::directory_iterator(FUZZ_FINDINGS + ("/" + target))) {
            std::string const path = entry.path().string();
            CAPTURE(path);
            CHECK(
                complaint([&] { (target == "model" ? try_model : try_tensor)(read_file(path)); }) == "none");
        }
}
