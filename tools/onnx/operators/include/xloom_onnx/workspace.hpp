#pragma once
// Scratch memory that a caller keeps between calls.

#include <cstddef>
#include <new>

#include <xloom/core/aligned_vector.hpp>

namespace xloom_onnx {

/// Scratch memory of an operator: it grows to the largest call, and is then reused. One call at a time may
/// use it.
class workspace {
public:
    /// Returns memory for `count` items of a trivial type, aligned to cache lines and unspecified. It is
    /// valid until the next call.
    template <class T>
    T* take(std::size_t count)
    {
        if (memory_.size() < count * sizeof(T)) {
            memory_.clear(); // nothing is copied
            memory_.resize(count * sizeof(T));
        }
        return reinterpret_cast<T*>(memory_.data());
    }

    std::size_t bytes() const noexcept { return memory_.size(); }

private:
    xloom::detail::aligned_vector<std::byte> memory_{};
};

} // namespace xloom_onnx
