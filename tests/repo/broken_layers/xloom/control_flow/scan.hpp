#pragma once
#include <xloom/detail/tensor/tensor.hpp>
#include <xtensor/xarray.hpp>
