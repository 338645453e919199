#pragma once
// Models whose loops a runtime interprets step by step, as exporters write them. Their weights are random.

#include <string>

namespace bench {

/// Returns a block of Mamba as torch.onnx exports it: a selective scan that is a Loop over the time steps,
/// with 256 channels of 16 states, between the block's projections and its convolution. An ONNX file's bytes.
///
/// x [1, L, 128] -> y [1, L, 128]; L is known at run time only.
std::string mamba_block();

/// Returns a decoder of sequences: a Loop around AttnLSTM that feeds each step the symbol that the last one
/// made, until symbol 0, or max_length symbols. An ONNX file's bytes.
///
/// M [1, S, 64], max_length [] -> symbols [n, 1], scores [n, 1, 48]; S and n are known at run time only.
std::string attention_decoder();

/// Returns linear attention of 16 heads by the delta rule, gated or not, as a Scan over the tokens whose body
/// multiplies by the state. An ONNX file's bytes.
///
/// past_state [16, d, d], query, key, value [T, 16, d], beta [T, 16, 1], and if it is gated decay [T, 16, 1]
/// -> present_state [16, d, d], output [T, 16, d]; d and T are known at run time only.
std::string delta_rule(bool is_gated);

} // namespace bench
