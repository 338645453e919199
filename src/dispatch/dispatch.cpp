// The choice of a level, and the functions of each level for the headers. Compiled for every processor.

#include <cpuid.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "functions.hpp"

namespace xloom::dispatch::detail {
namespace {

constexpr std::array<std::string_view, level_count> names{"sse2", "avx2", "avx512", "avx512_vnni"};

} // namespace

template <class Functions, class... All>
constexpr bool is_among(std::tuple<All...> const*) noexcept
{
    return (std::is_same_v<Functions, All> || ...);
}

/// Returns the functions of avx512_vnni: those of avx512, unless they choose the products of narrow weights.
template <class Functions>
constexpr Functions const& with_vnni() noexcept
{
    if constexpr (is_among<Functions>(&xloom_dispatch_avx512_vnni))
        return std::get<Functions>(xloom_dispatch_avx512_vnni);
    else
        return std::get<Functions>(xloom_dispatch_avx512);
}

template <class Functions>
Functions const* const functions_of_levels<Functions>::at[level_count]{&std::get<Functions>(xloom_dispatch_sse2),
    &std::get<Functions>(xloom_dispatch_avx2), &std::get<Functions>(xloom_dispatch_avx512),
    &with_vnni<Functions>()};

namespace {

/// Emits the functions of all types in the table.
template <class... Functions>
constexpr auto addresses(std::tuple<Functions...> const*)
{
    return std::tuple{&functions_of_levels<Functions>::at...};
}
[[gnu::used]] constexpr auto all = detail::addresses(static_cast<table const*>(nullptr));

} // namespace

constinit std::atomic<std::size_t> chosen_level = level_count;

namespace {

/// True if the processor has F16C, which __builtin_cpu_supports of clang 14 does not know.
bool has_f16c() noexcept
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

} // namespace

bool is_supported(level unit) noexcept
{
    // These report what the operating system saves, too.
    bool const has_avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && detail::has_f16c();
    switch (unit) {
    case level::sse2:
        return true;
    case level::avx2:
        return has_avx2;
    case level::avx512:
        return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    case level::avx512_vnni:
        return detail::is_supported(level::avx512) && __builtin_cpu_supports("avx512vnni");
    }
    return false;
}

std::size_t first_level() noexcept
{
    std::size_t highest = level_count - 1;
    while (!detail::is_supported(static_cast<level>(highest)))
        --highest;
    char const* const wanted = std::getenv("XLOOM_DISPATCH_LEVEL");
    if (wanted == nullptr || *wanted == '\0')
        return highest;
    for (std::size_t unit = 0; unit <= highest; ++unit)
        if (names[unit] == wanted)
            return unit;
    return level_count;
}

} // namespace xloom::dispatch::detail
