// Test folders run by the runner.

#include "model.hpp"
#include "test_folder.hpp"

namespace runner {

namespace {

class interpreted_model : public runnable_model {
public:
    explicit interpreted_model(std::string const& path) : model_(path) {}

    onnx::GraphProto const& proto() const override { return model_.proto(); }
    std::vector<value> run(std::vector<value> const& inputs) const override { return model_.run(inputs); }

private:
    model model_;
};

} // namespace

std::unique_ptr<runnable_model> load(test_folder const& folder)
{
    return std::make_unique<interpreted_model>((folder.path / "model.onnx").string());
}

} // namespace runner
