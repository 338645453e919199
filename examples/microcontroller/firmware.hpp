#pragma once
// What each of these programs reports: whether its outputs are the recorded ones, and what a step takes.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace firmware {

/// The bytes of the arena that operator new has given out.
std::size_t arena_used();

/// Has operator new end the program from now on.
void close_arena();

/// The timer of Cortex-M. QEMU runs it at 25 MHz, and with -icount shift=0 an instruction takes 1 ns of its
/// time.
class instruction_counter {
public:
    instruction_counter()
    {
        registers()[1] = most; // SYST_RVR
        registers()[2] = 0;    // SYST_CVR
        registers()[0] = 5;    // SYST_CSR: enabled, the processor's clock
    }

    /// Returns the instructions since construction, at most 671 million, as a multiple of 40.
    std::uint32_t count() const { return (most - registers()[2]) * 40; }

private:
    static constexpr std::uint32_t most = 0xFFFFFF;

    static std::uint32_t volatile* registers()
    {
        return reinterpret_cast<std::uint32_t volatile*>(0xE000E010);
    }
};

class report {
public:
    /// Outputs may differ from the recorded ones by `tolerance`.
    explicit report(float tolerance) : tolerance_(tolerance) { close_arena(); }

    template <class F>
    void step(F const& f)
    {
        instruction_counter const counter;
        f();
        instructions_ += counter.count();
        ++steps_;
    }

    void compare(std::span<float const> found, std::span<float const> expected)
    {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            float const difference = std::abs(found[i] - expected[i]);
            if (!(difference <= largest_) && !std::isnan(largest_))
                largest_ = difference; // also NaN, which stays
        }
    }

    /// Prints the report, and returns the program's exit status: 0 if all outputs were right.
    int finish() const
    {
        bool const is_right = largest_ <= tolerance_;
        std::printf("%s %lu instructions a step, %lu bytes of the arena, largest error %ld e-9\n",
            is_right ? "right" : "WRONG", static_cast<unsigned long>(instructions_ / steps_),
            static_cast<unsigned long>(arena_used()), std::lround(static_cast<double>(largest_) * 1e9));
        return is_right ? 0 : 1;
    }

private:
    float tolerance_;
    float largest_ = 0;
    std::uint32_t instructions_ = 0, steps_ = 0;
};

} // namespace firmware
