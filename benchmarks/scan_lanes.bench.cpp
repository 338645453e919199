// Filters of 128 sequences of 4,096 samples, with threads of 1,024: one body by scan_lanes_into (impl:xloom),
// by scan_batched_into row by row (impl:rows), and by loops (impl:hand). The sequences are rows of the input,
// or its columns (adjacent), of which the compiler computes several at once.

#include <cmath>
#include <limits>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/interop/tbb.hpp>

#include "support.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using signal = xt::xtensor<float, 2>;
using states = xt::xtensor<float, 1>;

/// A second-order section.
constexpr auto section = [](auto& s, auto& r, auto const& x, auto& y) {
    y = 0.2f * x + s;
    s = 0.3f * x + 0.9f * y + r;
    r = 0.1f * x - 0.3f * y;
};

/// A follower of the amplitude, which rises faster than it falls.
constexpr auto envelope = [](auto& s, auto& r, auto const& x, auto& y) {
    auto const size = xloom::abs(x);
    s = s + xloom::select(size > s, 0.1f, 0.002f) * (size - s);
    r = s;
    y = s;
};

struct filter_operands {
    bool is_adjacent;
    std::size_t sequences, iterations; ///< N, and the T samples of each
    signal x, y;                       ///< [N, T], or [T, N]
    states s, r;

    filter_operands(bool adjacent, std::size_t count, std::size_t length)
        : is_adjacent(adjacent),
          sequences(count),
          iterations(length),
          x(uniform<signal>(
              adjacent ? signal::shape_type{length, sequences} : signal::shape_type{sequences, length}, 1,
              1.0)),
          y(x),
          s(xt::zeros<float>({sequences})),
          r(s)
    {}

    auto const& results() const { return y; }
    void clear()
    {
        y.fill(std::numeric_limits<float>::quiet_NaN());
        s.fill(0);
        r.fill(0);
    }
    /// Compilers contract the products of the other two.
    bool is_close_to(signal const& expected) const
    {
        return std::equal(expected.begin(), expected.end(), y.begin(),
            [](float a, float b) { return std::abs(a - b) <= 1e-4f; });
    }
};

template <auto const& Body>
void rows(filter_operands& o)
{
    if (!o.is_adjacent)
        return xloom::scan_batched_into(Body, std::tie(o.s, o.r), o.x, std::nullopt, o.y);
    auto const x = xt::transpose(o.x);
    auto y = xt::transpose(o.y);
    xloom::scan_batched_into(Body, std::tie(o.s, o.r), x, std::nullopt, y);
}

template <auto const& Body, class Policy>
void lanes(filter_operands& o, Policy const& policy)
{
    xloom::scan_lanes_into(Body, std::tie(o.s, o.r), o.x, std::nullopt, o.y,
        xloom::scan_lanes_options{.batch_axis = o.is_adjacent ? 1 : 0}, policy);
}
template <auto const& Body>
void serial(filter_operands& o)
{
    lanes<Body>(o, xloom::serial);
}
template <auto const& Body>
void by_two(filter_operands& o)
{
    static xloom::tbb_policy const policy(2);
    lanes<Body>(o, policy);
}

/// Blocks of sequences, or row by row.
template <auto const& Body>
void hand(filter_operands& o)
{
    constexpr std::size_t block = 64;
    std::size_t const N = o.sequences, T = o.iterations;
    float const* const x = o.x.data();
    float* const y = o.y.data();
    if (o.is_adjacent)
        for (std::size_t first = 0; first < N; first += block) {
            float s[block], r[block];
            std::copy_n(o.s.data() + first, block, s);
            std::copy_n(o.r.data() + first, block, r);
            for (std::size_t t = 0; t < T; ++t)
#pragma GCC ivdep
                for (std::size_t n = 0; n < block; ++n)
                    Body(s[n], r[n], x[t * N + first + n], y[t * N + first + n]);
            std::copy_n(s, block, o.s.data() + first);
            std::copy_n(r, block, o.r.data() + first);
        }
    else
        for (std::size_t n = 0; n < N; ++n) {
            float s = o.s(n), r = o.r(n);
            for (std::size_t t = 0; t < T; ++t)
                Body(s, r, x[n * T + t], y[n * T + t]);
            o.s(n) = s;
            o.r(n) = r;
        }
}

template <auto const& Body>
void add_filter(char const* name)
{
    for (bool const is_adjacent : {false, true}) {
        auto const make = [=](std::size_t sequences) {
            return [=] { return filter_operands(is_adjacent, sequences, 4096); };
        };
        auto const work = [=](std::size_t sequences) {
            return "scan_lanes/f32/body:" + std::string(name) + "/sequences:" + std::to_string(sequences) +
                   (is_adjacent ? "/adjacent" : "");
        };
        add_case(work(128), make(128),
            std::vector<series<filter_operands>>{
                {"hand", hand<Body>}, {"rows", rows<Body>}, {"xloom", serial<Body>}});
        add_case(work(1024), make(1024),
            std::vector<series<filter_operands>>{{"xloom_serial", serial<Body>}, {"xloom", by_two<Body>}}, 2);
    }
}

} // namespace

int main(int argc, char** argv)
{
    add_filter<section>("section");
    add_filter<envelope>("envelope");
    return run_cases(argc, argv);
}
