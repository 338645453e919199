// The LSTM of bench_dispatch as a WebAssembly module, which lstm_in_wasm.mjs times.

#include "dispatch_calls.hpp"

namespace {

bench::built_call call;

} // namespace

extern "C" {

/// Makes weights and operands of N sequences.
[[clang::export_name("prepare")]] void prepare(int N)
{
    call =
        bench::plain::make_recurrent({.kind = "lstm", .T = 50, .N = static_cast<std::size_t>(N), .H = 256});
}

[[clang::export_name("run")]] void run() { call.run(); }
}
