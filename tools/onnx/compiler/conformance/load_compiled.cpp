// Test folders run by generated code.

#include <stdexcept>
#include <string>
#include <utility>

#include "bridge.hpp"
#include "node.hpp"
#include "proto.hpp"
#include "test_folder.hpp"

namespace runner {

namespace {

class compiled_model : public runnable_model {
public:
    compiled_model(onnx::ModelProto proto, compiled::function compiled)
        : proto_(std::move(proto)), run_(compiled)
    {}

    onnx::GraphProto const& proto() const override { return proto_.graph(); }
    std::vector<value> run(std::vector<value> const& inputs) const override { return run_(inputs); }

private:
    onnx::ModelProto proto_;
    compiled::function run_;
};

} // namespace

std::unique_ptr<runnable_model> load(test_folder const& folder)
{
    compiled::entry const* const found = compiled::find(folder.path.string());
    if (found == nullptr)
        throw runner_error("the folder was not given to onnx_compile_folders");
    std::string const refusal = found->refusal;
    if (found->run == nullptr && refusal.empty())
        throw std::runtime_error(
            "the code made of its model does not compile"); // no error that a test expects
    if (found->run == nullptr && found->is_missing)
        throw not_implemented(refusal);
    if (found->run == nullptr)
        throw runner_error(refusal);
    return std::make_unique<compiled_model>(read_model((folder.path / "model.onnx").string()), found->run);
}

} // namespace runner
