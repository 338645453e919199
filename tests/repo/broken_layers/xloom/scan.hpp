#pragma once
#include <xloom/tensor/tensor.hpp>
#include <xtensor/xarray.hpp>
