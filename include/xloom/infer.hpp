#pragma once
// ONNX's type and shape inference, version by version, as constexpr functions.

#include <xloom/infer/attn_lstm.hpp>
#include <xloom/infer/cumsum.hpp>
#include <xloom/infer/gather_elements.hpp>
#include <xloom/infer/gather_nd.hpp>
#include <xloom/infer/gru.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/lstm.hpp>
#include <xloom/infer/rnn.hpp>
#include <xloom/infer/scan.hpp>
#include <xloom/infer/scatter_elements.hpp>
#include <xloom/infer/scatter_nd.hpp>
#include <xloom/infer/type_lists.hpp>
