#pragma once
// The functions that each level has: one table of them for each level, whose objects export nothing else.

#include <cstddef>
#include <tuple>
#include <utility>

#include <xloom/activations.hpp>
#include <xloom/attn_lstm_cell.hpp>
#include <xloom/gru_cell.hpp>
#include <xloom/lstm_cell.hpp>
#include <xloom/packed_matrix.hpp>
#include <xloom/rnn_cell.hpp>

namespace xloom::dispatch::detail {

using namespace xloom::detail;

template <class T>
using basic_functions =
    std::tuple<activate_functions<T>, pack_matrix_functions<T, full_packing>, matrix_functions<T>>;

template <class T>
using lstm_functions = std::tuple<pack_functions<lstm_family, T, lstm_constants<T>, lstm_options>,
    part_functions<T, lstm_states<T>>, small_step_functions<kernel::lstm_parameters<T>>,
    cell_functions<T, kernel::lstm_rows<T>, kernel::lstm_parameters<T>>>;

/// The functions of an operator with one state, GRU or RNN.
template <class T, class Family, class Weights, class Constants, class Options, class Rows>
using hidden_functions = std::tuple<pack_functions<Family, T, Constants, Options>,
    part_functions<T, hidden_states<T, Rows, Weights>>, small_step_functions<typename Rows::parameters>,
    cell_functions<T, Rows, typename Rows::parameters>>;

template <class T>
using gru_functions = hidden_functions<T, gru_family, gru_weights<T>, gru_constants<T>, gru_options, kernel::gru_rows<T>>;

template <class T>
using rnn_functions = hidden_functions<T, rnn_family, rnn_weights<T>, rnn_constants<T>, rnn_options, kernel::rnn_rows<T>>;

/// The functions of AttnLSTM with one score.
template <class T, class Score>
using attending_functions =
    std::tuple<part_functions<T, attn_lstm_states<T, attn_lstm_weights<T>, Score>>, attn_cell_functions<T, Score>>;

template <class T>
using attn_lstm_functions = decltype(std::tuple_cat(
    std::declval<std::tuple<pack_functions<attn_lstm_family, T, attn_lstm_constants<T>, attn_lstm_options>>>(),
    std::declval<attending_functions<T, bahdanau>>(), std::declval<attending_functions<T, score_ref<T>>>()));

template <class T>
using functions_of_type = decltype(std::tuple_cat(std::declval<basic_functions<T>>(),
    std::declval<lstm_functions<T>>(), std::declval<gru_functions<T>>(), std::declval<rnn_functions<T>>(),
    std::declval<attn_lstm_functions<T>>()));

/// The functions that pack weights of float in a narrow type.
using narrow_functions = std::tuple<pack_matrix_functions<float, narrow_packing>,
    pack_functions<lstm_family, float, lstm_constants<float>, lstm_options, narrow_packing>,
    pack_functions<gru_family, float, gru_constants<float>, gru_options, narrow_packing>,
    pack_functions<rnn_family, float, rnn_constants<float>, rnn_options, narrow_packing>,
    pack_functions<attn_lstm_family, float, attn_lstm_constants<float>, attn_lstm_options, narrow_packing>>;

using table = decltype(std::tuple_cat(std::declval<functions_of_type<float>>(),
    std::declval<functions_of_type<double>>(), std::declval<narrow_functions>()));

} // namespace xloom::dispatch::detail

// Not in the namespace: a C name is what scripts keep when they make the other names local.
extern "C" {
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_sse2;
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_avx2;
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_avx512;
}
