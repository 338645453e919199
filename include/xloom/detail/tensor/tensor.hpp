#pragma once
// Tensors: the types for which enable_tensor is specialised, those of xtensor among them. With
// XLOOM_NO_XTENSOR, which the headers of cells permit, xtensor is not included.

#include <xloom/detail/tensor/borrowed.hpp>
#include <xloom/detail/tensor/std_containers.hpp>
#include <xloom/detail/tensor/tensor_traits.hpp>

#ifndef XLOOM_NO_XTENSOR
#include <xloom/detail/tensor/expressions.hpp>
#endif
