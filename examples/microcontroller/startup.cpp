// The first instructions of a Cortex-M: the vector table, and what runs before main.

#include <algorithm>
#include <cstdint>

extern "C" {

extern std::uint32_t data_begin[], data_end[], data_in_flash[], __stack[];
[[noreturn]] void _start(); // newlib's, which clears .bss and calls constructors and main

[[noreturn]] void reset()
{
    // Full access to the floating-point unit: CPACR, Armv7-M B3.2.20.
    auto* const coprocessors = reinterpret_cast<std::uint32_t volatile*>(0xE000ED88);
    *coprocessors = *coprocessors | 0xFU << 20;
    asm volatile("dsb\n isb");
    std::copy(data_in_flash, data_in_flash + (data_end - data_begin), data_begin);
    _start();
}

[[noreturn]] void fault()
{
    asm volatile("bkpt");
    while (true) {}
}

[[gnu::section(".vectors"), gnu::used]] void* const vectors[] = {__stack, reinterpret_cast<void*>(reset),
    reinterpret_cast<void*>(fault), reinterpret_cast<void*>(fault), reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault), reinterpret_cast<void*>(fault)};
}
