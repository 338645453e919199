#include "operators.hpp"

namespace runner {

operation const* find_operation(std::string const& domain, std::string const& type)
{
    static operator_table const table = [] {
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
        add_control_flow_operators(all);
        add_recurrent_operators(all);
        add_sequence_operators(all);
        return all;
    }();
    auto const found = table.find(domain.empty() || domain == "ai.onnx" ? type : domain + "." + type);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace runner
