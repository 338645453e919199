#pragma once
// The functions that depend on the vector unit: those that this translation unit compiles for its own
// processor or, with XLOOM_DISPATCH defined, those that the library xloom_dispatch holds for each vector unit
// that it supports. Everything that chooses between the two is in this header.

#include <xloom/detail/core/error.hpp>

#ifdef XLOOM_DISPATCH

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace xloom::inline XLOOM_ABI::dispatch {

/// A set of vector units for which xloom_dispatch has functions.
enum class level : unsigned char {
    sse2,        ///< the units of each x86-64 processor
    avx2,        ///< AVX2, FMA and F16C
    avx2_vnni,   ///< AVX-VNNI, with those of avx2
    avx512,      ///< AVX-512 F, BW, CD, DQ and VL, with those of avx2
    avx512_vnni, ///< AVX-512 VNNI, with those of avx512
    avx512_bf16, ///< AVX-512 BF16, with those of avx512_vnni
};
inline constexpr std::size_t level_count = 6;

namespace detail {

/// True if the processor and the operating system permit a level.
bool is_supported(level) noexcept;
/// Returns the level to begin with: the highest supported one, or that of the environment variable
/// XLOOM_DISPATCH_LEVEL; level_count if the variable names no supported level.
std::size_t first_level() noexcept;

/// The current level of all threads; level_count until it is first read.
extern std::atomic<std::size_t> chosen_level;

/// Returns the functions of a level. The library has them for the types of functions that it lists.
template <class Functions>
Functions const& functions_of(level) noexcept;

[[noreturn]] inline void fail_level(char const* op)
{
    xloom::detail::fail<option_error>(op,
        ": the level must be one that the processor and the operating system support, sse2, avx2, avx2_vnni, "
        "avx512, avx512_vnni or avx512_bf16, but the highest supported one is ",
        is_supported(level::avx512_bf16)   ? "avx512_bf16"
        : is_supported(level::avx512_vnni) ? "avx512_vnni"
        : is_supported(level::avx512)      ? "avx512"
        : is_supported(level::avx2_vnni)   ? "avx2_vnni"
        : is_supported(level::avx2)        ? "avx2"
                                           : "sse2",
        ". Choose another level, or unset XLOOM_DISPATCH_LEVEL.");
}

} // namespace detail

/// True if the processor and the operating system support the vector units of a level.
inline bool is_supported(level unit) noexcept
{
    return static_cast<std::size_t>(unit) < level_count && detail::is_supported(unit);
}

/// Returns the level of weights that are packed, and of calls without packed ones, from now on: the highest
/// that is supported, but for avx512_bf16 on processors with AMX, where avx512_vnni is faster; unless the
/// environment variable XLOOM_DISPATCH_LEVEL (the name of a level) or force_level chooses another.
///
/// Errors    option_error: XLOOM_DISPATCH_LEVEL names no level, or one that is not supported.
inline level current_level()
{
    std::size_t unit = detail::chosen_level.load(std::memory_order_relaxed);
    if (unit == level_count) {
        std::size_t const first = detail::first_level();
        if (first == level_count)
            detail::fail_level("xloom::dispatch: XLOOM_DISPATCH_LEVEL");
        // Another thread may have set it in the meantime; then `unit` becomes that level.
        if (detail::chosen_level.compare_exchange_strong(unit, first))
            unit = first;
    }
    return static_cast<level>(unit);
}

/// Sets the current level of all threads. Weights, matrices and cells that exist keep the level that packed
/// them.
///
/// Errors    option_error: the level is not supported.
inline void force_level(level unit)
{
    if (!dispatch::is_supported(unit))
        detail::fail_level("xloom::dispatch::force_level");
    detail::chosen_level = static_cast<std::size_t>(unit);
}

} // namespace xloom::inline XLOOM_ABI::dispatch

namespace xloom::inline XLOOM_ABI::detail {

template <class Item>
inline constexpr bool is_dispatched_float = std::is_same_v<Item, float> || std::is_same_v<Item, double>;
template <class Item>
inline constexpr bool is_dispatched_integer =
    std::is_same_v<Item, std::int32_t> || std::is_same_v<Item, std::uint32_t> ||
    std::is_same_v<Item, std::int64_t> || std::is_same_v<Item, std::uint64_t>;

/// True for functions that are in xloom_dispatch: those of float and double and, if they say so, of integers.
template <class Functions>
inline constexpr bool is_dispatched = is_dispatched_float<typename Functions::item>;
template <class Functions>
    requires(Functions::has_integers)
inline constexpr bool is_dispatched<Functions> =
    is_dispatched_float<typename Functions::item> || is_dispatched_integer<typename Functions::item>;

/// The level that an object was made with.
class vector_level {
public:
    vector_level() : level_(dispatch::current_level()) {}

    friend bool operator==(vector_level const&, vector_level const&) = default;

    /// Returns the functions of this level. Functions are a struct of pointers to functions with
    /// Functions::compiled(), which returns those of this translation unit, an element type `item`, and
    /// maybe `has_integers`.
    template <class Functions>
    Functions functions() const noexcept
    {
        if constexpr (is_dispatched<Functions>)
            return dispatch::detail::functions_of<Functions>(level_);
        else
            return Functions::compiled();
    }

private:
    dispatch::level level_;
};

} // namespace xloom::inline XLOOM_ABI::detail

#else

namespace xloom::inline XLOOM_ABI::detail {

/// The level that an object was made with: the one of this translation unit.
class vector_level {
public:
    friend bool operator==(vector_level const&, vector_level const&) = default;

    /// Returns the functions of this translation unit. Functions are a struct of pointers to functions with
    /// Functions::compiled(), which returns them, and an element type `item`.
    template <class Functions>
    static constexpr Functions functions() noexcept
    {
        return Functions::compiled();
    }
};

} // namespace xloom::inline XLOOM_ABI::detail

#endif
