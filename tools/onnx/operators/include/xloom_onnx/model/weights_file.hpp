#pragma once
// The file with the weights of a model.

#include <cstddef>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace xloom_onnx {

/// The weights of a model, read once from their file. Copies share them.
///
/// Errors    std::runtime_error: the file cannot be read, or has another size.
class weights_file {
public:
    static constexpr std::size_t alignment = 64;

    weights_file(std::string const& path, std::size_t bytes) : bytes_(allocate(bytes))
    {
        std::ifstream file(path, std::ios::binary);
        file.read(reinterpret_cast<char*>(bytes_.get()), static_cast<std::streamsize>(bytes));
        if (!file || file.peek() != std::ifstream::traits_type::eof())
            throw std::runtime_error(
                "xloom_onnx: " + path + " cannot be read as the " + std::to_string(bytes) +
                " bytes of the model's weights. Give the file that was made with the header.");
    }

    /// Returns the items that begin at a byte.
    template <class T>
    T const* items(std::size_t at) const
    {
        return reinterpret_cast<T const*>(bytes_.get() + at);
    }

private:
    static std::shared_ptr<std::byte> allocate(std::size_t bytes)
    {
        constexpr std::align_val_t aligned{alignment};
        return {static_cast<std::byte*>(::operator new(bytes, aligned)),
            [](std::byte* memory) { ::operator delete(memory, std::align_val_t{alignment}); }};
    }

    std::shared_ptr<std::byte> bytes_;
};

} // namespace xloom_onnx
