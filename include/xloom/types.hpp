#pragma once
// The types of arguments and results that are no tensors, without xtensor: exceptions, shapes, ONNX's element
// types and the numbers of them, enumerations of options, execution policies, subnormal numbers as zeros.

#include <xloom/detail/core/activation.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/weight_storage.hpp>
