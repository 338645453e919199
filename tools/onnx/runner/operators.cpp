#include "operators.hpp"

#include <algorithm>
#include <string_view>

namespace runner {

namespace {

/// Returns a run function that reports xloom_onnx's errors without the name of its function: the node's
/// follows.
run_function with_own_errors(run_function run)
{
    return [run = std::move(run)](call const& c) {
        try {
            return run(c);
        } catch (xloom::error const& error) {
            std::string_view text = error.what();
            if (!text.starts_with("xloom_onnx"))
                throw;
            text.remove_prefix(std::min(text.find(": ") + 2, text.size()));
            throw runner_error(std::string(text));
        }
    };
}

thread_local operator_table const* more_operators = nullptr;

} // namespace

operator_table const& all_operators()
{
    static operator_table const all_of_them = [] {
        operator_table all;
        add_arithmetic_operators(all);
        add_function_operators(all);
        add_logic_operators(all);
        add_cast_operators(all);
        add_constant_operators(all);
        add_shape_operators(all);
        add_piece_operators(all);
        add_reduction_operators(all);
        add_along_axis_operators(all);
        add_indexing_operators(all);
        add_linear_operators(all);
        add_convolution_operators(all);
        add_normalization_operators(all);
        add_quantization_operators(all);
        add_control_flow_operators(all);
        add_scan_operators(all);
        add_recurrent_operators(all);
        add_attention_operators(all);
        add_sequence_operators(all);
        for (auto& [name, operation] : all) {
            operation.run = with_own_errors(std::move(operation.run));
            if (operation.prepare)
                operation.prepare = [prepare = std::move(operation.prepare)](typing const& node) {
                    run_function run = prepare(node);
                    return run ? with_own_errors(std::move(run)) : run;
                };
        }
        return all;
    }();
    return all_of_them;
}

with_operators::with_operators(operator_table const& more) : before_(more_operators)
{
    more_operators = &more;
}

with_operators::~with_operators() { more_operators = before_; }

std::string plain_domain(std::string const& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string full_name(std::string const& domain, std::string const& type)
{
    bool const is_full = plain_domain(domain).empty() || domain == own_domain;
    return is_full ? type : domain + "." + type;
}

operation const* find_operation(std::string const& domain, std::string const& type)
{
    if (domain != own_domain && type.find('.') != std::string::npos)
        return nullptr; // another operator's full name
    std::string const name = full_name(domain, type);
    for (operator_table const* const each : {&all_operators(), more_operators})
        if (each != nullptr)
            if (auto const found = each->find(name); found != each->end())
                return &found->second;
    return nullptr;
}

std::vector<std::string> operator_names()
{
    std::vector<std::string> names;
    for (auto const& [name, what] : all_operators())
        names.push_back(name);
    return names;
}

} // namespace runner
