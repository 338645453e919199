#pragma once
// Recurrent networks: LSTM, GRU, RNN, their stacks, AttnLSTM, selective scan, their cells, activations and
// products.

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/linear_attention.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/rnn_cell.hpp>
#include <xloom/recurrent/selective_scan.hpp>
#include <xloom/recurrent/stack.hpp>
#include <xloom/recurrent/storage_types.hpp>
