// Compares bincount with a hand-written loop after a pass for the largest integer, as NumPy's, with libtorch,
// and with ONNX Runtime's ScatterElements, which adds ones to a known number of bins.

#include <algorithm>
#include <random>

#include <xloom/indexing/bincount.hpp>

#include "libtorch.hpp"
#include "onnx_model.hpp"
#include "support.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

template <class Index>
struct count_operands {
    xt::xtensor<Index, 1> x;
    std::size_t iterations;
    xt::xtensor<std::int64_t, 1> zeros, ones;
    xt::xtensor<std::int64_t, 1> counts = zeros; ///< of a fixed size for ONNX Runtime, which is bound to it

    auto const& results() const { return counts; }
    void clear() { counts.fill(-1); }
};

template <class Index>
void hand(count_operands<Index>& o)
{
    Index least = 0, largest = 0;
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

template <class Index, class Policy>
void count(count_operands<Index>& o, Policy const& policy)
{
    auto const counts = xloom::bincount(o.x, {}, policy);
    std::copy(counts.begin(), counts.end(), o.counts.begin());
}

template <class Index>
void xloom_serial(count_operands<Index>& o)
{
    count(o, xloom::serial);
}
template <class Index>
void xloom_tbb(count_operands<Index>& o)
{
    count(o, two_threads());
}

template <class Index>
onnx_graph model(count_operands<Index>& o)
{
    return model_of({.op = "ScatterElements",
                        .attributes = {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}}},
        {bound("zeros", o.zeros), bound("x", o.x), bound("ones", o.ones)}, {bound("counts", o.counts)});
}

#ifdef XLOOM_HAS_LIBTORCH
template <class Index>
void libtorch(count_operands<Index>& o)
{
    libtorch_bincount(o.x.data(), o.iterations, o.counts.data());
}
#endif

/// Evenly distributed, or nine of ten in one bin.
template <class Index>
count_operands<Index> make(std::size_t count, std::size_t bins, bool is_skewed)
{
    std::mt19937 random(1);
    count_operands<Index> o{xt::xtensor<Index, 1>::from_shape({count}), count,
        xt::zeros<std::int64_t>({bins}), xt::ones<std::int64_t>({count})};
    for (Index& each : o.x.storage())
        each = static_cast<Index>(is_skewed && random() % 10 != 0 ? 0 : random() % bins);
    return o;
}

template <class Index>
void add_counts(std::string const& type, std::size_t bins)
{
    using operands = count_operands<Index>;
    constexpr std::size_t items = 10'000'000;
    std::vector<series<operands>> all{{"hand", hand<Index>}, {"xloom", xloom_serial<Index>}};
    if constexpr (!std::is_same_v<Index, std::uint8_t>) // which is no type of ONNX's indices
        all.push_back({.impl = "onnxruntime", .model = model<Index>});
#ifdef XLOOM_HAS_LIBTORCH
    all.push_back({"libtorch", libtorch<Index>});
#endif
    for (bool const is_skewed : {false, true}) {
        std::string const work = "bincount/" + type + "/x:" + std::to_string(items) +
                                 "/bins:" + std::to_string(bins) + (is_skewed ? "/skewed" : "");
        auto const make_counts = [=] { return make<Index>(items, bins, is_skewed); };
        add_case(work, make_counts, all);
        add_case(work, make_counts,
            std::vector<series<operands>>{{"xloom_serial", xloom_serial<Index>}, {"xloom", xloom_tbb<Index>}},
            2);
    }
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const bins : std::initializer_list<std::size_t>{256, 100'000}) {
        add_counts<std::int64_t>("i64", bins);
        add_counts<std::int32_t>("i32", bins);
    }
    add_counts<std::uint8_t>("u8", 256);
    return run_cases(argc, argv);
}
