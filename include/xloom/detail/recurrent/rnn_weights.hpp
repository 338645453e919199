#pragma once
// The constants and options of ONNX's RNN, and its packed weights. Without xtensor.

#include <cstdint>
#include <optional>
#include <string_view>

#include <xloom/detail/recurrent/single_state_families.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an RNN that are constant over calls: W, R, B.
template <class Item>
using rnn_constants = detail::single_state_constants<Item>;

/// ONNX's attributes of an RNN. Names and lists are read only during the call that they are passed to.
struct rnn_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, detail::max_activations> activations{}; ///< f of each direction; none: Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    std::int64_t layout = 0; ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of an RNN, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe. Its members are those of detail::recurrent_weights:
/// constructors from constants, options and maybe a weight_storage or for_training, and assign, which packs
/// other constants.
///
/// Errors    shape_error, option_error: as rnn. option_error: the storage cannot hold one of the weights.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors. With
///           for_training, which a backward pass requires, twice that.
template <class Item>
using rnn_weights = detail::recurrent_weights<detail::rnn_family, Item>;

} // namespace xloom::inline XLOOM_ABI
