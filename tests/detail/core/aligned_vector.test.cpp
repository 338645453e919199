// aligned_vector: a vector whose items begin at a line of the cache.

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <new>
#include <sstream>
#include <string>
#include <type_traits>

#include <xloom/detail/core/aligned_vector.hpp>

namespace core_aligned_vector_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

struct alignas(256) wide {
    char item = 'w';
};

template <class T>
bool begins_at(aligned_vector<T> const& vector, std::size_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(vector.data()) % alignment == 0;
}

#ifdef MADV_HUGEPAGE
/// Whether large pages are wished for there: what the system tells of the memory then has "hg" in it.
bool is_wished_for(void const* memory)
{
    std::ifstream maps("/proc/self/smaps");
    auto const place = reinterpret_cast<std::uintptr_t>(memory);
    bool is_there = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        if (std::istringstream(line) >> std::hex >> begin >> dash >> end && dash == '-')
            is_there = begin <= place && place < end;
        else if (is_there && line.starts_with("VmFlags:"))
            return line.find(" hg") != std::string::npos;
    }
    return false;
}
#endif

} // namespace

TEST_CASE_TEMPLATE("aligned_vector begins at a line of the cache, and after it has grown, too", T, char,
    float, double, std::string)
{
    for (int round = 0; round < 20; ++round) {
        aligned_vector<T> vector;
        for (std::size_t size = 1; size < 200; size = 2 * size + 1) {
            vector.resize(size);
            CHECK(begins_at(vector, 64));
        }
    }
}

TEST_CASE("aligned_vector keeps an alignment that is wider")
{
    aligned_vector<wide> const vector(3);
    CHECK(begins_at(vector, 256));
    CHECK(vector[2].item == 'w');
}

TEST_CASE("aligned_vector is in large pages from one of them on, if the system has any")
{
    constexpr std::size_t page = std::size_t{2} << 20;
    CHECK(begins_at(aligned_vector<char>(page), page));
    CHECK(begins_at(aligned_vector<double>(page / 8 + 1), page));
    static_assert(detail::cache_aligned_allocator<char>::alignment(page - 1) == std::align_val_t{64});
    static_assert(detail::cache_aligned_allocator<float>::alignment(page / 4 - 1) == std::align_val_t{64});
    static_assert(detail::cache_aligned_allocator<float>::alignment(page / 4) == std::align_val_t{page});
    static_assert(detail::cache_aligned_allocator<wide>::alignment(3) == std::align_val_t{256});
#ifdef MADV_HUGEPAGE
    aligned_vector<char> other(page);
    // An emulator takes the wish and forgets it.
    bool const has_any = madvise(other.data(), page, MADV_HUGEPAGE) == 0 && is_wished_for(other.data());
    aligned_vector<float> const vector(4 * page / sizeof(float));
    INFO("Does the system have large pages: ", has_any);
    CHECK(is_wished_for(vector.data()) == has_any);
    CHECK(is_wished_for(vector.data() + 3 * page / sizeof(float)) == has_any);
#endif
}

TEST_CASE("aligned_vector is a vector: copies, moves, comparison")
{
    static_assert(std::is_same_v<aligned_vector<int>::value_type, int>);
    static_assert(std::allocator_traits<detail::cache_aligned_allocator<int>>::is_always_equal::value);
    CHECK(detail::cache_aligned_allocator<int>() ==
          detail::cache_aligned_allocator<int>(detail::cache_aligned_allocator<double>()));
    aligned_vector<std::string> first{"a", "b"};
    aligned_vector<std::string> second = first;
    second.push_back("a word that does not fit into the string itself");
    CHECK(first == aligned_vector<std::string>{"a", "b"});
    first = std::move(second);
    CHECK(first.size() == 3);
    CHECK(begins_at(first, 64));
}

TEST_CASE("aligned_vector refuses more items than can be counted in bytes")
{
    detail::cache_aligned_allocator<double> allocator;
    CHECK_THROWS_AS(static_cast<void>(allocator.allocate(static_cast<std::size_t>(-1) / sizeof(double) + 1)),
        std::bad_array_new_length);
}

} // namespace core_aligned_vector_test
