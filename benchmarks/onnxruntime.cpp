#include "onnxruntime.hpp"

#include <cstdlib>
#include <iostream>

#include <dlfcn.h>

#include <benchmark/benchmark.h>
#include <onnxruntime_c_api.h>

namespace bench {
namespace {

/// The first version of the API has every function called here.
constexpr std::uint32_t api_version = 1;

struct runtime {
    OrtApi const* api = nullptr; ///< none: the peer is omitted
    OrtEnv* environment = nullptr;
};

void require(OrtApi const& api, OrtStatus* status)
{
    if (status == nullptr)
        return;
    std::cerr << "onnxruntime: " << api.GetErrorMessage(status) << '\n';
    std::exit(EXIT_FAILURE);
}

runtime load()
{
    char const* const named = std::getenv("XLOOM_ORT_LIB");
    void* const library = dlopen(named != nullptr ? named : XLOOM_ORT_LIB, RTLD_NOW | RTLD_LOCAL);
    void* const entry = library == nullptr ? nullptr : dlsym(library, "OrtGetApiBase");
    if (entry == nullptr) {
        std::cerr << "onnxruntime: omitted: " << dlerror() << '\n';
        return {};
    }
    OrtApiBase const* const base = reinterpret_cast<OrtApiBase const* (*)()>(entry)();
    runtime result{base->GetApi(api_version)};
    require(*result.api, result.api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "xloom", &result.environment));
    benchmark::AddCustomContext("onnxruntime", base->GetVersionString());
    return result;
}

/// Loaded once, and kept until the program ends.
runtime const& the_runtime()
{
    static runtime const loaded = load();
    return loaded;
}

} // namespace

bool has_onnxruntime() { return the_runtime().api != nullptr; }

struct onnxruntime_session::implementation {
    OrtApi const& api = *the_runtime().api;
    OrtSession* session = nullptr;
    std::vector<std::string> names;
    std::vector<char const*> input_names, output_names;
    std::vector<OrtValue*> inputs, outputs;

    implementation(std::string const& file, std::vector<onnx_operand> const& model_inputs,
        std::vector<onnx_operand> const& model_outputs, std::size_t threads)
    {
        open(file, static_cast<int>(threads));
        OrtMemoryInfo* memory = nullptr;
        require(api, api.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
        names.reserve(model_inputs.size() + model_outputs.size());
        for (onnx_operand const& operand : model_inputs)
            if (!operand.is_weight)
                bind(operand, *memory, input_names, inputs);
        for (onnx_operand const& operand : model_outputs)
            bind(operand, *memory, output_names, outputs);
        api.ReleaseMemoryInfo(memory);
    }

    ~implementation()
    {
        for (OrtValue* const value : inputs)
            api.ReleaseValue(value);
        for (OrtValue* const value : outputs)
            api.ReleaseValue(value);
        api.ReleaseSession(session);
    }

    void open(std::string const& file, int threads)
    {
        OrtSessionOptions* options = nullptr;
        require(api, api.CreateSessionOptions(&options));
        require(api, api.SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
        require(api, api.SetSessionExecutionMode(options, ORT_SEQUENTIAL));
        require(api, api.SetIntraOpNumThreads(options, threads));
        require(api, api.SetInterOpNumThreads(options, 1));
        require(api, api.EnableCpuMemArena(options));
        require(api, api.CreateSessionFromArray(
                         the_runtime().environment, file.data(), file.size(), options, &session));
        api.ReleaseSessionOptions(options);
    }

    void bind(onnx_operand const& operand, OrtMemoryInfo const& memory,
        std::vector<char const*>& operand_names, std::vector<OrtValue*>& values)
    {
        if (operand.name.empty())
            return;
        OrtValue* value = nullptr;
        require(api,
            api.CreateTensorWithDataAsOrtValue(&memory, operand.data, operand.bytes, operand.shape.data(),
                operand.shape.size(), static_cast<ONNXTensorElementDataType>(operand.type), &value));
        values.push_back(value);
        names.push_back(operand.name);
        operand_names.push_back(names.back().c_str());
    }
};

onnxruntime_session::onnxruntime_session(onnx_graph const& model, std::size_t threads)
    : onnxruntime_session(serialized(model), model.inputs, model.outputs, threads)
{}

onnxruntime_session::onnxruntime_session(std::string const& file, std::vector<onnx_operand> const& inputs,
    std::vector<onnx_operand> const& outputs, std::size_t threads)
    : session_(std::make_unique<implementation>(file, inputs, outputs, threads))
{}

onnxruntime_session::~onnxruntime_session() = default;

void onnxruntime_session::run()
{
    auto& s = *session_;
    require(s.api, s.api.Run(s.session, nullptr, s.input_names.data(), s.inputs.data(), s.inputs.size(),
                       s.output_names.data(), s.output_names.size(), s.outputs.data()));
}

} // namespace bench
