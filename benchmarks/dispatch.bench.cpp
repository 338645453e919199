// Compares a program that is compiled for each x86-64 processor and linked with xloom::dispatch with the same
// program without it, and with the same compiled for this processor, all with -O2.

#include <array>
#include <cmath>

#include "dispatch_build.hpp"
#include "support.hpp"

namespace {

using namespace bench;

struct dispatch_operands {
    dispatch_work work;
    std::size_t iterations = work.T;
    std::array<built_call, 3> calls{
        plain::make_call(work), dispatch::make_call(work), native::make_call(work)};
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

void add(dispatch_work const& work)
{
    add_case(
        "dispatch/" + work.kind + "/T:" + std::to_string(work.T) + "/N:" + std::to_string(work.N) +
            "/H:" + std::to_string(work.H),
        [=] { return dispatch_operands{work}; },
        std::vector<series<dispatch_operands>>{{"plain", run<0>}, {"dispatch", run<1>}, {"native", run<2>}});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {8, 16, 32, 64, 128, 256, 512}) {
        add({"lstm_cell", 50, 1, H});
        add({"lstm", 50, 1, H});
        add({"lstm", 50, 16, H});
        add({"packed_matrix", 1, 1, H});
        add({"packed_matrix", 1, 16, H});
        add({"activate", 1, 16, H});
    }
    return run_cases(argc, argv);
}
