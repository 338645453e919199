// libFuzzer on models that become headers.

#include "../../runner/fuzz/model_mutator.hpp"
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    compiler::try_compile({reinterpret_cast<char const*>(data), size});
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(unsigned char* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(
    unsigned char* data, std::size_t size, std::size_t max_size, unsigned seed)
{
    onnx::ModelProto model;
    if (!model.ParseFromArray(data, static_cast<int>(size)))
        return LLVMFuzzerMutate(data, size, max_size);
    runner::model_mutator mutator(seed);
    if (seed % 2 == 0)
        mutator.rename(model, compiler::hostile_names());
    else
        mutator.change(model);
    std::size_t const changed_size = model.ByteSizeLong();
    if (changed_size > max_size || !model.SerializeToArray(data, static_cast<int>(changed_size)))
        return LLVMFuzzerMutate(data, size, max_size);
    return changed_size;
}
