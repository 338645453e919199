#pragma once
// The functions that each level has: a table of them for each kind of items, so that all kinds may be
// compiled at the same time. The objects of a level export nothing else.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <xloom/gradients/activate_vjp.hpp>
#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

namespace xloom::inline XLOOM_ABI::dispatch::detail {

using namespace xloom::detail;

template <class T>
using basic_functions = std::tuple<activate_functions<T>, activate_vjp_functions<T>,
    pack_matrix_functions<T, full_packing>, matrix_functions<T>>;

/// The functions that pack weights in the type that computes.
template <class Family, class T>
using packing_functions = std::tuple<pack_functions<Family, T>, pack_functions<Family, T, training_packing>>;

/// The functions of an operator, a Family such as gru_family, and of its derivative.
template <class Family, class T>
using family_functions = std::tuple<part_functions<T, recurrent_states<Family, T>>,
    small_step_functions<typename Family::template parameters<T>>,
    cell_functions<T, typename Family::template rows<T>, typename Family::template parameters<T>>,
    part_functions<T, recorded_states<Family, T>>,
    backward_functions<T, backward_states<T, typename Family::template backward_rows<T>>,
        recurrent_weights<Family, T>, residuals_for<Family, T>>>;

/// The functions of AttnLSTM with one score.
template <class T, class Score>
using attending_functions =
    std::tuple<part_functions<T, attn_lstm_states<T, Score>>, attn_cell_functions<T, Score>>;

template <class T>
using attending_backward_functions =
    std::tuple<attention_residual_functions<T>, part_functions<T, recorded_attn_lstm_states<T>>,
        backward_functions<T, attn_lstm_backward_states<T>, attn_lstm_weights<T>, attn_lstm_residuals<T>>>;

template <class T>
using attn_lstm_functions = decltype(std::tuple_cat(std::declval<packing_functions<attn_lstm_family, T>>(),
    std::declval<attending_functions<T, bahdanau>>(), std::declval<attending_functions<T, score_ref<T>>>(),
    std::declval<attending_backward_functions<T>>()));

/// The functions of reductions of segments; products of floating-point numbers are reduced in order.
template <class T, class Reduce>
using segment_functions = std::conditional_t<kernel::order_rule<kernel::scanned_by<T, Reduce>, T>::is_ordered,
    std::tuple<>, std::tuple<vector_functions<lane_segments<T, Reduce>, std::size_t, segment_range<T>>>>;

/// The functions of scans and segments of Ts with a reduction.
template <class T, class Reduce>
using reducing_functions = decltype(std::tuple_cat(
    std::declval<std::tuple<vector_functions<vector_part<T, Reduce>, whole_axis<sequences<2>>>,
        vector_functions<vector_part<T, Reduce>, each_segment<sequences<2>, policy_ref>>>>(),
    std::declval<segment_functions<T, Reduce>>()));

template <class T>
using scan_functions = decltype(std::tuple_cat(std::declval<reducing_functions<T, detail::reduce_add_t>>(),
    std::declval<reducing_functions<T, detail::reduce_mul_t>>(),
    std::declval<reducing_functions<T, detail::reduce_max_t>>(),
    std::declval<reducing_functions<T, detail::reduce_min_t>>()));

template <class T>
using recurrence_functions = std::tuple<vector_functions<lane_recurrences<T>, whole_axis<sequences<4>>>,
    selective_functions<T>, selective_vjp_functions<T>, attention_functions<T, T>,
    attention_vjp_functions<T, T>, conv_functions<T>, conv_vjp_functions<T>>;

template <class T>
using functions_of_type = decltype(std::tuple_cat(std::declval<basic_functions<T>>(),
    std::declval<packing_functions<lstm_family, T>>(), std::declval<family_functions<lstm_family, T>>(),
    std::declval<packing_functions<gru_family, T>>(), std::declval<family_functions<gru_family, T>>(),
    std::declval<packing_functions<rnn_family, T>>(), std::declval<family_functions<rnn_family, T>>(),
    std::declval<attn_lstm_functions<T>>(), std::declval<scan_functions<T>>(),
    std::declval<recurrence_functions<T>>()));

/// The functions that pack weights of float in a narrow type.
using narrow_functions = std::tuple<pack_matrix_functions<float, stored_packing>,
    pack_functions<lstm_family, float, stored_packing>, pack_functions<gru_family, float, stored_packing>,
    pack_functions<rnn_family, float, stored_packing>,
    pack_functions<attn_lstm_family, float, stored_packing>>;

/// The functions of linear attention of floats with narrow states.
template <class State>
using narrow_attention_functions =
    std::tuple<attention_functions<float, State>, attention_vjp_functions<float, State>>;

using float_functions = decltype(std::tuple_cat(std::declval<functions_of_type<float>>(),
    std::declval<narrow_functions>(), std::declval<narrow_attention_functions<float16>>(),
    std::declval<narrow_attention_functions<bfloat16>>()));
using double_functions = functions_of_type<double>;
using integer_functions = decltype(std::tuple_cat(std::declval<scan_functions<std::int32_t>>(),
    std::declval<scan_functions<std::uint32_t>>(), std::declval<scan_functions<std::int64_t>>(),
    std::declval<scan_functions<std::uint64_t>>()));

} // namespace xloom::inline XLOOM_ABI::dispatch::detail

#if !defined(XLOOM_DISPATCH_LIBRARIES)
#define XLOOM_DISPATCH_LINKAGE [[gnu::visibility("hidden")]]
#elif !defined(_WIN32)
#define XLOOM_DISPATCH_LINKAGE [[gnu::visibility("default")]]
#elif defined(XLOOM_DISPATCH_TABLE)
#define XLOOM_DISPATCH_LINKAGE [[gnu::dllexport]]
#else
#define XLOOM_DISPATCH_LINKAGE [[gnu::dllimport]]
#endif

// Not in the namespace: a C name is what scripts keep when they make the other names local.
extern "C" {
XLOOM_DISPATCH_LINKAGE extern xloom::dispatch::detail::float_functions const xloom_dispatch_sse2_float,
    xloom_dispatch_avx2_float, xloom_dispatch_avx512_float;
XLOOM_DISPATCH_LINKAGE extern xloom::dispatch::detail::double_functions const xloom_dispatch_sse2_double,
    xloom_dispatch_avx2_double, xloom_dispatch_avx512_double;
XLOOM_DISPATCH_LINKAGE extern xloom::dispatch::detail::integer_functions const xloom_dispatch_sse2_integer,
    xloom_dispatch_avx2_integer, xloom_dispatch_avx512_integer;
// With VNNI and BF16 only products of narrow weights change.
XLOOM_DISPATCH_LINKAGE extern xloom::dispatch::detail::narrow_functions const xloom_dispatch_avx2_vnni_narrow,
    xloom_dispatch_avx512_vnni_narrow, xloom_dispatch_avx512_bf16_narrow;
}
