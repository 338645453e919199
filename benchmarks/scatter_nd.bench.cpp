// scatter_nd_into and scatter_nd against hand-written loops behind a bounds check, and against plain xtensor.

#include <xloom/scatter_nd.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "nd_operands.hpp"

namespace {

using namespace bench;

template <class T, class Index, std::size_t Rank>
struct scatter_operands {
    xt::xtensor<T, Rank> data;
    index_table<Index> indices;
    xt::xtensor<T, Rank == 1 ? 1 : 2> updates; ///< [count], or [count, items of a slice]
    xt::xtensor<T, Rank> y;
    std::size_t iterations; ///< updates

    auto const& results() const { return y; }
    void clear() { y = data; }
};

/// Data [n], and `count` updates of single items.
template <class T, class Index>
using items = scatter_operands<T, Index, 1>;
/// Data [n, m], and updates of rows.
template <class T>
using rows = scatter_operands<T, std::int64_t, 2>;
/// Data [n, n, m], and updates of the m items at a pair of indices.
using cells = scatter_operands<float, std::int64_t, 3>;

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
void hand_items(items<T, Index>& o)
{
    require_in_range(o.indices, o.y.size());
    std::size_t const n = o.y.size();
    T* const y = o.y.data();
    Index const* const indices = o.indices.data();
    T const* const updates = o.updates.data();
    for (std::size_t i = 0; i < o.iterations; ++i) {
        T& item = y[wrapped(indices[i], n)];
        item = reduce<T, Kind>(item, updates[i]);
    }
}

template <class T, class Index>
void xtensor_items(items<T, Index>& o)
{
    for (std::size_t i = 0; i < o.iterations; ++i)
        o.y(o.indices(i, 0)) += o.updates(i);
}

template <class Operands, xloom::reduction Kind, xloom::bounds Bounds = xloom::bounds::check>
void xloom_in_place(Operands& o)
{
    xloom::scatter_nd_into(o.y, o.indices, o.updates, {.reduction = Kind, .bounds = Bounds});
}

template <class T>
void hand_items_copy(items<T, std::int64_t>& o)
{
    auto y = o.data;
    require_in_range(o.indices, y.size());
    for (std::size_t i = 0; i < o.iterations; ++i)
        y.data()[wrapped(o.indices.data()[i], y.size())] += o.updates.data()[i];
    o.y = std::move(y);
}

template <class T>
void xloom_items_copy(items<T, std::int64_t>& o)
{
    o.y = xloom::scatter_nd(o.data, o.indices, o.updates, {.reduction = xloom::reduction::add});
}

template <class T>
void hand_rows(rows<T>& o)
{
    require_in_range(o.indices, o.y.shape(0));
    std::size_t const m = o.y.shape(1);
    for (std::size_t i = 0; i < o.iterations; ++i) {
        T* __restrict const row = o.y.data() + wrapped(o.indices.data()[i], o.y.shape(0)) * static_cast<std::ptrdiff_t>(m);
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

/// Ahead: so many updates before its turn, the memory of a slice is asked for.
template <std::size_t Ahead>
void hand_cells(cells& o)
{
    require_in_range(o.indices, o.y.shape(0));
    std::size_t const n = o.y.shape(1), m = o.y.shape(2);
    auto const cell = [&](std::size_t i) {
        std::int64_t const* const tuple = o.indices.data() + 2 * i;
        return o.y.data() + (wrapped(tuple[0], n) * static_cast<std::ptrdiff_t>(n) + wrapped(tuple[1], n)) * static_cast<std::ptrdiff_t>(m);
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

template <class T, class Index>
items<T, Index> make_items(std::size_t n, std::size_t count, bool only_signs)
{
    auto updates = made_up<xt::xtensor<T, 1>>({count});
    if (only_signs) // else repeated products overflow
        for (T& update : updates.storage())
            update = update < T{} ? T{-1} : T{1};
    auto const data = made_up<xt::xtensor<T, 1>>({n});
    return {data, random_tuples<Index>(count, 1, n), updates, data, count};
}

template <class T, class Index, xloom::reduction Kind>
void add_items(std::string const& types, std::size_t n, std::size_t count)
{
    using o = items<T, Index>;
    std::vector<series<o>> all = {{"hand", hand_items<T, Index, Kind>}, {"xloom", xloom_in_place<o, Kind>},
        {"xloom_assume", xloom_in_place<o, Kind, xloom::bounds::assume>}};
    if (Kind == xloom::reduction::add)
        all.push_back({"xtensor", xtensor_items<T, Index>});
    add_case(
        "scatter_nd/" + std::string(name_of(Kind)) + "/" + types + "/data:" + std::to_string(n) + "/updates:" + std::to_string(count),
        [=] { return make_items<T, Index>(n, count, Kind == xloom::reduction::mul); }, all);
}

template <class T>
void add_rows(std::string const& type, std::size_t count, std::size_t m)
{
    std::string const shape = std::to_string(count) + "x" + std::to_string(m);
    add_case("scatter_nd/add/" + type + "/data:" + shape + "/updates:" + std::to_string(count),
        [=] {
            auto const data = made_up<xt::xtensor<T, 2>>({count, m});
            return rows<T>{data, random_tuples<std::int64_t>(count, 1, count), data, data, count};
        },
        {{"hand", hand_rows<T>}, {"xloom", xloom_in_place<rows<T>, xloom::reduction::add>},
            {"xloom_assume", xloom_in_place<rows<T>, xloom::reduction::add, xloom::bounds::assume>}, {"xtensor", xtensor_rows<T>}});
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
    add_case("scatter_nd/add/f32/data:1000000/updates:100000/copying",
        [] { return make_items<float, std::int64_t>(million, 100'000, false); },
        {{"hand", hand_items_copy<float>}, {"xloom", xloom_items_copy<float>}});
    add_rows<float>("f32", 10'000, 3);
    add_rows<float>("f32", 10'000, 256);
    add_rows<double>("f64", 10'000, 256);
    add_rows<std::int64_t>("i64", 10'000, 256);
    add_case("scatter_nd/add/f32/data:1024x1024x16/updates:100000",
        [] {
            auto const data = made_up<xt::xtensor<float, 3>>({1024, 1024, 16});
            return cells{data, random_tuples<std::int64_t>(100'000, 2, 1024), made_up<xt::xtensor<float, 2>>({100'000, 16}), data, 100'000};
        },
        {{"hand", hand_cells<16>}, {"hand_plain", hand_cells<0>}, {"xloom", xloom_in_place<cells, reduction::add>},
            {"xloom_assume", xloom_in_place<cells, reduction::add, xloom::bounds::assume>}});
    return run_cases(argc, argv);
}
