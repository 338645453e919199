#pragma once
// An allocator for results that are allocated again in each call.

#include <cstddef>
#include <map>
#include <vector>

#include <xloom/detail/core/aligned_vector.hpp>

namespace bench {

/// An allocator that reuses freed blocks by size: their pages are mapped already, as for a peer that writes
/// to preallocated outputs. malloc often takes new pages, which cost more than the copy that fills them: it
/// splits the remainder of an aligned block off the free one.
template <class T>
struct reusing_allocator {
    using value_type = T;

    reusing_allocator() = default;
    template <class U>
    reusing_allocator(reusing_allocator<U> const&)
    {}

    T* allocate(std::size_t count)
    {
        auto& blocks = given_back()[count];
        if (blocks.empty())
            return xloom::detail::cache_aligned_allocator<T>().allocate(count);
        T* const block = blocks.back();
        blocks.pop_back();
        return block;
    }
    void deallocate(T* block, std::size_t count) { given_back()[count].push_back(block); }

    friend bool operator==(reusing_allocator const&, reusing_allocator const&) { return true; }

private:
    /// Returns the freed blocks by size; never destroyed.
    static std::map<std::size_t, std::vector<T*>>& given_back()
    {
        static auto& blocks = *new std::map<std::size_t, std::vector<T*>>;
        return blocks;
    }
};

} // namespace bench
