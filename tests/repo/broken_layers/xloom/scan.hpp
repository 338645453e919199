#pragma once
#include <xloom/adapt/tensor.hpp>
#include <xtensor/xarray.hpp>
