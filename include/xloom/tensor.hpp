#pragma once
// Tensors: xtensor's containers, the specialisations of enable_tensor for containers of one's own,
// and the views of elements that bodies get.

#include <xloom/detail/tensor/element_view.hpp>
#include <xloom/detail/tensor/tensor.hpp>
#include <xloom/types.hpp>
