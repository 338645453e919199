// Compares a program that is compiled for each x86-64 processor and linked with xloom::dispatch with the same
// program without it, with the same compiled for this processor and, for some, with the same without SIMD,
// all with -O2.

#include <array>
#include <cmath>

#include "dispatch_calls.hpp"
#include "support.hpp"

namespace {

using namespace bench;

/// A build of a call.
struct build {
    char const* name;
    built_call (*make)(dispatch_work const&);
};

struct dispatch_operands {
    std::vector<built_call> calls;
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

void add(std::vector<build> const& builds, dispatch_work const& work)
{
    std::vector<series<dispatch_operands>> all;
    for (std::size_t i = 0; i < builds.size(); ++i)
        all.push_back({builds[i].name, std::array{run<0>, run<1>, run<2>, run<3>}[i]});
    add_case(
        "dispatch/" + work.kind + "/T:" + std::to_string(work.T) + "/N:" + std::to_string(work.N) +
            "/H:" + std::to_string(work.H),
        [=] {
            dispatch_operands operands{{}, work.T};
            for (build const& each : builds)
                operands.calls.push_back(each.make(work));
            return operands;
        },
        all);
}

std::vector<build> const recurrent{{"plain", plain::make_recurrent}, {"dispatch", dispatch::make_recurrent},
    {"native", native::make_recurrent}, {"no_simd", no_simd::make_recurrent}};
std::vector<build> const scans{
    {"plain", plain::make_scan}, {"dispatch", dispatch::make_scan}, {"native", native::make_scan}};
std::vector<build> const indexed{
    {"plain", plain::make_indexed}, {"dispatch", dispatch::make_indexed}, {"native", native::make_indexed}};

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
