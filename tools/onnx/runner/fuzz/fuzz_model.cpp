// libFuzzer on models.

#include "model_mutator.hpp"
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    runner::try_model({reinterpret_cast<char const*>(data), size});
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(unsigned char* data, std::size_t size, std::size_t max_size);

namespace {

/// The bytes of a changed model, or, where there is none or no room for it, changed bytes.
template <class Change>
std::size_t mutate(unsigned char* data, std::size_t size, std::size_t max_size, unsigned seed, Change change)
{
    onnx::ModelProto model;
    if (seed % 16 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
        return LLVMFuzzerMutate(data, size, max_size);
    change(model);
    std::size_t const changed_size = model.ByteSizeLong();
    if (changed_size > max_size || !model.SerializeToArray(data, static_cast<int>(changed_size)))
        return LLVMFuzzerMutate(data, size, max_size);
    return changed_size;
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(
    unsigned char* data, std::size_t size, std::size_t max_size, unsigned seed)
{
    return mutate(data, size, max_size, seed,
        [&](onnx::ModelProto& model) { runner::model_mutator(seed).change(model); });
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(unsigned char const* data1, std::size_t size1,
    unsigned char const* data2, std::size_t size2, unsigned char* out, std::size_t max_size, unsigned seed)
{
    if (size1 > max_size)
        return 0;
    std::copy_n(data1, size1, out);
    return mutate(out, size1, max_size, seed, [&](onnx::ModelProto& model) {
        if (onnx::ModelProto other; other.ParseFromArray(data2, static_cast<int>(size2)))
            runner::model_mutator(seed).graft(model, other);
    });
}
