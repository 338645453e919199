#pragma once
// The activation functions of ONNX's recurrent operators: names, and defaults of alpha and beta.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

/// The activation functions of ONNX's recurrent operators.
enum class activation : unsigned char {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus,
    softmax
};

inline constexpr std::size_t activation_count = 12;

/// An activation function with its parameters. A parameter that the function does not have is ignored.
struct activation_function {
    activation kind;
    double alpha = 0;
    double beta = 0;

    friend constexpr bool operator==(activation_function const&, activation_function const&) = default;
};

/// The source of the defaults of alpha and beta: ONNX (the defaults of the standalone operator), or
/// com.microsoft, whose runtime uses 0 where it defines no default.
enum class activation_dialect : unsigned char { onnx, microsoft };

namespace detail {

/// The largest number of activations: f, g and h for each of two directions.
inline constexpr std::size_t max_activations = 6;
using activation_list = static_vector<activation_function, max_activations>;

struct activation_entry {
    std::string_view name;
    bool has_alpha = false;
    bool has_beta = false;
    std::array<double, 2> onnx{};      ///< alpha, beta
    std::array<double, 2> microsoft{}; ///< alpha, beta
};

inline constexpr std::array<activation_entry, activation_count> activation_entries{{
    {"Relu"},
    {"Tanh"},
    {"Sigmoid"},
    {"Affine", true, true, {1, 0}, {0, 0}},
    {"LeakyRelu", true, false, {0.01, 0}, {0.01, 0}},
    {"ThresholdedRelu", true, false, {1, 0}, {0, 0}},
    {"ScaledTanh", true, true, {1, 1}, {0, 0}},
    {"HardSigmoid", true, true, {0.2, 0.5}, {0.2, 0.5}},
    {"Elu", true, false, {1, 0}, {1, 0}},
    {"Softsign"},
    {"Softplus"},
    {"Softmax"},
}};

constexpr char lower(char c) noexcept { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_same_name(std::string_view a, std::string_view b) noexcept
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

inline std::string activation_names()
{
    std::vector<std::string> names;
    names.reserve(activation_count);
    for (activation_entry const& entry : activation_entries)
        names.emplace_back(entry.name);
    return join(names);
}

} // namespace detail

/// Returns the name as ONNX spells it, such as "LeakyRelu".
constexpr std::string_view name_of(activation kind) noexcept
{
    auto const number = static_cast<std::size_t>(kind);
    return number < activation_count ? detail::activation_entries[number].name : "unknown";
}

/// Returns the activations of these names; case is ignored. alphas and betas are consumed in order: a
/// function with that parameter takes the next value, or its default once the list is exhausted. Surplus
/// values are ignored.
///
/// Errors    option_error: an unknown name; more than max_activations names.
/// Source    ONNX LSTM-22 (activations, activation_alpha, activation_beta); com.microsoft AttnLSTM as ONNX
///           Runtime runs it.
/// Example   tests/detail/core/activation.test.cpp
constexpr detail::activation_list parse_activations(std::string_view op,
    std::span<std::string_view const> names, std::span<double const> alphas = {},
    std::span<double const> betas = {}, activation_dialect dialect = activation_dialect::onnx)
{
    if (names.size() > detail::max_activations)
        detail::fail<option_error>(op, ": there may be at most ", detail::max_activations,
            " activations, but activations has ", names.size(), ". Give fewer.");
    detail::activation_list functions;
    std::size_t next_alpha = 0, next_beta = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::size_t kind = 0;
        while (
            kind < activation_count && !detail::is_same_name(names[i], detail::activation_entries[kind].name))
            ++kind;
        if (kind == activation_count)
            detail::fail<option_error>(op, ": an activation must be one that ONNX names, but activations[", i,
                "] is \"", names[i], "\". Choose one of ", detail::activation_names(), ".");
        detail::activation_entry const& entry = detail::activation_entries[kind];
        auto const& defaults = dialect == activation_dialect::onnx ? entry.onnx : entry.microsoft;
        activation_function function{static_cast<activation>(kind), defaults[0], defaults[1]};
        if (entry.has_alpha && next_alpha < alphas.size())
            function.alpha = alphas[next_alpha++];
        if (entry.has_beta && next_beta < betas.size())
            function.beta = betas[next_beta++];
        functions.push_back(function);
    }
    return functions;
}

} // namespace xloom::inline XLOOM_ABI
