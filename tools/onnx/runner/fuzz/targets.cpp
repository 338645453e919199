#include "targets.hpp"

#include <sstream>

#include "model.hpp"
#include "npy.hpp"
#include "proto.hpp"
#include "random_input.hpp"

namespace runner {

namespace {

/// As the programs set it, but for the time, of which the fuzzers have less.
constexpr budget shipped{.time = budget::seconds(0.5)};

template <class F>
void try_out(std::string_view bytes, F f)
try {
    with_budget const limits(shipped);
    std::istringstream file{std::string(bytes)};
    f(file);
} catch (runner_error const&) {
} catch (xloom::error const&) {}

} // namespace

void try_model(std::string_view bytes)
{
    try_out(bytes, [](std::istream& file) {
        model const loaded(read_model(file, "model.onnx"));
        std::mt19937 source;
        std::vector<value> inputs;
        for (auto const& input : loaded.proto().input())
            inputs.push_back(default_input(loaded.proto(), input, source));
        for (value const& each : loaded.run(inputs))
            (void)describe(each);
    });
}

void try_tensor(std::string_view bytes)
{
    onnx::TypeProto of_tensor, of_sequence, of_optional;
    (void)of_tensor.mutable_tensor_type(), (void)of_sequence.mutable_sequence_type(),
        (void)of_optional.mutable_optional_type();
    for (auto const* const type : {&of_tensor, &of_sequence, &of_optional})
        try_out(bytes,
            [&](std::istream& file) { (void)describe(read_recorded(file, "input_0.pb", *type).held); });
    for (auto const type :
        {element_type::float_, element_type::int64, element_type::bool_, element_type::uint4})
        try_out(bytes, [&](std::istream& file) { (void)describe(read_npy(file, "input.npy", type)); });
}

} // namespace runner
