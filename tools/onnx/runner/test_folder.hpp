#pragma once
// ONNX's test folders: model.onnx beside test_data_set_*/{input_N,output_N}.pb, or beside an
// expect_error.txt.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

enum class outcome : char {
    passed = 'P',
    failed = 'F',
    skipped = 'S',     ///< it needs what the runner does not have
    contradicted = 'C' ///< ran to its end, but not to the recorded one
};

struct test_result {
    outcome result;
    std::string why{};
};

struct test_folder {
    std::string name; ///< its path below the folder where the search began
    std::filesystem::path path;
};

/// All of them in and below these folders, sorted by name.
std::vector<test_folder> find_test_folders(std::vector<std::string> const& roots);

/// The operators of its model, as "Add" or "com.microsoft.AttnLSTM", those of bodies included. Throws if
/// there is no model to read.
std::set<std::string> operators_of(test_folder const& folder);

/// A model that can be run, whatever runs it.
class runnable_model {
public:
    virtual ~runnable_model() = default;
    virtual onnx::GraphProto const& proto() const = 0;
    virtual std::vector<value> run(std::vector<value> const& inputs) const = 0;
};

/// Returns the model of a folder, ready to run; a program defines which function it is.
std::unique_ptr<runnable_model> load(test_folder const& folder);

/// Runs the model that load(folder) returns on all data sets. Does not throw.
using loader = std::unique_ptr<runnable_model> (*)(test_folder const&);
test_result run_test(test_folder const& folder, loader load_model);

} // namespace runner
