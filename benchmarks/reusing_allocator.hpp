#pragma once
// Memory for results that are made anew in each call.

#include <cstddef>
#include <map>
#include <vector>

#include <xloom/core/aligned_vector.hpp>

namespace bench {

/// Gives out again what was given back, by size: the pages are there already, as a peer's are that writes
/// into the memory it was given. malloc often takes new ones, which cost more than the copy that fills them:
/// it cuts what an aligned block leaves over off the free one.
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
    /// For as long as the program runs.
    static std::map<std::size_t, std::vector<T*>>& given_back()
    {
        static auto& blocks = *new std::map<std::size_t, std::vector<T*>>;
        return blocks;
    }
};

} // namespace bench
