#pragma once
// NumPy's functions on indices under their names: take, compress, take_along_axis, put_along_axis, at,
// bincount.

#include <xloom/along_axis.hpp>
#include <xloom/at.hpp>
#include <xloom/bincount.hpp>
#include <xloom/take.hpp>
