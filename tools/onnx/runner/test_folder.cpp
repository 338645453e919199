#include "test_folder.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "compare.hpp"
#include "graph.hpp"
#include "moves.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "proto.hpp"
#include "text.hpp"

namespace runner {

namespace {

namespace fs = std::filesystem;

/// Older releases of ONNX recorded bfloat16 as the uint16 of its bits, and a tensor of which only the type is
/// read as one item.
value as_declared(value read, onnx::TypeProto const& proto)
{
    xloom::partial_type const type = type_of(proto);
    if (!type.is_tensor() || !read.is_tensor())
        return read;
    tensor t = read.as_tensor();
    if (type.element() == element_type::bfloat16 && t.type() == element_type::uint16)
        t = t.as_type(element_type::bfloat16);
    xloom::shape dims;
    for (xloom::dim const& each : type.shape())
        dims.push_back(each.has_value() ? static_cast<std::size_t>(each.value()) : 1);
    if (t.shape() == xloom::shape{1} && dims.size() > 1)
        t = strided(t, 0, dims, xloom::strides(dims.size(), 0));
    return t;
}

/// The files kind_0.pb, kind_1.pb, ... of a data set.
std::vector<fs::path> files_of(fs::path const& set, std::string const& kind)
{
    std::vector<fs::path> files;
    for (fs::path file; file = set / fmt::format("{}_{}.pb", kind, files.size()), fs::exists(file);)
        files.push_back(file);
    return files;
}

/// What a graph declares of values.
using declarations = std::vector<onnx::ValueInfoProto const*>;

/// Reads files, each as the type that the graph declares.
std::vector<recorded_value> read_values(
    std::vector<fs::path> const& files, std::string const& kind, declarations const& declared)
{
    std::vector<recorded_value> values;
    for (fs::path const& file : files) {
        if (values.size() >= declared.size())
            throw runner_error(
                fmt::format("the graph has {} {}s, but the data set more", declared.size(), kind));
        auto const& type = declared[values.size()]->type();
        values.push_back(read_recorded(file.string(), type));
        values.back().held = as_declared(std::move(values.back().held), type);
    }
    return values;
}

/// The inputs of a data set in the graph's order. In models of IR version 3 initializers are among the
/// graph's inputs, but not always in the data set: files that name inputs are theirs; else, if there are
/// fewer than inputs, they are those of the inputs without an initializer.
std::vector<value> read_inputs(fs::path const& set, onnx::GraphProto const& graph)
{
    std::unordered_map<std::string, onnx::TensorProto const*> initializers;
    for (auto const& each : graph.initializer())
        initializers.emplace(each.name(), &each);
    declarations all, needed;
    for (auto const& input : graph.input()) {
        all.push_back(&input);
        if (!initializers.contains(input.name()))
            needed.push_back(&input);
    }
    auto const files = files_of(set, "input");
    declarations const& recorded = files.size() == needed.size() ? needed : all;
    auto values = read_values(files, "input", recorded);
    auto const is_input = [&](recorded_value const& each) {
        return std::ranges::any_of(
            graph.input(), [&](auto const& input) { return input.name() == each.name; });
    };
    bool const are_named = std::ranges::all_of(values, is_input);
    std::unordered_map<std::string, value> given;
    for (std::size_t k = 0; k < values.size(); ++k)
        given.emplace(are_named ? values[k].name : recorded[k]->name(), std::move(values[k].held));
    std::vector<value> inputs;
    for (auto const& input : graph.input())
        if (auto const found = given.find(input.name()); found != given.end())
            inputs.push_back(std::move(found->second));
        else if (auto const initial = initializers.find(input.name()); initial != initializers.end())
            inputs.push_back(read_tensor(*initial->second));
        else
            break; // and the run tells what is not given
    return inputs;
}

/// Results of ScatterND and GatherND are compared bitwise: they only copy items.
small_floats comparison_of(onnx::GraphProto const& graph, std::string const& output)
{
    for (auto const& node : graph.node())
        if (std::find(node.output().begin(), node.output().end(), output) != node.output().end())
            return node.op_type() == "ScatterND" || node.op_type() == "GatherND" ? small_floats::exactly
                                                                                 : small_floats::closely;
    return small_floats::closely;
}

test_result run_set(runnable_model const& tested, fs::path const& set)
{
    auto const& graph = tested.proto();
    auto const results = tested.run(read_inputs(set, graph));
    declarations outputs;
    for (auto const& each : graph.output())
        outputs.push_back(&each);
    auto const expected = read_values(files_of(set, "output"), "output", outputs);
    if (expected.size() != results.size())
        return {outcome::failed,
            fmt::format("the graph has {} outputs, but the data set {}", results.size(), expected.size())};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        std::string const& name = graph.output(static_cast<int>(i)).name();
        if (!expected[i].name.empty() && expected[i].name != name)
            return {outcome::failed, fmt::format("the graph's output {} is {}, but the data set's {}", i,
                                         in_quotes(name), in_quotes(expected[i].name))};
        if (std::string const found = difference(results[i], expected[i].held, comparison_of(graph, name));
            !found.empty())
            return {outcome::contradicted, fmt::format("the output {} {}", in_quotes(name), found)};
    }
    return {outcome::passed};
}

test_result run_erroneous(runnable_model const& tested, std::vector<fs::path> const& sets)
{
    for (fs::path const& set : sets)
        tested.run(read_inputs(set, tested.proto()));
    return {outcome::contradicted, "an error is expected, but it runs to its end"};
}

std::vector<fs::path> data_sets(fs::path const& folder)
{
    std::vector<fs::path> sets;
    for (auto const& entry : fs::directory_iterator(folder))
        if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
            sets.push_back(entry.path());
    std::sort(sets.begin(), sets.end());
    return sets;
}

void collect_operators(onnx::GraphProto const& graph, std::set<std::string>& found)
{
    for (auto const& node : graph.node()) {
        found.insert(full_name(node.domain(), node.op_type()));
        for_each_body(node, [&](onnx::GraphProto const& body) { collect_operators(body, found); });
    }
}

} // namespace

