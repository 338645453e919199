// Compares bincount with a hand-written loop after a pass for the largest integer, as NumPy's, and with ONNX
// Runtime's ScatterElements, which adds ones to a known number of bins.

#include <algorithm>
#include <random>

#include <xloom/indexing/bincount.hpp>
#include <xloom/interop/tbb.hpp>

#include "onnx_model.hpp"
#include "support.hpp"

namespace {

using namespace bench;

struct count_operands {
    xt::xtensor<std::int64_t, 1> x;
    std::size_t iterations;
    xt::xtensor<std::int64_t, 1> zeros, ones;
    xt::xtensor<std::int64_t, 1> counts = zeros; ///< of a fixed size for ONNX Runtime, which is bound to it

    auto const& results() const { return counts; }
    void clear() { counts.fill(-1); }
};

void hand(count_operands& o)
{
    std::int64_t least = 0, largest = 0;
    for (std::size_t i = 0; i < o.iterations; ++i) {
        least = (std::min)(least, o.x.data()[i]);
        largest = (std::max)(largest, o.x.data()[i]);
    }
    if (least < 0)
        std::abort();
    auto counts = xt::xtensor<std::int64_t, 1>::from_shape({static_cast<std::size_t>(largest) + 1});
    counts.fill(0);
    for (std::size_t i = 0; i < o.iterations; ++i)
        ++counts.data()[o.x.data()[i]];
    std::copy(counts.begin(), counts.end(), o.counts.begin());
}

template <class Policy>
void count(count_operands& o, Policy const& policy)
{
    auto const counts = xloom::bincount(o.x, {}, policy);
    std::copy(counts.begin(), counts.end(), o.counts.begin());
}

void xloom_serial(count_operands& o) { count(o, xloom::serial); }
void xloom_tbb(count_operands& o)
{
    static xloom::tbb_policy const policy(2);
    count(o, policy);
}

onnx_graph model(count_operands& o)
{
    return model_of({.op = "ScatterElements",
                        .attributes = {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}}},
        {bound("zeros", o.zeros), bound("x", o.x), bound("ones", o.ones)}, {bound("counts", o.counts)});
}

/// Evenly distributed, or nine of ten in one bin.
count_operands make(std::size_t count, std::size_t bins, bool is_skewed)
{
    std::mt19937 random(1);
    count_operands o{xt::xtensor<std::int64_t, 1>::from_shape({count}), count,
        xt::zeros<std::int64_t>({bins}), xt::ones<std::int64_t>({count})};
    for (std::int64_t& each : o.x.storage())
        each = is_skewed && random() % 10 != 0 ? 0 : static_cast<std::int64_t>(random() % bins);
    return o;
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const bins : std::initializer_list<std::size_t>{256, 100'000})
        for (bool const is_skewed : {false, true})
            add_case(
                std::string("bincount/i64/x:10000000/bins:") + std::to_string(bins) +
                    (is_skewed ? "/skewed" : ""),
                [=] { return make(10'000'000, bins, is_skewed); },
                std::vector<series<count_operands>>{{"hand", hand}, {"xloom", xloom_serial},
                    {"xloom_tbb2", xloom_tbb}, {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
