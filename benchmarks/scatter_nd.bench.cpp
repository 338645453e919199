// Compares scatter_nd_into and scatter_nd with hand-written loops after a bounds check, plain xtensor, and
// ONNX Runtime.

#include "../tests/support/xtensor_extras.hpp"
#include "scatter_operands.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

/// As the operator's: NaN wins.
template <class T, xloom::reduction Kind>
T reduce(T old, T update)
{
    switch (Kind) {
    case xloom::reduction::add:
        return old + update;
    case xloom::reduction::mul:
        return old * update;
    case xloom::reduction::max:
        return update != update ? update : old < update ? update : old;
    case xloom::reduction::min:
        return update != update ? update : update < old ? update : old;
    default:
        return update;
    }
}

template <class T, class Index, xloom::reduction Kind>
void hand_items_unchecked(items<T, Index>& o)
{
    std::size_t const n = o.y.size();
    T* const y = o.y.data();
    Index const* const indices = o.indices.data();
    T const* const updates = o.updates.data();
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(y + wrapped(indices[i + items_ahead], n), 1);
        T& item = y[wrapped(indices[i], n)];
        item = reduce<T, Kind>(item, updates[i]);
    }
}

template <class T, class Index, xloom::reduction Kind>
void hand_items(items<T, Index>& o)
{
    require_in_range(o.indices, o.y.size());
    hand_items_unchecked<T, Index, Kind>(o);
}

template <class T, class Index>
void xtensor_items(items<T, Index>& o)
{
    for (std::size_t i = 0; i < o.iterations; ++i)
        o.y(o.indices(i, 0)) += o.updates(i);
}

template <class T>
void hand_rows(rows<T>& o)
{
    require_in_range(o.indices, o.y.shape(0));
    std::size_t const m = o.y.shape(1);
    for (std::size_t i = 0; i < o.iterations; ++i) {
        T* __restrict const row =
            o.y.data() + wrapped(o.indices.data()[i], o.y.shape(0)) * static_cast<std::ptrdiff_t>(m);
        T const* __restrict const update = o.updates.data() + i * m;
        for (std::size_t j = 0; j < m; ++j)
            row[j] += update[j];
    }
}

template <class T>
void xtensor_rows(rows<T>& o)
{
    for (std::size_t i = 0; i < o.iterations; ++i) {
        auto row = xt::view(o.y, o.indices(i, 0));
        xt::noalias(row) += xt::view(o.updates, i);
    }
}

/// A hand-written loop that prefetches a slice `Ahead` updates in advance.
template <std::size_t Ahead>
void hand_cells(cells& o)
{
    require_in_range(o.indices, o.y.shape(0));
    std::size_t const n = o.y.shape(1), m = o.y.shape(2);
    auto const cell = [&](std::size_t i) {
        std::int64_t const* const tuple = o.indices.data() + 2 * i;
        return o.y.data() + (wrapped(tuple[0], n) * static_cast<std::ptrdiff_t>(n) + wrapped(tuple[1], n)) *
                                static_cast<std::ptrdiff_t>(m);
    };
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (Ahead != 0 && i + Ahead < o.iterations)
            __builtin_prefetch(cell(i + Ahead), 1);
        float* __restrict const old = cell(i);
        float const* __restrict const update = o.updates.data() + i * m;
        for (std::size_t j = 0; j < m; ++j)
            old[j] += update[j];
    }
}

/// Registers the case in place, and under /copying the one that copies the data first; the peer, which
/// supports 64-bit indices only, always copies.
template <xloom::reduction Kind, auto Hand, class Make, class Operands = std::invoke_result_t<Make>>
void add_scatter(std::string const& work, Make const& make, std::vector<series<Operands>> in_place = {},
    std::vector<series<Operands>> copies = {})
{
    constexpr auto in_data = xloom_in_place<Operands, Kind>;
    in_place.insert(
        in_place.begin(), {{"hand", Hand}, {"xloom", in_data},
                              {"xloom_assume", xloom_in_place<Operands, Kind, xloom::bounds::assume>},
                              {"xloom_drop", xloom_in_place<Operands, Kind, xloom::bounds::drop>},
                              {"xloom_clip", xloom_in_place<Operands, Kind, xloom::bounds::clip>}});
    copies.insert(
        copies.begin(), {{"hand", copying<Operands, Hand>}, {"xloom", xloom_returned<Operands, Kind>},
                            {"xloom_into", copying<Operands, in_data>}});
    if constexpr (std::is_same_v<typename Operands::index, std::int64_t>)
        for (auto* const all : {&in_place, &copies})
            all->push_back({.impl = "onnxruntime", .model = scatter_model<Operands, Kind>});
    add_case(work, make, in_place);
    add_case(work + "/copying", make, copies);
}

