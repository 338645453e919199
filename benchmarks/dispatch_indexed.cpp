// The operators with indices of bench_dispatch, in one build.

#include <xloom/indexing/bincount.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/parallel/segment_reduce.hpp>

#include "dispatch_operands.hpp"

namespace bench::XLOOM_BENCH_BUILD {
namespace {

using table = xt::xtensor<std::int64_t, 2>;

/// T rows of H updates for N rows, with `width` indices for each.
struct scattered {
    table indices;
    matrix updates, y;

    scattered(dispatch_work const& work, std::size_t width)
        : indices(indices_below<table>(work.N, {work.T, width})),
          updates(uniform<matrix>({work.T, work.H}, 1, 1)),
          y(uniform<matrix>({work.N, work.H}, 1, 2))
    {}
};

/// Scatters whole rows.
template <xloom::reduction Kind>
struct scatter : scattered {
    explicit scatter(dispatch_work const& work) : scattered(work, 1) {}

    void operator()() { xloom::scatter_nd_into(Kind, y, indices, updates); }
};

struct gather {
    table indices;
    matrix data, y;

    explicit gather(dispatch_work const& work)
        : indices(indices_below<table>(work.N, {work.T, 1})),
          data(uniform<matrix>({work.N, work.H}, 1, 1)),
          y(matrix::from_shape({work.T, work.H}))
    {}

    void operator()() { xloom::gather_nd_into(data, indices, y); }
};

/// Scatters items along the first axis.
template <xloom::reduction Kind>
struct scatter_items : scattered {
    explicit scatter_items(dispatch_work const& work) : scattered(work, work.H) {}

    void operator()() { xloom::scatter_elements_into(Kind, y, indices, updates); }
};

struct counts {
    xt::xtensor<std::int64_t, 1> x, y;

    explicit counts(dispatch_work const& work)
        : x(indices_below<xt::xtensor<std::int64_t, 1>>(work.N, {work.T}))
    {}

    void operator()() { y = xloom::bincount(x); }
};

/// Reduces segments of 8 rows of H items.
struct segments {
    matrix x, y;
    xt::xtensor<std::int64_t, 1> splits;

    explicit segments(dispatch_work const& work)
        : x(uniform<matrix>({work.T, work.H}, 1, 1)),
          y(matrix::from_shape({work.T / 8, work.H})),
          splits(8 * xt::arange<std::int64_t>(static_cast<std::int64_t>(work.T / 8) + 1))
    {}

    void operator()() { xloom::segment_reduce_into(xloom::reduce_add, x, splits, y); }
};

} // namespace

built_call make_indexed(dispatch_work const& work)
{
    using enum xloom::reduction;
    if (work.kind == "scatter_nd none")
        return call_of(std::make_shared<scatter<none>>(work));
    if (work.kind == "scatter_nd max")
        return call_of(std::make_shared<scatter<max>>(work));
    if (work.kind == "gather_nd")
        return call_of(std::make_shared<gather>(work));
    if (work.kind == "scatter_elements none")
        return call_of(std::make_shared<scatter_items<none>>(work));
    if (work.kind == "scatter_elements max")
        return call_of(std::make_shared<scatter_items<max>>(work));
    if (work.kind == "bincount")
        return call_of(std::make_shared<counts>(work));
    return call_of(std::make_shared<segments>(work));
}

} // namespace bench::XLOOM_BENCH_BUILD