std::vector<test_folder> find_test_folders(std::vector<std::string> const& roots)
{
    std::vector<test_folder> found;
    for (std::string const& given : roots) {
        fs::path const root = fs::canonical(given);
        if (fs::exists(root / "model.onnx"))
            found.push_back({root.filename().string(), root});
        for (auto const& entry : fs::recursive_directory_iterator(root))
            if (entry.is_directory() && fs::exists(entry.path() / "model.onnx"))
                found.push_back({entry.path().lexically_relative(root).string(), entry.path()});
    }
    std::sort(found.begin(), found.end(),
        [](auto const& a, auto const& b) { return std::tie(a.name, a.path) < std::tie(b.name, b.path); });
    return found;
}

std::set<std::string> operators_of(test_folder const& folder)
{
    std::set<std::string> found;
    collect_operators(read_model((folder.path / "model.onnx").string()).graph(), found);
    return found;
}

test_result run_test(test_folder const& folder, loader load_model)
{
    bool const error_expected = fs::exists(folder.path / "expect_error.txt");
    auto const announced = [&](std::exception const& error) {
        return error_expected ? test_result{outcome::passed} : test_result{outcome::failed, error.what()};
    };
    try {
        with_budget const limits{budget()};
        auto const sets = data_sets(folder.path);
        if (sets.empty() && !error_expected)
            return {outcome::failed, "it has neither test_data_set_* nor expect_error.txt"};
        auto const tested = load_model(folder);
        if (error_expected)
            return run_erroneous(*tested, sets);
        for (fs::path const& set : sets)
            if (test_result const found = run_set(*tested, set); found.result != outcome::passed)
                return {
                    found.result, sets.size() == 1 ? found.why : set.filename().string() + ": " + found.why};
        return {outcome::passed};
    } catch (not_implemented const& error) {
        return {outcome::skipped, error.what()};
    } catch (runner_error const& error) {
        return announced(error);
    } catch (xloom::error const& error) {
        return announced(error);
    } catch (std::exception const& error) {
        return {outcome::failed, error.what()};
    }
}

} // namespace runner
