#include "generate.hpp"

#include <algorithm>
#include <optional>

#include "custom_operators.hpp"
#include "elementwise.hpp"
#include "emitters.hpp"
#include "fixed_inputs.hpp"
#include "model.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// A type with its shape, as a comment.
std::string comment_type(partial_type const& type)
{
    std::string const text = fmt::format("{}", type);
    std::string shown = comment_text(text);
    return shown.substr(1, shown.size() - 2);
}

std::string join_lines(std::vector<std::string> const& lines, char const* before)
{
    std::string text;
    for (std::string const& line : lines)
        text += fmt::format("{}{}\n", before, line);
    return text;
}

bool is_by_value(variable const& input)
{
    return input.is_scalar() && input.type.element() != element_type::string;
}

/// The C++ parameter of an input: a scalar by value, all else by reference.
std::string parameter_of(variable const& input)
{
    return fmt::format("{}{}{}", cpp_type(input.type), is_by_value(input) ? " " : " const& ", input.code);
}

class header {
public:
    header(runner::model const& model, program& code, options const& chosen)
        : model_(model), chosen_(chosen), code_(code), out_(chosen)
    {}

    generated text()
    {
        name_outputs();
        write_function();
        generated made;
        made.header = whole();
        made.weights = out_.weights().bytes();
        made.has_static_shapes = has_static_shapes(code_.main());
        made.warnings = model_.warnings();
        for (variable const* const input : code_.main().inputs)
            made.inputs.push_back({input->onnx_name, input->code, cpp_type(input->type)});
        for (std::size_t k = 0; k < outputs_.size(); ++k)
            made.outputs.push_back({onnx_name(k), outputs_[k], cpp_type(code_.main().outputs[k]->type)});
        return made;
    }

private:
    std::string onnx_name(std::size_t k) const { return model_.proto().output(static_cast<int>(k)).name(); }

    void name_outputs()
    {
        name_scope names;
        for (std::size_t k = 0; k < code_.main().outputs.size(); ++k)
            outputs_.push_back(names.unique(onnx_name(k)));
    }

    void write_function()
    {
        block& main = code_.main();
        std::vector<std::string> parameters;
        out_.include("xloom/tensor.hpp");
        for (variable* const input : main.inputs) {
            out_.bind(*input, out_.unique(input->onnx_name));
            parameters_.push_back(
                input->uses == 0 && !is_checked(*input) ? unnamed(*input) : parameter_of(*input));
        }
        out_.begin_block();
        for (variable* const input : main.inputs)
            check(*input);
        check_overlap();
        std::vector<bool> is_bound(main.outputs.size(), false);
        for (std::size_t k = 0; k < main.outputs.size(); ++k) {
            variable& output = *main.outputs[k];
            is_bound[k] = output.maker != nullptr && output.code.empty();
            if (is_bound[k])
                out_.bind(output, "results." + outputs_[k]);
        }
        emit_nodes(out_, main);
        for (std::size_t k = 0; k < main.outputs.size(); ++k)
            if (!is_bound[k])
                assign(out_, "results." + outputs_[k], *main.outputs[k]);
        out_.end_block();
        body_ = out_.take_body();
    }

    static bool is_checked(variable const& input)
    {
        return std::any_of(input.type.shape().begin(), input.type.shape().end(),
            [](xloom::dim const& d) { return d.has_value(); });
    }

    static std::string unnamed(variable const& input)
    {
        std::string const text = parameter_of(input);
        return text.substr(0, text.size() - input.code.size() - 1) + " /*" + input.code + "*/";
    }

    void check(variable const& input)
    {
        if (!is_checked(input))
            return;
        std::vector<std::string> dims;
        for (xloom::dim const& each : input.type.shape())
            dims.push_back(each.has_value() ? fmt::format("{}", each.value()) : "-1");
        out_.include("xloom_onnx/model/check_input.hpp");
        out_.line("xloom_onnx::check_input({}, {}, {}, {{{}}});", string_literal(chosen_.name),
            string_literal(input.onnx_name), input.code, fmt::join(dims, ", "));
    }

    /// Writes the check that no input is among the outputs, for those whose types allow it.
    void check_overlap()
    {
        auto const can_hold = [](variable const& output, variable const& input) {
            return cpp_type(output.type).find(cpp_type(input.type)) != std::string::npos;
        };
        auto const& results = code_.main().outputs;
        std::vector<std::string> names, inputs, places;
        for (variable const* const input : code_.main().inputs) {
            bool const is_read = input->uses != 0 && !is_by_value(*input);
            if (is_read && std::any_of(results.begin(), results.end(),
                               [&](variable const* output) { return can_hold(*output, *input); })) {
                names.push_back(string_literal(input->onnx_name));
                inputs.push_back(input->code);
            }
        }
        if (inputs.empty())
            return;
        for (std::size_t k = 0; k < results.size(); ++k)
            places.push_back("results." + outputs_[k]);
        out_.include("xloom_onnx/model/check_overlap.hpp");
        out_.line("xloom_onnx::check_overlap({}, {{{}}}, std::tie({}), std::tie({}));",
            string_literal(chosen_.name), fmt::join(names, ", "), fmt::join(inputs, ", "),
            fmt::join(places, ", "));
    }

