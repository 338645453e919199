#pragma once
// All operators.

#include <xloom_onnx/batch_normalization.hpp>
#include <xloom_onnx/concat.hpp>
#include <xloom_onnx/constant.hpp>
#include <xloom_onnx/conv.hpp>
#include <xloom_onnx/einsum.hpp>
#include <xloom_onnx/elementwise.hpp>
#include <xloom_onnx/expand.hpp>
#include <xloom_onnx/gather.hpp>
#include <xloom_onnx/layer_normalization.hpp>
#include <xloom_onnx/matmul.hpp>
#include <xloom_onnx/nonzero.hpp>
#include <xloom_onnx/one_hot.hpp>
#include <xloom_onnx/pad.hpp>
#include <xloom_onnx/pool.hpp>
#include <xloom_onnx/prelu.hpp>
#include <xloom_onnx/reduce.hpp>
#include <xloom_onnx/reshape.hpp>
#include <xloom_onnx/reverse_sequence.hpp>
#include <xloom_onnx/sequence.hpp>
#include <xloom_onnx/slice.hpp>
#include <xloom_onnx/softmax.hpp>
#include <xloom_onnx/top_k.hpp>
#include <xloom_onnx/transpose.hpp>
#include <xloom_onnx/trilu.hpp>
