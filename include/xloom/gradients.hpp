#pragma once
// Vector-Jacobian products of the operators, and check_vjp, which tests one of the caller's.

#include <xloom/gradients/activate_vjp.hpp>
#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/check_vjp.hpp>
#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/linear_recurrence_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/gradients/scan_lanes_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/gradients/segment_softmax_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>
