// Scans of many sequences: one body by scan_lanes_into (impl:xloom), by scan_batched_into row by row
// (impl:rows), and by loops (impl:hand). The sequences are rows of the inputs, or their columns (adjacent),
// several of which the compiler computes at once, in a cascade of sections also a loop of xsimd's vectors
// (impl:simd).

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>

#include "support.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using signal = xt::xtensor<float, 2>;
using state = xt::xtensor<float, 1>;

/// A second-order section.
constexpr auto section = [](auto& s, auto& r, auto const& x, auto& y) {
    y = 0.2f * x + s;
    s = 0.3f * x + 0.9f * y + r;
    r = 0.1f * x - 0.3f * y;
};

constexpr std::size_t sections = 8;

/// Sections in series, of two states each.
constexpr auto cascade = [](auto&... operands) {
    auto const all = std::tie(operands...);
    auto& y = std::get<2 * sections + 1>(all);
    y = std::get<2 * sections>(all);
    auto const next = [&](auto& s, auto& r) {
        auto const x = y;
        section(s, r, x, y);
    };
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        (next(std::get<2 * k>(all), std::get<2 * k + 1>(all)), ...);
    }(std::make_index_sequence<sections>());
};

/// The same, whose states are one [K, N].
constexpr auto cascade_of_array = [](auto& states, auto const& x, auto& y) {
    y = x;
    for (std::size_t k = 0; k < 2 * sections; k += 2) {
        auto const in = y;
        section(states[k], states[k + 1], in, y);
    }
};

/// A follower of the amplitude, which rises faster than it falls.
constexpr auto envelope = [](auto& s, auto const& x, auto& y) {
    auto const size = xloom::abs(x);
    s += xloom::select(size > s, 0.1f, 0.002f) * (size - s);
    y = s;
};

/// A Kalman filter of a position p, its velocity v, and their covariances.
constexpr auto kalman = [](auto& p, auto& v, auto& pp, auto& pv, auto& vv, auto const& z, auto& y) {
    constexpr float dt = 0.1f, noise_of_v = 0.01f, noise_of_z = 0.5f;
    p += dt * v;
    pp += dt * (2.0f * pv + dt * vv);
    pv += dt * vv;
    vv += noise_of_v;
    auto const scale = 1.0f / (pp + noise_of_z), gain_p = scale * pp, gain_v = scale * pv, surprise = z - p;
    y = p += gain_p * surprise;
    v += gain_v * surprise;
    vv -= gain_v * pv;
    pp -= gain_p * pp;
    pv -= gain_p * pv;
};

/// A day of Heston's model: the logarithm x of the price, and its variance v.
constexpr auto heston = [](auto& x, auto& v, auto const& first, auto const& second, auto& y) {
    constexpr float dt = 1.0f / 250;
    auto const variance = xloom::max(v, 0.0f), deviation = xloom::sqrt(variance * dt);
    y = x += (0.03f - 0.5f * variance) * dt + deviation * first;
    v += 2.0f * (0.04f - variance) * dt + 0.5f * deviation * (0.714f * second - 0.7f * first);
};

/// The operands of a body of S states, X inputs and an output.
template <std::size_t S, std::size_t X>
struct scan_operands {
    bool is_adjacent;
    std::size_t sequences, iterations; ///< N and T
    std::array<signal, X> x;           ///< each [N, T], or [T, N]
    signal y;
    std::array<state, S> s;

    scan_operands(bool adjacent, std::size_t N, std::size_t T)
        : is_adjacent(adjacent), sequences(N), iterations(T)
    {
        for (std::size_t i = 0; i < X; ++i)
            x[i] =
                uniform<signal>(adjacent ? signal::shape_type{T, N} : signal::shape_type{N, T}, i + 1, 1.0);
        y = x[0];
        s.fill(xt::zeros<float>({N}));
    }

    auto const& results() const { return y; }
    void clear()
    {
        y.fill(std::numeric_limits<float>::quiet_NaN());
        for (state& each : s)
            each.fill(0);
    }
    /// Compilers contract the products of the others.
    bool is_close_to(signal const& expected) const { return is_within(y, expected, 1e-4f); }
};

constexpr auto tie = [](auto&... each) { return std::tie(each...); };
constexpr auto transposed = [](auto&... each) { return std::tuple(xt::transpose(each)...); };

template <auto const& Body, class Operands>
void rows(Operands& o)
{
    auto const states = std::apply(tie, o.s);
    if (!o.is_adjacent)
        return xloom::scan_batched_into(Body, states, std::apply(tie, o.x), std::nullopt, o.y);
    auto y = xt::transpose(o.y);
    xloom::scan_batched_into(Body, states, std::apply(transposed, o.x), std::nullopt, y);
}

