#pragma once
// ScatterND's operands in the benchmarks, its model for the peer, and xloom's calls.

#include <xloom/indexing/scatter_nd.hpp>

#include "nd_operands.hpp"
#include "reusing_allocator.hpp"

namespace bench {

template <class T, class Index, std::size_t Rank>
struct scatter_operands {
    using index = Index;
    using tensor = xt::xtensor<T, Rank, xt::layout_type::row_major, reusing_allocator<T>>;
    tensor data;
    index_table<Index> indices;
    xt::xtensor<T, Rank == 1 ? 1 : 2> updates; ///< [count], or [count, items of a slice]
    tensor y;
    std::size_t iterations;           ///< updates
    std::optional<tensor> returned{}; ///< of a series that does not write into y

    auto const& results() const { return returned ? *returned : y; }
    void clear()
    {
        returned.reset();
        y = data;
    }
};

/// Data [n], and `count` updates of single items.
template <class T, class Index>
using items = scatter_operands<T, Index, 1>;
/// Data [n, m], and updates of rows.
template <class T>
using rows = scatter_operands<T, std::int64_t, 2>;
/// Data [n, n, m], and updates of the m items at a pair of indices.
using cells = scatter_operands<float, std::int64_t, 3>;

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

template <class Operands, xloom::reduction Kind, xloom::bounds Bounds = xloom::bounds::check>
void xloom_in_place(Operands& o)
{
    xloom::scatter_nd_into(Kind, o.y, o.indices, o.updates, {.bounds = Bounds});
}

/// Copies the data to a new tensor, which reuses the memory of the previous one.
template <class Operands, xloom::reduction Kind>
void xloom_returned(Operands& o)
{
    o.returned.reset();
    o.returned = xloom::scatter_nd(Kind, o.data, o.indices, o.updates);
}

template <class Operands, xloom::reduction Kind>
onnx_graph scatter_model(Operands& o)
{
    return model_of({.op = "ScatterND", .attributes = {{"reduction", std::string(name_of(Kind))}}},
        {bound("data", o.data), bound("indices", o.indices), bound("updates", o.updates)},
        {bound("output", o.y)});
}

} // namespace bench
