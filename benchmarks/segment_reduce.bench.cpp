// Compares segment_reduce_into and segment_scan_into with a loop over the segments (impl:hand).

#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>

#include "support.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

template <std::size_t Rank>
struct segment_operands {
    xt::xtensor<float, Rank> x, y;
    xt::xtensor<std::int64_t, 1> splits;
    std::size_t iterations;

    auto const& results() const { return y; }
    void clear() { y.fill(7.0f); }
};

/// Row splits of segments whose lengths vary from 1 to 2 mean - 1.
xt::xtensor<std::int64_t, 1> varied_splits(std::size_t segments, std::size_t mean)
{
    auto splits = xt::xtensor<std::int64_t, 1>::from_shape({segments + 1});
    splits(0) = 0;
    std::uint64_t state = 1;
    for (std::size_t s = 0; s < segments; ++s) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        splits(s + 1) = splits(s) + static_cast<std::int64_t>((state >> 33) % (2 * mean - 1) + 1);
    }
    return splits;
}

template <std::size_t Rank>
segment_operands<Rank> make_segments(std::size_t segments, std::size_t mean, std::size_t columns)
{
    auto const splits = varied_splits(segments, mean);
    auto const rows = static_cast<std::size_t>(splits(segments));
    using tensor = xt::xtensor<float, Rank>;
    typename tensor::shape_type shape{};
    shape.fill(columns);
    shape[0] = rows;
    auto const x = made_up<tensor>(shape);
    shape[0] = segments;
    return {x, tensor::from_shape(shape), splits, x.size()};
}

template <std::size_t Rank>
void hand_reduce(segment_operands<Rank>& o)
{
    std::size_t const columns = Rank == 1 ? 1 : o.x.shape(Rank - 1);
    for (std::size_t s = 0; s + 1 < o.splits.size(); ++s) {
        auto const begin = static_cast<std::size_t>(o.splits(s)),
                   end = static_cast<std::size_t>(o.splits(s + 1));
        if constexpr (Rank == 1) {
            float sum = 0;
            for (std::size_t i = begin; i < end; ++i)
                sum += o.x.data()[i];
            o.y.data()[s] = sum;
        } else {
            float* const y = o.y.data() + s * columns;
            std::fill_n(y, columns, 0.0f);
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t c = 0; c < columns; ++c)
                    y[c] += o.x.data()[i * columns + c];
        }
    }
}

template <std::size_t Rank>
void xloom_reduce(segment_operands<Rank>& o)
{
    xloom::segment_reduce_into(xloom::reduction::add, o.x, o.splits, o.y);
}

template <std::size_t Rank>
void xloom_callable(segment_operands<Rank>& o)
{
    xloom::segment_reduce_into(
        xloom::monoid{[](float a, float b) { return a + b; }, 0.0f}, o.x, o.splits, o.y);
}

template <std::size_t Rank>
void xloom_tbb(segment_operands<Rank>& o)
{
    xloom::segment_reduce_into(xloom::reduction::add, o.x, o.splits, o.y, two_threads());
}

void hand_scan(segment_operands<1>& o)
{
    for (std::size_t s = 0; s + 1 < o.splits.size(); ++s) {
        float sum = 0;
        for (auto i = static_cast<std::size_t>(o.splits(s)); i < static_cast<std::size_t>(o.splits(s + 1));
             ++i)
            o.y.data()[i] = sum += o.x.data()[i];
    }
}

void xloom_scan(segment_operands<1>& o)
{
    xloom::segment_scan_into(xloom::reduction::add, o.x, o.splits, o.y);
}

template <std::size_t Rank>
void add_sums(std::string const& name, std::size_t segments, std::size_t mean, std::size_t columns)
{
    using operands = segment_operands<Rank>;
    auto const make = [=] { return make_segments<Rank>(segments, mean, columns); };
    add_case("segment_reduce/" + name, make,
        std::vector<series<operands>>{{"hand", hand_reduce<Rank>}, {"xloom", xloom_reduce<Rank>},
            {"xloom_callable", xloom_callable<Rank>}});
    add_case("segment_reduce/" + name, make,
        std::vector<series<operands>>{{"xloom_serial", xloom_reduce<Rank>}, {"xloom", xloom_tbb<Rank>}}, 2);
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t segments = 100; segments <= 100'000; segments *= 10)
        add_sums<1>("f32/segments:" + std::to_string(segments) + "/mean:10", segments, 10, 1);
    add_sums<1>("f32/segments:1000/mean:1000", 1'000, 1'000, 1);
    add_sums<2>("f32/segments:10000/mean:10/columns:64", 10'000, 10, 64);
    add_case(
        "segment_scan/f32/segments:100000/mean:10",
        [] {
            auto operands = make_segments<1>(100'000, 10, 1);
            operands.y = operands.x;
            return operands;
        },
        std::vector<series<segment_operands<1>>>{{"hand", hand_scan}, {"xloom", xloom_scan}});
    return run_cases(argc, argv);
}
