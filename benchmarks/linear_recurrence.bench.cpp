// Compares linear_recurrence_into with the serial loop (impl:hand) and with a copy of the bytes of its
// operands (impl:copy), also on two threads.

#include <algorithm>
#include <initializer_list>

#include <xloom/parallel/linear_recurrence.hpp>

#include "support.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

using matrix = xt::xtensor<float, 2>;

/// Time is axis 0 of a, b and h.
struct recurrence_operands {
    matrix a, b, h;
    std::size_t iterations;

    auto const& results() const { return h; }
    void clear() { h.fill(7.0f); }
};

void hand(recurrence_operands& o)
{
    std::size_t const channels = o.h.shape(1);
    float const *const a = o.a.data(), *const b = o.b.data();
    float* const h = o.h.data();
    if (channels == 1) {
        float state = 0;
        for (std::size_t t = 0; t < o.h.size(); ++t)
            h[t] = state = a[t] * state + b[t];
        return;
    }
    std::copy_n(b, channels, h);
    for (std::size_t i = channels; i < o.h.size(); ++i)
        h[i] = a[i] * h[i - channels] + b[i];
}

/// Reads items of a and b and writes those of h.
void copy_items(recurrence_operands& o, std::size_t begin, std::size_t end)
{
    float const *const a = o.a.data(), *const b = o.b.data();
    float* const h = o.h.data();
    for (std::size_t i = begin; i < end; ++i)
        h[i] = a[i] + b[i];
}

void copy(recurrence_operands& o) { copy_items(o, 0, o.h.size()); }

void xloom_into(recurrence_operands& o) { xloom::linear_recurrence_into(o.a, o.b, 0.0f, o.h); }

void by_two(recurrence_operands& o) { xloom::linear_recurrence_into(o.a, o.b, 0.0f, o.h, {}, two_threads()); }

void copy_by_two(recurrence_operands& o)
{
    std::size_t const half = o.h.size() / 2;
    two_threads().for_each(
        2, [&](std::size_t part) { copy_items(o, part * half, part == 0 ? half : o.h.size()); });
}

/// Signs as coefficients, so that states are exact.
recurrence_operands make(std::size_t length, std::size_t channels)
{
    matrix a = made_up<matrix>({length, channels}), b = a;
    for (float& slope : a.storage())
        slope = slope < 0 ? -1.0f : slope > 2 ? 0.0f : 1.0f;
    return {a, b, b, length};
}

void add_recurrences(std::size_t length, std::size_t channels)
{
    std::string const name =
        "linear_recurrence/T:" + std::to_string(length) + "/channels:" + std::to_string(channels);
    add_case(
        name, [=] { return make(length, channels); },
        std::vector<series<recurrence_operands>>{
            {"hand", hand}, {.impl = "copy", .run = copy, .count_errors = no_errors}, {"xloom", xloom_into}});
    add_case(
        name, [=] { return make(length, channels); },
        std::vector<series<recurrence_operands>>{{"xloom_serial", xloom_into},
            {.impl = "copy", .run = copy_by_two, .count_errors = no_errors}, {"xloom", by_two}},
        2);
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const length :
        std::initializer_list<std::size_t>{100, 4'000, 100'000, 1'000'000, 10'000'000})
        add_recurrences(length, 1);
    add_recurrences(100'000, 64);
    return run_cases(argc, argv);
}
