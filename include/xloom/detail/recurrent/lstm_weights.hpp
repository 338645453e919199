#pragma once
// The constants and options of ONNX's LSTM, and its packed weights. Without xtensor.

#include <cstdint>
#include <optional>
#include <string_view>

#include <xloom/detail/recurrent/lstm_family.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an LSTM that are constant over calls.
template <class Item>
struct lstm_constants {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
    tensor_ref<Item const> P{};
    tensor_ref<Item const> projection{};
};

/// ONNX's attributes of an LSTM. Names and lists are read only during the call that they are passed to.
struct lstm_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, detail::max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    bool input_forget = false;                            ///< f = 1 - i
    std::int64_t layout = 0; ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of an LSTM, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe. Its members are those of detail::recurrent_weights:
/// constructors from constants, options and maybe a weight_storage or for_training, and assign, which packs
/// other constants.
///
/// Errors    shape_error, option_error: as lstm. option_error: the storage cannot hold one of the weights.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors. With
///           for_training, which a backward pass requires, twice that.
template <class Item>
using lstm_weights = detail::recurrent_weights<detail::lstm_family, Item>;

} // namespace xloom::inline XLOOM_ABI
