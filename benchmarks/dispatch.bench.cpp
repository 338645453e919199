// Compares a program that is compiled for each x86-64 processor and linked with xloom::dispatch with the same
// program without it, with the same compiled for this processor, and with the same without SIMD, all with
// -O2.

#include <array>
#include <cmath>

#include "dispatch_calls.hpp"
#include "support.hpp"

namespace {

using namespace bench;

/// The builds of a call.
using builds = std::array<built_call, 4>;
using make_builds = builds(dispatch_work const&);

struct dispatch_operands {
    builds calls;
    std::size_t iterations;
    std::size_t last = 0; ///< the call that ran last

    auto results() const { return calls[last].results(); }
    void clear() {}
    bool is_close_to(std::vector<float> const& expected) const
    {
        auto const close = [](float a, float b) { return std::abs(a - b) <= 1e-4f * (1 + std::abs(b)); };
        return std::ranges::equal(results(), expected, close);
    }
};

template <std::size_t Build>
void run(dispatch_operands& o)
{
    o.last = Build;
    o.calls[Build].run();
}

void add(make_builds& make, dispatch_work const& work)
{
    add_case(
        "dispatch/" + work.kind + "/T:" + std::to_string(work.T) + "/N:" + std::to_string(work.N) +
            "/H:" + std::to_string(work.H),
        [=] {
            return dispatch_operands{make(work), work.T};
        },
        std::vector<series<dispatch_operands>>{
            {"plain", run<0>}, {"dispatch", run<1>}, {"native", run<2>}, {"no_simd", run<3>}});
}

builds recurrent(dispatch_work const& work)
{
    return {plain::make_recurrent(work), dispatch::make_recurrent(work), native::make_recurrent(work),
        no_simd::make_recurrent(work)};
}
builds scans(dispatch_work const& work)
{
    return {
        plain::make_scan(work), dispatch::make_scan(work), native::make_scan(work), no_simd::make_scan(work)};
}
builds indexed(dispatch_work const& work)
{
    return {plain::make_indexed(work), dispatch::make_indexed(work), native::make_indexed(work),
        no_simd::make_indexed(work)};
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {8, 16, 32, 64, 128, 256, 512}) {
        for (char const* const name : {"lstm", "gru", "rnn", "attn_lstm"})
            for (std::size_t const N : {1, 16})
                add(recurrent, {name, 50, N, H});
        add(recurrent, {"lstm_cell", 50, 1, H});
        add(recurrent, {"packed_matrix", 1, 1, H});
        add(recurrent, {"packed_matrix", 1, 16, H});
        add(recurrent, {"activate", 1, 16, H});
    }
    // Along contiguous items, and along rows of 64.
    for (std::size_t const H : {1, 64}) {
        for (std::string const type : {"float ", "double ", "int32 ", "int64 "})
            for (char const* const op : {"add", "mul", "max"})
                add(scans, {type + op, 16'384 / H, 1, H});
        for (std::string const type : {"float ", "double "})
            add(scans, {type + "linear_recurrence", 16'384 / H, 1, H});
    }
    for (std::string const type : {"float ", "double "})
        add(scans, {type + "selective_scan", 100, 1, 64});
    // Of single items, and of rows of 64.
    for (std::size_t const H : {1, 64}) {
        for (char const* const name : {"scatter_nd none", "scatter_nd max", "gather_nd", "segment_reduce"})
            add(indexed, {name, 65'536 / H, 1'000, H});
        for (char const* const name : {"scatter_elements none", "scatter_elements max"})
            add(indexed, {name, 65'536 / H, 1'000, H});
    }
    add(indexed, {"bincount", 65'536, 1'000, 1});
    return run_cases(argc, argv);
}
