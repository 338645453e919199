#pragma once
// The options of a scatter with the reduction of the call, as tables of cases have them.

#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing/scatter_nd.hpp>

/// A reduction, and options of scatter_nd.
struct reduced_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    bool accumulate_in_float = false;
    bool unique = false;
    bool sorted = false;

    operator xloom::scatter_nd_options() const
    {
        return {bounds, duplicates, include_self, accumulate_in_float, unique, sorted};
    }
};

/// A reduction, and options of scatter_nd_vjp.
struct reduced_vjp_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    xloom::ties ties = xloom::ties::even;
    bool unique = false;
    bool sorted = false;

    operator xloom::scatter_nd_vjp_options() const
    {
        return {bounds, duplicates, include_self, ties, unique, sorted};
    }
};
