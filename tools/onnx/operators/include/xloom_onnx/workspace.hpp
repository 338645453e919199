#pragma once
// Scratch memory that a caller keeps between calls.

#include <array>
#include <cstddef>

#include <xloom/kernels.hpp>

namespace xloom_onnx {

/// What scratch memory is for. What one call needs at the same time is for different purposes.
enum class scratch { products, transposed, converted };

/// Scratch memory of an operator: it grows to the largest call, and is then reused. One call at a time may
/// use it.
class workspace {
public:
    /// Returns memory for `count` items of a trivial type, aligned to cache lines and unspecified. It is
    /// valid until the next call with the same purpose.
    template <class T>
    T* take(std::size_t count, scratch purpose = scratch::products)
    {
        auto& memory = memory_[static_cast<std::size_t>(purpose)];
        if (memory.size() < count * sizeof(T)) {
            memory.clear(); // nothing is copied
            memory.resize(count * sizeof(T));
        }
        return reinterpret_cast<T*>(memory.data());
    }

    std::size_t bytes() const noexcept
    {
        std::size_t sum = 0;
        for (auto const& each : memory_)
            sum += each.size();
        return sum;
    }

private:
    std::array<xloom::kernels::aligned_vector<std::byte>, 3> memory_{};
};

} // namespace xloom_onnx
