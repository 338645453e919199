// Compares gather_nd_into with hand-written loops after a bounds check, plain xtensor, and ONNX Runtime, and
// gather_nd, which returns a new tensor, with a loop that checks nothing.

#include <xloom/indexing/gather_nd.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "nd_operands.hpp"

namespace {

using namespace bench;

template <class T, class Index, std::size_t Rank>
struct gather_operands {
    using index = Index;

    xt::xtensor<T, Rank> data;
    index_table<Index> indices;
    xt::xtensor<T, Rank == 1 ? 1 : 2> y;   ///< [count], or [count, items of a slice]
    std::size_t iterations;                ///< slices that are gathered
    std::optional<decltype(y)> returned{}; ///< of a series that does not write into y

    auto const& results() const { return returned ? *returned : y; }
    void clear()
    {
        returned.reset();
        y.fill(T{});
    }
};

template <class T, class Index>
using items = gather_operands<T, Index, 1>;
template <class T>
using rows = gather_operands<T, std::int64_t, 2>;
using cells = gather_operands<float, std::int64_t, 3>;

template <class T, class Index>
void gather_unchecked(items<T, Index> const& o, T* y)
{
    T const* const data = o.data.data();
    Index const* const indices = o.indices.data();
    std::size_t const n = o.data.size();
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(data + wrapped(indices[i + items_ahead], n));
        y[i] = data[wrapped(indices[i], n)];
    }
}

template <class T, class Index>
void hand_items(items<T, Index>& o)
{
    require_in_range(o.indices, o.data.size());
    gather_unchecked(o, o.y.data());
}

/// Writes to a new tensor, which reuses the memory of the previous one.
template <class T, class Index>
void hand_returned(items<T, Index>& o)
{
    o.returned.reset();
    o.returned = xt::xtensor<T, 1>::from_shape({o.iterations});
    gather_unchecked(o, o.returned->data());
}

template <class T, class Index>
void xloom_returned(items<T, Index>& o)
{
    o.returned.reset();
    o.returned = xloom::gather_nd<1>(o.data, o.indices);
}

template <class T, class Index>
void xtensor_items(items<T, Index>& o)
{
    for (std::size_t i = 0; i < o.iterations; ++i)
        o.y(i) = o.data(o.indices(i, 0));
}

template <class T>
void hand_rows(rows<T>& o)
{
    require_in_range(o.indices, o.data.shape(0));
    std::size_t const m = o.data.shape(1);
    for (std::size_t i = 0; i < o.iterations; ++i)
        std::copy_n(
            o.data.data() + wrapped(o.indices.data()[i], o.data.shape(0)) * static_cast<std::ptrdiff_t>(m), m,
            o.y.data() + i * m);
}

template <class T>
void xtensor_rows(rows<T>& o)
{
    for (std::size_t i = 0; i < o.iterations; ++i) {
        auto row = xt::view(o.y, i);
        xt::noalias(row) = xt::view(o.data, o.indices(i, 0));
    }
}

template <std::size_t Ahead>
void hand_cells(cells& o)
{
    require_in_range(o.indices, o.data.shape(0));
    std::size_t const n = o.data.shape(1), m = o.data.shape(2);
    auto const cell = [&](std::size_t i) {
        std::int64_t const* const tuple = o.indices.data() + 2 * i;
        return o.data.data() +
               (wrapped(tuple[0], n) * static_cast<std::ptrdiff_t>(n) + wrapped(tuple[1], n)) *
                   static_cast<std::ptrdiff_t>(m);
    };
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (Ahead != 0 && i + Ahead < o.iterations)
            __builtin_prefetch(cell(i + Ahead));
        std::copy_n(cell(i), m, o.y.data() + i * m);
    }
}

template <class Operands, xloom::bounds Bounds = xloom::bounds::check>
void xloom_into(Operands& o)
{
    xloom::gather_nd_into(o.data, o.indices, o.y, {.bounds = Bounds});
}

template <class Operands>
onnx_graph gather_model(Operands& o)
{
    return model_of(
        {.op = "GatherND"}, {bound("data", o.data), bound("indices", o.indices)}, {bound("output", o.y)});
}

/// The peer supports 64-bit indices only.
template <class Make, class Operands = std::invoke_result_t<Make>>
void add_gather(std::string const& work, Make const& make, std::vector<series<Operands>> all)
{
    if constexpr (std::is_same_v<typename Operands::index, std::int64_t>)
        all.push_back({.impl = "onnxruntime", .model = gather_model<Operands>});
    add_case(work, make, all);
}

template <class T, class Index>
void add_items(std::string const& types, std::size_t n, std::size_t count)
{
    using o = items<T, Index>;
    std::string const work =
        "gather_nd/" + types + "/data:" + std::to_string(n) + "/indices:" + std::to_string(count);
    auto const make = [=] {
        return o{made_up<xt::xtensor<T, 1>>({n}), random_tuples<Index>(count, 1, n),
            xt::xtensor<T, 1>::from_shape({count}), count};
    };
    add_case(work + "/returned", make,
        std::vector<series<o>>{
            {"hand_unchecked", hand_returned<T, Index>}, {"xloom", xloom_returned<T, Index>}});
    add_gather(work, make,
        {{"hand", hand_items<T, Index>}, {"xloom", xloom_into<o>},
            {"xloom_assume", xloom_into<o, xloom::bounds::assume>},
            {"xloom_drop", xloom_into<o, xloom::bounds::drop>},
            {"xloom_clip", xloom_into<o, xloom::bounds::clip>}, {"xtensor", xtensor_items<T, Index>}});
}

template <class T>
void add_rows(std::string const& type, std::size_t count, std::size_t m)
{
    std::string const shape = std::to_string(count) + "x" + std::to_string(m);
    add_gather("gather_nd/" + type + "/data:" + shape + "/indices:" + std::to_string(count),
        [=] {
            return rows<T>{made_up<xt::xtensor<T, 2>>({count, m}),
                random_tuples<std::int64_t>(count, 1, count), xt::xtensor<T, 2>::from_shape({count, m}),
                count};
        },
        {{"hand", hand_rows<T>}, {"xloom", xloom_into<rows<T>>},
            {"xloom_assume", xloom_into<rows<T>, xloom::bounds::assume>},
            {"xloom_drop", xloom_into<rows<T>, xloom::bounds::drop>},
            {"xloom_clip", xloom_into<rows<T>, xloom::bounds::clip>}, {"xtensor", xtensor_rows<T>}});
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t million = 1'000'000;
    for (std::size_t count = 1'000; count <= million; count *= 10)
        add_items<float, std::int64_t>("f32", million, count);
    add_items<float, std::int32_t>("f32/int32", million, million);
    add_items<double, std::int64_t>("f64", million, million);
    add_rows<float>("f32", 10'000, 3);
    add_rows<float>("f32", 10'000, 256);
    add_rows<double>("f64", 10'000, 256);
    add_rows<std::int64_t>("i64", 10'000, 256);
    add_gather("gather_nd/f32/data:1024x1024x16/indices:100000",
        [] {
            return cells{made_up<xt::xtensor<float, 3>>({1024, 1024, 16}),
                random_tuples<std::int64_t>(100'000, 2, 1024),
                xt::xtensor<float, 2>::from_shape({100'000, 16}), 100'000};
        },
        {{"hand", hand_cells<16>}, {"hand_plain", hand_cells<0>}, {"xloom", xloom_into<cells>},
            {"xloom_assume", xloom_into<cells, xloom::bounds::assume>}});
    return run_cases(argc, argv);
}
