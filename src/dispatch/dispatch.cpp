// The choice of a level, and the functions of each level for the headers. Compiled for every processor.

#include <cpuid.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "functions.hpp"

namespace xloom::inline XLOOM_ABI::dispatch::detail {
namespace {

constexpr std::array<std::string_view, level_count> names{
    "sse2", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16"};

} // namespace

template <class Functions, class... All>
constexpr bool is_among(std::tuple<All...> const*) noexcept
{
    return (std::is_same_v<Functions, All> || ...);
}

/// Returns the functions of this type in the first of the tables that has them.
template <class Functions, class Table, class... Tables>
constexpr Functions const* found_in(Table const& table, Tables const&... others) noexcept
{
    if constexpr (is_among<Functions>(static_cast<Table const*>(nullptr)))
        return &std::get<Functions>(table);
    else
        return detail::found_in<Functions>(others...);
}

template <class Functions>
Functions const& functions_of(level unit) noexcept
{
    // Not constexpr: the address of a table in another DLL is no constant expression.
    static Functions const* const at[level_count]{
        detail::found_in<Functions>(
            xloom_dispatch_sse2_float, xloom_dispatch_sse2_double, xloom_dispatch_sse2_integer),
        detail::found_in<Functions>(
            xloom_dispatch_avx2_float, xloom_dispatch_avx2_double, xloom_dispatch_avx2_integer),
        detail::found_in<Functions>(xloom_dispatch_avx2_vnni_narrow, xloom_dispatch_avx2_float,
            xloom_dispatch_avx2_double, xloom_dispatch_avx2_integer),
        detail::found_in<Functions>(
            xloom_dispatch_avx512_float, xloom_dispatch_avx512_double, xloom_dispatch_avx512_integer),
        detail::found_in<Functions>(xloom_dispatch_avx512_vnni_narrow, xloom_dispatch_avx512_float,
            xloom_dispatch_avx512_double, xloom_dispatch_avx512_integer),
        detail::found_in<Functions>(xloom_dispatch_avx512_bf16_narrow, xloom_dispatch_avx512_float,
            xloom_dispatch_avx512_double, xloom_dispatch_avx512_integer)};
    return *at[static_cast<std::size_t>(unit)];
}

namespace {

/// Emits the functions of all types in the tables.
template <class... Functions>
constexpr auto addresses(std::tuple<Functions...> const*)
{
    return std::tuple{&functions_of<Functions>...};
}
using all_functions = decltype(std::tuple_cat(
    std::declval<float_functions>(), std::declval<double_functions>(), std::declval<integer_functions>()));
[[gnu::used]] constexpr auto all = detail::addresses(static_cast<all_functions const*>(nullptr));

} // namespace

constinit std::atomic<std::size_t> chosen_level = level_count;

namespace {

struct cpuid_registers {
    unsigned eax, ebx, ecx, edx;
};

/// True if the processor has the feature of a bit in a register of CPUID.
///
/// Why not __builtin_cpu_supports: that of clang 14 does not know these features.
bool has_feature(unsigned leaf, unsigned subleaf, unsigned cpuid_registers::*which, unsigned bit) noexcept
{
    cpuid_registers found{};
    return __get_cpuid_count(leaf, subleaf, &found.eax, &found.ebx, &found.ecx, &found.edx) != 0 &&
           (found.*which >> bit & 1) != 0;
}
bool has_f16c() noexcept { return detail::has_feature(1, 0, &cpuid_registers::ecx, 29); }
bool has_avx_vnni() noexcept { return detail::has_feature(7, 1, &cpuid_registers::eax, 4); }
bool has_amx_bf16() noexcept { return detail::has_feature(7, 0, &cpuid_registers::edx, 22); }

/// True if a level is supported and none below it is faster: kernel/pair_products.hpp says why not with AMX.
bool is_useful(level unit) noexcept
{
    return detail::is_supported(unit) && (unit != level::avx512_bf16 || !detail::has_amx_bf16());
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
    case level::avx2_vnni:
        return has_avx2 && detail::has_avx_vnni();
    case level::avx512:
        return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    case level::avx512_vnni:
        return detail::is_supported(level::avx512) && __builtin_cpu_supports("avx512vnni");
    case level::avx512_bf16:
        return detail::is_supported(level::avx512_vnni) && __builtin_cpu_supports("avx512bf16");
    }
    return false;
}

std::size_t first_level() noexcept
{
    char const* const wanted = std::getenv("XLOOM_DISPATCH_LEVEL");
    if (wanted == nullptr || *wanted == '\0') {
        std::size_t highest = level_count - 1;
        while (!detail::is_useful(static_cast<level>(highest)))
            --highest;
        return highest;
    }
    for (std::size_t unit = 0; unit < level_count; ++unit)
        if (names[unit] == wanted && detail::is_supported(static_cast<level>(unit)))
            return unit;
    return level_count;
}

} // namespace xloom::inline XLOOM_ABI::dispatch::detail
