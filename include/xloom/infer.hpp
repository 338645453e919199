#pragma once
// ONNX's type and shape inference, version by version, as constexpr functions.

#include <xloom/infer/cumsum.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/linear_attention.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/recurrent.hpp>
#include <xloom/infer/scan.hpp>
#include <xloom/infer/tensor_scatter.hpp>
#include <xloom/infer/versions.hpp>