template <class T, class Index, xloom::reduction Kind>
void add_items(std::string const& types, std::size_t n, std::size_t count)
{
    std::vector<series<items<T, Index>>> plain;
    if (Kind == xloom::reduction::add)
        plain.push_back({"xtensor", xtensor_items<T, Index>});
    add_scatter<Kind, hand_items<T, Index, Kind>>("scatter_nd/" + std::string(name_of(Kind)) + "/" + types +
                                                      "/data:" + std::to_string(n) +
                                                      "/updates:" + std::to_string(count),
        [=] { return make_items<T, Index>(n, count, Kind == xloom::reduction::mul); }, plain,
        {{"hand_unchecked", copying<items<T, Index>, hand_items_unchecked<T, Index, Kind>>}});
}

template <class T>
void add_rows(std::string const& type, std::size_t count, std::size_t m)
{
    std::string const shape = std::to_string(count) + "x" + std::to_string(m);
    add_scatter<xloom::reduction::add, hand_rows<T>>(
        "scatter_nd/add/" + type + "/data:" + shape + "/updates:" + std::to_string(count),
        [=] {
            auto const data = made_up<xt::xtensor<T, 2>>({count, m});
            return rows<T>{data, random_tuples<std::int64_t>(count, 1, count), data, data, count};
        },
        {{"xtensor", xtensor_rows<T>}});
}

using counts = items<float, std::int64_t>;

void xloom_counts(counts& o)
{
    xloom::scatter_nd_into(xloom::reduction::add, o.y, o.indices, o.updates, two_threads());
}

/// Each update adds 1 to a count; counts the updates lost to data races.
benchmark::UserCounters lost_additions(counts& o, std::function<void()> const& run)
{
    constexpr std::size_t runs = 20;
    double lost = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < runs; ++i) {
        o.clear();
        run();
        double const missing = static_cast<double>(o.iterations) - xt::sum<double>(o.y)();
        lost += missing;
        wrong += missing != 0 ? 1 : 0;
    }
    return {{"runs", double(runs)}, {"wrong_runs", double(wrong)}, {"lost/run", lost / double(runs)}};
}

/// Many updates of few items.
void add_counts(std::size_t n, std::size_t count)
{
    constexpr auto add = xloom::reduction::add;
    add_case(
        "scatter_nd/add/f32/data:" + std::to_string(n) + "/updates:" + std::to_string(count),
        [=] {
            auto const zero = xt::xtensor<float, 1>(xt::zeros<float>({n}));
            return counts{
                zero, random_tuples<std::int64_t>(count, 1, n), xt::ones<float>({count}), zero, count};
        },
        {{"hand", hand_items<float, std::int64_t, add>}, {"xloom", xloom_counts},
            {.impl = "onnxruntime", .model = scatter_model<counts, add>, .count_errors = lost_additions}},
        2);
}

using histogram = items<std::int64_t, std::int64_t>;

void hand_histogram(histogram& o)
{
    std::size_t const n = o.y.size();
    require_in_range(o.indices, n);
    std::int64_t* const y = o.y.data();
    std::int64_t const* const indices = o.indices.data();
    for (std::size_t i = 0; i < o.iterations; ++i)
        ++y[wrapped(indices[i], n)];
}

/// Adds one number, of which there is no array.
void xloom_histogram(histogram& o)
{
    xloom::scatter_nd_into(xloom::reduction::add, o.y, o.indices, xloom::broadcast(1));
}

void add_histogram(std::size_t bins, std::size_t count)
{
    add_case("scatter_nd/count/i64/data:" + std::to_string(bins) + "/updates:" + std::to_string(count),
        [=] {
            xt::xtensor<std::int64_t, 1> const ones = xt::ones<std::int64_t>({count});
            histogram::tensor const zeros = xt::zeros<std::int64_t>({bins});
            return histogram{zeros, random_tuples<std::int64_t>(count, 1, bins), ones, zeros, count};
        },
        {{"hand", hand_histogram}, {"xloom", xloom_histogram},
            {"xloom_ones", xloom_in_place<histogram, xloom::reduction::add>}});
}