    std::string whole() const
    {
        std::string const& name = chosen_.name;
        bool const is_const = out_.memory().empty();
        char const* const constness = is_const ? " const" : "";
        std::string text = "#pragma once\n";
        text += fmt::format("// Made by xloom-compile{}.\n\n",
            chosen_.source.empty() ? "" : " from " + comment_text(chosen_.source));
        text += "#include <bit>\n#include <complex>\n#include <cstdint>\n#include <limits>\n#include "
                "<optional>\n#include <string>\n#include <string_view>\n#include <tuple>\n#include "
                "<utility>\n#include <vector>\n\n";
        for (std::string const& each : out_.includes())
            text += fmt::format("#include <{}>\n", each);
        text += "\n";
        for (std::string const& each : chosen_.includes)
            text += fmt::format("#include \"{}\"\n{}", each, &each == &chosen_.includes.back() ? "\n" : "");
        if (!chosen_.enclosing.empty())
            text += fmt::format("namespace {} {{\n\n", chosen_.enclosing);
        text += description();
        text += fmt::format("class {} {{\npublic:\n", name);
        text += outputs_struct();
        std::string const inputs = fmt::format("{}", fmt::join(parameters_, ", "));
        std::vector<std::string> arguments;
        for (variable const* const input : code_.main().inputs)
            arguments.push_back(input->code);
        std::string named;
        for (variable const* const input : code_.main().inputs)
            named += (named.empty() ? "" : ", ") + parameter_of(*input);
        if (!out_.weights().bytes().empty())
            text += constructor();
        text += fmt::format("    outputs operator()({}){}\n    {{\n        outputs results;\n        "
                            "run_into({});\n        return results;\n    }}\n\n",
            named, constness, fmt::join(with_results(arguments), ", "));
        text += fmt::format(
            "    /// Writes the outputs into `results`, which keeps its memory from call to call.\n"
            "    void run_into({}){}\n    {{\n",
            fmt::join(with_first(outputs_.empty() ? "outputs& /*results*/" : "outputs& results", parameters_),
                ", "),
            constness);
        text += indented(body_) + "    }\n";
        if (!out_.members().empty() || !out_.memory().empty())
            text += "\nprivate:\n";
        text += join_lines(out_.arrays(), "    ");
        if (!out_.weights().bytes().empty())
            text += "    xloom_onnx::weights_file weights;\n";
        text += join_lines(out_.members(), "    ");
        text += join_lines(out_.memory(), "    ");
        text += "};\n";
        if (!chosen_.enclosing.empty())
            text += fmt::format("\n}} // namespace {}\n", chosen_.enclosing);
        return text;
    }

    std::string constructor() const
    {
        return fmt::format(
            "    /// Reads the weights from their file.\n    explicit {}(std::string const& path) : "
            "weights(path, {}) {{}}\n\n",
            chosen_.name, out_.weights().bytes().size());
    }

    static std::vector<std::string> with_first(std::string first, std::vector<std::string> rest)
    {
        rest.insert(rest.begin(), std::move(first));
        return rest;
    }
    static std::vector<std::string> with_results(std::vector<std::string> rest)
    {
        return with_first("results", std::move(rest));
    }

    static std::string indented(std::string const& lines)
    {
        std::string text;
        for (std::size_t at = 0; at < lines.size();) {
            std::size_t const end = lines.find('\n', at);
            text += "    " + lines.substr(at, end - at) + "\n";
            at = end + 1;
        }
        return text;
    }

    std::string description() const
    {
        std::string text = fmt::format("/// The model {}.\n///\n", comment_text(model_.proto().name()));
        for (std::size_t i = 0; i < code_.main().inputs.size(); ++i) {
            variable const& input = *code_.main().inputs[i];
            text += fmt::format("/// {}  {}: {} {}\n", i == 0 ? "Inputs " : "       ", input.code,
                comment_type(input.type), comment_text(input.onnx_name));
        }
        for (std::size_t k = 0; k < outputs_.size(); ++k)
            text += fmt::format("/// {}  {}: {} {}\n", k == 0 ? "Outputs" : "       ", outputs_[k],
                comment_type(code_.main().outputs[k]->type), comment_text(onnx_name(k)));
        std::string arguments;
        for (variable const* const input : code_.main().inputs)
            arguments += (arguments.empty() ? "" : ", ") + input->code;
        text += fmt::format("///\n/// Example  {} model{}; auto const results = model({}); // results.{}\n",
            chosen_.name, out_.weights().bytes().empty() ? "" : "(path_of_weights)", arguments,
            fmt::join(outputs_, ", results."));
        if (!out_.memory().empty())
            text += "///\n/// An object keeps the memory of its calls: use one in each thread.\n";
        return text;
    }

    std::string outputs_struct() const
    {
        std::string text = "    struct outputs {\n";
        for (std::size_t k = 0; k < outputs_.size(); ++k)
            text += fmt::format("        {} {}{{}};\n", cpp_type(code_.main().outputs[k]->type), outputs_[k]);
        return text + "    };\n\n";
    }

    runner::model const& model_;
    options const& chosen_;
    program& code_;
    emission out_;
    std::vector<std::string> outputs_{}, parameters_{};
    std::string body_{};
};

} // namespace

generated generate(onnx::ModelProto const& model, options const& chosen)
{
    runner::operator_table const custom = operations_of(chosen.operators);
    runner::with_operators const known(custom);
    runner::model loaded(
        with_values(with_shapes(with_fixed_defaults(model, chosen.values), chosen.shapes), chosen.values));
    std::optional<program> code(loaded.prepared());
    while (code->tell_types()) {
        loaded.infer();
        code.emplace(loaded.prepared());
    }
    code->require_types();
    return header(loaded, *code, chosen).text();
}

} // namespace compiler
