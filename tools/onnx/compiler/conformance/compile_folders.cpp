// Compiles the models of test folders to translation units for onnx_test_compiled.
//
//   onnx_compile_folders OUTPUT FOLDER...

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "budget.hpp"
#include "generate.hpp"
#include "names.hpp"
#include "node.hpp"
#include "proto.hpp"
#include "test_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// Writes a file unless it has this text already, so that nothing is compiled in vain.
void write_changed(fs::path const& path, std::string const& text)
{
    std::ifstream old(path, std::ios::binary);
    if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text)
        return;
    std::ofstream(path, std::ios::binary) << text;
}

std::size_t index_in(onnx::GraphProto const& graph, std::string const& input)
{
    for (int i = 0; i < graph.input_size(); ++i)
        if (graph.input(i).name() == input)
            return static_cast<std::size_t>(i);
    throw runner::runner_error("no input has the name of a parameter");
}

/// True if a second call of the model must not allocate. Weights of a convolution that are inputs, as in the
/// tests, are packed in new memory.
bool keeps_memory(runner::test_folder const& folder, compiler::generated const& made)
{
    auto const used = runner::operators_of(folder);
    return made.has_static_shapes && !used.contains("Conv") && !used.contains("ConvTranspose");
}

/// A function that runs the model twice, as its memory may be used again.
std::string function_text(std::string const& name, compiler::generated const& made,
    onnx::GraphProto const& graph, bool keeps_memory)
{
    std::vector<std::string> arguments{"results"}, results;
    std::string text =
        fmt::format("compiled::values run_{}([[maybe_unused]] compiled::values const& given)\n{{\n", name);
    for (auto const& input : made.inputs) {
        text += fmt::format("    auto const {0}_given = compiled::input<{1}>(given, {2});\n", input.name,
            input.type, index_in(graph, input.onnx_name));
        arguments.push_back(input.name + "_given");
    }
    for (auto const& output : made.outputs)
        results.push_back(fmt::format("compiled::output(results.{})", output.name));
    text += fmt::format("    {0} tested;\n    {0}::outputs results;\n", name);
    text += fmt::format(
        "    auto const call = [&] {{ tested.run_into({}); }};\n    call();\n", fmt::join(arguments, ", "));
    text += fmt::format("    compiled::run_again(call, {});\n    return {{{}}};\n}}\n", keeps_memory,
        fmt::join(results, ", "));
    return text;
}

class units {
public:
    explicit units(fs::path folder) : folder_(std::move(folder)) { fs::create_directories(folder_); }

    void add(runner::test_folder const& folder)
    {
        std::string const path = compiler::string_literal(folder.path.string());
        std::string const name = fmt::format("model_{:04}", count_++);
        try {
            runner::with_budget const limits{runner::budget()};
            onnx::ModelProto const model = runner::read_model((folder.path / "model.onnx").string());
            compiler::options chosen;
            chosen.name = name;
            compiler::generated const made = compiler::generate(model, chosen);
            write_changed(folder_ / (name + ".hpp"), made.header);
            written_.insert(name + ".hpp");
            models_ += fmt::format("\n#ifndef WITHOUT_{0}\n// {1}\n#include \"{0}.hpp\"\n{2}#endif\n", name,
                compiler::comment_text(folder.name),
                function_text(name, made, model.graph(), keeps_memory(folder, made)));
            declarations_ +=
                fmt::format("[[gnu::weak]] compiled::values run_{}(compiled::values const&);\n", name);
            entries_ += fmt::format("    {{{}, run_{}, \"\", false}},\n", path, name);
            if (++in_unit_ == per_unit)
                close_unit();
        } catch (std::exception const& error) {
            bool const is_missing = dynamic_cast<runner::not_implemented const*>(&error) != nullptr;
            std::printf("%s: %s\n", folder.name.c_str(), error.what());
            entries_ += fmt::format(
                "    {{{}, nullptr, {}, {}}},\n", path, compiler::string_literal(error.what()), is_missing);
            ++refused_;
        }
    }

    void finish()
    {
        close_unit();
        write_changed(folder_ / "table.cpp",
            fmt::format("#include <string>\n\n#include \"bridge.hpp\"\n\n{}\nnamespace compiled {{\n\nentry "
                        "const* find(std::string "
                        "const& path)\n{{\n    static entry const all[] = {{\n{}    }};\n    for (entry "
                        "const& each : "
                        "all)\n        if (path == each.path)\n            return &each;\n    return "
                        "nullptr;\n}}\n\n}} // "
                        "namespace compiled\n",
                declarations_, entries_));
        written_.insert("table.cpp");
        for (auto const& each : fs::directory_iterator(folder_))
            if (!written_.contains(each.path().filename().string()))
                fs::remove(each.path());
        std::printf("%zu models, %zu units, %zu refused\n", count_, unit_, refused_);
    }

private:
    static constexpr std::size_t per_unit = 24;

    void close_unit()
    {
        if (in_unit_ == 0)
            return;
        std::string const name = fmt::format("unit_{:03}.cpp", unit_++);
        write_changed(folder_ / name, "#include \"bridge.hpp\"\n" + models_);
        written_.insert(name);
        models_.clear();
        in_unit_ = 0;
    }

    fs::path folder_;
    std::set<std::string> written_{};
    std::string models_{}, declarations_{}, entries_{};
    std::size_t count_ = 0, in_unit_ = 0, unit_ = 0, refused_ = 0;
};

} // namespace

int main(int argc, char** argv)
try {
    if (argc < 3) {
        std::fprintf(stderr, "usage: onnx_compile_folders OUTPUT FOLDER...\n");
        return 2;
    }
    units all(argv[1]);
    for (runner::test_folder const& folder : runner::find_test_folders({argv + 2, argv + argc}))
        all.add(folder);
    all.finish();
    return 0;
} catch (std::exception const& error) {
    std::fprintf(stderr, "onnx_compile_folders: %s\n", error.what());
    return 1;
}
