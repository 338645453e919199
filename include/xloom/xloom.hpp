#pragma once
// All public headers; xloom/tbb.hpp, which requires oneTBB, only if XLOOM_USE_TBB is defined, xloom/mpi.hpp,
// which requires MPI, only if XLOOM_USE_MPI is, xloom/adolc.hpp, which requires ADOL-C, only if
// XLOOM_USE_ADOLC is, and xloom/sacado.hpp, which requires Sacado, only if XLOOM_USE_SACADO is.

#include <xloom/activations.hpp>
#include <xloom/all_reduce_gradients.hpp>
#include <xloom/associative_scan.hpp>
#include <xloom/attn_lstm.hpp>
#include <xloom/attn_lstm_backward.hpp>
#include <xloom/attn_lstm_cell.hpp>
#include <xloom/check_vjp.hpp>
#include <xloom/cumulative.hpp>
#include <xloom/distributed_associative_scan.hpp>
#include <xloom/distributed_gather_nd.hpp>
#include <xloom/distributed_linear_recurrence.hpp>
#include <xloom/distributed_scatter_nd.hpp>
#include <xloom/gather_elements.hpp>
#include <xloom/gather_nd.hpp>
#include <xloom/gather_nd_vjp.hpp>
#include <xloom/gru.hpp>
#include <xloom/gru_backward.hpp>
#include <xloom/gru_cell.hpp>
#include <xloom/if.hpp>
#include <xloom/if_vjp.hpp>
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
#include <xloom/infer/selective_scan.hpp>
#include <xloom/infer/type_lists.hpp>
#include <xloom/linear_recurrence.hpp>
#include <xloom/linear_recurrence_vjp.hpp>
#include <xloom/loop.hpp>
#include <xloom/loop_list.hpp>
#include <xloom/loop_vjp.hpp>
#include <xloom/lstm.hpp>
#include <xloom/lstm_backward.hpp>
#include <xloom/lstm_cell.hpp>
#include <xloom/numpy.hpp>
#include <xloom/packed_matrix.hpp>
#include <xloom/rnn.hpp>
#include <xloom/rnn_backward.hpp>
#include <xloom/rnn_cell.hpp>
#include <xloom/row_splits.hpp>
#include <xloom/scan.hpp>
#include <xloom/scan_list.hpp>
#include <xloom/scan_ragged.hpp>
#include <xloom/scan_ragged_into.hpp>
#include <xloom/scan_vjp.hpp>
#include <xloom/scatter_elements.hpp>
#include <xloom/scatter_nd.hpp>
#include <xloom/scatter_nd_vjp.hpp>
#include <xloom/segment_reduce.hpp>
#include <xloom/segment_scan.hpp>
#include <xloom/segment_softmax.hpp>
#include <xloom/selective_scan.hpp>
#include <xloom/selective_scan_vjp.hpp>
#include <xloom/storage_types.hpp>
#include <xloom/thread_ranks.hpp>

#ifdef XLOOM_USE_TBB
#include <xloom/tbb.hpp>
#endif
#ifdef XLOOM_USE_MPI
#include <xloom/mpi.hpp>
#endif
#ifdef XLOOM_USE_ADOLC
#include <xloom/adolc.hpp>
#endif
#ifdef XLOOM_USE_SACADO
#include <xloom/sacado.hpp>
#endif
