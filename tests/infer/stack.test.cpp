// Nested inference: what one level of a model's bodies takes of the stack, as the comments of infer_scan,
// infer_loop and infer_if state it.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/scan.hpp>

namespace infer_stack_test {

using namespace xloom;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif
#else
constexpr bool is_sanitized = false;
#endif

// AddressSanitizer surrounds every variable with memory of its own.
constexpr std::size_t most_bytes = is_sanitized ? 12 * 1024 : 4 * 1024;

constexpr int depth = 8;

partial_type vector_type() { return tensor_type(element_type::float_, {3}); }

/// Where the outermost and the innermost body's frames begin.
struct frames {
    std::uintptr_t outermost = 0;
    std::uintptr_t innermost = 0;

    void note()
    {
        innermost = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        outermost = outermost == 0 ? innermost : outermost;
    }

    std::size_t bytes_per_level() const
    {
        return (outermost > innermost ? outermost - innermost : innermost - outermost) /
               static_cast<std::size_t>(depth);
    }
};

[[gnu::noinline]] type_list nested_scan(int levels, frames& seen)
{
    seen.note();
    type_list const types(2, vector_type());
    if (levels == 0)
        return types;
    auto const body = [&](type_list const&) { return nested_scan(levels - 1, seen); };
    return infer_scan(types, body, type_list(2, untyped), {.num_scan_inputs = 0});
}

[[gnu::noinline]] type_list nested_loop(int levels, frames& seen)
{
    seen.note();
    type_list const types(2, vector_type());
    if (levels == 0)
        return types;
    auto const body = [&](type_list const&) { return nested_loop(levels - 1, seen); };
    type_list outputs = infer_loop(type_list(3, vector_type()), body, type_list(1, untyped));
    outputs.push_back(vector_type());
    return outputs;
}

[[gnu::noinline]] type_list nested_if(int levels, frames& seen)
{
    seen.note();
    type_list const types(1, vector_type());
    if (levels == 0)
        return types;
    auto const then_branch = [&](type_list const&) { return nested_if(levels - 1, seen); };
    auto const else_branch = [&](type_list const&) { return types; };
    return infer_if(then_branch, else_branch, type_list(1, untyped));
}

} // namespace

TEST_CASE("nested inference takes at most 4 KiB of stack for each level")
{
    frames scan, loop, if_;
    CHECK(nested_scan(depth, scan).size() == 2);
    CHECK(nested_loop(depth, loop).size() == 2);
    CHECK(nested_if(depth, if_).size() == 1);
    CHECK(scan.bytes_per_level() <= most_bytes);
    CHECK(loop.bytes_per_level() <= most_bytes);
    CHECK(if_.bytes_per_level() <= most_bytes);
    MESSAGE("bytes: ", scan.bytes_per_level(), ", ", loop.bytes_per_level(), ", ", if_.bytes_per_level());
}

} // namespace infer_stack_test
