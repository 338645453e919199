#pragma once
// Scatter and gather by index tuples and along an axis, and NumPy's functions on indices.

#include <xloom/indexing/along_axis.hpp>
#include <xloom/indexing/at.hpp>
#include <xloom/indexing/bincount.hpp>
#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/indexing/take.hpp>
#include <xloom/indexing/tensor_scatter.hpp>
