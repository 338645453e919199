#pragma once
// Subnormal numbers as zeros, a mode of the processor.

#include <atomic>
#include <cstdint>

#include <xloom/detail/core/abi.hpp>

#ifdef __SSE2_MATH__
#include <xmmintrin.h>
#endif

namespace xloom::inline XLOOM_ABI {

namespace detail {

// The register that has the mode, of the calling thread, and the bits of the mode.
#if defined(__SSE2_MATH__)
inline constexpr unsigned flush_bits = 0x8040; // FTZ and DAZ of MXCSR
inline unsigned float_control() noexcept { return _mm_getcsr(); }
inline void set_float_control(unsigned control) noexcept { _mm_setcsr(control); }
#elif defined(__aarch64__)
inline constexpr std::uint64_t flush_bits = std::uint64_t{1} << 24; // FZ of FPCR
inline std::uint64_t float_control() noexcept
{
    std::uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
inline void set_float_control(std::uint64_t control) noexcept
{
    asm volatile("msr fpcr, %0" : : "r"(control));
}
#else
inline constexpr unsigned flush_bits = 0; // there is no such mode
inline constexpr unsigned float_control() noexcept { return 0; }
inline constexpr void set_float_control(unsigned) noexcept {}
#endif

using float_control_t = decltype(detail::float_control());

/// The flags of the floating-point exceptions that are raised in a mode: kept, or dropped at its end.
enum class raised_flags { kept, dropped };

/// The mode in which a thread computes with subnormal numbers, from construction to destruction.
///
/// Why flags may be dropped: reading them waits for all arithmetic before, on a Zen 4 up to 10 of the 77 ns
/// of an LSTM's step.
template <raised_flags Flags = raised_flags::kept>
class subnormal_mode {
public:
    /// Takes the mode from the bits of another thread's register.
    explicit subnormal_mode(float_control_t wanted) noexcept
        : before_(detail::float_control()), is_changed_(((before_ ^ wanted) & flush_bits) != 0)
    {
        if (is_changed_)
            set(before_, wanted);
    }
    ~subnormal_mode()
    {
        if (is_changed_)
            set(Flags == raised_flags::kept ? detail::float_control() : before_, before_);
    }
    subnormal_mode(subnormal_mode const&) = delete;
    subnormal_mode& operator=(subnormal_mode const&) = delete;

private:
    /// Why the fences: a compiler may move loads and stores, and what is computed between them, over the
    /// change of a register that it does not know as an operand.
    static void set(float_control_t now, float_control_t wanted) noexcept
    {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        detail::set_float_control((now & ~flush_bits) | (wanted & flush_bits));
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    float_control_t before_;
    bool is_changed_;
};

} // namespace detail

/// Makes the calling thread compute with zeros in place of subnormal numbers, until it is destroyed.
///
/// Magnitudes below the smallest normal number (float: 2^-126, double: 2^-1022) are 0 with their sign, as
/// operands and as results of float and double arithmetic. A state that decays then ends at 0; without this
/// it may stay subnormal for ever, and on many processors an operation on a subnormal number takes many times
/// as long as on another.
///
/// lstm, gru, rnn, attn_lstm, their cells, selective_scan, linear_attention, causal_conv, linear_recurrence,
/// packed_matrix and the derivatives of these do so themselves (docs/guarantees.md). This class is for bodies
/// of scan and loop, and for all else that a program computes.
///
/// Members   is_supported: true for x86 with the arithmetic of SSE2 and for AArch64; elsewhere the class does
///           nothing.
/// Errors    none. Destruction, also by an exception, restores the mode that was there; other bits of the
///           register, such as the rounding mode and the exception flags, are left alone.
/// Cost      reads and writes the register twice; reads it once where the mode is set already.
/// Threads   of the calling thread. tbb_policy and thread_policy hand the mode on to their threads, for a
///           call.
/// Source    Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 10.2.3; Arm
///           Architecture Reference Manual, FPCR.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const silence = xt::zeros<float>({10'000});
/// auto const decay = [](float s, float x) { return xloom::scan_step{0.9f * s + x}; };
/// xloom::flush_subnormals const flushing;
/// xloom::scan(decay, 1.0f, silence).final_state; // = 0
/// ```
class flush_subnormals {
public:
    static constexpr bool is_supported = detail::flush_bits != 0;

    [[nodiscard]] flush_subnormals() noexcept : mode_(detail::flush_bits) {}

private:
    detail::subnormal_mode<> mode_;
};

} // namespace xloom::inline XLOOM_ABI
