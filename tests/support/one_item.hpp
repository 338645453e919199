#pragma once
// ScatterND on a single item of any type.

#include <initializer_list>

#include <xloom/indexing/scatter_nd.hpp>

#include "reduced_options.hpp"

/// `old`, reduced with the updates in turn.
template <class T>
T reduced(T old, std::initializer_list<T> updates, reduced_options const& options)
{
    auto data = xt::xtensor<T, 1>::from_shape({1});
    data(0) = old;
    xt::xtensor<std::int64_t, 2> const indices = xt::zeros<std::int64_t>({updates.size(), std::size_t{1}});
    auto list = xt::xtensor<T, 1>::from_shape({updates.size()});
    std::copy(updates.begin(), updates.end(), list.begin());
    return xloom::scatter_nd(options.reduction, data, indices, list, options)(0);
}