template <auto const& Body, class States, class Operands, class Policy>
void lanes(States const& states, Operands& o, Policy const& policy)
{
    xloom::scan_lanes_into(Body, states, std::apply(tie, o.x), std::nullopt, o.y,
        xloom::scan_lanes_options{.batch_axis = o.is_adjacent ? 1 : 0}, policy);
}
template <auto const& Body, class Operands>
void serial(Operands& o)
{
    lanes<Body>(std::apply(tie, o.s), o, xloom::serial);
}
template <auto const& Body, class Operands>
void by_two(Operands& o)
{
    lanes<Body>(std::apply(tie, o.s), o, two_threads());
}

/// Runs sequences from `first` to `end`, `Block` at once: adjacent ones, or one by one.
template <auto const& Body, std::size_t Block, std::size_t S, std::size_t X>
void by_blocks(scan_operands<S, X>& o, std::size_t first, std::size_t end)
{
    std::size_t const N = o.sequences, T = o.iterations;
    for (; first < end; first += Block) {
        float states[S][Block];
        for (std::size_t k = 0; k < S; ++k)
            std::copy_n(o.s[k].data() + first, Block, states[k]);
        [&]<std::size_t... s, std::size_t... x>(std::index_sequence<s...>, std::index_sequence<x...>) {
            for (std::size_t t = 0; t < T; ++t) {
                std::size_t const begin = Block == 1 ? first * T + t : t * N + first;
                std::array<float const*, X> const in{o.x[x].data() + begin...};
                float* const y = o.y.data() + begin;
#pragma GCC ivdep
                for (std::size_t n = 0; n < Block; ++n)
                    Body(states[s][n]..., in[x][n]..., y[n]);
            }
        }(std::make_index_sequence<S>(), std::make_index_sequence<X>());
        for (std::size_t k = 0; k < S; ++k)
            std::copy_n(states[k], Block, o.s[k].data() + first);
    }
}
template <auto const& Body, class Operands>
void hand(Operands& o)
{
    std::size_t const N = o.sequences, in_blocks = N / 64 * 64;
    if (!o.is_adjacent)
        return by_blocks<Body, 1>(o, 0, N);
    by_blocks<Body, 64>(o, 0, in_blocks);
    by_blocks<Body, 8>(o, in_blocks, N); // the sequences are a multiple of 8
}

using cascade_operands = scan_operands<2 * sections, 1>;

/// A vector of adjacent sequences at once, by hand.
void simd(cascade_operands& o)
{
    using vector = xsimd::batch<float>;
    for (std::size_t first = 0; first < o.sequences; first += vector::size) {
        vector states[2 * sections];
        for (std::size_t k = 0; k < 2 * sections; ++k)
            states[k] = vector::load_unaligned(o.s[k].data() + first);
        for (std::size_t t = 0; t < o.iterations; ++t) {
            std::size_t const begin = t * o.sequences + first;
            vector y;
            cascade_of_array(states, vector::load_unaligned(o.x[0].data() + begin), y);
            y.store_unaligned(o.y.data() + begin);
        }
        for (std::size_t k = 0; k < 2 * sections; ++k)
            states[k].store_unaligned(o.s[k].data() + first);
    }
}

void of_array(cascade_operands& o)
{
    signal states = xt::zeros<float>({2 * sections, o.sequences});
    lanes<cascade_of_array>(std::tie(states), o, xloom::serial);
}

template <auto const& Body, class Operands>
std::vector<series<Operands>> on_one_thread()
{
    return {{"hand", hand<Body>}, {"rows", rows<Body>}, {"xloom", serial<Body>}};
}
template <auto const& Body, class Operands>
std::vector<series<Operands>> on_two_threads()
{
    return {{"xloom_serial", serial<Body>}, {"xloom", by_two<Body>}};
}

/// Adds a case of N sequences of T iterations.
template <class Operands>
void add_layout(std::string const& body, bool is_adjacent, std::size_t N, std::size_t T,
    std::vector<series<Operands>> const& all, std::size_t threads = 1)
{
    add_case(
        "scan_lanes/f32/body:" + body + "/sequences:" + std::to_string(N) + (is_adjacent ? "/adjacent" : ""),
        [=] { return Operands(is_adjacent, N, T); }, all, threads);
}

} // namespace

int main(int argc, char** argv)
{
    for (bool const is_adjacent : {false, true}) {
        using filter = scan_operands<2, 1>;
        add_layout("section", is_adjacent, 128, 4096, on_one_thread<section, filter>());
        add_layout("section", is_adjacent, 1024, 4096, on_two_threads<section, filter>(), 2);
        using follower = scan_operands<1, 1>;
        add_layout("envelope", is_adjacent, 128, 4096, on_one_thread<envelope, follower>());
        add_layout("envelope", is_adjacent, 1024, 4096, on_two_threads<envelope, follower>(), 2);
        add_layout("kalman", is_adjacent, 1000, 500, on_one_thread<kalman, scan_operands<5, 1>>());
        add_layout("heston", is_adjacent, 10'000, 250, on_one_thread<heston, scan_operands<2, 2>>());
    }
    auto all = on_one_thread<cascade, cascade_operands>();
    all.insert(all.end(), {{"simd", simd}, {"xloom_array", of_array}});
    add_layout("cascade", true, 128, 4096, all);
    return run_cases(argc, argv);
}
