// The main() of a model.

#include <algorithm>
#include <set>

#include "generate.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// True if .npy files have the items of a C++ type: no small numbers but float16, no sequences.
bool is_in_npy(std::string const& type)
{
    for (char const* const other : {"std::vector", "std::optional"})
        if (type.find(other) != std::string::npos)
            return false;
    return type.find("xloom::") == std::string::npos || type.find("xloom::float16") != std::string::npos;
}

void require_npy(char const* what, generated::value const& value)
{
    if (!is_in_npy(value.type))
        throw runner::not_implemented(
            fmt::format("--main is not implemented for the {} {}: .npy files have no {}", what,
                runner::in_quotes(value.onnx_name), value.type));
}

} // namespace

std::string main_of(generated const& model, options const& chosen, std::string const& header)
{
    std::vector<std::string> names, arguments{"model"};
    std::string outputs;
    for (auto const& each : model.inputs) {
        require_npy("input", each);
        names.push_back(text_expression(each.onnx_name));
        arguments.push_back(fmt::format("files.template input<{}>({})", each.type, names.back()));
    }
    std::set<std::string> files;
    for (auto const& each : model.outputs) {
        require_npy("output", each);
        std::string file = each.onnx_name + ".npy";
        std::replace_if(
            file.begin(), file.end(), [](char c) { return c == '/' || c == '\0'; }, '_');
        if (!files.insert(file).second)
            throw runner::not_implemented(
                "--main is not implemented for two outputs in one file of --output, " +
                runner::in_quotes(file));
        outputs += fmt::format("        files.output({}, {}, results.{});\n", text_expression(each.onnx_name),
            text_expression(file), each.name);
    }
    std::string weights;
    if (chosen.weights == weights_place::file) {
        names.emplace_back("\"--weights\"");
        if (!model.weights.empty())
            weights = "(files.path(\"--weights\"))";
    }
    std::string const name = chosen.enclosing.empty() ? chosen.name : chosen.enclosing + "::" + chosen.name;
    return fmt::format("// Made by xloom-compile{}: runs the model on INPUT=FILE.npy for each input.\n\n"
                       "#include \"{}\"\n\n#include <xloom_onnx/model/program.hpp>\n\n"
                       "int main(int argc, char** argv)\n{{\n"
                       "    return xloom_onnx::run_program(argc, argv, {{{}}}, [](auto const& files) {{\n"
                       "        ::{} model{};\n"
                       "        auto const results = files.run({});\n{}"
                       "    }});\n}}\n",
        chosen.source.empty() ? "" : " from " + comment_text(chosen.source), header, fmt::join(names, ", "),
        name, weights, fmt::join(arguments, ", "), outputs);
}

} // namespace compiler
