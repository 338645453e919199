#pragma once
// All functions of items, and map_into, which applies them to tensors.

#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/cast.hpp>
#include <xloom_onnx/functions.hpp>
#include <xloom_onnx/logic.hpp>
#include <xloom_onnx/map.hpp>
