// An iteration to convergence of 10,007 sequences (with threads 200,003), the logistic map at many rates: one
// body by loop_lanes_into (impl:xloom), and a loop for each sequence by hand (impl:hand).

#include <cstdint>
#include <string>

#include <xloom/control_flow/loop_lanes.hpp>

#include "support.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using vector = xt::xtensor<float, 1>;

constexpr std::int64_t most = 1000;

constexpr auto logistic = [](auto& x, auto const& r) {
    auto const before = x;
    x = r * x * (1.0f - x);
    return xloom::abs(x - before) > 1e-6f;
};

struct map_operands {
    std::size_t iterations = 0; ///< of all sequences together
    vector x, r;
    xt::xtensor<std::int64_t, 1> counts;

    explicit map_operands(std::size_t sequences)
        : x(vector::from_shape({sequences})),
          r(2.2f + uniform<vector>({sequences}, 1, 0.7)),
          counts(xt::xtensor<std::int64_t, 1>::from_shape({sequences}))
    {
        clear();
        run(xloom::serial);
        for (std::int64_t const count : counts)
            iterations += static_cast<std::size_t>(count);
    }

    auto results() const { return std::pair(x, counts); }
    void clear()
    {
        x.fill(0.3f);
        counts.fill(0);
    }

    template <class Policy>
    void run(Policy const& policy)
    {
        x.fill(0.3f);
        xloom::loop_lanes_into(logistic, x, r, counts, {.max_trip_count = most}, policy);
    }
};

void hand(map_operands& o)
{
    for (std::size_t n = 0; n < o.x.size(); ++n) {
        float x = 0.3f;
        std::int64_t count = 0;
        while (count < most) {
            ++count;
            if (!logistic(x, o.r(n)))
                break;
        }
        o.x(n) = x;
        o.counts(n) = count;
    }
}

void serial(map_operands& o) { o.run(xloom::serial); }
void by_two(map_operands& o) { o.run(two_threads()); }

} // namespace

int main(int argc, char** argv)
{
    auto const make = [](std::size_t sequences) { return [=] { return map_operands(sequences); }; };
    auto const name = [](std::size_t sequences) {
        return "loop_lanes/f32/body:logistic/sequences:" + std::to_string(sequences);
    };
    add_case(name(10007), make(10007), std::vector<series<map_operands>>{{"hand", hand}, {"xloom", serial}});
    add_case(name(200003), make(200003),
        std::vector<series<map_operands>>{{"xloom_serial", serial}, {"xloom", by_two}}, 2);
    return run_cases(argc, argv);
}