/// Slices of 8 floats in memory that is not row-major.
struct columns {
    using tensor = xt::xtensor<float, 2, xt::layout_type::column_major>;
    tensor data;
    index_table<std::int64_t> indices;
    xt::xtensor<float, 2> updates;
    tensor y;
    std::size_t iterations; ///< updates

    auto const& results() const { return y; }
    void clear() { y = data; }
};

/// With eight threads, or on the calling one.
template <class Operands, bool Threads, bool Sorted = false>
void xloom_policy(Operands& o)
{
    constexpr xloom::scatter_nd_options options{.sorted = Sorted};
    if constexpr (Threads) {
        static xloom::tbb_policy const threads(8);
        xloom::scatter_nd_into(xloom::reduction::add, o.y, o.indices, o.updates, options, threads);
    } else {
        xloom::scatter_nd_into(xloom::reduction::add, o.y, o.indices, o.updates, options);
    }
}

/// Updates of so few slices that threads help little or not at all.
void add_few_slices()
{
    constexpr std::size_t million = 1'000'000;
    for (std::size_t const slices : {100u, 1000u, 8000u})
        add_case(
            "scatter_nd_few_slices/add/f32/data:" + std::to_string(slices) + "/updates:1000000",
            [=] { return make_items<float, std::int64_t>(slices, million, false); },
            {{"xloom_serial", xloom_policy<counts, false>}, {"xloom", xloom_policy<counts, true>}}, 8);
    add_case(
        "scatter_nd_few_slices/add/f32/data:1/updates:1000000/sorted",
        [] { return make_items<float, std::int64_t>(1, million, false); },
        {{"xloom_serial", xloom_policy<counts, false, true>}, {"xloom", xloom_policy<counts, true, true>}},
        8);
    add_case(
        "scatter_nd_few_slices/add/f32/data:1000x8/updates:100000/column_major",
        [] {
            columns::tensor const data = made_up<xt::xtensor<float, 2>>({1000, 8});
            return columns{data, random_tuples<std::int64_t>(100'000, 1, 1000),
                made_up<xt::xtensor<float, 2>>({100'000, 8}), data, 100'000};
        },
        {{"xloom_serial", xloom_policy<columns, false>}, {"xloom", xloom_policy<columns, true>}}, 8);
}

} // namespace

int main(int argc, char** argv)
{
    using xloom::reduction;
    constexpr std::size_t million = 1'000'000;
    add_items<float, std::int64_t, reduction::none>("f32", million, million);
    add_items<float, std::int64_t, reduction::add>("f32", million, million);
    add_items<float, std::int64_t, reduction::mul>("f32", million, million);
    add_items<float, std::int64_t, reduction::max>("f32", million, million);
    add_items<float, std::int64_t, reduction::min>("f32", million, million);
    add_items<float, std::int32_t, reduction::add>("f32/indices:int32", million, million);
    add_items<float, std::int64_t, reduction::add>("f32", million, 100'000);
    add_items<float, std::int32_t, reduction::add>("f32/indices:int32", million, 100'000);
    add_items<double, std::int64_t, reduction::add>("f64", million, million);
    add_rows<float>("f32", 10'000, 3);
    add_rows<float>("f32", 10'000, 256);
    add_rows<double>("f64", 10'000, 256);
    add_rows<std::int64_t>("i64", 10'000, 256);
    add_scatter<reduction::add, hand_cells<16>>("scatter_nd/add/f32/data:1024x1024x16/updates:100000",
        [] {
            auto const data = made_up<xt::xtensor<float, 3>>({1024, 1024, 16});
            return cells{data, random_tuples<std::int64_t>(100'000, 2, 1024),
                made_up<xt::xtensor<float, 2>>({100'000, 16}), data, 100'000};
        },
        {{"hand_plain", hand_cells<0>}});
    add_counts(4, 1'600'000);
    for (std::size_t const bins : {std::size_t{256}, million})
        for (std::size_t const count : {million, 10 * million})
            add_histogram(bins, count);
    add_few_slices();
    return run_cases(argc, argv);
}
